import { Batch, type BatchCommand, lookupsOf } from '../../domain/batch.ts';
import type { KnownOrder } from '../../domain/lifecycle.ts';
import type { OrderId } from '../../domain/order.ts';
import { recordOperator } from '../tables/audit.ts';
import { findOthers } from '../tables/carry-out.ts';
import { isLatestRun } from '../tables/imports.ts';
import { ORDER_COLUMNS, ORDER_WIDTH, orderFromRow } from '../tables/orders.ts';
import type { Commands } from '../tables/session.ts';
import { readFreeIds } from '../tables/store-row.ts';
import { jsonArray, type Session } from './database/session.ts';
import { writeBatch } from './write-batch.ts';

/** Returns those of the orders that exist, with their revisions. */
function findKnown(session: Session, ids: readonly OrderId[]): KnownOrder[] {
  if (ids.length === 0) return [];
  const [sql, values] = ids.length === 1 ? [SQL.findOne, ids] : [SQL.find, [jsonArray(ids)]];
  return session.query(sql, values).map((row) => ({
    order: orderFromRow(row),
    revision: row[ORDER_WIDTH] as bigint,
  }));
}

/** Carries out commands inside a transaction. */
export async function changeOrders(session: Session, commands: readonly BatchCommand[]) {
  const { ids, ...others } = lookupsOf(commands);
  const orders = findKnown(session, ids);
  // Most batches need orders alone, and do not wait.
  const isMore = Object.values(others).some((names) => names.length > 0);
  const batch = new Batch(isMore ? { orders, ...(await findOthers(session, others)) } : { orders });
  const outcomesAt = batch.carryOutAll(commands);
  return outcomesAt(await writeBatch(session, batch));
}

/** Inside a transaction. */
export const importOrders: Commands<Session>['importOrders'] = async (session, command) => {
  const { source, orders, auditId } = command;
  if (!(await isLatestRun(session, command))) return { refusal: 'out_of_turn' };
  const ids = orders.flatMap(({ id }) => id ?? []);
  const freeIds = await readFreeIds(session);
  const batch = new Batch({ orders: findKnown(session, ids), freeIds });
  const outcome = batch.insertAll(orders);
  if (outcome.refusal !== undefined) return outcome;
  const revision = await writeBatch(session, batch);
  if (revision > 0n) await recordOperator(session, { first: revision, last: revision }, auditId);
  session.write(SQL.advance, [orders.length, source]);
  return outcome;
};

const SQL = {
  // One statement for several ids takes half the time of one for each, but almost twice the time for a single id.
  findOne: `SELECT ${ORDER_COLUMNS}, revision FROM orders WHERE id = ?`,
  find: `SELECT ${ORDER_COLUMNS}, orders.revision FROM json_each(?) AS asked
    CROSS JOIN orders ON orders.id = asked.value`,
  advance: 'UPDATE imports SET placed = placed + ? WHERE source = ?',
} as const;
