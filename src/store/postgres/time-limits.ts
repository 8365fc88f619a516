/** How long PostgreSQL may take, in milliseconds; 0 for either of the last two is without end. */
export interface TimeLimits {
  readonly lock: number;
  readonly statement: number;
  /** For a transaction whose client has stopped; its locks are let go then. */
  readonly idleInTransaction: number;
  /** For a transaction from beginning to end; from PostgreSQL 17. */
  readonly transaction: number;
}

/** A client of the service is answered within 2 s. */
export const SERVICE: TimeLimits = {
  lock: 1_000,
  statement: 1_500,
  idleInTransaction: 2_000,
  transaction: 0,
};
/** Bounds what a node that stops while it sends a statement can hold up. */
export const SERVICE_WRITES: TimeLimits = { ...SERVICE, transaction: 4_000 };
/** As long as people wait at a terminal. */
export const PATIENT: TimeLimits = {
  lock: 10_000,
  statement: 60_000,
  idleInTransaction: 2_000,
  transaction: 0,
};
/** For reading or writing everything, at the pace of whoever takes it. */
export const BULK: TimeLimits = {
  lock: 10_000,
  statement: 600_000,
  idleInTransaction: 0,
  transaction: 0,
};
