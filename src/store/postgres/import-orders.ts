import { Batch } from '../../orders/batch.ts';
import type { Command, OutcomeOf } from '../store.ts';
import { isGuardError, MAX_OPTIMISTIC_ATTEMPTS, readOrders, writeBatch } from './change-orders.ts';
import type { Session } from './session.ts';
import { inTransaction } from './transaction.ts';

type ImportOrders = Extract<Command, { type: 'importOrders' }>;
type Outcome = OutcomeOf<ImportOrders>;

/**
 * Places the next rows of an import. What stands in the store already is read without a lock; then all is
 * sent in one go. So a command that stops in between holds nobody up, nor does one that stops reading.
 */
export async function importOrders(session: Session, command: ImportOrders): Promise<Outcome> {
  for (let attempt = 1; attempt <= MAX_OPTIMISTIC_ATTEMPTS; attempt += 1) {
    const outcome = await tryToImport(session, command);
    if (outcome !== undefined) return outcome;
  }
  return inTransaction(session, () => importLockedOrders(session, command));
}

/** The same where no other writer can come in between: in a transaction. */
export async function importLockedOrders(
  session: Session,
  command: ImportOrders,
): Promise<Outcome> {
  const worked = await workOut(session, command);
  if ('refusal' in worked) return worked;
  const [isWritten] = await Promise.all(write(session, command, worked));
  if (!isWritten) throw new Error('an order has changed although it was locked');
  return { placed: worked.placed };
}

/** Undefined, with nothing done, if another writer has come in between. */
async function tryToImport(session: Session, command: ImportOrders): Promise<Outcome | undefined> {
  const worked = await workOut(session, command);
  if ('refusal' in worked) return worked;
  const { source, run } = command;
  const results = await Promise.allSettled([
    session.query({ text: 'BEGIN' }),
    session.query({ text: 'SELECT FROM store FOR UPDATE' }),
    session.query(SQL.guard, [source, run, worked.highestId]),
    ...write(session, command, worked),
    session.write({ text: 'COMMIT' }),
  ]);
  const failure = results.find((result) => result.status === 'rejected');
  const isFalse = results.some((result) => result.status === 'fulfilled' && result.value === false);
  if (failure === undefined && !isFalse) return { placed: worked.placed };
  if (isFalse || isGuardError(failure!.reason)) return undefined;
  session.destroy();
  throw failure!.reason;
}

/** What the rows come to, for the store as it is now. */
async function workOut(session: Session, { source, run, orders }: ImportOrders) {
  const [inTurn, highest, known] = await Promise.all([
    session.query(SQL.inTurn, [source, run]),
    session.query(SQL.highestId),
    readOrders(
      session,
      orders.flatMap(({ id }) => id ?? []),
    ),
  ]);
  if (inTurn.length === 0) return { refusal: 'out_of_turn' } as const;
  const batch = new Batch(known.orders);
  const highestId = BigInt(highest[0]![0]!);
  const outcome = batch.placeAll(orders, highestId);
  if (outcome.refusal !== undefined) return outcome;
  return { placed: outcome.placed, batch, revisions: known.revisions, highestId };
}

type Worked = Extract<Awaited<ReturnType<typeof workOut>>, { batch: Batch }>;

function write(session: Session, { source, orders }: ImportOrders, { batch, revisions }: Worked) {
  return [
    writeBatch(session, batch, revisions),
    session.write(SQL.advance, [orders.length, source]),
  ] as const;
}

const HIGHEST_ID =
  'greatest((SELECT max(id) FROM orders), (SELECT max(highest_id) FROM imports), 0)';

const SQL = {
  highestId: { text: `SELECT ${HIGHEST_ID}` },
  inTurn: { text: 'SELECT FROM imports WHERE source = $1 AND run = $2' },
  // Undoes all if the run is no longer in turn, or somebody else has taken or reserved ids.
  guard: {
    text: `SELECT 1 / (EXISTS (SELECT FROM imports WHERE source = $1 AND run = $2)
      AND ${HIGHEST_ID} = $3)::integer`,
  },
  advance: { text: 'UPDATE imports SET placed = placed + $1 WHERE source = $2' },
} as const;
