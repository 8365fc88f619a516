import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OrderEventType } from './lifecycle.ts';
import { type Order, type OrderRecord, orderRecordJson } from './order.ts';
import { formatTimestamp } from './timestamp.ts';

/** A change of an order: an event of its history, with the whole order as it was after it. */
export interface OrderChange {
  readonly type: OrderEventType;
  /** Id of the API key that made the change; undefined for operators. */
  readonly by: string | undefined;
  /** Its `revision` and `updatedAt` are those of the change. */
  readonly order: OrderRecord;
}

/** The event after the first one of an order: an order that is not pending never changes again. */
export interface LaterEvent {
  readonly type: OrderEventType;
  /** What a shipment has overwritten; undefined without a value, and if it was not recorded. */
  readonly shipDateBefore: number | undefined;
  readonly completeBefore: boolean | undefined;
}

/**
 * Returns an order as it was after one of its events.
 * @param current the order as it is now
 * @param later the event after that one; undefined if there was none
 */
export function orderAfter(current: Order, later: LaterEvent | undefined): Order {
  if (later === undefined) return current;
  if (later.type !== 'shipped') return { ...current, status: 'pending' };
  const { shipDateBefore: shipDate, completeBefore: complete } = later;
  return { ...current, status: 'pending', shipDate, complete };
}

/**
 * Returns a change of an order.
 * @param current the order as it is now
 * @param event the change
 * @param later the event after that one; undefined if there was none
 */
export function changeOf(
  current: Order,
  event: Pick<OrderChange, 'type' | 'by'> & { readonly revision: bigint; readonly at: number },
  { later, placedAt }: { readonly later: LaterEvent | undefined; readonly placedAt: number },
): OrderChange {
  const { type, by, revision, at } = event;
  return { type, by, order: { ...orderAfter(current, later), placedAt, updatedAt: at, revision } };
}

const CHANGES_PER_TURN = 100;

/**
 * Formats changes, each as by `changeJson`. One revision can have thousands of them, so this takes several turns of the
 * event loop.
 */
export async function changesJson(changes: readonly OrderChange[]): Promise<string[]> {
  const records: string[] = [];
  for (let from = 0; from < changes.length; from += CHANGES_PER_TURN) {
    if (from > 0) await nextTurn();
    records.push(...changes.slice(from, from + CHANGES_PER_TURN).map(changeJson));
  }
  return records;
}

/** Formats a change as v2's Change record. */
export function changeJson({ type, by, order }: OrderChange): string {
  const at = formatTimestamp(order.updatedAt);
  const author = by === undefined ? '' : `"by":${JSON.stringify(by)},`;
  return `{"revision":${order.revision},"type":"${type}","at":"${at}",${author}"order":${orderRecordJson(order)}}`;
}
