import { createHash } from 'node:crypto';
import type { OrderRecord } from '../../domain/order.ts';
import type { PlaceOrderCommand } from '../../domain/placement.ts';
import { parseTimestamp } from '../../domain/timestamp.ts';
import type { Contract } from '../../http/contract/contract.ts';
import { inTime } from '../../http/request/deadline.ts';
import type { RouteHandler } from '../../http/request/exchange.ts';
import { sendError, sendProblems } from '../../http/request/responses.ts';
import type { Store } from '../../store/store.ts';
import { failsPrecondition } from '../preconditions.ts';
import { type Submit, submitInTime } from '../submit.ts';
import { idempotencyKeyOf, MALFORMED_IDEMPOTENCY_KEY } from './idempotency-key.ts';
import { sendChanged } from './responses.ts';

/** The body. */
interface NewOrder {
  readonly petId: bigint;
  readonly quantity: bigint;
  /** RFC 3339. */
  readonly shipDate?: string;
  readonly reference?: string;
}

/**
 * POST /store/orders: 201 once the order is durable; the same response for a repetition with the same Idempotency-Key
 * and body. 200 with the order as it is now if the API key has placed it before with the same reference and content.
 * @param ordersPath path of the orders, for Location
 */
export function placeOrder(
  contract: Contract,
  { store, submit }: { readonly store: Store; readonly submit: Submit },
  ordersPath: string,
): RouteHandler {
  return contract.validated<object, NewOrder>('placeOrder', async (exchange, { body }) => {
    const idempotencyKey = idempotencyKeyOf(exchange.request);
    if (idempotencyKey === undefined) {
      sendError(exchange, 'idempotency_key_missing');
      return;
    }
    if (idempotencyKey === 'malformed') {
      sendProblems(exchange, 'parameter_invalid', [MALFORMED_IDEMPOTENCY_KEY]);
      return;
    }
    if (failsPrecondition(exchange.request, true)) {
      sendError(exchange, 'precondition_failed');
      return;
    }
    const command = commandFor(body, {
      by: exchange.apiKey!.id,
      idempotencyKey: idempotencyKey.key,
    });
    const outcome = await submitInTime(exchange, submit, command);
    if (outcome.refusal !== undefined) {
      sendError(exchange, outcome.refusal);
      return;
    }
    const { id, isReplay } = outcome;
    const headers = [
      ...['location', `${ordersPath}/${id}`],
      ...(isReplay ? ['idempotent-replayed', 'true'] : []),
    ];
    if (outcome.revision === undefined) {
      const [order] = await inTime(exchange, () => store.orders([id]));
      sendChanged(exchange, 200, order!, headers);
    } else {
      const { at, revision } = outcome;
      const order: OrderRecord = { ...command.draft, id, placedAt: at, updatedAt: at, revision };
      sendChanged(exchange, 201, order, headers);
    }
  });
}

function commandFor(
  { petId, quantity, shipDate: text, reference }: NewOrder,
  { by, idempotencyKey }: Pick<PlaceOrderCommand, 'by' | 'idempotencyKey'>,
): PlaceOrderCommand {
  const shipDate = text === undefined ? undefined : parseTimestamp(text)!;
  // Without a reference, the digest is that of releases that did not have them.
  const content = [petId, quantity, shipDate, ...(reference === undefined ? [] : [reference])];
  const digest = createHash('sha256').update(content.join(' ')).digest('base64url');
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
