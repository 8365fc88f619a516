import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  ForbiddenError,
  InvalidRequestError,
  LimitError,
  NotFoundError,
  OrderChangedError,
  ResponseError,
  StoreOrders,
  type StoreOrdersOptions,
  TimeoutError,
  UnavailableError,
  UnknownOutcomeError,
} from '../../client/src/client.ts';
import { MAX_ROWS_READ } from '../../src/store/pages.ts';
import { pending, place, type Service, startService } from '../http/harness.ts';
import { serverWith } from './foreign-server.ts';

const BIG = 9007199254740993n;

function clientOf(service: Service, options: Partial<StoreOrdersOptions> = {}): StoreOrders {
  const baseUrl = `http://127.0.0.1:${service.port}`;
  return new StoreOrders({ baseUrl, apiKey: service.secret, ...options });
}

/** Like fetch, but the responses to the first requests are lost after the service has sent them. */
function losing(count: number): { fetch: typeof fetch; sent: () => number } {
  let sent = 0;
  return {
    sent: () => sent,
    fetch: async (input, init) => {
      sent += 1;
      const response = await fetch(input, init);
      if (sent > count) return response;
      await response.arrayBuffer();
      throw new TypeError('fetch failed');
    },
  };
}

/** A server that answers every request in the same way, and counts them. */
async function answering(
  t: TestContext,
  status: number,
  headers: Record<string, string> = {},
  body = '',
) {
  let requests = 0;
  const client = await serverWith(t, (_request, response) => {
    requests += 1;
    response.writeHead(status, headers).end(body);
  });
  return { requests: () => requests, client };
}

test('orders are placed, read, cancelled and shipped with exact ids', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(BIG - 1n));
  const client = clientOf(service);
  const placed = await client.placeOrder({
    ...{ petId: BIG, quantity: 2n, shipDate: new Date('2026-12-01T09:30:00Z') },
  });
  assert.equal(placed.id, BIG);
  assert.equal(placed.petId, BIG);
  assert.equal(placed.shipDate, '2026-12-01T09:30:00.000Z');
  assert.equal(placed.isReplayed, false);

  const read = await client.getOrder(BIG);
  assert.equal(read.etag, placed.etag);
  assert.equal(await client.getOrder(BIG, { ifNoneMatch: read.etag }), undefined);
  const shipped = await client.shipOrder(BIG, {
    ifMatch: read.etag,
    shippedAt: '2026-12-02T00:00:00Z',
  });
  assert.deepEqual([shipped.status, shipped.shipDate], ['shipped', '2026-12-02T00:00:00.000Z']);
  const cancelled = await client.cancelOrder(BIG - 1n);
  assert.equal(cancelled.status, 'cancelled');

  const { events } = await client.getOrderHistory(BIG);
  assert.deepEqual(
    events.map(({ type, by }) => [type, by]),
    [
      ['placed', service.key.id],
      ['shipped', service.key.id],
    ],
  );
  const { counts, revision } = await client.getStore();
  assert.deepEqual(counts, { pending: 0n, shipped: 1n, cancelled: 1n });
  assert.equal(revision, cancelled.revision);
  const { changes, more } = await client.listChanges({ after: 'start' });
  assert.deepEqual(
    changes.map(({ type, order }) => [type, order.id]),
    [
      ['placed', BIG - 1n],
      ['placed', BIG],
      ['shipped', BIG],
      ['cancelled', BIG - 1n],
    ],
  );
  assert.equal(more, false);
});

test('the parts of a large activity are added up', async (t) => {
  const service = await startService(t);
  const client = clientOf(service);
  const ids = Array.from({ length: MAX_ROWS_READ }, (_, index) => BigInt(index + 1));
  await place(service.store, ...ids.map((id) => pending(id)));
  await service.store.apply(ids.slice(0, 4).map((id) => ({ type: 'cancel', id })));
  await client.cancelOrder(5n);
  const hours = (count: number) => new Date(Date.now() + count * 3_600_000);
  const boundaries = [hours(-2), hours(-1).toISOString(), hours(1)];
  const { periods, byKey, revision, ...rest } = await client.getActivity(boundaries);
  assert.deepEqual(
    periods.map(({ placed, cancelled, shipped }) => [placed, cancelled, shipped]),
    [
      [0n, 0n, 0n],
      [BigInt(MAX_ROWS_READ), 5n, 0n],
    ],
  );
  const { id: by, name: byName } = service.key;
  assert.deepEqual(byKey, [
    { placed: BigInt(MAX_ROWS_READ), cancelled: 4n, shipped: 0n },
    { by, byName, placed: 0n, cancelled: 1n, shipped: 0n },
  ]);
  assert.deepEqual([revision, Object.keys(rest)], [3n, ['head']]);
});

