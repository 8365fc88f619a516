import { type Answer, type Json, parse } from '../../http.ts';
import type { ChangeType, Effect, RequestedChange } from '../operation.ts';
import { entryOf } from '../record.ts';
import {
  type Action,
  KEY_REUSED,
  type Meaning,
  refusedAs,
  statusOf,
  type Target,
  TWICE,
  type Worker,
} from '../worker.ts';

/** Share of the changes without an answer, or answered 5xx, that are requested once more, at any node. */
const AGAIN = 0.5;

/** Share of the changes with a reason or a tracking number: the id of the key, so that the feed shows whether it is that of the request. */
const DETAILED = 0.5;

/** The field of a change with a reason or a tracking number. */
function detailOf(change: ChangeType, by: string): string {
  return `"${change === 'cancelled' ? 'reason' : 'trackingNumber'}":"${by}"`;
}

/** Version 1: DELETE. */
export const cancelV1: Action = async (worker) => {
  const order = worker.anOrder();
  const by = worker.key.id;
  const call = { method: 'DELETE', path: `/v1/store/orders/${order}` };
  await requestChange(worker, `cancel order ${order} by v1`, call, {
    changes: [{ type: 'cancelled', of: order, by }],
    effectOf: ({ status, body }) => {
      if (status === 204) return { type: 'changed', order, change: 'cancelled', by };
      return status === 429 ? undefined : { type: 'saw', order, status: refusedAs(body) };
    },
  });
};

export const changeV2: Action = (worker) => changeOrder(worker, worker.anOrder(), {});

export function cancelV2(worker: Worker, order: string): Promise<void> {
  return changeOrder(worker, order, {}, 'cancelled');
}

/** Cancels an order by the operation for several. */
export function cancelInBatch(
  worker: Worker,
  order: string,
  target: Target,
): Promise<Answer | undefined> {
  const by = worker.key.id;
  const path = '/v2/store/orders/cancel';
  const call = { method: 'POST', path, body: `{"orders":[{"id":${order}}]}` };
  return worker.request(`cancel only order ${order} at once`, call, {
    ...{ target, changes: [{ type: 'cancelled', of: order, by }] },
    effectOf: ({ status, body }) => {
      const found = status === 200 ? parse(body).results[0].order : undefined;
      return found && changedOf(found, 'cancelled', by);
    },
  });
}

/** Changes an order only if it is as it was read last. */
export const changeIfUnchanged: Action = async (worker) => {
  const { lastRead } = worker;
  if (lastRead === undefined) return changeV2(worker);
  const { order, etag } = lastRead;
  if (worker.place.random.chance(0.7)) return changeOrder(worker, order, { 'if-match': etag });
  const path = `/v2/store/orders/${order}/cancel`;
  const call = { method: 'POST', path, headers: { 'if-match': `W/${etag}, "other"` } };
  await worker.request(`cancel order ${order} if a weak ETag matches`, call, {
    effectOf: ({ status, body }) => {
      if (status === 200) worker.place.observed.findings.push(`a weak ETag has matched: ${body}`);
      return undefined;
    },
  });
};

/** Requests a change and, as clients do, some of those that are not answered once more. */
async function requestChange(
  worker: Worker,
  ...[what, call, meaning]: Parameters<Worker['request']>
): Promise<void> {
  const answer = await worker.request(what, call, meaning);
  const isRepeated = answer === undefined && worker.place.random.chance(AGAIN);
  if (isRepeated) await worker.request(what, call, meaning);
}

