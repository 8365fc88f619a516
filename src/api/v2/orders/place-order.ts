import { hash } from 'node:crypto';
import type { NewOrder } from '../../../../protocol/generated/records.ts';
import type { OrderRecord } from '../../../domain/order.ts';
import type { PlaceOrderCommand, RequestName } from '../../../domain/placement.ts';
import { refuse } from '../../../http/request/reply.ts';
import { operation } from '../../operation.ts';
import { failsPrecondition } from '../../preconditions.ts';
import { limitReached } from '../../submit.ts';
import { changedReply } from '../replies.ts';
import { timeOf } from './filters.ts';
import { idempotencyKeyOf } from './idempotency-key.ts';

/**
 * POST /store/orders: 201 once the order is durable; the same response for a repetition with the same Idempotency-Key
 * and body. 200 with the order as it is now if the API key has placed it before with the same reference and content.
 */
export const placeOrder = operation('placeOrder', async (call, { store, submit, basePath }) => {
  const idempotencyKey = idempotencyKeyOf(call.request);
  if (idempotencyKey === undefined) return refuse('idempotency_key_missing');
  if (failsPrecondition(call.request, true)) return refuse('precondition_failed');
  const { id: by, placesPerHour } = call.key;
  const command = { ...commandFor(call.body, { by, idempotencyKey }), placesPerHour };
  const outcome = await submit(call, command);
  if (outcome.refusal === 'place_limit_reached') {
    return limitReached(outcome.refusal, outcome.retryAt);
  }
  if (outcome.refusal !== undefined) return refuse(outcome.refusal);
  const { id, isReplay } = outcome;
  const headers = [
    ...['location', `${basePath}/store/orders/${id}`],
    ...(isReplay ? ['idempotent-replayed', 'true'] : []),
  ];
  if (outcome.revision === undefined) {
    const [order] = await store.orders([id]);
    return changedReply(200, order!, headers);
  }
  const { at, revision } = outcome;
  const order: OrderRecord = { ...command.draft, id, placedAt: at, updatedAt: at, revision };
  return changedReply(201, order, headers);
});

function commandFor(
  { petId, quantity, shipDate: text, reference }: NewOrder,
  { by, idempotencyKey }: RequestName,
): PlaceOrderCommand {
  const shipDate = timeOf(text);
  const content = [petId, quantity, shipDate, ...(reference === undefined ? [] : [reference])];
  const digest = hash('sha256', content.join(' '), 'base64url');
  const draft = {
    petId,
    quantity,
    shipDate,
    complete: false,
    status: 'pending',
    reference,
  } as const;
  return { type: 'placeOrder', draft, by, idempotencyKey, digest };
}
