import {
  functionOf,
  idempotencyKeyOf,
  int64Text,
  plainObject,
  text,
  timeText,
} from './arguments.ts';
import { calling } from './call.ts';
import type { ChangeResult, ChangeResults } from './records.ts';
import { send } from './request.ts';
import { repeatedChange } from './retries.ts';
import { type CallOptions, harmless, type Settings } from './settings.ts';
import { isChangeResults } from './shapes.ts';

/** An order that is to be changed, under conditions. */
export interface OrderToChange {
  readonly id: bigint;
  /** The ETag that the order must still have. */
  readonly etag?: string | undefined;
  /** The reference that the order must have. */
  readonly reference?: string | undefined;
}

export interface ChangeOrdersOptions extends CallOptions {
  /** Whether either all orders are changed or none; of up to 1,000 orders. */
  readonly atomic?: boolean | undefined;
  /**
   * Identifies the call; a new key by default. Store it before the call, so that the call can be repeated after a crash, with the
   * same orders.
   */
  readonly idempotencyKey?: string | undefined;
  /** Called after each request, with the results so far, of which there are as many as orders were tried. */
  readonly onProgress?: ((results: readonly ChangeResult[]) => void) | undefined;
}

/** Maximum number of orders in a request. */
const MOST = 1_000;

const OPERATIONS = {
  cancelOrders: '/v2/store/cancellations',
  shipOrders: '/v2/store/shipments',
} as const;

/** See StoreOrders.cancelOrders and shipOrders. */
export async function changeOrders(
  settings: Settings,
  operation: keyof typeof OPERATIONS,
  orders: Iterable<bigint | OrderToChange>,
  options: ChangeOrdersOptions & { readonly shippedAt?: Date | string | undefined },
): Promise<ChangeResult[]> {
  const all = [...orders].map((each) => (typeof each === 'object' ? each : { id: each }));
  const bodies = all.map(orderJson);
  const { atomic = false } = options;
  if (atomic && all.length > MOST) throw new TypeError(`atomic changes have up to ${MOST} orders`);
  const key = idempotencyKeyOf(options.idempotencyKey);
  const shippedAt = timeText(options.shippedAt, 'shippedAt');
  const tell = harmless(functionOf(options.onProgress, 'onProgress'));
  const rest = [
    ...(atomic ? ['"atomic":true'] : []),
    ...(shippedAt === undefined ? [] : [`"shippedAt":${JSON.stringify(shippedAt)}`]),
  ];
  const results: ChangeResult[] = [];
  for (let from = 0; from < all.length; from += MOST) {
    const part = bodies.slice(from, from + MOST);
    const request = {
      operation,
      method: 'POST',
      path: OPERATIONS[operation],
      expects: [200],
      body: `{${[`"orders":[${part.join()}]`, ...rest].join()}}`,
      // Parts are requests of their own.
      headers: { 'idempotency-key': keyOfPart(key, from / MOST) },
    } as const;
    const isValid = (found: ChangeResults) =>
      isChangeResults(
        found,
        all.slice(from, from + MOST).map(({ id }) => id),
      );
    const { results: found } = await calling(settings, options, (call) =>
      repeatedChange<ChangeResults>(call, {
        idempotencyKey: key,
        attempt: () => send(call, request, (reply) => reply.record<ChangeResults>(isValid)),
        resultIn: () => undefined,
      }),
    );
    results.push(...found);
    tell([...results]);
  }
  return results;
}

/** @throws TypeError for a key that is too long */
function keyOfPart(key: string, part: number): string {
  return part === 0 ? key : idempotencyKeyOf(`${key.replaceAll('"', '')}.${part}`);
}

function orderJson(order: OrderToChange): string {
  plainObject(order, 'an order');
  const etag = text(order.etag, 'etag');
  const reference = text(order.reference, 'reference');
  const fields = [
    `"id":${int64Text(order.id, 'id')}`,
    ...(etag === undefined ? [] : [`"etag":${JSON.stringify(etag)}`]),
    ...(reference === undefined ? [] : [`"reference":${JSON.stringify(reference)}`]),
  ];
  return `{${fields.join()}}`;
}
