import type { Environment } from '../../keys/api-key.ts';
import { type FreeIds, leapAbove } from '../../orders/ids.ts';
import type { OrderId } from '../../orders/order.ts';
import { StoreNotUsable, type StoreStatus } from '../store.ts';
import { COPY_NOT_COMPLETE } from '../tables.ts';
import type { Row, Session } from './session.ts';
import { number, text } from './values.ts';

/** The columns of the table store that `readStatus` reads, and a copy writes, in this order. */
export const STORE_COLUMNS =
  'id, environment, moved_to, revision, mark, pending, shipped, cancelled, reserved_id, last_id';

/**
 * Reads the single row of the table store.
 * @throws StoreNotUsable if a copy into the database is incomplete: that row is written last
 */
export function readStatus(session: Session): StoreStatus {
  const [row] = session.query(SQL.status);
  if (row === undefined) throw new StoreNotUsable(COPY_NOT_COMPLETE);
  return statusFromRow(row);
}

function statusFromRow(row: Row): StoreStatus {
  const [storeId, environment, movedTo, ...integers] = row;
  const [revision, mark, pending, shipped, cancelled, reservedId, last, highest, latestAt] =
    integers as bigint[];
  return {
    storeId: storeId as string,
    environment: text(environment) as Environment | undefined,
    movedTo: text(movedTo),
    revision: revision!,
    mark: mark!,
    orders: { pending: pending!, shipped: shipped!, cancelled: cancelled! },
    latestAt: number(latestAt),
    reservedId: reservedId!,
    freeIds: { highest: highest!, last: last! },
  };
}

/** Assigns an id to a store without one, durably, before a list or an ETag is served. */
export function giveId(session: Session): void {
  if (session.query(SQL.withoutId).length > 0) session.write(SQL.giveId);
}

/** Returns the ids that orders without an id may be assigned. */
export function readFreeIds(session: Session): FreeIds {
  const [highest, last] = session.query(SQL.freeIds)[0]!;
  return { highest: highest as bigint, last: last as bigint };
}

/** See the command `limitIds`. */
export function limitIds(session: Session, last: OrderId): FreeIds {
  session.write(SQL.limitIds, last);
  session.write(SQL.reserveIds, leapAbove(readFreeIds(session)));
  return readFreeIds(session);
}

/**
 * Records which file the store is in, before anything is written. If the store was in another one, or in a backup, its ids
 * leap: the trigger of migration 010.
 */
export function recordOrigin(session: Session, origin: string): void {
  const [row] = session.query(SQL.origin);
  if (row !== undefined && row[0] !== origin) session.write(SQL.recordOrigin, origin);
}

/** Lets the ids leap above `given`, the highest id that was given, if the store does not have it any more. */
export function reserveGiven(session: Session, given: OrderId): void {
  const [row] = session.query(SQL.freeIds);
  if (row === undefined) return;
  const [highest, last] = row as readonly [bigint, bigint];
  // Ids above the last one do not count.
  if (given <= highest || given > last) return;
  session.write(SQL.reserveAbove, leapAbove({ highest: given, last }));
}

export function recordEnvironment(session: Session, wanted: Environment): Environment {
  session.write(SQL.recordEnvironment, wanted);
  return session.query(SQL.environment)[0]![0] as Environment;
}

export function moveAway(session: Session, to: string, revision: bigint): 'moved' | 'changed' {
  return session.write(SQL.moveAway, to, revision) === 0n ? 'changed' : 'moved';
}

export function takeBack(session: Session): 'taken_back' | 'unchanged' {
  return session.write(SQL.takeBack) === 0n ? 'unchanged' : 'taken_back';
}

const SQL = {
  status: `SELECT ${STORE_COLUMNS}, (SELECT id FROM highest_id),
      (SELECT at FROM order_events ORDER BY revision DESC, order_id DESC, type DESC LIMIT 1)
    FROM store`,
  withoutId: "SELECT 1 FROM store WHERE id = ''",
  giveId: "UPDATE store SET id = lower(hex(randomblob(8))), backup_at = NULL WHERE id = ''",
  freeIds: 'SELECT id, last_id FROM highest_id',
  limitIds: 'UPDATE store SET last_id = ?',
  reserveIds: 'UPDATE store SET reserved_id = ? WHERE reserved_id > last_id',
  reserveAbove: 'UPDATE store SET reserved_id = ?',
  origin: 'SELECT origin FROM store',
  recordOrigin: 'UPDATE store SET origin = ?',
  recordEnvironment: 'UPDATE store SET environment = ? WHERE environment IS NULL',
  environment: 'SELECT environment FROM store',
  moveAway: 'UPDATE store SET moved_to = ? WHERE revision = ?',
  takeBack: `UPDATE store SET moved_to = NULL, id = iif(id = '', '', lower(hex(randomblob(8))))
    WHERE moved_to IS NOT NULL`,
} as const;