async function changeOrder(
  worker: Worker,
  order: string,
  headers: Readonly<Record<string, string>>,
  change: ChangeType = worker.place.random.chance(0.8) ? 'cancelled' : 'shipped',
): Promise<void> {
  const verb = change === 'cancelled' ? 'cancel' : 'ship';
  const by = worker.key.id;
  const requested = { type: change, of: order, by } as const;
  const read = worker.lastRead;
  const body = worker.place.random.chance(DETAILED) ? `{${detailOf(change, by)}}` : undefined;
  const call = { method: 'POST', path: `/v2/store/orders/${order}/${verb}`, headers, body };
  await requestChange(worker, `${verb} order ${order} by v2`, call, {
    changes: [requested],
    effectOf: (answer) => {
      if (answer.status === 200) {
        worker.sawOrder(answer, order);
        return changedOf(parse(answer.body), change, by);
      }
      // It was pending when it was read, and is no longer.
      if (answer.status === 412) {
        return read?.status === 'pending' ? { type: 'saw', order, status: 'ended' } : undefined;
      }
      return answer.status === 429 ? undefined : refusedIn(answer.body, requested);
    },
  });
}

/** What a refusal shows. It includes the order if it was changed so before, by the same key. */
function refusedIn(body: string, { type, of, by }: RequestedChange & { by: string }): Effect {
  const { code, order } = parse(body);
  const status = statusOf(code);
  const saw = { type: 'saw', order: of, status, ...(order && { entry: entryOf(order) }) } as const;
  if (status !== type && order === undefined) return saw;
  return { ...saw, endedBy: { key: by, isSo: order !== undefined } };
}

/** Share of the changes of several orders that are of many with successive ids, so that whole blocks of the list change, and the most of them. */
const MANY = 0.06;
const MOST = 150;

/** Orders to change at once. */
function severalOrders(worker: Worker, isAtomic: boolean): readonly string[] {
  const { random, hot, imported } = worker.place;
  if (random.chance(MANY)) {
    const first = random.below(imported.length);
    return imported.slice(first, first + 1 + random.below(MOST));
  }
  // All or none is mostly none, unless the orders are new.
  if (isAtomic && hot.length > 0) return hot.slice(-3);
  return [...new Set([worker.anOrder(), worker.anOrder(), worker.anOrder()])];
}

/** Changes several orders in one transaction, each for itself or all or none, and now and then again, or others, under the same key. */
export const changeSeveral: Action = async (worker) => {
  const { random, observed } = worker.place;
  const isAtomic = random.chance(0.5);
  const orders = severalOrders(worker, isAtomic);
  const by = worker.key.id;
  const change: ChangeType = random.chance(0.7) ? 'cancelled' : 'shipped';
  const headers = { 'idempotency-key': `several-${random.next()}` };
  const path = `/v2/store/orders/${change === 'cancelled' ? 'cancel' : 'ship'}`;
  const detail = random.chance(DETAILED) ? `,${detailOf(change, by)}` : '';
  const callWith = (atomic: boolean, ids = orders) => {
    const list = ids.map((id) => `{"id":${id}${detail}}`).join(',');
    return { method: 'POST', path, headers, body: `{"orders":[${list}],"atomic":${atomic}}` };
  };
  const call = callWith(isAtomic);
  const changes = orders.map((of) => ({ type: change, of, by }));
  const named = orders.length > 3 ? `from ${orders[0]} to ${orders.at(-1)}` : orders.join(', ');
  const what = `${change === 'cancelled' ? 'cancel' : 'ship'} orders ${named} at once`;
  const meaning: Meaning = {
    changes,
    effectOf: ({ status, headers: found, body: answered }) => {
      const isRepeated = found['idempotent-replayed'] === 'true';
      const refusals = status === 409 && isAtomic ? refusalsIn(answered, orders) : undefined;
      if (status === 409 && refusals === undefined) {
        observed.findings.push(
          `${what}${isAtomic ? ', all or none' : ''}, was answered ${answered}`,
        );
      }
      if (status === 409) return refusals;
      if (status !== 200) return undefined;
      if (isAtomic && answered.includes('"error":{')) {
        observed.findings.push(`${what}, all or none, changed only some: ${answered}`);
      }
      return parse(answered).results.flatMap(({ id, order, error }: Json): readonly Effect[] => {
        if (error?.code === 'cancel_limit_reached') return [];
        // A repetition shows the order as it is now, and an error as it was.
        if (order !== undefined) return isRepeated ? [sawIn(order)] : changedOf(order, change, by);
        if (isRepeated) return [];
        return [{ type: 'saw', order: String(id), status: statusOf(error.code) }];
      });
    },
  };
  const times = random.chance(TWICE) ? 2 : 1;
  const [first, second] = await Promise.all(
    Array.from({ length: times }, () => worker.request(what, call, meaning)),
  );
  if (first?.status === 200 && second?.status === 200) {
    const areSame = outcomesIn(first.body) === outcomesIn(second.body);
    if (!areSame && !mayPrecede(first, second) && !mayPrecede(second, first))
      observed.findings.push(`${what} was answered ${first.body}, and ${second.body}`);
  }
  if (
    first?.status !== 200 ||
    !hasChanged(first) ||
    worker.place.pause !== undefined ||
    random.chance(0.8)
  )
    return;
  if (random.chance(0.3)) {
    const isReversed = random.chance(0.5) && orders.length > 1;
    const other = isReversed ? callWith(isAtomic, orders.toReversed()) : callWith(!isAtomic);
    await worker.request(`reuse of the key of ${what}`, other, {
      effectOf: () => undefined,
      refusal: KEY_REUSED,
    });
    return;
  }
  await worker.request(`repeat of ${what}`, call, {
    effectOf: ({ status, headers: found, body: answered }) => {
      const isSame = status === 200 && outcomesIn(answered) === outcomesIn(first.body);
      if (!isSame || found['idempotent-replayed'] !== 'true') {
        observed.findings.push(
          `${what} was answered ${first.body}, and again ${status} ${answered}`,
        );
      }
      return undefined;
    },
  });
};

