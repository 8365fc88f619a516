import type { ChangeResult } from '../../protocol/generated/records.ts';
import {
  functionOf,
  idempotencyKeyOf,
  int64Text,
  plainObject,
  text,
  timeText,
} from './arguments.ts';
import { stringify } from './exact-json.ts';
import { type Reply, requestOf } from './request.ts';
import { changed } from './retries.ts';
import { type CallOptions, harmless, type Settings } from './settings.ts';
import { areResultsOf } from './shapes.ts';

/** An order to change, under conditions. */
interface OrderToChange {
  readonly id: bigint;
  /** The ETag that the order must have. */
  readonly etag?: string | undefined;
  /** The reference that the order must have. */
  readonly reference?: string | undefined;
}

export interface OrderToCancel extends OrderToChange {
  /** Why it is cancelled; see the contract for recommended values. */
  readonly reason?: string | undefined;
}

export interface OrderToShip extends OrderToChange {
  /** The carrier's number of the shipment. */
  readonly trackingNumber?: string | undefined;
}

export interface ChangeOrdersOptions extends CallOptions {
  /** Whether either all orders are changed or none; of up to 1,000 orders. */
  readonly atomic?: boolean | undefined;
  /**
   * Identifies the call; a new key by default. Store it before the call, so that the call can be repeated after a crash, with the
   * same orders.
   */
  readonly idempotencyKey?: string | undefined;
  /** Called after each request, with the results so far: one for each order that was tried. */
  readonly onProgress?: ((results: readonly ChangeResult[]) => void) | undefined;
}

/** Maximum number of orders in a request. */
const MOST = 1_000;
/** Maximum length of the orders in a request. */
const MOST_LENGTH = 500_000;

/** The fields of an order to change that are texts. */
const TEXTS = {
  cancelOrders: ['etag', 'reference', 'reason'],
  shipOrders: ['etag', 'reference', 'trackingNumber'],
} as const;

/** See StoreOrders.cancelOrders and shipOrders. */
export async function changeOrders(
  settings: Settings,
  operation: keyof typeof TEXTS,
  orders: Iterable<bigint | OrderToCancel | OrderToShip>,
  options: ChangeOrdersOptions & { readonly shippedAt?: Date | string | undefined },
): Promise<ChangeResult[]> {
  const all = [...orders].map((each) => (typeof each === 'object' ? each : { id: each }));
  const bodies = all.map((order) => orderJson(order, TEXTS[operation]));
  const ids = new Set(all.map(({ id }) => id));
  if (ids.size < all.length) throw new TypeError('an order is there twice');
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
  for (const [index, { from, to }] of partsOf(bodies).entries()) {
    const part = all.slice(from, to).map(({ id }) => id);
    const request = requestOf(operation, {
      body: `{${[`"orders":[${bodies.slice(from, to).join()}]`, ...rest].join()}}`,
      // Each part is a request of its own.
      headers: { 'idempotency-key': keyOfPart(key, index) },
      isMeant: (found) => areResultsOf(found, part),
    });
    const read = (reply: Reply<typeof operation>) => reply.record();
    const found = await changed(settings, options, request, read, { idempotencyKey: key });
    results.push(...found.results);
    tell([...results]);
  }
  return results;
}

/** Divides orders into requests, by their number and by the length of the bodies in UTF-16 units; one unit takes up to 3 bytes. */
function partsOf(bodies: readonly string[]): { readonly from: number; readonly to: number }[] {
  const parts: { from: number; to: number }[] = [];
  let length = 0;
  for (const [index, { length: own }] of bodies.entries()) {
    const last = parts.at(-1);
    if (last === undefined || last.to - last.from === MOST || length + own > MOST_LENGTH) {
      parts.push({ from: index, to: index + 1 });
      length = own;
    } else {
      last.to = index + 1;
      length += own + 1;
    }
  }
  return parts;
}

/** @throws TypeError for a key that is too long */
function keyOfPart(key: string, part: number): string {
  return part === 0 ? key : idempotencyKeyOf(`${key.replaceAll('"', '')}.${part}`);
}

function orderJson(order: OrderToCancel | OrderToShip, names: readonly string[]): string {
  plainObject(order, 'an order');
  const { id, ...texts } = order;
  int64Text(id, 'id');
  for (const [name, value] of Object.entries(texts)) {
    // A misspelt condition must not be ignored.
    if (!names.includes(name)) throw new TypeError(`an order to change has no field ${name}`);
    text(value, name);
  }
  return stringify({ id, ...texts });
}
