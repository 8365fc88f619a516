import { hostname } from 'node:os';
import { Client, type ClientConfig, type QueryArrayResult, type QueryConfig } from 'pg';
import { cut } from '../../../domain/text.ts';
import type { Acknowledgement } from '../../audit.ts';
import type { DatabaseWarning, PostgresServer } from '../../open-options.ts';
import { StoreNotUsable, StoreUnavailable } from '../../store.ts';
import type { Column, Row, Session as TableSession, Value } from '../../tables/session.ts';
import type { Host } from './address.ts';
import { INSUFFICIENT_PRIVILEGE, sqlState, unavailable } from './errors.ts';
import { APPLY_SESSION_SETTINGS, type TimeLimits } from './session-settings.ts';
import { expectOnPrimary, ON_STANDBY } from './standby.ts';

/** Limit for closing a connection gracefully. */
const END_MS = 2_000;
/** Time allowed for the server's own timeouts to reach the client; after that the query is failed. */
const GRACE_MS = 1_000;
/** Limit for asking for the process that executes a statement. */
const BACKEND_PID_MS = 3_000;
const OLDEST_SERVER = 140_000;
/** How many reads of a new session the primary must answer: a proxy can choose another server for each. */
const READS_TRIED = 4;

/** The code of notices that are no warnings. */
const SUCCESSFUL = '00000';
/** Characters of a warning: a trigger can write any text. */
const LONGEST_WARNING = 500;

/** Default application_name in pg_stat_activity; PostgreSQL truncates names to 63 bytes. */
const APPLICATION = `store-orders ${hostname()}/${process.pid}`.slice(0, 63);

/** PostgreSQL's object ids of the types that are not read as text; integers are bigint, booleans 0n or 1n, as in SQLite. */
const PARSERS: Readonly<Record<number, (text: string) => Column>> = {
  16: (text) => (text === 't' ? 1n : 0n),
  17: (text) => Buffer.from(text.slice('\\x'.length), 'hex'),
  20: BigInt,
  21: BigInt,
  23: BigInt,
};

/** Names of statements by their text: each is parsed once per connection. As many as there are statements in the code. */
const NAMES = new Map<string, string>();

function prepared(sql: string, values: readonly Value[]): QueryConfig {
  let name = NAMES.get(sql);
  if (name === undefined) {
    name = `s${NAMES.size}`;
    NAMES.set(sql, name);
  }
  return { name, text: sql, values: [...values] };
}

interface SessionOptions {
  readonly limits: TimeLimits;
  /** Limit in milliseconds for connecting, and again for setting up the session. */
  readonly connectMs: number;
  /** Whether a standby will do, for reading about the server itself; not by default. */
  readonly mayBeStandby?: boolean;
  /** Called with warnings, except that a standby has not confirmed a commit. */
  readonly onWarning: (warning: DatabaseWarning) => void;
}

/** Names a server for messages: 10.0.0.1:5432, timeline 4. */
export function serverName({
  address,
  timeline,
}: Pick<PostgresServer, 'address' | 'timeline'>): string {
  return timeline === undefined ? address : `${address}, timeline ${timeline}`;
}

/** One physical connection. Statements are pipelined: they can be sent before earlier ones are answered, and are answered in order. */
export class Session implements TableSession {
  readonly engine = 'postgresql';
  readonly #client: Client;
  readonly #onWarning: SessionOptions['onWarning'];
  #isLost = false;
  #isUnconfirmed = false;
  /** The server; undefined until the session is set up. */
  server: PostgresServer | undefined;
  /** The position after the latest batch that this session has written. */
  written: Acknowledgement | undefined;
  /** The highest id that this node has given to an order. */
  highestGiven = 0n;
  /** Called when the connection is lost or closed. */
  onLost = () => {};

  private constructor(client: Client, onWarning: SessionOptions['onWarning']) {
    this.#client = client;
    this.#onWarning = onWarning;
    client.on('error', () => this.destroy());
    client.on('end', () => this.destroy());
    // The severity is in the language of the server.
    client.on('notice', ({ code, routine, message = '' }) => {
      if (code === SUCCESSFUL) return;
      // No standby has confirmed a commit. A warning without a function may mean that too.
      if (routine === undefined || routine === 'SyncRepWaitForLSN') this.#isUnconfirmed = true;
      else onWarning({ source: routine, message: cut(message, LONGEST_WARNING) });
    });
  }

