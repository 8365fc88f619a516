import type { OrderRecord } from '../../../../protocol/generated/records.ts';
import type { ChangeCommand, ChangeResult } from '../../../domain/bulk.ts';
import type { Refusal } from '../../../http/error-records.ts';
import {
  type ErrorReply,
  type Reply,
  refuse,
  refuseWithOrder,
} from '../../../http/request/reply.ts';
import { orderEtag } from '../../../records/etags.ts';
import { orderRecordJson } from '../../../records/order-json.ts';
import { orderWithHistory } from '../../../store/store.ts';
import type { Call, Services } from '../../operation.ts';
import { expectStrong, requiredRevision } from '../../preconditions.ts';
import { limitReached } from '../../submit.ts';
import { changedReply } from '../replies.ts';

/** Carries out a command on one order under If-Match; replies with the order, or the reason why it was not changed. */
export async function changeOrder(
  call: Call,
  services: Services,
  command: ChangeCommand,
): Promise<Reply<OrderRecord> | ErrorReply> {
  const { request } = call;
  const { store, submit } = services;
  const { id } = command;
  expectStrong(request);
  const reading = requiredRevision(request, store, id);
  const ifRevision = reading && (await reading);
  const outcome = await submit(call, { ...command, ifRevision });
  if (typeof outcome === 'object') return limitReached(outcome.refusal, outcome.retryAt);
  if (outcome === 'cancelled' || outcome === 'shipped') {
    // The order is still as the command left it: an order that is not pending never changes again.
    const [order] = await store.orders([id]);
    return changedReply(200, order!);
  }
  const refusal = refusalOf(command.type, outcome as ChangeResult);
  const isMade = refusal === 'cancel_already_cancelled' || refusal === 'ship_already_shipped';
  return isMade ? conflict(call, services, { id, refusal }) : refuse(refusal);
}

/** Returns why a cancel or a shipment did not change an order. */
export function refusalOf(type: 'cancel' | 'ship', result: ChangeResult): Refusal {
  switch (result) {
    // Shipped before, with the same command.
    case 'unchanged':
    case 'order_already_shipped':
      return type === 'ship' ? 'ship_already_shipped' : 'order_already_shipped';
    case 'order_already_cancelled':
      return type === 'ship' ? 'ship_already_cancelled' : 'cancel_already_cancelled';
    case 'order_not_found':
    case 'order_changed':
    case 'reference_differs':
    case 'cancel_limit_reached':
      return result;
    default:
      throw new Error(`unexpected outcome of ${type}: "${result}"`);
  }
}

/**
 * The error for a change that was already made. It includes the order if the same API key made the change, so that a client whose response was
 * lost gets it, even with a key that may not read orders.
 */
async function conflict(
  { key }: Call,
  { store }: Services,
  { id, refusal }: { readonly id: bigint; readonly refusal: Refusal },
): Promise<ErrorReply> {
  const found = await orderWithHistory(store, id);
  // An order that is not pending never changes again: its last event is the cancellation or shipment.
  if (found === undefined || found.events.at(-1)?.by !== key.id) return refuse(refusal);
  const { order } = found;
  return refuseWithOrder(refusal, orderRecordJson(order), ['etag', orderEtag(order)]);
}
