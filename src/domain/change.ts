import type { OrderEventType } from './lifecycle.ts';
import type { Order, OrderRecord } from './order.ts';

/** A change of an order: an event of its history, with the whole order as it was after it. */
export interface OrderChange {
  readonly type: OrderEventType;
  /** Id of the API key that made the change; undefined for operators. */
  readonly by: string | undefined;
  /** Its `revision` and `updatedAt` are those of the change. */
  readonly order: OrderRecord;
  /** The head of the revision; only the last change of a revision has it. */
  readonly head?: string | undefined;
}

/** The event after the first one of an order: an order that is not pending never changes again. */
export interface LaterEvent {
  readonly type: OrderEventType;
  /** The ship date that a shipment has overwritten; undefined if the order had none, or if it was not recorded. */
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
  const pending = { ...current, ...PENDING };
  if (later.type !== 'shipped') return pending;
  const { shipDateBefore: shipDate, completeBefore: complete } = later;
  return { ...pending, shipDate, complete };
}

const PENDING = { status: 'pending', reason: undefined, trackingNumber: undefined } as const;

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