  /**
   * Connects to one host, which must be a primary.
   * @throws StoreUnavailable, StoreNotUsable
   */
  static async open(host: Host, options: SessionOptions): Promise<Session> {
    try {
      return await Session.#open(host.config(), options);
    } catch (error) {
      // The driver reports this without an error code.
      const hasNoTls = /does not support SSL/.test((error as Error).message);
      if (!hasNoTls || host.fallback === undefined) throw error;
      return Session.#open(host.fallback(), options);
    }
  }

  static async #open(
    config: ClientConfig,
    { limits, connectMs, onWarning, mayBeStandby = false }: SessionOptions,
  ): Promise<Session> {
    const session = new Session(
      new Client({
        ...config,
        application_name: config.application_name ?? APPLICATION,
        connectionTimeoutMillis: connectMs,
        query_timeout: limits.statement + GRACE_MS,
        keepAlive: true,
        pipeline: true,
        types: { getTypeParser: (type: number) => PARSERS[type] ?? String },
      }),
      onWarning,
    );
    try {
      await session.#client.connect();
      await session.#setUp(limits, connectMs, mayBeStandby);
      return session;
    } catch (error) {
      session.destroy();
      if (error instanceof StoreUnavailable || error instanceof StoreNotUsable) throw error;
      throw unavailable(error);
    }
  }

  async #setUp(limits: TimeLimits, withinMs: number, mayBeStandby: boolean): Promise<void> {
    const { lock, statement, idleInTransaction, transaction = 0 } = limits;
    const values = [lock, statement, idleInTransaction, transaction];
    const [{ rows }, timeline, system, ...readers] = await Promise.all([
      this.#send({ text: SET_UP, values: values.map(String), query_timeout: withinMs }),
      this.#columnIfPermitted(TIMELINE, withinMs),
      this.#columnIfPermitted(SYSTEM, withinMs),
      ...Array.from({ length: READS_TRIED }, () =>
        this.#send({ text: `SELECT ${ON_STANDBY}`, query_timeout: withinMs }),
      ),
    ]);
    const [isStandby, version, encoding, address] = rows[0] as unknown as Row;
    if (isStandby === 1n && !mayBeStandby) {
      throw new StoreUnavailable('PostgreSQL: this server is a standby', 'unreachable');
    }
    for (const { rows: answer } of mayBeStandby ? [] : readers) {
      expectOnPrimary((answer[0] as unknown as Row)[0]);
    }
    this.server = {
      host: this.#client.host,
      address: (address as string | null) ?? this.#client.host,
      version: version as string,
      timeline: timeline == null ? undefined : Number(timeline),
      system: system as string | undefined,
    };
    const problem = identityProblem(this.server);
    if (problem !== undefined && isStandby !== 1n)
      this.#onWarning({ source: 'permissions', message: problem });
    if (Number(version) < OLDEST_SERVER) {
      throw new StoreNotUsable(
        `it is PostgreSQL ${version}; ${OLDEST_SERVER} (14) or newer is needed`,
      );
    }
    if (encoding !== 'UTF8') {
      throw new StoreNotUsable(`its encoding is ${encoding}; create it with ENCODING 'UTF8'`);
    }
  }

  /** Returns the value of a statement; undefined if the role has no permission. */
  async #columnIfPermitted(text: string, withinMs: number): Promise<Column | undefined> {
    try {
      return ((await this.#send({ text, query_timeout: withinMs })).rows[0] as unknown as Row)[0];
    } catch (error) {
      if (sqlState(error) === INSUFFICIENT_PRIVILEGE) return undefined;
      throw error;
    }
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Id of the process that the server, or a program in between, announced for this connection. */
  get announcedPid(): bigint {
    // Not in the driver's types.
    const { processID } = this.#client as unknown as { processID: number | null };
    return BigInt(processID ?? 0);
  }

  /** Returns the id of the process that executes a statement. Not prepared: a pooler may not know the statement. */
  async backendPid(): Promise<bigint> {
    const text = 'SELECT pg_backend_pid()';
    const { rows } = await this.#send({ text, query_timeout: BACKEND_PID_MS });
    return (rows[0] as unknown as Row)[0] as bigint;
  }

  /** @throws StoreUnavailable with PostgreSQL's or the driver's error as its cause */
  async query(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return (await this.#send(prepared(sql, values))).rows;
  }

  /** @throws StoreUnavailable, also if the write may be lost */
  async write(sql: string, values: readonly Value[] = []): Promise<number> {
    return (await this.#sendDurable(prepared(sql, values))).rowCount ?? 0;
  }

  async writeReturning(sql: string, values: readonly Value[] = []): Promise<Row[]> {
    return (await this.#sendDurable(prepared(sql, values))).rows;
  }

  /** Executes SQL without parameters and rows: statements that are not repeated, or several of them. */
  async run(sql: string): Promise<void> {
    await this.#send({ text: sql });
  }

  /** @throws StoreUnavailable, also if the transaction may be lost */
  async commit(): Promise<void> {
    await this.#sendDurable({ text: 'COMMIT' });
  }

  /**
   * Sends a statement, and fails where PostgreSQL reports success for a write that may be lost: it answers COMMIT of a failed transaction with
   * ROLLBACK, and a commit without a standby's confirmation with a warning only
   * (https://www.postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION). Then the session ends, since its next statements would
   * read that commit.
   */
  async #sendDurable(statement: QueryConfig): Promise<QueryArrayResult> {
    this.#isUnconfirmed = false;
    const result = await this.#send(statement);
    if (result.command === 'ROLLBACK') {
      throw new StoreUnavailable('PostgreSQL: the transaction had failed', 'failed');
    }
    if (this.#isUnconfirmed) {
      this.destroy();
      throw new StoreUnavailable('PostgreSQL: no standby has confirmed the commit', 'slow');
    }
    return result;
  }

  async #send(statement: QueryConfig & { query_timeout?: number }): Promise<QueryArrayResult> {
    try {
      const result: QueryArrayResult | QueryArrayResult[] = await this.#client.query({
        ...statement,
        rowMode: 'array',
      });
      return Array.isArray(result) ? result.at(-1)! : result;
    } catch (error) {
      // "cached plan must not change result type": a migration has changed the type of a column. A new session prepares its statements anew.
      if ((error as { routine?: string }).routine === 'RevalidateCachedQuery') this.destroy();
      throw unavailable(error);
    }
  }

  /** Closes the connection after all sent statements have been answered, or after END_MS. */
  async end(): Promise<void> {
    const overdue = setTimeout(() => this.destroy(), END_MS);
    await this.#client.end().catch(() => {});
    clearTimeout(overdue);
  }

  /** Closes the connection immediately; pending statements fail. */
  destroy(): void {
    if (!this.#isLost) {
      this.#isLost = true;
      this.onLost();
    }
    // Not in the driver's types; the driver's own end() waits for answers.
    const { connection } = this.#client as unknown as {
      connection: { stream: { destroy(): void } };
    };
    connection.stream.destroy();
  }

  [Symbol.dispose](): void {
    this.destroy();
  }
}

/** Sets up a session; see SESSION_SETTINGS. */
const SET_UP = `SELECT pg_is_in_recovery(), current_setting('server_version_num'), current_setting('server_encoding'),
    host(inet_server_addr()) || ':' || inet_server_port(), ${APPLY_SESSION_SETTINGS}`;

/** A standby has no position of its own in the log. */
const TIMELINE = `SELECT CASE WHEN NOT pg_is_in_recovery()
    THEN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint END`;

const SYSTEM = 'SELECT system_identifier::text FROM pg_control_system()';

/** Returns what follows if the role of a session may not find out which server, of which timeline, it uses. */
export function identityProblem({ timeline, system }: PostgresServer): string | undefined {
  if (timeline !== undefined && system !== undefined) return undefined;
  return (
    'the role may not call pg_current_wal_lsn, pg_walfile_name and pg_control_system, so an old primary is not recognised, and after a failover that lost changes ids are given again; ' +
    'GRANT EXECUTE ON FUNCTION pg_current_wal_lsn(), pg_walfile_name(pg_lsn), pg_control_system() to it'
  );
}

/** Begins a read-only transaction whose statements all read the same snapshot, until COMMIT. */
export const BEGIN_SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