/**
 * What the response to a refusal of all changes shows of those orders that could not be changed.
 * @returns undefined if it names none, or one that was not sent
 */
function refusalsIn(body: string, orders: readonly string[]): readonly Effect[] | undefined {
  const found = parse(body).errors.map(({ pointer, code }: Json) => {
    return { order: orders[Number(pointer.replace('/orders/', ''))], code };
  });
  if (found.length === 0 || found.some(({ order }: Json) => order === undefined)) return undefined;
  return found.flatMap(({ order, code }: Json): readonly Effect[] => {
    return code === 'cancel_limit_reached' ? [] : [{ type: 'saw', order, status: statusOf(code) }];
  });
}

/** What the response to a success shows. A shipment of an order that has shipped is a success too. */
function changedOf(found: Json, change: ChangeType, by: string): readonly Effect[] {
  const saw = sawIn(found);
  const { order } = saw;
  if (change === 'cancelled') return [{ type: 'changed', order, change, by }, saw];
  return [saw, { type: 'unknown', changes: [{ type: change, of: order, by }] }];
}

function sawIn(found: Json) {
  const order = String(found.id);
  return { type: 'saw', order, status: found.status, entry: entryOf(found) } as const;
}

/** Whether an order was changed. */
function hasChanged({ body }: Answer): boolean {
  return body.includes('"order":{');
}

/**
 * Whether a request may have been carried out before the same one under the same key: only what has changed an order is kept, and
 * orders that the other one has changed were not there yet.
 */
function mayPrecede(one: Answer, other: Answer): boolean {
  if (hasChanged(one)) return false;
  const results = parse(other.body).results;
  return parse(one.body).results.every(
    ({ error }: Json, index: number) =>
      results[index].order === undefined || error?.code === 'order_not_found',
  );
}

/** Which orders were changed, and which were not; the orders themselves are as they are now. */
function outcomesIn(body: string): string {
  return parse(body)
    .results.map(({ id, error }: Json) => `${id} ${error?.code}`)
    .join();
}
