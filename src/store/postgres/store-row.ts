import { randomBytes } from 'node:crypto';
import type { Environment } from '../../keys/api-key.ts';
import { type StoreStatus, StoreUnavailable } from '../store.ts';
import { COPY_NOT_COMPLETE } from '../tables.ts';
import type { Row, Session } from './session.ts';

/**
 * Reads the single row of the table store; undefined if a copy into the database is incomplete, since that row is
 * written last.
 */
export async function readStatus(session: Session): Promise<StoreStatus | undefined> {
  const [row] = await session.query(STATUS);
  if (row === undefined) return undefined;
  const [storeId, environment, movedTo, revision, mark, pending, shipped, cancelled, latestAt] =
    row;
  return {
    storeId: storeId!,
    environment: (environment ?? undefined) as Environment | undefined,
    movedTo: movedTo ?? undefined,
    revision: BigInt(revision!),
    mark: BigInt(mark!),
    latestAt: latestAt === null ? undefined : Number(latestAt),
    orders: { pending: BigInt(pending!), shipped: BigInt(shipped!), cancelled: BigInt(cancelled!) },
  };
}

/** Assigns an id to a store without one. Only the first of several concurrent nodes sets it. */
export async function giveId(session: Session): Promise<void> {
  await session.write(SQL.giveId, [randomBytes(8).toString('hex')]);
}

export async function recordEnvironment(
  session: Session,
  wanted: Environment,
): Promise<Environment> {
  await session.write(SQL.recordEnvironment, [wanted]);
  const [row] = await session.query(SQL.environment);
  return present(row)[0] as Environment;
}

export async function moveAway(
  session: Session,
  to: string,
  revision: bigint,
): Promise<'moved' | 'changed'> {
  const moved = await session.write(SQL.moveAway, [to, revision]);
  return moved.length === 0 ? 'changed' : 'moved';
}

export async function takeBack(session: Session): Promise<'taken_back' | 'unchanged'> {
  const back = await session.write(SQL.takeBack);
  return back.length === 0 ? 'unchanged' : 'taken_back';
}

const SQL = {
  giveId: { text: `UPDATE store SET id = $1 WHERE id = ''` },
  recordEnvironment: { text: 'UPDATE store SET environment = $1 WHERE environment IS NULL' },
  environment: { text: 'SELECT environment FROM store' },
  moveAway: { text: 'UPDATE store SET moved_to = $1 WHERE revision = $2 RETURNING revision' },
  takeBack: {
    text: `UPDATE store SET moved_to = NULL, id = left(replace(gen_random_uuid()::text, '-', ''), 16)
      WHERE moved_to IS NOT NULL RETURNING revision`,
  },
} as const;

const STATUS = {
  name: 'status',
  text: `SELECT id, environment, moved_to, revision, mark, pending, shipped, cancelled,
      (SELECT max(at) FROM order_events WHERE (order_id, order_events.revision) =
        (SELECT id, orders.revision FROM orders ORDER BY orders.revision DESC LIMIT 1))
    FROM store`,
} as const;

/**
 * Returns `row`, which includes the row of the table store.
 * @throws StoreUnavailable if it is missing
 */
export function present<T extends Row | StoreStatus>(row: T | undefined): T {
  if (row === undefined) throw new StoreUnavailable(COPY_NOT_COMPLETE, 'moved');
  return row;
}

/**
 * Returns the row of a statement that writes only if the store was not moved to another database.
 * @throws StoreUnavailable if it is missing
 */
export function presentHere(row: Row | undefined): Row {
  if (row !== undefined) return row;
  throw new StoreUnavailable(
    'the store was moved to another database, or a copy into it has not ended',
    'moved',
  );
}
