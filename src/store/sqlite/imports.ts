import { Batch } from '../../orders/batch.ts';
import type { CommandOf, OutcomeOf } from '../store.ts';
import { findKnown } from './orders.ts';
import type { Session } from './session.ts';
import { readFreeIds } from './store-row.ts';
import { writeBatch } from './write-batch.ts';

export function importProgress(
  session: Session,
  { source }: CommandOf<'importProgress'>,
): OutcomeOf<CommandOf<'importProgress'>> {
  return { placed: placedRows(session, source), freeIds: readFreeIds(session) };
}

export function beginImport(
  session: Session,
  { source, run, from, highestId }: CommandOf<'beginImport'>,
): OutcomeOf<CommandOf<'beginImport'>> {
  if (placedRows(session, source) !== from) return 'out_of_turn';
  session.write(SQL.begin, source, run, from, highestId);
  return 'begun';
}

/** Places the next rows of an import, inside a transaction. */
export function importOrders(
  session: Session,
  { source, run, orders }: CommandOf<'importOrders'>,
): OutcomeOf<CommandOf<'importOrders'>> {
  const [inTurn] = session.query(SQL.inTurn, source, run);
  if (inTurn === undefined) return { refusal: 'out_of_turn' };
  const ids = orders.flatMap(({ id }) => id ?? []);
  const batch = new Batch({ orders: findKnown(session, ids), freeIds: readFreeIds(session) });
  const outcome = batch.placeAll(orders);
  if (outcome.refusal !== undefined) return outcome;
  writeBatch(session, batch);
  session.write(SQL.advance, orders.length, source);
  return outcome;
}

export function endImport(
  session: Session,
  { source, run }: CommandOf<'endImport'>,
): OutcomeOf<CommandOf<'endImport'>> {
  return session.write(SQL.end, source, run) === 0n ? 'out_of_turn' : 'ended';
}

/** Returns how many rows of an import have been placed. */
function placedRows(session: Session, source: string): number {
  const [row] = session.query(SQL.placed, source);
  return row === undefined ? 0 : Number(row[0]);
}

const SQL = {
  placed: 'SELECT placed FROM imports WHERE source = ?',
  begin: 'INSERT OR REPLACE INTO imports (source, run, placed, highest_id) VALUES (?, ?, ?, ?)',
  inTurn: 'SELECT 1 FROM imports WHERE source = ? AND run = ?',
  advance: 'UPDATE imports SET placed = placed + ? WHERE source = ?',
  end: 'DELETE FROM imports WHERE source = ? AND run = ?',
} as const;
