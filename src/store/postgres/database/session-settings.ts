/**
 * Settings of every session; they override those of the server, the database and the role. docs/postgresql.md lists them. Other settings stay as
 * configured, also `default_transaction_read_only` and the search path.
 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  // The limits are those of TimeLimits; connections in use can be idle for long.
  lock_timeout: '$1',
  statement_timeout: '$2',
  idle_in_transaction_session_timeout: '$3',
  transaction_timeout: '$4',
  idle_session_timeout: '0',
  // Ends sessions of vanished clients, and so releases their locks.
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '1',
  // A commit is on disk before it is acknowledged, and a transaction sees one state of the database.
  default_transaction_isolation: 'read committed',
  synchronous_commit:
    "CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END",
  // A policy that hides rows is an error: hidden rows would pass for orders that do not exist.
  row_security: 'off',
  // Triggers prevent ids from being assigned twice.
  session_replication_role: 'origin',
  // A conflict of two nodes is an error of its statement, and does not end the session.
  exit_on_error: 'off',
  // An unconfirmed commit is reported by a warning.
  client_min_messages: 'warning',
  // Text as the program writes and reads it.
  standard_conforming_strings: 'on',
  quote_all_identifiers: 'off',
  bytea_output: 'hex',
  array_nulls: 'on',
  transform_null_equals: 'off',
  // Statements take a millisecond, less than it takes to compile them.
  jit: 'off',
};

/** Matches values that are SQL, or a parameter of the statement; other values are text. */
const IS_SQL = /^(?:\$\d|CASE )/;

const WANTED = Object.entries(SESSION_SETTINGS)
  .map(([name, value]) => `('${name}', ${IS_SQL.test(value) ? value : `'${value}'`})`)
  .join();

/**
 * An expression that sets all of SESSION_SETTINGS, with the time limits $1 to $4. Settings that the version of the server does not have
 * are left out, as are those that have the value already: some may be changed by a superuser only.
 */
export const APPLY_SESSION_SETTINGS = `(SELECT count(set_config(name, wanted.value, false))
    FROM (VALUES ${WANTED}) AS wanted (name, value) JOIN pg_settings USING (name)
    WHERE setting <> wanted.value)`;

/** PostgreSQL timeouts in milliseconds; 0 disables either of the last two. */
export interface TimeLimits {
  readonly lock: number;
  readonly statement: number;
  /** For a transaction whose client is idle; ends the session and releases its locks. */
  readonly idleInTransaction: number;
  /** For a whole transaction; PostgreSQL 17 and later. Absent: 0. */
  readonly transaction?: number;
}

/** Clients of the service are answered within 2 s. */
export const SERVICE: TimeLimits = { lock: 1_000, statement: 1_500, idleInTransaction: 2_000 };
/** Bounds how long a node that stalls while sending a statement can block others. */
export const SERVICE_WRITES: TimeLimits = { ...SERVICE, transaction: 4_000 };
/** For commands run at a terminal. */
export const COMMAND: TimeLimits = { lock: 10_000, statement: 60_000, idleInTransaction: 2_000 };
/** For migrations, which set limits of their own; building an index can take long. */
export const MIGRATIONS: TimeLimits = {
  lock: 1_000,
  statement: 6 * 3_600_000,
  idleInTransaction: 0,
};
/** For reading or writing a whole store, at the pace of the consumer. */
export const BULK: TimeLimits = { lock: 10_000, statement: 600_000, idleInTransaction: 0 };
