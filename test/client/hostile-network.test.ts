import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import {
  ConflictError,
  ForeignResponseError,
  NotFoundError,
  StoreOrders,
  StoreOrdersError,
  type StoreOrdersOptions,
  stringify,
  TimeoutError,
  UnavailableError,
  UnknownOutcomeError,
} from '../../client/src/client.ts';
import { ERROR_CODES } from '../../protocol/generated/error-codes.ts';
import { ERROR_RECORDS } from '../../src/http/error-records.ts';
import { pending, place, startService } from '../http/harness.ts';
import { serverWith } from './foreign-server.ts';

const RECORD = {
  ...{ petId: 1, quantity: 1, complete: true },
  ...{ placedAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-02T00:00:00.000Z', revision: 2 },
  etag: '"2-x"',
};
const errorRecord = (status: number, code: string, order?: object) =>
  new Response(JSON.stringify({ code, message: 'x', status, order }), { status });

/** A client whose requests are answered one after another; undefined is a lost connection. */
function answered(
  answers: readonly (Response | undefined)[],
  options: Partial<StoreOrdersOptions> = {},
) {
  let next = 0;
  return new StoreOrders({
    ...{ baseUrl: 'http://x.example', apiKey: 'x', ...options },
    fetch: async () => {
      const answer = answers[Math.min(next, answers.length - 1)];
      next += 1;
      if (answer === undefined) throw new TypeError('terminated');
      return answer.clone();
    },
  });
}

test('the reason of an abort is never mistaken for a response, whatever error it is', async (t) => {
  const clientWith = await serverWith(t, () => {});
  const foreign = answered([errorRecord(404, 'order_not_found')]);
  const notFound = await foreign.getOrder(1n).catch((error) => error);
  assert.ok(notFound instanceof NotFoundError);
  const refused = new StoreOrders({ baseUrl: 'http://127.0.0.1:1', apiKey: 'x', retries: 0 });
  const notSent = await refused.getStore().catch((error) => error);
  const reasons = [
    ...[notFound, notSent, new SyntaxError('x'), Object.create(null), null, 5],
    {
      toString() {
        throw new Error('no text');
      },
    },
  ];
  for (const reason of reasons) {
    const aborted = () => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(reason), 30);
      return { signal: controller.signal };
    };
    const client = clientWith();
    const order = { petId: 1n, quantity: 1n };
    for (const call of [
      client.placeOrder(order, { ...aborted(), idempotencyKey: 'k' }),
      client.cancelOrder(1n, aborted()),
      client.v1.cancelOrder(1n, aborted()),
    ]) {
      const error = await call.catch((found) => found);
      assert.ok(error instanceof UnknownOutcomeError);
      assert.equal(error.cause, reason);
    }
    const listing = client.v1.listOrders(aborted()).next();
    assert.ok(
      await listing.then(
        () => false,
        (error) => error === reason,
      ),
    );
  }
});

test('the order of a conflict must be the one that the call has changed', async () => {
  const conflict = (order: object, code = 'order_already_cancelled') =>
    errorRecord(409, code, { ...RECORD, ...order });
  const other = conflict({ id: 8, status: 'cancelled' });
  await assert.rejects(
    answered([undefined, other], { retries: 1 }).cancelOrder(7n),
    UnknownOutcomeError,
  );
  const still = conflict({ id: 7, status: 'pending' });
  await assert.rejects(answered([still], { retries: 0 }).cancelOrder(7n), UnknownOutcomeError);
  const shipDate = '2026-01-02T00:00:00.000Z';
  const shipped = conflict({ id: 7, status: 'shipped', shipDate }, 'order_already_shipped');
  const client = () => answered([undefined, shipped]);
  const [same, another] = ['2026-01-02T01:00:00+01:00', '2026-01-03T00:00:00Z'];
  assert.equal((await client().shipOrder(7n)).shipDate, shipDate);
  assert.equal((await client().shipOrder(7n, { shippedAt: same })).shipDate, shipDate);
  await assert.rejects(client().shipOrder(7n, { shippedAt: another }), ConflictError);
});

test('for reads, too, only error codes of the operation are accepted as responses of the service', async () => {
  for (const [status, code] of [
    [404, 'not_found'],
    [404, 'NO_ROUTE'],
    [404, 'constructor'],
    [401, 'unauthorized'],
    [410, 'order_not_found'],
  ] as const) {
    const client = answered([errorRecord(status, code)], { retries: 0 });
    await assert.rejects(client.getOrder(1n), ForeignResponseError, code);
  }
});

