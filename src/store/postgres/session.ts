import { hostname } from 'node:os';
import { Client, type ClientConfig, escapeLiteral, type QueryArrayResult } from 'pg';
import { StoreNotUsable, StoreUnavailable } from '../store.ts';
import type { Host } from './address.ts';
import { unavailable } from './errors.ts';
import type { Row } from './rows.ts';
import type { TimeLimits } from './time-limits.ts';

/** Until a connection that is not needed any more has ended in good order. */
const END_MS = 2_000;
/** What the server's own time-outs may take to reach us; after that the connection is given up. */
const GRACE_MS = 1_000;
const OLDEST_SERVER = 140_000;

const SUCCESSFUL = '00000';

/** What a session is called in pg_stat_activity, where the URL names nothing else; PostgreSQL takes 63 bytes. */
const APPLICATION = `store-orders ${hostname()}/${process.pid}`.slice(0, 63);

/** A statement; with a name it is parsed once per connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

export interface StatementWithValues extends Statement {
  readonly values: readonly (string | number | bigint)[];
}

/** The statement with its values in the text, where a message of several statements takes none. */
function withLiterals({ text, values }: StatementWithValues): string {
  return text.replaceAll(/\$(\d+)/g, (_, number) => {
    const value = values[Number(number) - 1]!;
    return typeof value === 'string' ? escapeLiteral(value) : String(value);
  });
}

/**
 * A connection as long as it lasts. Statements are pipelined: they may be sent without waiting for the
 * answers to those before, and come out in their order.
 */
export class Session {
  readonly #client: Client;
  #isLost = false;
  #hasWarned = false;
  /** What the table store was kept in when the session began. */
  file: string | undefined;
  /** What it is connected to. */
  server: { readonly host: string; readonly version: string } | undefined;
  /** Is called when the connection is lost, or ends as it was told to. */
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
   * Connects to one host, which must be a primary. `connectMs` is what connecting may take, and again
   * what setting up may take.
   * @throws StoreUnavailable, StoreNotUsable
   */
  static async open(host: Host, limits: TimeLimits, connectMs: number): Promise<Session> {
    try {
      return await Session.#open(host.config, limits, connectMs);
    } catch (error) {
      // The driver has no code for it.
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
        // All values stay the text that they come as; rows.ts knows what they are.
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
   * The rows of one statement.
   * @throws StoreUnavailable with PostgreSQL's or the driver's error as its cause
   */
  async query(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#run(statement, values)).rows as Row[];
  }

  /**
   * A statement that writes, or the COMMIT after such. Resolves only if it did what it says: a COMMIT
   * of what had failed is answered ROLLBACK, and of one that no standby has confirmed there is only a
   * warning (https://www.postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION).
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

  /**
   * Several statements as `write` does one, in one transaction and in one message: the server begins
   * with none of them before it has all, so who stops while sending them holds nobody up.
   */
  async writeTogether(statements: readonly StatementWithValues[]): Promise<void> {
    await this.write({ text: statements.map(withLiterals).join(';\n') });
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

  /** Ends the connection after what was sent has been answered, or when that takes too long. */
  async end(): Promise<void> {
    const overdue = setTimeout(() => this.destroy(), END_MS);
    await this.#client.end().catch(() => {});
    clearTimeout(overdue);
  }

  /** Ends the connection at once; what is under way on it fails. */
  destroy(): void {
    if (!this.#isLost) {
      this.#isLost = true;
      this.onLost();
    }
    // Not part of the driver's types; its own end() waits for answers.
    const { connection } = this.#client as unknown as {
      connection: { stream: { destroy(): void } };
    };
    connection.stream.destroy();
  }
}

/** @throws StoreNotUsable when a certificate that the URL names cannot be read, or one is missing */
function newClient(config: ClientConfig): Client {
  try {
    return new Client(config);
  } catch (error) {
    throw new StoreNotUsable((error as Error).message, { cause: error });
  }
}

/**
 * Time-outs, also for a client that is gone without a word, and what operators may have set otherwise for
 * the role or the database: each statement sees what was committed before it began, a commit is on disk
 * when it is acknowledged, warnings are sent, values are written as rows.ts has them, and no time is
 * spent on compiling statements that run for a millisecond.
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

/** Begins a transaction in which all statements see the same, until COMMIT. */
export const BEGIN_SNAPSHOT: Statement = {
  text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
};
