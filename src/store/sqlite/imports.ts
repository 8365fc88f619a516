import { Batch } from '../../orders/batch.ts';
import type { CommandOf, OutcomeOf } from '../commands.ts';
import { FINISHED_IMPORTS_KEPT, type ImportRecord, rowsPlaced } from '../imports.ts';
import { recordOperator } from './audit.ts';
import { findKnown } from './orders.ts';
import type { Row, Session } from './session.ts';
import { readFreeIds } from './store-row.ts';
import { number, text } from './values.ts';
import { writeBatch } from './write-batch.ts';

export function importProgress(
  session: Session,
  { source }: CommandOf<'importProgress'>,
): OutcomeOf<CommandOf<'importProgress'>> {
  const known = findImport(session, source);
  return {
    placed: rowsPlaced(known),
    finished: known?.finishedAt === undefined ? undefined : known,
    freeIds: readFreeIds(session),
  };
}

export function beginImport(
  session: Session,
  { source, run, from, highestId, name, total, isAgain }: CommandOf<'beginImport'>,
): OutcomeOf<CommandOf<'beginImport'>> {
  const known = findImport(session, source);
  if (known?.finishedAt !== undefined && !isAgain) return 'already_imported';
  if (rowsPlaced(known) !== from) return 'out_of_turn';
  session.write(SQL.begin, source, run, from, highestId, name, total, Date.now());
  return 'begun';
}

/** Returns the unfinished imports, and the latest finished ones. */
export function readImports(session: Session): ImportRecord[] {
  return session.query(SQL.all, FINISHED_IMPORTS_KEPT).map(importFromRow);
}

function findImport(session: Session, source: string): ImportRecord | undefined {
  const [row] = session.query(SQL.find, source);
  return row && importFromRow(row);
}

function importFromRow([source, name, placed, total, begunAt, finishedAt]: Row): ImportRecord {
  return {
    ...{ source: source as string, name: text(name), placed: Number(placed) },
    ...{ total: number(total), begunAt: number(begunAt), finishedAt: number(finishedAt) },
  };
}

/** Places the next rows of an import, inside a transaction. */
export function importOrders(
  session: Session,
  { source, run, orders, auditId }: CommandOf<'importOrders'>,
): OutcomeOf<CommandOf<'importOrders'>> {
  const [inTurn] = session.query(SQL.inTurn, source, run);
  if (inTurn === undefined) return { refusal: 'out_of_turn' };
  const ids = orders.flatMap(({ id }) => id ?? []);
  const batch = new Batch({ orders: findKnown(session, ids), freeIds: readFreeIds(session) });
  const outcome = batch.placeAll(orders);
  if (outcome.refusal !== undefined) return outcome;
  const revision = writeBatch(session, batch);
  if (revision > 0n) recordOperator(session, { first: revision, last: revision }, auditId);
  session.write(SQL.advance, orders.length, source);
  return outcome;
}

export function endImport(
  session: Session,
  { source, run }: CommandOf<'endImport'>,
): OutcomeOf<CommandOf<'endImport'>> {
  if (session.write(SQL.end, Date.now(), source, run) === 0n) return 'out_of_turn';
  session.write(SQL.forgetOldest, FINISHED_IMPORTS_KEPT);
  return 'ended';
}

export function forgetImport(
  session: Session,
  { source }: CommandOf<'forgetImport'>,
): OutcomeOf<CommandOf<'forgetImport'>> {
  return session.write(SQL.forget, source) === 0n ? 'import_not_found' : 'forgotten';
}

const COLUMNS = 'source, name, placed, total, begun_at, finished_at';

const SQL = {
  find: `SELECT ${COLUMNS} FROM imports WHERE source = ?`,
  all: `SELECT ${COLUMNS} FROM imports ORDER BY finished_at DESC NULLS FIRST, begun_at DESC LIMIT ?`,
  begin: `INSERT INTO imports (source, run, placed, highest_id, name, total, begun_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (source) DO UPDATE SET run = excluded.run, placed = excluded.placed, highest_id = excluded.highest_id,
      name = excluded.name, total = excluded.total, finished_at = NULL,
      begun_at = iif(excluded.placed = 0, excluded.begun_at, imports.begun_at)`,
  inTurn: 'SELECT 1 FROM imports WHERE source = ? AND run = ?',
  advance: 'UPDATE imports SET placed = placed + ? WHERE source = ?',
  // It reserves no ids any more.
  end: `UPDATE imports SET finished_at = ?, run = '', highest_id = 0 WHERE source = ? AND run = ?`,
  forget: 'DELETE FROM imports WHERE source = ?',
  forgetOldest: `DELETE FROM imports WHERE finished_at IS NOT NULL AND source NOT IN
    (SELECT source FROM imports WHERE finished_at IS NOT NULL ORDER BY finished_at DESC LIMIT ?)`,
} as const;