test('v1: the list, cancelling and pets', async (t) => {
  const service = await startService(t);
  const ids = Array.from({ length: 3_000 }, (_, index) => BIG - 1n + BigInt(index));
  await place(service.store, ...ids.map((id) => pending(id)));
  await service.store.apply([{ type: 'putPets', pets: [{ id: BIG, name: 'Rex' }] }]);
  const { v1 } = clientOf(service);
  assert.deepEqual(await Array.fromAsync(v1.listOrders(), ({ id }) => id), ids);
  await v1.cancelOrder(ids[0]!);
  assert.deepEqual(await Array.fromAsync(v1.listOrders(), ({ id }) => id), ids.slice(1));
  await assert.rejects(v1.cancelOrder(ids[0]!), { code: 'order_already_cancelled', status: 404 });
  assert.deepEqual(await v1.getPet(BIG), { id: BIG, name: 'Rex' });
});

test('the walk through the pages returns each order that matches once', async (t) => {
  const service = await startService(t);
  await place(service.store, ...Array.from({ length: 25 }, (_, id) => pending(BIG + BigInt(id))));
  await service.store.apply([{ type: 'ship', id: BIG, at: 0 }]);
  const client = clientOf(service);
  const walked = await Array.fromAsync(client.orders({ limit: 10 }), ({ id }) => id);
  assert.deepEqual(
    walked,
    Array.from({ length: 25 }, (_, id) => BIG + BigInt(id)),
  );
  const filter = { status: ['pending', 'cancelled'], direction: 'desc', limit: 10 } as const;
  const pages = await Array.fromAsync(client.pages(filter), ({ orders }) => orders.length);
  assert.deepEqual(pages, [10, 10, 4]);
  const page = await client.listOrders({ shipDateBefore: new Date(1), status: 'shipped' });
  assert.deepEqual(
    page.orders.map(({ id }) => id),
    [BIG],
  );
  assert.equal(
    await client.listOrders({ status: 'shipped' }, { ifNoneMatch: page.etag }),
    undefined,
  );
});

test('an id that is a number is a type error, and a TypeError', async (t) => {
  const client = clientOf(await startService(t));
  // @ts-expect-error: a number
  await assert.rejects(client.getOrder(5), TypeError);
  // @ts-expect-error: a number
  await assert.rejects(client.cancelOrder(5), TypeError);
  // @ts-expect-error: a string
  await assert.rejects(client.v1.cancelOrder('5'), TypeError);
  // @ts-expect-error: a number
  await assert.rejects(client.placeOrder({ petId: 5, quantity: 1n }), TypeError);
  // @ts-expect-error: a number
  await assert.rejects(client.listOrders({ petId: 5 }), TypeError);
  await assert.rejects(client.getOrder(2n ** 63n), TypeError);
});

test('options that cannot be used are a TypeError, which does not show the key', () => {
  const baseUrl = 'https://x.example';
  for (const apiKey of ['', 'so_live_secret\n', 'so_live_sécret']) {
    assert.throws(
      () => new StoreOrders({ baseUrl, apiKey }),
      (error: Error) => error instanceof TypeError && !error.message.includes('cret'),
    );
  }
  assert.throws(() => new StoreOrders({ baseUrl: 'nowhere', apiKey: 'x' }), TypeError);
  assert.throws(() => new StoreOrders({ baseUrl: `${baseUrl}?a=1`, apiKey: 'x' }), TypeError);
});

