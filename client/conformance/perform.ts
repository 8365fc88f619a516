import type * as Library from '../src/client.ts';
import type { Call, Perform, Result } from './play.ts';

/** The arguments of all methods. */
interface Arguments extends Call {
  readonly petId: string;
  readonly quantity: string;
  readonly id: string;
  readonly ifMatch?: string;
  readonly reason?: string;
  readonly trackingNumber?: string;
  readonly idempotencyKey?: string;
  readonly retries?: number;
  readonly timeoutMs?: number;
  readonly abortAfterMs?: number;
  readonly repeatIfUnknown?: boolean;
  readonly after: string;
  readonly of: readonly string[];
  readonly count: number;
}

/** Makes calls of the suite with the client library. */
export function performer(library: typeof Library): Perform {
  return async (call, { url, key }) => {
    const store = new library.StoreOrders({ baseUrl: url, apiKey: key, gapTimeoutMs: 2_000 });
    const given = call as Arguments;
    try {
      return await made(store, given);
    } catch (error) {
      if (error instanceof library.UnknownOutcomeError && given.repeatIfUnknown) {
        const { timeoutMs: _, ...again } = given;
        return made(store, { ...again, idempotencyKey: error.idempotencyKey! });
      }
      return failure(library, error);
    }
  };
}

async function made(store: Library.StoreOrders, given: Arguments): Promise<Result> {
  const {
    method,
    ifMatch,
    reason,
    trackingNumber,
    idempotencyKey,
    retries,
    timeoutMs,
    abortAfterMs,
  } = given;
  const signal = abortAfterMs === undefined ? undefined : AbortSignal.timeout(abortAfterMs);
  const options = { retries, timeoutMs, signal };
  switch (method) {
    case 'placeOrder': {
      const order = { petId: BigInt(given.petId), quantity: BigInt(given.quantity) };
      return success(await store.placeOrder(order, { ...options, idempotencyKey }));
    }
    case 'cancelOrder':
      return success(await store.cancelOrder(BigInt(given.id), { ...options, ifMatch, reason }));
    case 'shipOrder':
      return success(
        await store.shipOrder(BigInt(given.id), { ...options, ifMatch, trackingNumber }),
      );
    case 'v1.cancelOrder':
      await store.v1.cancelOrder(BigInt(given.id), options);
      return { result: 'success' };
    case 'getOrder':
      return success(await store.getOrder(BigInt(given.id), options));
    case 'listOrders':
      await store.listOrders({}, options);
      return { result: 'success' };
    case 'changes':
      return { result: 'success', changes: await firstChanges(store, given) };
    default:
      throw new Error(`there is no method ${method}`);
  }
}

async function firstChanges(store: Library.StoreOrders, { after, of, count }: Arguments) {
  const found: [type: string, id: string][] = [];
  for await (const { changes } of store.changes({ after })) {
    for (const { type, order } of changes) found.push([type, String(order.id)]);
    const own = found.filter(([, id]) => of.includes(id));
    if (own.length >= count) return own;
  }
  return found;
}

/** With ids as strings. */
function success(order: Library.OrderRecord): Result {
  const withText = (_key: string, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value;
  return { result: 'success', order: JSON.parse(JSON.stringify(order, withText)) };
}

function failure(library: typeof Library, error: unknown): Result {
  if (error instanceof library.UnknownOutcomeError) {
    return { result: 'unknown', hasIdempotencyKey: error.idempotencyKey !== undefined };
  }
  if (error instanceof library.ConnectionError) {
    return { result: error.nothingSent ? 'not sent' : 'failed' };
  }
  if (error instanceof library.UnavailableError) return { result: 'failed' };
  if (error instanceof library.ResponseError) return { result: 'refused', code: error.code };
  if (error instanceof library.HistoryMismatchError) return { result: 'altered' };
  if (error instanceof TypeError) return { result: 'misuse' };
  throw error;
}
