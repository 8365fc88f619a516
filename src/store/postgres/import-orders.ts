import { Batch } from '../../orders/batch.ts';
import type { OrderId } from '../../orders/order.ts';
import { type Command, type OutcomeOf, StoreUnavailable } from '../store.ts';
import { expectNotMovedAway } from '../tables.ts';
import { isGuardError, readOrders, writing } from './change-orders.ts';
import type { Session, StatementWithValues } from './session.ts';

type ImportOrders = Extract<Command, { type: 'importOrders' }>;
type Outcome = OutcomeOf<ImportOrders>;

/** How often rows are worked out anew because another import took ids, or an order changed. */
const MAX_ATTEMPTS = 50;

/**
 * Places the next rows of an import. What stands in the store already is read without a lock, and all is
 * written by one message: a command that stops anywhere, or that is slow, holds nobody up.
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

/** The highest id that is taken or kept free; orders that bring none get those above it. */
export async function highestId(session: Session): Promise<OrderId> {
  const [row] = await session.query(SQL.highestId);
  return BigInt(row![0]!);
}

/** What the rows come to, for the store as it is now, and what has to be written if they are placed. */
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
  const write = writing(batch, known.revisions);
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
  // From here on nobody else writes, and the statements after it see all that was written.
  lock: { text: 'SELECT FROM store FOR UPDATE' },
  // Undoes all if the run is no longer in turn, others have taken or reserved ids, or the store was moved.
  guard: {
    text: `SELECT 1 / (EXISTS (SELECT FROM imports WHERE source = $1 AND run = $2)
      AND ${HIGHEST_ID} = $3 AND EXISTS (SELECT FROM store WHERE moved_to IS NULL))::integer`,
  },
  advance: { text: 'UPDATE imports SET placed = placed + $1 WHERE source = $2' },
} as const;
