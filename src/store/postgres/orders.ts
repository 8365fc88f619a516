import { Batch, type BatchCommand, lookupsOf } from '../../domain/batch.ts';
import type { KnownOrder } from '../../domain/lifecycle.ts';
import type { OrderId } from '../../domain/order.ts';
import { StoreUnavailable } from '../store.ts';
import { findOthers } from '../tables/carry-out.ts';
import { isLatestRun } from '../tables/imports.ts';
import { acknowledgementFrom } from '../tables/losses.ts';
import { ORDER_COLUMNS, ORDER_WIDTH, orderFromRow } from '../tables/orders.ts';
import type { Commands } from '../tables/session.ts';
import { expectNotMovedAway, readFreeIds, requireStoreRow } from '../tables/store-row.ts';
import { arrayOf } from './database/arrays.ts';
import { sqlState } from './database/errors.ts';
import type { Session } from './database/session.ts';
import { expectOnPrimary, ON_STANDBY } from './database/standby.ts';
import { inTransaction, waitForStandby } from './database/transaction.ts';
import { changeValues, writeBatch, writeStatement } from './write-batch.ts';

/**
 * Attempts to read, decide and write without a lock. If other nodes change what was read during each attempt, the batch runs under a lock that
 * excludes all other writers.
 */
const MAX_OPTIMISTIC_ATTEMPTS = 2;

/**
 * Carries out commands in two round trips: a read, and one statement that writes if nothing has changed since the
 * read. No lock is held while the node computes, so a node that stalls blocks no other.
 */
export async function changeOrders(session: Session, commands: readonly BatchCommand[]) {
  const outcomes = await unlessChanged(MAX_OPTIMISTIC_ATTEMPTS, async () => {
    const { batch, outcomesAt, isSynchronous } = await workOut(session, commands);
    // What a limited key has cancelled or placed is counted under the lock, and commands that can be repeated are recorded under it.
    if (batch.taken().length + batch.bulkRequests.length + batch.found.length > 0) return undefined;
    const revision = await writeBatch(session, batch);
    // The outcomes may depend on commits that the standby does not have: of a session that was ended while it waited for the standby.
    if (revision === 0n && isSynchronous) await waitForStandby(session);
    return outcomesAt(revision);
  });
  return outcomes ?? inTransaction(session, () => changeLockedOrders(session, commands));
}

/** Raised by store_orders_expect_unchanged (migration 006). */
const WAS_CHANGED = 'SO001';

/** Repeats `attempt`, `most` times at most, if a precondition checked in its SQL no longer held: then it has written nothing. Undefined in the end. */
async function unlessChanged<T>(most: number, attempt: () => Promise<T>): Promise<T | undefined> {
  for (let attempts = 0; attempts < most; attempts += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (sqlState(error) !== WAS_CHANGED) throw error;
    }
  }
  return undefined;
}

/** Carries out commands inside a transaction that excludes all other writers. */
export async function changeLockedOrders(session: Session, commands: readonly BatchCommand[]) {
  const { batch, outcomesAt } = await workOut(session, commands);
  return outcomesAt(await writeBatch(session, batch));
}

const REPLACED =
  'PostgreSQL: the store lacks orders that this node has placed: it was replaced beneath it';

/** Computes the outcomes of the commands for the current state of the store. */
async function workOut(session: Session, commands: readonly BatchCommand[]) {
  const { ids, ...lookups } = lookupsOf(commands);
  const [known, others] = await Promise.all([
    readKnown(session, ids),
    findOthers(session, lookups),
  ]);
  expectNotMovedAway(known.movedTo);
  const { freeIds } = others;
  if (freeIds !== undefined && freeIds.highest < session.highestGiven) {
    // The next session records the loss, and its ids leap, before it gives one.
    session.destroy();
    throw new StoreUnavailable(REPLACED, 'replaced');
  }
  const { orders, isSynchronous } = known;
  const batch = new Batch({ orders, ...others });
  return { batch, outcomesAt: batch.carryOutAll(commands), isSynchronous };
}

/** Attempts to place rows while other imports take ids, or orders change, concurrently. */
const MAX_IMPORT_ATTEMPTS = 50;

/**
 * Existing orders are read without a lock, and one statement writes everything. The server executes it only
 * once it has received all of it, so an import that is slow or stops while sending does not block other writers.
 */
export const importOrders: Commands<Session>['importOrders'] = async (session, command) => {
  const { source, run, orders, auditId } = command;
  const ids = orders.flatMap(({ id }) => id ?? []);
  const outcome = await unlessChanged(MAX_IMPORT_ATTEMPTS, async () => {
    const [isLatest, freeIds, known] = await Promise.all([
      isLatestRun(session, command),
      readFreeIds(session),
      readKnown(session, ids),
    ]);
    expectNotMovedAway(known.movedTo);
    if (!isLatest) return { refusal: 'out_of_turn' } as const;
    const batch = new Batch({ orders: known.orders, freeIds });
    const placed = batch.insertAll(orders);
    if (placed.refusal !== undefined) return placed;
    const claim = { source, run, highestId: freeIds.highest, count: orders.length };
    if (batch.changed.size === 0) await session.write(SQL.claim, Object.values(claim));
    else {
      const values = { ...changeValues(batch), ...claim, auditId };
      const [row] = await SQL.claimAndWrite(session, values);
      if (row !== undefined) session.written = acknowledgementFrom(row);
    }
    return placed;
  });
  if (outcome !== undefined) return outcome;
  throw new StoreUnavailable('other imports kept taking the next ids', 'locked');
};

/** Returns those of the orders that exist, where the store was moved to, or null, and whether commits wait for a standby. */
async function readKnown(session: Session, ids: readonly OrderId[]) {
  const rows = await session.query(SQL.read, [arrayOf(ids)]);
  const [movedTo, isSynchronous, onStandby] = requireStoreRow(rows[0]).slice(ORDER_WIDTH + 1);
  expectOnPrimary(onStandby);
  // If none of the orders exists, the LEFT JOIN returns one row without an order.
  const found = rows.filter(([id]) => id !== null);
  const orders = found.map(
    (row): KnownOrder => ({ order: orderFromRow(row), revision: row[ORDER_WIDTH] as bigint }),
  );
  return { orders, movedTo, isSynchronous: isSynchronous === 1n };
}

const SQL = {
  read: `SELECT known.*, store.moved_to, current_setting('synchronous_standby_names') <> '',
      ${ON_STANDBY} FROM store LEFT JOIN
      (SELECT ${ORDER_COLUMNS}, revision FROM orders WHERE id = ANY ($1::bigint[])) AS known ON true`,
  claim: 'SELECT store_orders_claim_import($1, $2, $3, $4)',
  claimAndWrite: writeStatement({
    claim: 'store_orders_claim_import(:source, :run, :highestId, :count)',
    parts: `,
      recorded AS (INSERT INTO operator_revisions SELECT turn.revision, :auditId FROM turn)`,
  }),
} as const;
