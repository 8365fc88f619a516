import { Batch } from '../../orders/batch.ts';
import { type CommandOf, type OutcomeOf, StoreUnavailable } from '../store.ts';
import { expectNotMovedAway } from '../tables.ts';
import { isGuardError, readOrders } from './orders.ts';
import type { Session } from './session.ts';
import { readFreeIds } from './store-row.ts';
import { changeValues, writeStatement } from './write-batch.ts';

type ImportOrders = CommandOf<'importOrders'>;

/** Attempts to place rows while other imports take ids, or orders change, concurrently. */
const MAX_ATTEMPTS = 50;

export async function importProgress(
  session: Session,
  { source }: CommandOf<'importProgress'>,
): Promise<OutcomeOf<CommandOf<'importProgress'>>> {
  return { placed: await placedRows(session, source), freeIds: await readFreeIds(session) };
}

export async function beginImport(
  session: Session,
  { source, run, from, highestId }: CommandOf<'beginImport'>,
): Promise<OutcomeOf<CommandOf<'beginImport'>>> {
  if ((await placedRows(session, source)) !== from) return 'out_of_turn';
  await session.write(SQL.begin, [source, run, from, highestId]);
  return 'begun';
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
  { source, run, orders }: ImportOrders,
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
  else await session.write(SQL.claimAndWrite, [...changeValues(batch), ...claim]);
  return outcome;
}

export async function endImport(
  session: Session,
  { source, run }: CommandOf<'endImport'>,
): Promise<OutcomeOf<CommandOf<'endImport'>>> {
  const ended = await session.write(SQL.end, [source, run]);
  return ended.length === 0 ? 'out_of_turn' : 'ended';
}

/** Returns how many rows of an import have been placed. */
async function placedRows(session: Session, source: string): Promise<number> {
  const [row] = await session.query(SQL.placed, [source]);
  return row === undefined ? 0 : Number(row[0]);
}

const SQL = {
  placed: { text: 'SELECT placed FROM imports WHERE source = $1' },
  begin: {
    text: `INSERT INTO imports (source, run, placed, highest_id) VALUES ($1, $2, $3, $4)
      ON CONFLICT (source) DO UPDATE SET run = excluded.run, placed = excluded.placed,
      highest_id = excluded.highest_id`,
  },
  inTurn: { text: 'SELECT FROM imports WHERE source = $1 AND run = $2' },
  claim: { text: 'SELECT store_orders_claim_import($1, $2, $3, $4)' },
  claimAndWrite: writeStatement('import', {
    claim: 'store_orders_claim_import($18, $19, $20, $21)',
  }),
  end: { text: 'DELETE FROM imports WHERE source = $1 AND run = $2 RETURNING source' },
} as const;
