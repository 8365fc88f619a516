import { type Answer, type Json, parse } from '../../http.ts';
import { activityText, countsText } from '../checker.ts';
import type { ChangeFilter, Filter, PageAsked } from '../operation.ts';
import { entryOf, listedOf } from '../record.ts';
import { changeOf, type Position, positionOf, textOf } from '../timeline.ts';
import type { Action, Target, Worker } from '../worker.ts';
import { cancelV2 } from './change.ts';
import { aShipDate } from './place.ts';

/** Share of the reads of changes after which the next ones are read at once. */
const READ_AGAIN = 0.5;
/** Share of the reads of changes that begin where the last one has ended, and not after now. */
const BEHIND = 0.8;

/** Reads an order; the one that was read last only if it has changed. */
export const readOrder: Action = async (worker) => {
  const { lastRead, place } = worker;
  const isAgain = lastRead !== undefined && place.random.chance(0.3);
  if (!isAgain) return orderOf(worker, worker.anOrder());
  return orderOf(worker, lastRead.order, lastRead);
};

/** @param before what was read of it before, if it is to be read only if it has changed */
async function orderOf(worker: Worker, order: string, before?: Worker['lastRead']): Promise<void> {
  const headers: Record<string, string> = before ? { 'if-none-match': before.etag } : {};
  const call = { method: 'GET', path: `/v2/store/orders/${order}`, headers };
  await worker.request(`read order ${order}`, call, {
    effectOf: (answer) => {
      if (answer.status === 404) return { type: 'saw', order, status: 'absent' };
      if (answer.status === 304) return { type: 'saw', order, status: before!.status };
      return worker.sawOrder(answer, order);
    },
  });
}

/** Reads what was read last again, only if it has changed: what has not is as it was. */
export const readAgain: Action = async (worker) => {
  const { lastGet } = worker;
  if (lastGet === undefined) return;
  const { what, call, effectOf, answer } = lastGet;
  const headers = { ...call.headers, 'if-none-match': String(answer.headers.etag) };
  await worker.request(
    `again ${what}`,
    { ...call, headers },
    {
      effectOf: (found) => effectOf(found.status === 304 ? answer : found),
    },
  );
};

export const readHistory: Action = (worker) => historyOf(worker, worker.anOrder());

async function historyOf(worker: Worker, order: string): Promise<void> {
  const call = { method: 'GET', path: `/v2/store/orders/${order}/history` };
  await worker.request(`history of order ${order}`, call, {
    effectOf: ({ status, body }) => {
      if (status === 404) return { type: 'saw', order, status: 'absent' };
      const events = parse(body).events.map(
        ({ revision, type, by }: Json) => `${revision}:${type}:${by}`,
      );
      return { type: 'history', order, events: events.join(' ') };
    },
  });
}

/** Reads an order and its history while it is changed, and afterwards. */
export const readWhileChanged: Action = async (worker) => {
  const order = worker.anOrder();
  const read = () => Promise.all([orderOf(worker, order), historyOf(worker, order)]);
  await Promise.all([cancelV2(worker, order), read(), read()]);
  await read();
};

export const listOrders: Action = async (worker) => {
  await list(worker);
};

/** Lists by version 1; at any node also with If-None-Match, and compressed. */
export async function list(worker: Worker, target?: Target): Promise<Answer | undefined> {
  const { observed, random } = worker.place;
  const headers: Record<string, string> = random.chance(0.3) ? { 'accept-encoding': 'gzip' } : {};
  if (worker.etag !== undefined && target === undefined) headers['if-none-match'] = worker.etag;
  const call = { method: 'GET', path: '/v1/store/orders', headers };
  return worker.request('list by v1', call, {
    target,
    effectOf: (answer) => {
      const etag = String(answer.headers.etag);
      // Clients must not read ETags, which begin with the revision.
      const revision = Number(/\d+/.exec(etag)?.[0]);
      if (answer.status === 304) return { type: 'list', orders: observed.stateOf(etag)!, revision };
      const found = parse(answer.body);
      if (!isAscending(found)) observed.findings.push(`${worker.name}: a list is not sorted by id`);
      const orders = found.map(listedOf).join(' ');
      observed.sawEtag(etag, orders, worker.name);
      worker.etag = etag;
      return { type: 'list', orders, revision };
    },
  });
}

