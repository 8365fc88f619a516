import { hash } from 'node:crypto';
import type { Json } from '../../../../protocol/exact-json.ts';
import type { Operations } from '../../../../protocol/generated/operations.ts';
import type { ChangeResults } from '../../../../protocol/generated/records.ts';
import {
  type BulkCommand,
  type ChangeCommand,
  type ChangeResult,
  isDone,
} from '../../../domain/bulk.ts';
import { NO_REVISION } from '../../../domain/lifecycle.ts';
import type { OrderId, OrderRecord } from '../../../domain/order.ts';
import { ERROR_RECORDS, type RequestProblem } from '../../../http/error-records.ts';
import { isWeak, matchesIfMatch } from '../../../http/request/conditional.ts';
import { type ErrorReply, invalid, type Reply, refuse } from '../../../http/request/reply.ts';
import { orderEtag } from '../../../records/etags.ts';
import { orderRecordJson } from '../../../records/order-json.ts';
import type { Store } from '../../../store/store.ts';
import { type Call, JSON_TYPE, type Services } from '../../operation.ts';
import { failsPrecondition, WEAK_ETAG } from '../../preconditions.ts';
import { limitReached, secondsUntil } from '../../submit.ts';
import { NOT_STORED } from '../replies.ts';
import { refusalOf } from './change-order.ts';
import { optionalIdempotencyKeyOf } from './idempotency-key.ts';

type OrderToChange = Operations['cancelOrders' | 'shipOrders']['body']['orders'][number];

/**
 * Carries out commands on several orders in one transaction, and answers the result of each. With an Idempotency-Key, a repetition gets the same
 * results.
 * @param content the request without its orders, for the digest of a repeatable request
 * @param changeOf returns the command for an order
 */
export async function changeInBulk<Name extends 'cancelOrders' | 'shipOrders'>(
  call: Call<Name>,
  { store, submitOneByOne }: Services,
  content: string,
  changeOf: (order: Operations[Name]['body']['orders'][number]) => ChangeCommand,
): Promise<Reply<ChangeResults> | ErrorReply> {
  const { request, key } = call;
  const { orders, atomic = false } = call.body;
  const idempotencyKey = optionalIdempotencyKeyOf(request);
  const problems = [...repeatedIds(orders), ...weakEtags(orders)];
  if (problems.length > 0) return invalid('body_invalid', problems);
  if (failsPrecondition(request, false)) return refuse('precondition_failed');
  const revisions = await revisionsOf(store, orders);
  const changes = orders.map((order) => ({
    ...changeOf(order),
    ifRevision: revisions.get(order.id),
    ifReference: order.reference,
  }));
  const asked = JSON.stringify([content, atomic, orders.map(contentOf)]);
  const command: BulkCommand = {
    ...({ type: 'bulk', changes, isAtomic: atomic } as const),
    repeatable:
      idempotencyKey === undefined
        ? undefined
        : { by: key.id, idempotencyKey, digest: hash('sha256', asked, 'base64url') },
  };
  const outcome = await submitOneByOne(call, command);
  switch (outcome.refusal) {
    case 'idempotency_key_reused':
      return refuse(outcome.refusal);
    case 'cancel_limit_reached':
      return limitReached(outcome.refusal, outcome.retryAt);
    case 'orders_not_changed':
      return invalid(outcome.refusal, problemsOf(changes, outcome.results));
    default: {
      const { results, isReplay, retryAt } = outcome;
      const headers = [
        ...(isReplay ? ['idempotent-replayed', 'true'] : []),
        ...(retryAt === undefined ? [] : ['retry-after', secondsUntil(retryAt)]),
      ];
      const body = await resultsJson(store, changes, results);
      return { status: 200, headers: [...NOT_STORED, ...JSON_TYPE, ...headers], body };
    }
  }
}

/** Returns the content of a request for one of its orders. */
function contentOf({ id, etag, reference, ...detail }: OrderToChange): unknown[] {
  return [String(id), etag, reference, ...Object.values(detail)];
}

function repeatedIds(orders: readonly OrderToChange[]): RequestProblem[] {
  const seen = new Set<OrderId>();
  return orders.flatMap(({ id }, index) => {
    const isRepeated = seen.has(id);
    seen.add(id);
    return isRepeated ? [{ pointer: `/orders/${index}/id`, detail: 'is repeated' }] : [];
  });
}

function weakEtags(orders: readonly OrderToChange[]): RequestProblem[] {
  return orders.flatMap(({ etag }, index) =>
    etag !== undefined && isWeak(etag)
      ? [{ pointer: `/orders/${index}/etag`, detail: WEAK_ETAG }]
      : [],
  );
}

/** Returns the revisions that orders with an ETag must have. The writer compares them again in its transaction. */
async function revisionsOf(
  store: Store,
  orders: readonly OrderToChange[],
): Promise<Map<OrderId, bigint>> {
  const withEtag = orders.filter(({ etag }) => etag !== undefined);
  if (withEtag.length === 0) return new Map();
  const found = await recordsOf(store, withEtag);
  return new Map(
    withEtag.map(({ id, etag }) => {
      const order = found.get(id);
      const isSame = order !== undefined && matchesIfMatch(etag!, orderEtag(order));
      return [id, isSame ? order.revision : NO_REVISION];
    }),
  );
}

async function recordsOf(
  store: Store,
  orders: readonly Pick<OrderRecord, 'id'>[],
): Promise<Map<OrderId, OrderRecord>> {
  const records = await store.orders(orders.map(({ id }) => id));
  return new Map(records.map((each) => [each.id, each]));
}

/** The reasons why an atomic command has changed nothing. */
function problemsOf(
  changes: readonly ChangeCommand[],
  results: readonly ChangeResult[],
): RequestProblem[] {
  return results.flatMap((result, index) => {
    if (isDone(result)) return [];
    const { type, id } = changes[index]!;
    const { code, message } = ERROR_RECORDS[refusalOf(type, result)];
    return [{ pointer: `/orders/${index}`, id, code, detail: message }];
  });
}

async function resultsJson(
  store: Store,
  changes: readonly ChangeCommand[],
  results: readonly ChangeResult[],
): Promise<Json<ChangeResults>> {
  // The orders are still as the command left them: an order that is not pending never changes again.
  const done = changes.filter((_, index) => isDone(results[index]!));
  const found = await recordsOf(store, done);
  const items = changes.map(({ type, id }, index) => {
    const order = found.get(id);
    return order === undefined
      ? `{"id":${id},"error":${refuse(refusalOf(type, results[index]!)).body}}`
      : `{"id":${id},"order":${orderRecordJson(order)}}`;
  });
  const failed = changes.length - found.size;
  return `{"failed":${failed},"results":[${items.join()}]}` as Json<ChangeResults>;
}
