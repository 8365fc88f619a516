import { Batch, type BatchCommand, lookupsOf, type OrderOutcome } from '../../orders/batch.ts';
import type { KnownOrder } from '../../orders/lifecycle.ts';
import type { Order, OrderId } from '../../orders/order.ts';
import type { PlaceOrderOutcome } from '../../orders/placement.ts';
import { expectNotMovedAway } from '../tables.ts';
import { findCancelUses } from './cancel-uses.ts';
import { sqlState, WAS_CHANGED } from './errors.ts';
import { ORDER_COLUMNS, orderFromRow } from './order-row.ts';
import { findPlacements } from './placements.ts';
import type { Session } from './session.ts';
import { present, readFreeIds } from './store-row.ts';
import { inTransaction } from './transaction.ts';
import { arrayOf } from './values.ts';
import { writeBatch } from './write-batch.ts';

/** Returns those of the orders that exist. */
export async function findOrders(session: Session, ids: readonly OrderId[]): Promise<Order[]> {
  const { orders } = await readOrders(session, ids);
  const found = new Map(orders.map(({ order }) => [order.id, order]));
  return ids.flatMap((id) => found.get(id) ?? []);
}

/**
 * Attempts to read, decide and write without a lock. If other nodes change what was read during each attempt, the
 * batch is carried out under a lock that excludes all other writers.
 */
const MAX_OPTIMISTIC_ATTEMPTS = 2;

type Outcomes = (OrderOutcome | PlaceOrderOutcome)[];

/**
 * Carries out commands in two round trips: a read, and one statement that writes if nothing has changed since the
 * read. No lock is held while the node computes, so a node that stalls blocks no other.
 */
export async function changeOrders(
  session: Session,
  commands: readonly BatchCommand[],
): Promise<Outcomes> {
  for (let attempt = 1; attempt <= MAX_OPTIMISTIC_ATTEMPTS; attempt += 1) {
    const { batch, outcomesAt } = await workOut(session, commands);
    // The cancels of a limited key are counted under the lock.
    if ([...batch.allowances.values()].some(({ taken }) => taken > 0)) break;
    try {
      return outcomesAt(await writeBatch(session, batch));
    } catch (error) {
      if (!isGuardError(error)) throw error;
    }
  }
  return inTransaction(session, () => changeLockedOrders(session, commands));
}

/** Carries out commands inside a transaction that excludes all other writers. */
export async function changeLockedOrders(
  session: Session,
  commands: readonly BatchCommand[],
): Promise<Outcomes> {
  const { batch, outcomesAt } = await workOut(session, commands);
  return outcomesAt(await writeBatch(session, batch));
}

/** Computes the outcomes of the commands for the current state of the store. */
async function workOut(session: Session, commands: readonly BatchCommand[]) {
  const { ids, placements, limitedKeys } = lookupsOf(commands);
  const [known, found, cancelUses, freeIds] = await Promise.all([
    readOrders(session, ids),
    findPlacements(session, placements),
    findCancelUses(session, limitedKeys),
    placements.length === 0 ? undefined : readFreeIds(session),
  ]);
  expectNotMovedAway(known.movedTo);
  const batch = new Batch({
    ...{ orders: known.orders, placements: found, cancelUses },
    ...(freeIds !== undefined && { freeIds }),
  });
  return { batch, outcomesAt: batch.carryOutAll(commands) };
}

/** Returns whether a statement failed because a precondition checked in its SQL no longer held. */
export function isGuardError(error: unknown): boolean {
  return sqlState(error) === WAS_CHANGED;
}

/** Orders as read. */
export interface KnownOrders {
  readonly orders: readonly KnownOrder[];
  /** Label of the database that the store was moved to, or null. */
  readonly movedTo: string | null;
}

export async function readOrders(session: Session, ids: readonly OrderId[]): Promise<KnownOrders> {
  const rows = await session.query(SQL.read, [arrayOf(ids)]);
  const movedTo = present(rows[0])[7]!;
  // If none of the orders exists, the LEFT JOIN returns one row without an order.
  const found = rows.filter(([id]) => id !== null);
  const orders = found.map((row) => ({ order: orderFromRow(row), revision: BigInt(row[6]!) }));
  return { orders, movedTo };
}

const SQL = {
  read: {
    name: 'read',
    text: `SELECT known.*, store.moved_to FROM store LEFT JOIN
      (SELECT ${ORDER_COLUMNS}, revision FROM orders WHERE id = ANY ($1::bigint[])) AS known ON true`,
  },
} as const;
