import { leapAbove } from '../../../domain/ids.ts';
import type { OrderId } from '../../../domain/order.ts';
import type { Session } from './session.ts';

/**
 * Records which file the store is in, before anything is written. If the store was in another one, or in a backup, its ids
 * leap: the trigger of migration 010.
 */
export function recordOrigin(session: Session, origin: string): void {
  const [row] = session.query(SQL.origin);
  if (row !== undefined && row[0] !== origin) session.write(SQL.recordOrigin, [origin]);
}

/** Makes the ids leap above `given`, the highest id that was assigned, if the store has lost that order. */
export function reserveGiven(session: Session, given: OrderId): void {
  const [row] = session.query(SQL.freeIds);
  if (row === undefined) return;
  const [highest, last] = row as readonly [bigint, bigint];
  // An operator has lowered the last id since.
  if (given <= highest || given > last) return;
  session.write(SQL.reserveIds, [leapAbove({ highest: given, last })]);
}

const SQL = {
  origin: 'SELECT origin FROM store',
  recordOrigin: 'UPDATE store SET origin = ?, backup_at = NULL',
  freeIds: 'SELECT id, last_id FROM highest_id',
  reserveIds: 'UPDATE store SET reserved_id = ?',
} as const;
