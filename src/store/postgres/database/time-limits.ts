/** PostgreSQL timeouts in milliseconds; 0 disables either of the last two. */
export interface TimeLimits {
  readonly lock: number;
  readonly statement: number;
  /** For a transaction whose client is idle; ends the session and releases its locks. */
  readonly idleInTransaction: number;
  /** For a whole transaction; PostgreSQL 17 and later. */
  readonly transaction: number;
}

/** Clients of the service are answered within 2 s. */
export const SERVICE: TimeLimits = {
  lock: 1_000,
  statement: 1_500,
  idleInTransaction: 2_000,
  transaction: 0,
};
/** Bounds how long a node that stalls while sending a statement can block others. */
export const SERVICE_WRITES: TimeLimits = { ...SERVICE, transaction: 4_000 };
/** For commands run at a terminal. */
export const COMMAND: TimeLimits = {
  lock: 10_000,
  statement: 60_000,
  idleInTransaction: 2_000,
  transaction: 0,
};
/** For migrations, which set limits of their own; building an index can take long. */
export const MIGRATIONS: TimeLimits = {
  lock: 1_000,
  statement: 6 * 3_600_000,
  idleInTransaction: 0,
  transaction: 0,
};
/** For reading or writing a whole store, at the pace of the consumer. */
export const BULK: TimeLimits = {
  lock: 10_000,
  statement: 600_000,
  idleInTransaction: 0,
  transaction: 0,
};
