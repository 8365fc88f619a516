import type { Environment } from '../../keys/api-key.ts';
import { StoreNotUsable, type StoreStatus } from '../store.ts';
import { COPY_NOT_COMPLETE } from '../tables.ts';
import type { Row, Session } from './session.ts';
import { number, text } from './values.ts';

/** The columns of the table store that a copy writes, in this order. */
export const STORE_COLUMNS =
  'id, environment, moved_to, revision, mark, pending, shipped, cancelled';

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
  const [revision, mark, pending, shipped, cancelled, latestAt] = integers as bigint[];
  return {
    storeId: storeId as string,
    environment: text(environment) as Environment | undefined,
    movedTo: text(movedTo),
    revision: revision!,
    mark: mark!,
    orders: { pending: pending!, shipped: shipped!, cancelled: cancelled! },
    latestAt: number(latestAt),
  };
}

/** Assigns an id to a store without one, durably, before a list or an ETag is served. */
export function giveId(session: Session): void {
  if (session.query(SQL.withoutId).length > 0) session.write(SQL.giveId);
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
  status: `SELECT ${STORE_COLUMNS},
      (SELECT at FROM order_events ORDER BY revision DESC, order_id DESC, type DESC LIMIT 1)
    FROM store`,
  withoutId: "SELECT 1 FROM store WHERE id = ''",
  giveId: "UPDATE store SET id = lower(hex(randomblob(8))), backup_at = NULL WHERE id = ''",
  recordEnvironment: 'UPDATE store SET environment = ? WHERE environment IS NULL',
  environment: 'SELECT environment FROM store',
  moveAway: 'UPDATE store SET moved_to = ? WHERE revision = ?',
  takeBack: `UPDATE store SET moved_to = NULL, id = iif(id = '', '', lower(hex(randomblob(8))))
    WHERE moved_to IS NOT NULL`,
} as const;
