import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Batch,
  ForbiddenError,
  ForeignResponseError,
  GoneError,
  LimitError,
  NotFoundError,
  ResponseError,
  StoreOrders,
  type StoreOrdersError,
  stringify,
  UnknownOutcomeError,
} from '../../client/src/client.ts';
import { BEGINNING } from '../../protocol/history.ts';
import { eventsDigest, headAfter, headFrom, headText } from '../../src/domain/heads.ts';
import type { Order } from '../../src/domain/order.ts';
import { pending, place, startService } from '../http/harness.ts';
import { later } from '../later-release.ts';
import { serverWith } from './foreign-server.ts';

// What docs/stability.md permits in a minor version of the contract, played against this release of the client.

type Answer = readonly [status: number, code: string, headers?: Readonly<Record<string, string>>];

/** A client of a later release of the service, which answers every request with an error; and how many requests it has got. */
async function laterService(t: Parameters<typeof serverWith>[0], [status, code, more]: Answer) {
  const requests: string[] = [];
  const clientOf = await serverWith(t, ({ url, headers }, response) => {
    requests.push(url!);
    const own = { 'x-request-id': headers['x-request-id'], 'retry-after': '0' };
    response.writeHead(status, { 'content-type': 'application/json', ...own, ...more });
    response.end(JSON.stringify({ code, message: 'The reason.', status, more: { x: [1] } }));
  });
  return { client: clientOf({ retries: 2 }), requests };
}

const READS: readonly (readonly [Answer, new (...all: never[]) => StoreOrdersError])[] = [
  [[404, 'order_archived'], NotFoundError],
  [[410, 'order_archived'], GoneError],
  [[403, 'key_suspended'], ForbiddenError],
  [[451, 'order_withheld'], ResponseError],
];

for (const [[status, code], Family] of READS) {
  test(`a read that a later release answers ${status} ${code} ends at once with the class of the status`, async (t) => {
    const { client, requests } = await laterService(t, [status, code]);
    for (const read of [
      () => client.getOrder(1n),
      () => client.listOrders(),
      () => client.v1.listOrders().next(),
      () => client.changes().next(),
      () => client.replica().next(),
    ]) {
      requests.length = 0;
      await assert.rejects(read, (error) => {
        assert.ok(error instanceof Family, String(error));
        assert.match(String(error), /The reason\./);
        return true;
      });
      assert.equal(requests.length, 1);
    }
  });
}

/** By docs/stability.md: a new code of a known status is an unknown outcome, a new 4xx status a refusal. */
const CHANGES: readonly (readonly [Answer, 'refused' | 'unknown', requests: number])[] = [
  [[403, 'key_suspended'], 'unknown', 1],
  [[409, 'order_on_hold'], 'unknown', 1],
  [[423, 'order_on_hold'], 'refused', 1],
  [[402, 'payment_missing'], 'refused', 1],
  [[503, 'store_paused'], 'unknown', 3],
  [[508, 'store_looping'], 'unknown', 3],
  [[507, 'disk_full'], 'unknown', 1],
];

for (const [[status, code], outcome, attempts] of CHANGES) {
  test(`a change that a later release answers ${status} ${code} is ${outcome}`, async (t) => {
    const { client, requests } = await laterService(t, [status, code]);
    for (const change of [
      () => client.placeOrder({ petId: 1n, quantity: 1n }),
      () => client.cancelOrder(1n),
      () => client.shipOrder(1n),
      () => client.cancelOrders([{ id: 1n }]),
      () => client.v1.cancelOrder(1n),
    ]) {
      requests.length = 0;
      await assert.rejects(change, (error) => {
        const found = error instanceof UnknownOutcomeError ? error.cause : error;
        assert.equal(error instanceof UnknownOutcomeError, outcome === 'unknown', String(error));
        assert.ok(found instanceof ResponseError);
        assert.deepEqual([found.status, found.code], [status, code]);
        assert.doesNotMatch(String(error), /does not come from the service/);
        return true;
      });
      assert.equal(requests.length, attempts);
    }
  });
}

