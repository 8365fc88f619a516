import { createHash } from 'node:crypto';
import {
  type BulkCommand,
  type ChangeCommand,
  type ChangeResult,
  isDone,
} from '../../domain/bulk.ts';
import type { OrderId, OrderRecord } from '../../domain/order.ts';
import { errorResponse, type RequestProblem } from '../../http/errors.ts';
import { matchesIfMatch } from '../../http/request/conditional.ts';
import { inTime } from '../../http/request/deadline.ts';
import type { Exchange } from '../../http/request/exchange.ts';
import { send, sendError, sendProblems } from '../../http/request/responses.ts';
import { orderEtag } from '../../records/etags.ts';
import { orderRecordJson } from '../../records/order-json.ts';
import type { Store } from '../../store/store.ts';
import { secondsUntil, sendCancelLimitReached } from '../cancel-limit.ts';
import { failsPrecondition, NO_REVISION } from '../preconditions.ts';
import type { SubmitMany } from '../submit.ts';
import { refusalOf } from './errors.ts';
import { MALFORMED_IDEMPOTENCY_KEY, optionalIdempotencyKeyOf } from './idempotency-key.ts';
import { NOT_STORED } from './responses.ts';

/** The body of cancelOrders and shipOrders. */
export interface OrdersToChange {
  readonly orders: readonly {
    readonly id: OrderId;
    readonly etag?: string;
    readonly reference?: string;
  }[];
  /** false by default */
  readonly atomic?: boolean;
}

/**
 * Carries out commands on several orders in one transaction, and sends the result of each. With an Idempotency-Key, a repetition
 * gets the same results.
 * @param changeOf returns the command for an order
 * @param content what the request says beyond its orders, for the digest of a repeatable one
 */
export async function changeOrders(
  exchange: Exchange,
  { store, submit }: { readonly store: Store; readonly submit: SubmitMany },
  { orders, atomic = false }: OrdersToChange,
  {
    changeOf,
    content,
  }: { readonly changeOf: (id: OrderId) => ChangeCommand; readonly content: string },
): Promise<void> {
  const key = optionalIdempotencyKeyOf(exchange.request);
  if (key === 'malformed') {
    sendProblems(exchange, 'parameter_invalid', [MALFORMED_IDEMPOTENCY_KEY]);
    return;
  }
  const repeated = repeatedIds(orders);
  if (repeated.length > 0) {
    sendProblems(exchange, 'body_invalid', repeated);
    return;
  }
  if (failsPrecondition(exchange.request, false)) {
    sendError(exchange, 'precondition_failed');
    return;
  }
  const revisions = await inTime(exchange, () => revisionsOf(store, orders));
  const changes = orders.map(({ id, reference }) => ({
    ...changeOf(id),
    ifRevision: revisions.get(id),
    ifReference: reference,
  }));
  const names = orders.map(({ id, etag, reference }) => [String(id), etag, reference]);
  const asked = JSON.stringify([content, atomic, names]);
  const command: BulkCommand = {
    ...({ type: 'bulk', changes, isAtomic: atomic } as const),
    repeatable: key && {
      by: exchange.apiKey!.id,
      idempotencyKey: key.key,
      digest: createHash('sha256').update(asked).digest('base64url'),
    },
  };
  const outcome = await submit(exchange, command);
  const { type } = changes[0]!;
  switch (outcome.refusal) {
    case 'idempotency_key_reused':
      sendError(exchange, outcome.refusal);
      break;
    case 'cancel_limit_reached':
      sendCancelLimitReached(exchange, outcome.retryAt);
      break;
    case 'orders_not_changed':
      sendProblems(exchange, outcome.refusal, problemsOf(type, outcome.results));
      break;
    default: {
      const { results, isReplay, retryAt } = outcome;
      const ids = orders.map(({ id }) => id);
      const json = await resultsJson(exchange, store, { type, ids, results });
      send(
        exchange,
        200,
        [
          ...NOT_STORED,
          ...['content-type', 'application/json'],
          ...(isReplay ? ['idempotent-replayed', 'true'] : []),
          ...(retryAt === undefined ? [] : ['retry-after', secondsUntil(retryAt)]),
        ],
        Buffer.from(json),
      );
    }
  }
}

function repeatedIds(orders: OrdersToChange['orders']): RequestProblem[] {
  const seen = new Set<OrderId>();
  return orders.flatMap(({ id }, index) => {
    const isRepeated = seen.has(id);
    seen.add(id);
    return isRepeated ? [{ pointer: `/orders/${index}/id`, detail: 'is repeated' }] : [];
  });
}

/** Returns the revisions that orders with an ETag must still have. The writer compares them again, in its transaction. */
async function revisionsOf(
  store: Store,
  orders: OrdersToChange['orders'],
): Promise<Map<OrderId, bigint>> {
  const withEtag = orders.filter(({ etag }) => etag !== undefined);
  if (withEtag.length === 0) return new Map();
  const found = await recordsById(
    store,
    withEtag.map(({ id }) => id),
  );
  return new Map(
    withEtag.map(({ id, etag }) => {
      const order = found.get(id);
      const isSame = order !== undefined && matchesIfMatch(etag!, orderEtag(order));
      return [id, isSame ? order.revision : NO_REVISION];
    }),
  );
}

async function recordsById(
  store: Store,
  ids: readonly OrderId[],
): Promise<Map<OrderId, OrderRecord>> {
  const records = await store.orders(ids);
  return new Map(records.map((each) => [each.id, each]));
}

/** The reasons why an atomic command has changed nothing. */
function problemsOf(
  type: ChangeCommand['type'],
  results: readonly ChangeResult[],
): RequestProblem[] {
  return results.flatMap((result, index) => {
    if (isDone(result)) return [];
    const { code } = errorResponse(refusalOf(type, result));
    return [{ pointer: `/orders/${index}`, detail: code }];
  });
}

async function resultsJson(
  exchange: Exchange,
  store: Store,
  changed: {
    readonly type: ChangeCommand['type'];
    readonly ids: readonly OrderId[];
    readonly results: readonly ChangeResult[];
  },
): Promise<string> {
  const { type, ids, results } = changed;
  // An order that is not pending never changes again, so these are the orders as the command left them.
  const found = await inTime(exchange, () =>
    recordsById(
      store,
      ids.filter((_, index) => isDone(results[index]!)),
    ),
  );
  const items = ids.map((id, index) => {
    const order = found.get(id);
    return order === undefined
      ? `{"id":${id},"error":${errorResponse(refusalOf(type, results[index]!)).body}}`
      : `{"id":${id},"order":${orderRecordJson(order)}}`;
  });
  return `{"results":[${items.join()}]}`;
}