function isAscending(orders: Json): boolean {
  return orders.every(({ id }: Json, index: number) => index === 0 || id > orders[index - 1].id);
}

/** Reads some pages of version 2, of all orders or those that match a filter. */
export const readPages: Action = async (worker) => {
  const asked = somePages(worker);
  const { sort, isDescending, limit } = asked;
  const query = queryOf(asked, {
    limit: String(limit),
    sort,
    direction: isDescending ? 'desc' : 'asc',
  });
  const isFiltered = queryOf(asked) !== '';
  let after: Position | undefined;
  let since: number | undefined;
  let path: string | undefined = `/v2/store/orders?${query}`;
  for (let pages = 0; pages < 4 && path !== undefined; pages += 1) {
    let next: string | undefined;
    const before = { after, since };
    const call = { method: 'GET', path };
    const answered = await worker.request(`page ${query} after ${after?.key} ${after?.id}`, call, {
      effectOf: ({ body }) => {
        const found = parse(body);
        next = found.next && `/v2/store/orders?${query}&cursor=${found.next}`;
        const last = found.orders.at(-1);
        if (last !== undefined) after = positionOf(last, sort, last.id);
        const revision = Number(found.revision);
        // Without a filter, a page examines no more than it returns.
        if (isFiltered && (last !== undefined || since === undefined)) since = revision;
        const orders = found.orders.map(entryOf).join(' ');
        return {
          ...{ type: 'page', revision, head: found.head, orders },
          ...{ ...asked, ...before, hasNext: found.next !== undefined },
        };
      },
    });
    if (answered === undefined) return;
    path = next;
  }
};

const STATUSES = [undefined, undefined, 'pending', 'shipped', 'cancelled', 'shipped,cancelled'];

/** All orders, those with a status, or those of one pet, reference or time. */
function someFilter({ place: { random }, lastPlaced }: Worker): Filter {
  const status = random.pick(STATUSES);
  const ago = (most: number) => new Date(Date.now() - random.below(most)).toISOString();
  switch (random.below(16)) {
    case 0:
      return { status, pet: lastPlaced?.pet };
    case 1:
      return { status, reference: lastPlaced?.key };
    case 2:
      return { status, placedFrom: ago(20_000) };
    case 3:
      return { status, placedFrom: ago(120_000), placedBefore: ago(20_000) };
    case 4:
      return { status, shipDateFrom: aShipDate(random), shipDateBefore: aShipDate(random) };
    case 5:
      return { status, shipDateBefore: aShipDate(random) };
    case 6:
      return { status, shipDateFrom: aShipDate(random) };
    case 7:
      return { status, updatedFrom: ago(20_000) };
    case 8:
      return { status, updatedFrom: ago(120_000), updatedBefore: ago(20_000) };
    case 9:
      return { status, referencePrefix: `r${lastPlaced?.pet.slice(0, 1) ?? ''}` };
    case 10:
      return { status, referenceContains: lastPlaced?.key.toUpperCase() };
    default:
      return { status };
  }
}

function somePages(worker: Worker): PageAsked {
  const { random } = worker.place;
  const filter = someFilter(worker);
  const { pet, reference, referenceContains } = filter;
  const isById = [pet, reference, referenceContains].some((each) => each !== undefined);
  const sorts = ['id', 'id', 'placedAt', 'updatedAt', 'shipDate'] as const;
  const isByReference = filter.referencePrefix !== undefined && random.chance(0.5);
  return {
    ...filter,
    ...{ after: undefined, limit: random.pick([5, 40, 500]), isDescending: random.chance(0.3) },
    sort: isByReference ? 'reference' : isById ? 'id' : random.pick(sorts),
  };
}

function queryOf(filter: Filter, others = {}): string {
  const { status, pet, reference, referencePrefix, referenceContains } = filter;
  const { placedFrom, placedBefore, shipDateFrom, shipDateBefore, updatedFrom, updatedBefore } =
    filter;
  const parameters = {
    ...{ ...others, status, petId: pet, reference },
    ...{ referencePrefix, referenceContains },
    ...{ placedFrom, placedBefore, shipDateFrom, shipDateBefore, updatedFrom, updatedBefore },
  };
  return parametersOf(parameters);
}