test('a limit that a later release adds is waited for', async (t) => {
  const { client, requests } = await laterService(t, [429, 'too_many_reads']);
  await assert.rejects(client.getOrder(1n), LimitError);
  assert.equal(requests.length, 3);
});

test('an error is recognized behind a proxy that replaces the X-Request-Id, and not without any header of the service', async (t) => {
  const proxied = { 'x-request-id': 'p', 'x-content-type-options': 'nosniff' };
  const own = { ...proxied, 'cache-control': 'no-store, no-transform' };
  const behind = await laterService(t, [404, 'order_archived', own]);
  await assert.rejects(behind.client.getOrder(1n), NotFoundError);
  for (const answer of [
    [404, 'order_archived', proxied],
    [404, 'Order-Archived'],
    [404, 'not_found'],
  ] as const) {
    const { client } = await laterService(t, answer);
    await assert.rejects(client.getOrder(1n), ForeignResponseError, answer[1]);
  }
});

test('a client reads responses with further fields, headers and values of open texts', async (t) => {
  const { port, secret, store } = await startService(t);
  await place(store, pending(1n), pending(2n));
  await store.apply([{ type: 'cancel', id: 1n, reason: 'other' }]);
  const client = new StoreOrders({
    ...{ baseUrl: `http://127.0.0.1:${port}`, apiKey: secret, retries: 0 },
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const headers = new Headers(response.headers);
      headers.set('x-added', '1');
      headers.delete('content-length');
      headers.delete('content-encoding');
      if (response.status === 304) return response;
      const record = (await response.json()) as object;
      // A change has the effect that it has today.
      const isRead = (init?.method ?? 'GET') === 'GET' || 'secret' in record;
      const body = JSON.stringify(isRead ? later(record) : { addedField: 1, ...record });
      return new Response(body, { status: response.status, headers });
    },
  });
  const boundaries = ['2020-01-01T00:00:00Z', '9999-01-01T00:00:00Z'];
  const { orders } = await client.listOrders();
  assert.deepEqual(
    orders.map(({ status }) => status),
    ['returned', 'returned'],
  );
  assert.equal((await client.getOrder(1n)).reason, 'too_small');
  assert.equal((await client.getOrderHistory(1n)).events[0]!.type, 'returned');
  assert.equal((await client.placeOrder({ petId: 1n, quantity: 1n })).status, 'pending');
  assert.equal((await client.cancelOrder(2n)).status, 'cancelled');
  assert.equal((await client.cancelOrders([{ id: 2n }])).length, 1);
  assert.equal((await client.listChanges()).changes[0]!.type, 'returned');
  assert.equal((await client.countOrders()).exact, true);
  assert.equal((await client.getStore()).environment, 'sandbox');
  assert.equal((await client.getActivity(boundaries)).periods.length, 1);
  assert.ok((await client.getKey()).scopes.includes('orders:return'));
  const { webhook } = await client.createWebhook({ url: 'https://shop.example/hook' });
  assert.equal(webhook.state, 'resting');
});

test('changes of a status and a type that a later release adds are verified', async () => {
  const at = '2026-11-27T10:00:00.000Z';
  const order = { id: 7n, petId: 1n, quantity: 1n, complete: true, status: 'returned' };
  const time = Date.parse(at);
  const event = { type: 'returned' as 'shipped', at: time, by: undefined, order: order as Order };
  const head = headText(headAfter(headFrom(BEGINNING.head), eventsDigest([event])));
  const record = { ...order, placedAt: at, updatedAt: at, revision: 1n, etag: '"1-x-returned"' };
  const change = { revision: 1n, type: 'returned', at, order: { ...record, addedField: 1 } };
  const page = { changes: [change], next: `1-${head}`, more: false, revision: 1n, head };
  const client = new StoreOrders({
    ...{ baseUrl: 'http://x.example', apiKey: 'x' },
    fetch: async () => new Response(stringify(page)),
  });
  const changes = client.changes({ verify: true });
  const { value } = (await changes.next()) as { value: Batch };
  assert.equal(value.changes[0]!.order.status, 'returned');
  await changes.return();
});
