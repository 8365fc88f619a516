import { type Answer, type Json, parse } from '../../http.ts';
import { type Action, entryOf, type Target, type Worker } from '../worker.ts';

export const readOrder: Action = async (worker) => {
  const order = worker.anOrder();
  await worker.request(
    `read order ${order}`,
    { method: 'GET', path: `/v2/store/orders/${order}` },
    {
      effectOf: (answer) => {
        const status = answer.status === 404 ? 'absent' : worker.sawOrder(answer, order);
        return { type: 'saw', order, status };
      },
    },
  );
};

export const readHistory: Action = async (worker) => {
  const order = worker.anOrder();
  const call = { method: 'GET', path: `/v2/store/orders/${order}/history` };
  await worker.request(`history of order ${order}`, call, {
    effectOf: ({ status, body }) => {
      if (status === 404) return { type: 'saw', order, status: 'absent' };
      const events = parse(body).events.map(({ revision, type }: Json) => `${revision}:${type}`);
      return { type: 'history', order, events: events.join(' ') };
    },
  });
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
      if (answer.status === 304) return { type: 'list', orders: observed.stateOf(etag)! };
      const orders = parse(answer.body).map(listedOf).join(' ');
      observed.sawEtag(etag, orders, worker.name);
      worker.etag = etag;
      return { type: 'list', orders };
    },
  });
}

/** An order of version 1, whose list has pending and shipped orders: those that are complete. */
function listedOf({ id, complete }: Json): string {
  return `${id}:${complete ? 'shipped' : 'pending'}`;
}

/** Reads some pages of version 2 in one of the directions, of all orders or those of a status. */
export const readPages: Action = async (worker) => {
  const { random } = worker.place;
  const limit = random.pick([5, 40, 500]);
  const status = random.pick([undefined, undefined, 'pending', 'shipped', 'cancelled']);
  const isDescending = random.chance(0.3);
  const query = `limit=${limit}${status ? `&status=${status}` : ''}${isDescending ? '&order=desc' : ''}`;
  let after: bigint | undefined;
  let path: string | undefined = `/v2/store/orders?${query}`;
  for (let pages = 0; pages < 4 && path !== undefined; pages += 1) {
    let next: string | undefined;
    const from = after;
    const answered = await worker.request(
      `page ${query} after ${from}`,
      { method: 'GET', path },
      {
        effectOf: ({ body }) => {
          const found = parse(body);
          next = found.next && `/v2/store/orders?${query}&cursor=${found.next}`;
          after = found.orders.at(-1)?.id ?? after;
          const orders = found.orders.map(entryOf).join(' ');
          const asked = { after: from, limit, status, isDescending };
          return { type: 'page', revision: Number(found.revision), ...asked, orders };
        },
      },
    );
    if (answered === undefined) return;
    path = next;
  }
};

/** Reads the counts, which are kept with each change, or counts. */
export const readCounts: Action = async (worker) => {
  const path = `/v2/store/${worker.place.random.pick(['summary', 'counts'])}`;
  await worker.request(
    'counts',
    { method: 'GET', path },
    {
      effectOf: ({ body }) => {
        const { revision, orders } = parse(body);
        const counts = `${orders.pending} pending, ${orders.shipped} shipped, ${orders.cancelled} cancelled`;
        return { type: 'counts', revision: Number(revision), counts };
      },
    },
  );
};

/** Reads the changes after the last ones that were read. */
export const readChanges: Action = async (worker) => {
  const { observed } = worker.place;
  const { cursor } = worker;
  const after = cursor?.text ?? 'start';
  const call = { method: 'GET', path: `/v2/store/changes?limit=100&after=${after}` };
  await worker.request(`changes after ${after.slice(0, 12)}`, call, {
    effectOf: ({ status, body }) => {
      if (status === 410) {
        if (cursor?.of === observed)
          observed.findings.push(`${worker.name}: the cursor ${after} is gone`);
        worker.cursor = undefined;
        return undefined;
      }
      const found = parse(body);
      worker.cursor = { text: found.next, of: observed };
      const changes = found.changes.map(
        ({ revision, type, order }: Json) => `${revision}:${type}:${order.id}`,
      );
      return {
        ...{ type: 'feed', after: after === 'start' ? 0 : Number(after.split('-')[0]) },
        ...{ upTo: Number(found.next.split('-')[0]), now: Number(found.revision) },
        changes: changes.join(' '),
      };
    },
  });
};