function parametersOf(parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given as [string, string][]).toString();
}

/** Reads the counts of all orders, or has those that match counted. */
export const readCounts: Action = async (worker) => {
  const { observed, random } = worker.place;
  const filter = random.chance(0.3) ? undefined : someFilter(worker);
  const query = filter === undefined ? '' : `/counts?${queryOf(filter)}`;
  const call = { method: 'GET', path: `/v2/store${query}` };
  await worker.request(`counts by ${call.path}`, call, {
    effectOf: ({ body }) => {
      const { revision, counts, exact } = parse(body);
      // 50,000 orders are counted exactly: more than a run places.
      if (exact === false) observed.findings.push(`${worker.name}: ${call.path} is not exact`);
      return { ...filter, type: 'counts', revision: Number(revision), counts: countsText(counts) };
    },
  });
};

/** Reads what was changed in a period up to now, or in the past, by all keys or the own one. */
export const readActivity: Action = async (worker) => {
  const { random } = worker.place;
  const by = random.chance(0.3) ? worker.key.id : undefined;
  const from = Date.now() - random.below(60_000);
  const before = from + random.pick([1_000, 86_400_000]);
  const boundaries = [from, before].map((time) => new Date(time).toISOString()).join();
  const ofKey = by === undefined ? '' : `&by=${by}`;
  const call = { method: 'GET', path: `/v2/store/activity?boundaries=${boundaries}${ofKey}` };
  await worker.request('activity', call, {
    effectOf: ({ body }) => {
      const { periods, byKey, revision, next } = parse(body);
      // Too many changes for one response.
      if (next !== undefined) return undefined;
      const ofKeys = byKey.map((each: Json) => [`${each.by}`, each] as const);
      const counts = activityText(periods[0], ofKeys);
      return { type: 'activity', revision: Number(revision), from, before, by, counts };
    },
  });
};

/** All changes, or those of one type, pet or key. */
function someChanges({ place: { random }, lastPlaced, key }: Worker): ChangeFilter {
  if (random.chance(0.7)) return {};
  return random.pick<ChangeFilter>([
    { type: random.pick(['placed', 'cancelled', 'shipped']) },
    { pet: lastPlaced?.pet },
    { by: key.id },
    { type: 'cancelled', by: key.id },
  ]);
}

/** Reads the changes after the last ones that were read, or after now, and often again at once, when there are few or none. */
export const readChanges: Action = async (worker) => {
  do await readNextChanges(worker);
  while (worker.place.random.chance(READ_AGAIN));
};

/** Reads a page of changes, all or some. */
async function readNextChanges(worker: Worker): Promise<void> {
  const isBehind = worker.place.random.chance(BEHIND);
  const cursor = isBehind ? worker.cursor : undefined;
  const after = cursor?.text ?? (isBehind ? 'start' : 'now');
  const only = someChanges(worker);
  const query = parametersOf({
    ...{ limit: '100', after, type: only.type },
    ...{ petId: only.pet, by: only.by },
  });
  const call = { method: 'GET', path: `/v2/store/changes?${query}` };
  await worker.request(`changes after ${after.slice(0, 12)}`, call, {
    effectOf: ({ status, body }) => {
      // When it is read again, the history may be another one.
      const { observed } = worker.place;
      if (status === 410) {
        if (cursor?.of === observed)
          observed.findings.push(`${worker.name}: the cursor ${after} is gone`);
        worker.cursor = undefined;
        return undefined;
      }
      const found = parse(body);
      worker.cursor = { text: found.next, of: observed };
      const [upTo, head] = found.next.split('-');
      const from = { start: 0, now: upTo }[after] ?? after.split('-')[0];
      return {
        ...{ type: 'feed', after: Number(from), upTo: Number(upTo), head },
        ...{ now: Number(found.revision), only },
        changes: found.changes.map((each: Json) => textOf(changeOf(each))).join(' '),
      };
    },
  });
}
