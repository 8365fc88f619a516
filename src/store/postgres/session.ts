import { hostname } from 'node:os';
import { Client, type ClientConfig, type QueryArrayResult } from 'pg';
import { StoreNotUsable, StoreUnavailable } from '../store.ts';
import type { Host } from './address.ts';
import { unavailable } from './errors.ts';
import type { TimeLimits } from './time-limits.ts';

/** Limit for closing a connection gracefully. */
const END_MS = 2_000;
/** Time allowed for the server's own timeouts to reach the client; after that the query is failed. */
const GRACE_MS = 1_000;
const OLDEST_SERVER = 140_000;

const SUCCESSFUL = '00000';

/** Default application_name in pg_stat_activity; PostgreSQL truncates names to 63 bytes. */
const APPLICATION = `store-orders ${hostname()}/${process.pid}`.slice(0, 63);

/** A result row: columns in the order of the query, each in PostgreSQL's text format. */
export type Row = readonly (string | null)[];

/** A statement; a named one is parsed once per connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/**
 * One physical connection. Statements are pipelined: they can be sent before earlier ones are answered, and are
 * answered in order.
 */
export class Session {
  readonly #client: Client;
  #isLost = false;
  #hasWarned = false;
  /** The filenode of the table store when the session began. */
  file: string | undefined;
  /** Host and version of the server. */
  server: { readonly host: string; readonly version: string } | undefined;
  /** Called when the connection is lost or closed. */
  onLost = () => {};

  private constructor(client: Client) {
    this.#client = client;
    client.on('error', () => this.destroy());
    client.on('end', () => this.destroy());
    client.on('notice', ({ code }) => {
      if (code !== SUCCESSFUL) this.#hasWarned = true;
    });
  }

  /**
   * Connects to one host, which must be a primary.
   * @param connectMs limit for connecting, and again for setting up the session
   * @throws StoreUnavailable, StoreNotUsable
   */
  static async open(host: Host, limits: TimeLimits, connectMs: number): Promise<Session> {
    try {
      return await Session.#open(host.config, limits, connectMs);
    } catch (error) {
      // The driver reports this without an error code.
      const hasNoTls = /does not support SSL/.test((error as Error).message);
      if (!hasNoTls || host.fallback === undefined) throw error;
      return Session.#open(host.fallback, limits, connectMs);
    }
  }

  static async #open(
    config: ClientConfig,
    limits: TimeLimits,
    connectMs: number,
  ): Promise<Session> {
    const session = new Session(
      newClient({
        ...config,
        application_name: APPLICATION,
        connectionTimeoutMillis: connectMs,
        query_timeout: limits.statement + GRACE_MS,
        keepAlive: true,
        pipeline: true,
        // Values are left as text; values.ts converts them.
        types: { getTypeParser: () => (text: string) => text },
      }),
    );
    try {
      await session.#client.connect();
      await session.#setUp(limits, connectMs);
      return session;
    } catch (error) {
      session.destroy();
      if (error instanceof StoreUnavailable || error instanceof StoreNotUsable) throw error;
      throw unavailable(error);
    }
  }

  async #setUp(limits: TimeLimits, withinMs: number): Promise<void> {
    const { lock, statement, idleInTransaction, transaction } = limits;
    const values = [lock, statement, idleInTransaction, transaction];
    const { rows } = await this.#run({ ...SET_UP, query_timeout: withinMs }, values);
    const [isStandby, version, encoding] = rows[0] as unknown as Row;
    if (isStandby === 't')
      throw new StoreUnavailable('PostgreSQL: this server is a standby', 'unreachable');
    this.server = { host: this.#client.host, version: version! };
    if (Number(version) < OLDEST_SERVER) {
      throw new StoreNotUsable(
        `it is PostgreSQL ${version}; ${OLDEST_SERVER} (14) or newer is needed`,
      );
    }
    if (encoding !== 'UTF8') {
      throw new StoreNotUsable(`its encoding is ${encoding}; make it with ENCODING 'UTF8'`);
    }
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /**
   * Executes a statement and returns its rows.
   * @throws StoreUnavailable with PostgreSQL's or the driver's error as its cause
   */
  async query(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#run(statement, values)).rows as Row[];
  }

  /**
   * Executes a statement that writes, or the COMMIT after one. Rejects where PostgreSQL reports success for a write
   * that may be lost: COMMIT of a failed transaction is answered with ROLLBACK, and a commit that no standby has
   * confirmed only causes a warning
   * (https://www.postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION).
   * @throws StoreUnavailable
   */
  async write(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    this.#hasWarned = false;
    const { command, rows } = await this.#run(statement, values);
    if (command === 'ROLLBACK') {
      throw new StoreUnavailable('PostgreSQL: the transaction had failed', 'failed');
    }
    if (this.#hasWarned) {
      throw new StoreUnavailable('PostgreSQL: no standby has confirmed the commit', 'slow');
    }
    return rows as Row[];
  }

  async #run(
    statement: Statement & { query_timeout?: number },
    values: readonly unknown[],
  ): Promise<QueryArrayResult> {
    try {
      const result: QueryArrayResult | QueryArrayResult[] = await this.#client.query({
        ...statement,
        values: [...values],
        rowMode: 'array',
      });
      return Array.isArray(result) ? result.at(-1)! : result;
    } catch (error) {
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
}

/**
 * Creates a client.
 * @throws StoreNotUsable if a certificate named in the URL is missing or unreadable
 */
function newClient(config: ClientConfig): Client {
  try {
    return new Client(config);
  } catch (error) {
    throw new StoreNotUsable((error as Error).message, { cause: error });
  }
}

/**
 * Sets timeouts, keepalives to detect clients that vanished, and settings that an operator may have changed for the
 * role or the database: read committed isolation, commits on disk before they are acknowledged, warnings sent, value
 * formats as values.ts expects, and no JIT compilation of statements that take a millisecond.
 */
const SET_UP: Statement = {
  text: `SELECT pg_is_in_recovery(), current_setting('server_version_num'),
      current_setting('server_encoding'),
      set_config('lock_timeout', $1, false), set_config('statement_timeout', $2, false),
      set_config('idle_in_transaction_session_timeout', $3, false),
      (SELECT set_config(name, $4, false) FROM pg_settings WHERE name = 'transaction_timeout'),
      set_config('tcp_keepalives_idle', '5', false),
      set_config('tcp_keepalives_interval', '1', false),
      set_config('default_transaction_isolation', 'read committed', false),
      set_config('synchronous_commit', CASE current_setting('synchronous_commit')
        WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false),
      set_config('client_min_messages', 'warning', false),
      set_config('bytea_output', 'hex', false), set_config('array_nulls', 'on', false),
      set_config('jit', 'off', false)`,
};

/** Begins a read-only transaction whose statements all see the same snapshot, until COMMIT. */
export const BEGIN_SNAPSHOT: Statement = {
  text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
};
