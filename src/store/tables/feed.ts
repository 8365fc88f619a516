import { BEGINNING, type Position } from '../../../protocol/history.ts';
import { changeOf, type OrderChange } from '../../domain/change.ts';
import { type Head, headText } from '../../domain/heads.ts';
import { type Store, StoreUnavailable } from '../store.ts';
import { HEADS_NOT_COMPUTED } from './heads.ts';
import { eventFromRow, laterFromRow, ORDER_WIDTH, orderFromRow } from './orders.ts';
import { type Column, number, type Row, type StoreReads } from './session.ts';
import { readRevisionAt } from './store-row.ts';

/**
 * Reads the columns of the order, of the event (revision, type, at, by), of the event after it if that placed the order (type,
 * ship_date_before, complete_before), the time at which the order was placed if the event did not, and the head.
 */
export function changeFromRow(row: Row): OrderChange {
  const event = eventFromRow(row.slice(ORDER_WIDTH));
  const later = laterFromRow(row.slice(ORDER_WIDTH + 4));
  const [placedAt, head] = row.slice(ORDER_WIDTH + 7);
  const change = changeOf(orderFromRow(row), event, {
    later,
    placedAt: number(placedAt) ?? event.at,
  });
  return { ...change, head: headFromColumn(head) };
}

/**
 * Reads the columns revision and head of the table store.
 * @throws StoreUnavailable if the heads of the store have not been computed
 */
export function positionFromColumns([revision, head]: Row): Position {
  const text = headFromColumn(head);
  if (text === undefined) throw new StoreUnavailable(HEADS_NOT_COMPUTED, 'schema');
  return { revision: revision as bigint, head: text };
}

export const readPositionBefore: StoreReads<Store>['positionBefore'] = async (session, time) => {
  const revision = await readRevisionAt(session, time - 1);
  if (revision === 0n) return BEGINNING;
  const [[head] = []] = await session.query(HEAD, [revision]);
  return positionFromColumns([revision, head!]);
};

/** Only the last event of a revision counts: others can have a head only if it was written by hand. */
export const HEAD = `SELECT head FROM order_events WHERE revision = $1 AND head IS NOT NULL
  ORDER BY order_id DESC, type = 'placed' LIMIT 1`;

/** Reads a column that is NULL or a head. */
export function headFromColumn(head: Column | undefined): string | undefined {
  return head === null || head === undefined ? undefined : headText(head as Head);
}
