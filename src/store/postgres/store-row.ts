import { randomBytes } from 'node:crypto';
import type { Environment } from '../../keys/api-key.ts';
import { ALL_IDS, type FreeIds, leapAbove } from '../../orders/ids.ts';
import type { OrderId } from '../../orders/order.ts';
import { type StoreStatus, StoreUnavailable } from '../store.ts';
import { COPY_NOT_COMPLETE } from '../tables.ts';
import type { Row, Session } from './session.ts';
import { number } from './values.ts';

/**
 * Reads the single row of the table store; undefined if a copy into the database is incomplete, since that row is
 * written last.
 */
export async function readStatus(session: Session): Promise<StoreStatus | undefined> {
  const [row] = await session.query(STATUS);
  if (row === undefined) return undefined;
  const [storeId, environment, movedTo, revision, mark, ...numbers] = row;
  const [pending, shipped, cancelled, reservedId, last, highest, latestAt] = numbers;
  return {
    storeId: storeId!,
    environment: (environment ?? undefined) as Environment | undefined,
    movedTo: movedTo ?? undefined,
    revision: BigInt(revision!),
    mark: BigInt(mark!),
    latestAt: number(latestAt),
    reservedId: BigInt(reservedId!),
    freeIds: { highest: BigInt(highest!), last: BigInt(last!) },
    orders: { pending: BigInt(pending!), shipped: BigInt(shipped!), cancelled: BigInt(cancelled!) },
  };
}

export async function readRevision(session: Session): Promise<bigint> {
  const [row] = await session.query({ text: 'SELECT revision FROM store' });
  return BigInt(present(row)[0]!);
}

/** Assigns an id to a store without one. Only the first of several concurrent nodes sets it. */
export async function giveId(session: Session): Promise<void> {
  await session.write(SQL.giveId, [randomBytes(8).toString('hex')]);
}

/** Returns the ids that orders without an id may be assigned. */
export async function readFreeIds(session: Session): Promise<FreeIds> {
  const [highest, last] = present((await session.query(SQL.freeIds))[0]);
  return { highest: BigInt(highest!), last: BigInt(last!) };
}

/** See the command `limitIds`. */
export async function limitIds(session: Session, last: OrderId): Promise<FreeIds> {
  await session.write(SQL.limitIds, [last]);
  await session.write(SQL.keepReserved, [leapAbove(await readFreeIds(session))]);
  return readFreeIds(session);
}

/**
 * Records where the store is (server, database with table, timeline), before anything is written. If the store was elsewhere,
 * its ids leap: the trigger of migration 010.
 */
export async function recordOrigin(
  session: Session,
  parts: readonly (string | number | undefined)[],
): Promise<void> {
  const [row] = await session.query({ text: 'SELECT origin FROM store' });
  const before = row?.[0] ?? '';
  const { origin, isSame } = mergeOrigins(
    before.split('/'),
    parts.map((part) => String(part ?? '')),
  );
  if (origin === before) return;
  // By way of '' it does not leap: what was unknown is filled in. If another node was faster, it has done the same.
  if (isSame) await session.write(SQL.recordOrigin, ['', before]);
  await session.write(SQL.recordOrigin, [origin, isSame ? '' : before]);
}

/** A part that the role may not read is unknown, and neither the same nor another. */
function mergeOrigins(before: readonly string[], now: readonly string[]) {
  const isSame = now.every((part, at) => part === '' || !before[at] || part === before[at]);
  const origin = now.map((part, at) => part || (isSame && before[at]) || '').join('/');
  return { isSame, origin };
}

/** Lets the ids leap above `given`, an id that was given to an order, if the store does not have it any more. */
export async function reserveIds(session: Session, given: OrderId): Promise<void> {
  const end = leapAbove({ ...ALL_IDS, highest: given });
  await session.write(SQL.reserveIds, [end, given]);
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
  freeIds: { text: 'SELECT store_orders_highest_id(), last_id FROM store' },
  limitIds: { text: 'UPDATE store SET last_id = $1' },
  keepReserved: { text: 'UPDATE store SET reserved_id = $1 WHERE reserved_id > last_id' },
  recordOrigin: { text: 'UPDATE store SET origin = $1 WHERE origin = $2' },
  reserveIds: {
    text: `UPDATE store SET reserved_id = least($1, last_id)
      WHERE store_orders_highest_id() < least($2::bigint, last_id)`,
  },
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
  text: `SELECT id, environment, moved_to, revision, mark, pending, shipped, cancelled, reserved_id, last_id,
      store_orders_highest_id(),
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