test('a response to another request is refused where this can be detected', async () => {
  const order = { ...RECORD, id: 5, status: 'pending', shipDate: '2026-01-02T00:00:00.000Z' };
  const placed = new Response(JSON.stringify(order), { status: 201 });
  const client = answered([placed], { retries: 0 });
  await assert.rejects(client.placeOrder({ petId: 1n, quantity: 1n }), UnknownOutcomeError);
  await client.placeOrder({ petId: 1n, quantity: 1n, shipDate: '2026-01-02T01:00:00+01:00' });
  const result = (id: number, of = id) => ({ id, order: { ...RECORD, id: of, status: 'x' } });
  const cancel = (...results: object[]) =>
    answered([Response.json({ failed: 0, results })], { retries: 0 }).cancelOrders([1n, 2n]);
  assert.equal((await cancel(result(1), result(2))).length, 2);
  for (const wrong of [
    [result(1)],
    [result(2), result(1)],
    [result(1, 2), result(2)],
    [result(1), result(2), result(3)],
    [result(1), { id: 2 }],
  ]) {
    await assert.rejects(cancel(...wrong), UnknownOutcomeError);
  }
  const unchanged = new Response(null, { status: 304, headers: { etag: '"b"' } });
  const reader = answered([unchanged], { retries: 0 });
  await assert.rejects(reader.countOrders({}, { ifNoneMatch: '"a"' }), ForeignResponseError);
  assert.equal(await reader.countOrders({}, { ifNoneMatch: 'W/"b"' }), undefined);
  const bare = answered([new Response(null, { status: 204 })], { retries: 0 });
  await assert.rejects(bare.v1.cancelOrder(1n), UnknownOutcomeError);
});

test('hooks may be asynchronous and fail later', async (t) => {
  const printed = t.mock.method(console, 'error', () => {});
  const fail = async () => {
    throw new Error('a faulty hook');
  };
  const options = { onResponse: fail, onRetry: fail, retries: 1 };
  const client = answered([new Response(null, { status: 503 })], options);
  await assert.rejects(client.getStore(), UnavailableError);
  assert.equal(printed.mock.callCount(), 3);
});

test('a call whose time is up while no connection can be made was not sent', async () => {
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const client = new StoreOrders({
    ...{ baseUrl: 'http://x.example', apiKey: 'x' },
    fetch: async () => {
      throw new TypeError('fetch failed', { cause: refused });
    },
  });
  await assert.rejects(client.cancelOrder(1n, { timeoutMs: 100 }), (error) => {
    assert.ok(error instanceof TimeoutError && error.nothingSent);
    assert.equal((error.cause as Error).name, 'ConnectionError');
    return true;
  });
});