test('errors have the class of their status, the code, the request id and every problem', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n), pending(3n));
  const client = clientOf(service);
  const { etag } = await client.getOrder(2n);
  await client.shipOrder(1n);
  const readOnly = await service.newKey({ scopes: ['orders:read'] });
  const limited = await service.newKey({ cancelsPerHour: 1 });
  await clientOf(service, { apiKey: limited }).cancelOrder(3n);
  const calls = [
    [() => client.getOrder(9n), NotFoundError, 'order_not_found'],
    [() => client.cancelOrder(1n), ConflictError, 'order_already_shipped'],
    [
      () => client.cancelOrder(2n, { ifMatch: etag.replace('-pending', '-x') }),
      OrderChangedError,
      'order_changed',
    ],
    [() => client.listOrders({ cursor: 'x' }), InvalidRequestError, 'cursor_invalid'],
    [
      () => clientOf(service, { apiKey: 'so_live_x' }).getStore(),
      AuthenticationError,
      'api_key_invalid',
    ],
    [
      () => clientOf(service, { apiKey: readOnly }).cancelOrder(2n),
      ForbiddenError,
      'scope_missing',
    ],
    [
      () => clientOf(service, { apiKey: limited }).cancelOrder(2n),
      LimitError,
      'cancel_limit_reached',
    ],
  ] as const;
  for (const [call, family, code] of calls) {
    await assert.rejects(call(), (error) => {
      assert.ok(error instanceof family && error instanceof ResponseError, code);
      assert.equal(error.code, code);
      assert.match(error.requestId!, /./);
      return true;
    });
  }
  await assert.rejects(
    client.placeOrder({ petId: 1n, quantity: 0n, shipDate: 'soon' }),
    (error) => {
      assert.ok(error instanceof InvalidRequestError);
      assert.deepEqual(
        error.problems.map(({ pointer }) => pointer),
        ['/quantity', '/shipDate'],
      );
      return true;
    },
  );
});

test('a placement whose responses are lost places one order', async (t) => {
  const service = await startService(t);
  const { fetch, sent } = losing(2);
  const placed = await clientOf(service, { fetch }).placeOrder({ petId: 1n, quantity: 1n });
  assert.equal(sent(), 3);
  assert.equal(placed.isReplayed, true);
  assert.equal((await service.store.status()).orders.pending, 1n);
});

test('a cancel whose response is lost succeeds when the retry reports that the order is cancelled', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n), pending(3n));
  const client = () => clientOf(service, { fetch: losing(1).fetch });
  assert.equal((await client().cancelOrder(1n)).status, 'cancelled');
  await client().v1.cancelOrder(2n);
  assert.equal((await client().shipOrder(3n)).status, 'shipped');
  const { fetch, sent } = losing(0);
  const again = clientOf(service, { fetch });
  await assert.rejects(again.cancelOrder(1n), ConflictError);
  assert.equal(sent(), 1, 'a 409 is not repeated');
});

test('a change that is never answered rejects with UnknownOutcomeError', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const client = clientOf(service, { fetch: losing(Number.POSITIVE_INFINITY).fetch, retries: 1 });
  await assert.rejects(client.placeOrder({ petId: 1n, quantity: 1n }), UnknownOutcomeError);
  const { client: unavailable } = await answering(t, 503);
  await assert.rejects(unavailable({ retries: 1 }).cancelOrder(1n), (error) => {
    assert.ok(error instanceof UnknownOutcomeError);
    assert.ok(error.cause instanceof UnavailableError);
    return true;
  });
  await assert.rejects(unavailable({ retries: 0 }).getOrder(1n), UnavailableError);
});

test('a request is retried as often as configured, and not if Retry-After is too long', async (t) => {
  const busy = await answering(t, 503, { 'retry-after': '0' });
  await assert.rejects(busy.client({ retries: 3 }).getStore(), UnavailableError);
  assert.equal(busy.requests(), 4);
  const body = '{"code":"cancel_limit_reached","message":"x","status":429}';
  const limited = await answering(t, 429, { 'retry-after': '3600' }, body);
  await assert.rejects(limited.client().cancelOrder(1n), { retryAfterMs: 3_600_000 });
  assert.equal(limited.requests(), 1);
});

test('a response of a proxy without an Error record is an error with its status', async (t) => {
  const { client } = await answering(
    t,
    502,
    { 'content-type': 'text/html' },
    '<h1>Bad gateway</h1>',
  );
  await assert.rejects(client({ retries: 0 }).getStore(), { status: 502, code: 'unknown' });
});

