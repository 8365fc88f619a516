import { Batch } from '../../orders/batch.ts';
import type { CommandOf, OutcomeOf } from '../commands.ts';
import { FINISHED_IMPORTS_KEPT, type ImportRecord, rowsPlaced } from '../imports.ts';
import { StoreUnavailable } from '../store.ts';
import { expectNotMovedAway } from '../tables.ts';
import { isGuardError, readOrders } from './orders.ts';
import type { Row, Session } from './session.ts';
import { readFreeIds } from './store-row.ts';
import { number } from './values.ts';
import { changeValues, writeStatement } from './write-batch.ts';

type ImportOrders = CommandOf<'importOrders'>;

/** Attempts to place rows while other imports take ids, or orders change, concurrently. */
const MAX_ATTEMPTS = 50;

export async function importProgress(
  session: Session,
  { source }: CommandOf<'importProgress'>,
): Promise<OutcomeOf<CommandOf<'importProgress'>>> {
  const known = await findImport(session, source);
  return {
    placed: rowsPlaced(known),
    finished: known?.finishedAt === undefined ? undefined : known,
    freeIds: await readFreeIds(session),
  };
}

export async function beginImport(
  session: Session,
  { source, run, from, highestId, name, total, isAgain }: CommandOf<'beginImport'>,
): Promise<OutcomeOf<CommandOf<'beginImport'>>> {
  const known = await findImport(session, source);
  if (known?.finishedAt !== undefined && !isAgain) return 'already_imported';
  if (rowsPlaced(known) !== from) return 'out_of_turn';
  await session.write(SQL.begin, [source, run, from, highestId, name, total, Date.now()]);
  return 'begun';
}

/** Returns the unfinished imports, and the latest finished ones. */
export async function readImports(session: Session): Promise<ImportRecord[]> {
  return (await session.query(SQL.all, [FINISHED_IMPORTS_KEPT])).map(importFromRow);
}

async function findImport(session: Session, source: string): Promise<ImportRecord | undefined> {
  const [row] = await session.query(SQL.find, [source]);
  return row && importFromRow(row);
}

function importFromRow([source, name, placed, total, begunAt, finishedAt]: Row): ImportRecord {
  return {
    ...{ source: source!, name: name ?? undefined, placed: Number(placed) },
    ...{ total: number(total), begunAt: number(begunAt), finishedAt: number(finishedAt) },
  };
}

/**
 * Places the next rows of an import. Existing orders are read without a lock, and one statement writes everything: the
 * server executes none of it before it has received all of it, so an import command that is slow or stopped while
 * sending blocks no other writer.
 */
export async function importOrders(
  session: Session,
  command: ImportOrders,
): Promise<OutcomeOf<ImportOrders>> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    try {
      return await tryToImportOrders(session, command);
    } catch (error) {
      if (!isGuardError(error)) throw error;
    }
  }
  throw new StoreUnavailable('other imports kept taking the next ids', 'locked');
}

/** @throws StoreUnavailable, for which `isGuardError` is true if the store has changed since it was read */
async function tryToImportOrders(
  session: Session,
  { source, run, orders, auditId }: ImportOrders,
): Promise<OutcomeOf<ImportOrders>> {
  const ids = orders.flatMap(({ id }) => id ?? []);
  const [inTurn, freeIds, known] = await Promise.all([
    session.query(SQL.inTurn, [source, run]),
    readFreeIds(session),
    readOrders(session, ids),
  ]);
  expectNotMovedAway(known.movedTo);
  if (inTurn.length === 0) return { refusal: 'out_of_turn' };
  const batch = new Batch({ orders: known.orders, freeIds });
  const outcome = batch.placeAll(orders);
  if (outcome.refusal !== undefined) return outcome;
  const claim = [source, run, freeIds.highest, orders.length];
  if (batch.changed.size === 0) await session.write(SQL.claim, claim);
  else await session.write(SQL.claimAndWrite, [...changeValues(batch), ...claim, auditId]);
  return outcome;
}

export async function endImport(
  session: Session,
  { source, run }: CommandOf<'endImport'>,
): Promise<OutcomeOf<CommandOf<'endImport'>>> {
  const ended = await session.write(SQL.end, [Date.now(), source, run]);
  if (ended.length === 0) return 'out_of_turn';
  await session.write(SQL.forgetOldest, [FINISHED_IMPORTS_KEPT]);
  return 'ended';
}

export async function forgetImport(
  session: Session,
  { source }: CommandOf<'forgetImport'>,
): Promise<OutcomeOf<CommandOf<'forgetImport'>>> {
  const forgotten = await session.write(SQL.forget, [source]);
  return forgotten.length === 0 ? 'import_not_found' : 'forgotten';
}

const COLUMNS = 'source, name, placed, total, begun_at, finished_at';

const SQL = {
  find: { text: `SELECT ${COLUMNS} FROM imports WHERE source = $1` },
  all: {
    text: `SELECT ${COLUMNS} FROM imports ORDER BY finished_at DESC NULLS FIRST, begun_at DESC LIMIT $1`,
  },
  begin: {
    text: `INSERT INTO imports (source, run, placed, highest_id, name, total, begun_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      ON CONFLICT (source) DO UPDATE SET run = excluded.run, placed = excluded.placed, highest_id = excluded.highest_id,
        name = excluded.name, total = excluded.total, finished_at = NULL,
        begun_at = CASE WHEN excluded.placed = 0 THEN excluded.begun_at ELSE imports.begun_at END`,
  },
  inTurn: { text: 'SELECT FROM imports WHERE source = $1 AND run = $2' },
  claim: { text: 'SELECT store_orders_claim_import($1, $2, $3, $4)' },
  claimAndWrite: writeStatement('import', {
    claim: 'store_orders_claim_import($18, $19, $20, $21)',
    parts: `,
      recorded AS (INSERT INTO operator_revisions SELECT turn.revision, $22 FROM turn)`,
  }),
  // It reserves no ids any more.
  end: {
    text: `UPDATE imports SET finished_at = $1, run = '', highest_id = 0 WHERE source = $2 AND run = $3
      RETURNING source`,
  },
  forget: { text: 'DELETE FROM imports WHERE source = $1 RETURNING source' },
  forgetOldest: {
    text: `DELETE FROM imports WHERE finished_at IS NOT NULL AND source NOT IN
      (SELECT source FROM imports WHERE finished_at IS NOT NULL ORDER BY finished_at DESC LIMIT $1)`,
  },
} as const;