test('a response that trickles without an order or an event times out', async (t) => {
  const clientWith = await serverWith(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('[');
    const timer = setInterval(() => response.write(' '), 20);
    response.once('close', () => clearInterval(timer));
  });
  const client = clientWith({ retries: 0, gapTimeoutMs: 200 });
  await assert.rejects(client.v1.listOrders().next(), TimeoutError);

  const states: string[] = [];
  const waiting = new StoreOrders({
    ...{ baseUrl: 'http://x.example', apiKey: 'x', gapTimeoutMs: 200 },
    fetch: async (input, init) => {
      const isStream = String(input).includes('stream');
      states.push(isStream ? 'stream' : 'page');
      if (isStream) return comments(init!.signal!);
      return new Response('{"changes":[],"next":"c","more":false,"revision":1,"head":"h"}');
    },
  });
  /** A stream without an event. */
  function comments(signal: AbortSignal): Response {
    const body = new ReadableStream({
      start(controller) {
        const timer = setInterval(() => controller.enqueue(new TextEncoder().encode(':\n\n')), 20);
        signal.addEventListener('abort', () => clearInterval(timer));
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }
  const changes = waiting.changes({ verify: false });
  const next = changes.next();
  // Pages are polled, a second apart, once the stream has stayed silent.
  while (states.join() !== 'page,stream,page,page') {
    assert.ok(states.length < 5, states.join());
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await changes.return();
  await next;
});

test('a replica detects changes that were lost after a page had contained them', async () => {
  const order = (id: number, status: string, revision: number) => ({
    ...{ ...RECORD, id, status, revision },
  });
  const page = (orders: object[], revision: number, changesAfter: string, next?: string) =>
    new Response(JSON.stringify({ orders, revision, changesAfter, next, head: 'h' }));
  const feed = (changes: object[], next: string) =>
    new Response(JSON.stringify({ changes, next, more: false, revision: 7, head: 'h' }));
  const change = (revision: number, changed: object) => ({
    ...{ type: 'cancelled', at: RECORD.updatedAt, revision, order: changed },
  });
  const gone = () => errorRecord(410, 'changes_gone');
  let walks = 0;
  const client = new StoreOrders({
    ...{ baseUrl: 'http://x.example', apiKey: 'x' },
    fetch: async (input) => {
      const { pathname, searchParams: query } = new URL(String(input));
      if (pathname.endsWith('orders')) {
        if (query.get('cursor') !== null) {
          // Cancelled in revision 7, which is lost before the copy has caught up.
          return page([order(2, 'cancelled', 7)], 7, 'c7');
        }
        walks += 1;
        if (walks === 1) return page([order(1, 'pending', 1)], 5, 'c5', 'p2');
        return page([order(1, 'cancelled', 7), order(2, 'pending', 1)], 7, 'd7');
      }
      const after = query.get('after')!;
      if (pathname.endsWith('stream')) return gone();
      // The revisions that were lost exist again, with other changes.
      if (after === 'c5') return feed([change(7, order(1, 'cancelled', 7))], 'd7');
      return after === 'c7' ? gone() : feed([], 'd7');
    },
  });
  const replica = client.replica({ verify: false });
  const { value } = await replica.next();
  assert.equal(walks, 2);
  assert.deepEqual(
    [...value!.orders.values()].map(({ id, status }) => [id, status]),
    [
      [1n, 'cancelled'],
      [2n, 'pending'],
    ],
  );
  await replica.return();
});

test('throw ends an iteration as return does', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const baseUrl = `http://127.0.0.1:${service.port}`;
  const client = new StoreOrders({ baseUrl, apiKey: service.secret });
  const { signal } = new AbortController();
  const changes = client.changes({ after: 'now', signal });
  const waiting = changes.next();
  const reason = new Error('enough');
  await assert.rejects(changes.throw(reason), reason);
  assert.deepEqual(await waiting, { done: true, value: undefined });
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('headers that fetch refuses, and queries that are no objects, are a TypeError', async () => {
  for (const name of ['Transfer-Encoding', 'Expect', 'Content-Length', 'Upgrade']) {
    assert.throws(() => answered([], { headers: { [name]: '1' } }), TypeError, name);
  }
  const client = answered([undefined]);
  for (const query of [null, 'cancelled', 5, []]) {
    const wrong = query as never;
    await assert.rejects(async () => client.orders(wrong).next(), TypeError);
    await assert.rejects(async () => client.pages(wrong).next(), TypeError);
    await assert.rejects(client.listOrders(wrong), TypeError);
    await assert.rejects(client.listChanges(wrong), TypeError);
    await assert.rejects(async () => client.changes(wrong).next(), TypeError);
    await assert.rejects(async () => client.replica(wrong).next(), TypeError);
    await assert.rejects(async () => client.orders({}, wrong).next(), TypeError);
  }
  await assert.rejects(client.getActivity([undefined as never, new Date()]), TypeError);
});

test('stringify keeps digits in programs that have given bigint a toJSON', (t) => {
  const prototype = BigInt.prototype as { toJSON?: () => string };
  prototype.toJSON = function (this: bigint) {
    return String(this);
  };
  t.after(() => delete prototype.toJSON);
  assert.equal(stringify({ id: 9007199254740993n }), '{"id":9007199254740993}');
});

test('the error codes of each operation have the statuses with which the service sends them', () => {
  const sent = new Set(Object.values(ERROR_RECORDS).map(({ code, status }) => `${code} ${status}`));
  for (const [operation, codes] of Object.entries(ERROR_CODES)) {
    for (const [code, status] of Object.entries(codes)) {
      assert.ok(sent.has(`${code} ${status}`), `${operation}: ${code} ${status}`);
    }
  }
  assert.ok(StoreOrdersError.prototype instanceof Error);
});
