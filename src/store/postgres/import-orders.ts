import { Batch } from '../../orders/batch.ts';
import type { OrderId } from '../../orders/order.ts';
import { type OutcomeOf, type StoreCommand, StoreUnavailable } from '../store.ts';
import { expectNotMovedAway } from '../tables.ts';
import { isGuardError, readOrders, writeStatement } from './change-orders.ts';
import type { Session, StatementWithValues } from './session.ts';

type ImportOrders = Extract<StoreCommand, { type: 'importOrders' }>;
type Outcome = OutcomeOf<ImportOrders>;

/** Attempts to place rows while other imports take ids, or orders change, concurrently. */
const MAX_ATTEMPTS = 50;

/**
 * Places the next rows of an import. Existing orders are read without a lock, and all writes are sent in one message,
 * so a slow or stopped import command blocks no other writer.
 */
export async function importOrders(session: Session, command: ImportOrders): Promise<Outcome> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const { outcome, statements } = await workOut(session, command);
    if (statements === undefined) return outcome;
    try {
      await session.writeTogether(statements);
      return outcome;
    } catch (error) {
      if (!isGuardError(error)) throw error;
    }
  }
  throw new StoreUnavailable('other imports kept taking the next ids', 'locked');
}

/** Returns the highest id that is taken or reserved; orders without an id are assigned ids above it. */
export async function highestId(session: Session): Promise<OrderId> {
  const [row] = await session.query(SQL.highestId);
  return BigInt(row![0]!);
}

/**
 * Computes the outcome for the current state of the store, and the statements to execute if the rows can be placed.
 */
async function workOut(
  session: Session,
  { source, run, orders }: ImportOrders,
): Promise<{ outcome: Outcome; statements?: StatementWithValues[] }> {
  const ids = orders.flatMap(({ id }) => id ?? []);
  const [inTurn, highest, known] = await Promise.all([
    session.query(SQL.inTurn, [source, run]),
    highestId(session),
    readOrders(session, ids),
  ]);
  expectNotMovedAway(known.movedTo);
  if (inTurn.length === 0) return { outcome: { refusal: 'out_of_turn' } };
  const batch = new Batch(known.orders);
  const outcome = batch.placeAll(orders, highest);
  if (outcome.refusal !== undefined) return { outcome };
  const write = writeStatement(batch, known.revisions);
  const statements = [
    { ...SQL.lock, values: [] },
    { ...SQL.guard, values: [source, run, highest] },
    ...(write === undefined ? [] : [write]),
    { ...SQL.advance, values: [orders.length, source] },
  ];
  return { outcome, statements };
}

const HIGHEST_ID =
  'greatest((SELECT max(id) FROM orders), (SELECT max(highest_id) FROM imports), 0)';

const SQL = {
  highestId: { text: `SELECT ${HIGHEST_ID}` },
  inTurn: { text: 'SELECT FROM imports WHERE source = $1 AND run = $2' },
  // Excludes all other writers; the following statements see everything written before.
  lock: { text: 'SELECT FROM store FOR UPDATE' },
  // Rolls back if another run has taken over the import, ids were taken or reserved, or the store was moved to
  // another database.
  guard: {
    text: `SELECT store_orders_expect_unchanged(
      EXISTS (SELECT FROM imports WHERE source = $1 AND run = $2)
      AND ${HIGHEST_ID} = $3 AND EXISTS (SELECT FROM store WHERE moved_to IS NULL))`,
  },
  advance: { text: 'UPDATE imports SET placed = placed + $1 WHERE source = $2' },
} as const;