test('a success that is not one of the service leaves the outcome unknown', async (t) => {
  for (const [status, body] of [
    [200, '<h1>Welcome</h1>'],
    [200, ''],
    [200, '"cancelled"'],
    [200, '{"id":1'],
    [202, '{"id":1}'],
    [520, '<h1>Unknown error</h1>'],
  ] as const) {
    const { client } = await answering(t, status, {}, body);
    const { v1, cancelOrder } = client({ retries: 0 });
    await assert.rejects(v1.cancelOrder(1n), UnknownOutcomeError, `${status} ${body}`);
    const cancel = cancelOrder.bind(client({ retries: 0 }));
    await assert.rejects(cancel(1n), UnknownOutcomeError, `${status} ${body}`);
  }
});

test('an empty ETag, and a header that cannot be sent, are a TypeError before anything is sent', async (t) => {
  const { client, requests } = await answering(t, 200);
  await assert.rejects(client().cancelOrder(1n, { ifMatch: '' }), TypeError);
  await assert.rejects(client().getOrder(1n, { ifNoneMatch: '' }), TypeError);
  const order = { petId: 1n, quantity: 1n };
  await assert.rejects(client().placeOrder(order, { idempotencyKey: 'Käfig–1' }), TypeError);
  assert.equal(requests(), 0);
});

test('a cancel whose response is lost succeeds, also for a key that may only cancel', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const apiKey = await service.newKey({ scopes: ['orders:cancel'] });
  const client = () => clientOf(service, { apiKey, fetch: losing(1).fetch });
  const cancelled = await client().cancelOrder(1n);
  assert.equal(cancelled.etag, (await clientOf(service).getOrder(1n)).etag);
  // Another key has cancelled it first.
  await clientOf(service).cancelOrder(2n);
  await assert.rejects(client().cancelOrder(2n), { code: 'order_already_cancelled' });
});

test('a redirect is not followed, since the key would be sent to its target', async (t) => {
  const { client } = await answering(t, 302, { location: 'http://127.0.0.1:1/' });
  await assert.rejects(client({ retries: 0 }).getStore(), ConnectionError);
});

test('a response that does not begin, or stops arriving, is a TimeoutError', async (t) => {
  const clientWith = await serverWith(t, (request, response) => {
    if (request.url === '/v2/store') return;
    response.writeHead(200).write('[{"id":1},');
  });
  const client = clientWith({ retries: 0, headersTimeoutMs: 50, gapTimeoutMs: 50 });
  await assert.rejects(client.getStore(), TimeoutError);
  await assert.rejects(Array.fromAsync(client.v1.listOrders()), TimeoutError);
});

test('a ship date in any form that the service takes is the one of the order', async (t) => {
  const client = clientOf(await startService(t), { retries: 0 });
  for (const shipDate of [
    '2026-12-01t09:30:00z',
    '2026-12-01T09:30:00.123456789+05:30',
    '2026-12-01T09:30:00.9999Z',
    '2026-12-01T23:59:60Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999-00:00',
  ]) {
    const order = { petId: 1n, quantity: 1n, shipDate };
    const placed = await client.placeOrder(order).catch((error) => error);
    // A form that the service refuses is an InvalidRequestError, never an unknown outcome.
    const isKnown = placed.shipDate !== undefined || placed instanceof InvalidRequestError;
    assert.ok(isKnown, `${shipDate}: ${placed}`);
    const { id } = await client.placeOrder({ petId: 1n, quantity: 1n });
    const shipped = await client.shipOrder(id, { shippedAt: shipDate }).catch((error) => error);
    assert.ok(shipped.status === 'shipped' || shipped instanceof InvalidRequestError, shipDate);
  }
});

test('an aborted signal ends a call with its reason, also while it waits', async (t) => {
  const reason = new Error('enough');
  const { client } = await answering(t, 503, { 'retry-after': '20' });
  const controller = new AbortController();
  const waiting = client({ onRetry: () => controller.abort(reason) });
  await assert.rejects(waiting.getStore({ signal: controller.signal }), reason);
  await assert.rejects(client().cancelOrder(1n, { signal: controller.signal }), reason);
});
