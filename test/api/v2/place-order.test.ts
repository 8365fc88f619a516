import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../../http/contract-check.ts';
import { pending, place, type Service, startService, testService } from '../../http/harness.ts';

const ORDERS = '/v2/store/orders';
const BODY = '{"petId":9007199254740993,"quantity":2,"shipDate":"2026-12-01T10:30:00+01:00"}';

function placeOrder({ call }: Service, key: string, body = BODY): Promise<Answer> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  return call('POST', ORDERS, headers, body);
}

testService('an order is placed, pending, under the next id', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(41n));
  const answer = await placeOrder(service, 'k1');
  assert.equal(answer.status, 201);
  assert.equal(answer.headers.location, `${ORDERS}/42`);
  const { placedAt, updatedAt, etag } = JSON.parse(answer.body);
  assert.equal(placedAt, updatedAt);
  const expected =
    '{"id":42,"petId":9007199254740993,"quantity":2,"shipDate":"2026-12-01T09:30:00.000Z","complete":false,' +
    `"status":"pending","placedAt":"${placedAt}","updatedAt":"${placedAt}","revision":2,"etag":${JSON.stringify(etag)}}`;
  assert.equal(answer.body, expected);
  const got = await service.call('GET', `${ORDERS}/42`);
  assert.equal(got.body, expected);
  assert.equal(got.headers.etag, answer.headers.etag);
  assert.equal(got.headers.etag, etag);
  const list = await service.call('GET', '/v1/store/orders');
  assert.match(list.body, /"id":42/);
});

testService('a repeated request gets the first response, even after a change', async (t) => {
  const service = await startService(t);
  const first = await placeOrder(service, 'k1');
  assert.equal(first.headers['idempotent-replayed'], undefined);
  await service.store.apply([{ type: 'ship', id: 1n, at: 5 }]);
  for (const [key, body] of [
    ['k1', BODY],
    ['"k1"', BODY.replace('2026-12-01T10:30:00+01:00', '2026-12-01T09:30:00Z')],
  ] as const) {
    const again = await placeOrder(service, key, body);
    assert.equal(again.status, 201);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.equal(again.body, first.body);
    assert.equal(again.headers.location, first.headers.location);
    assert.equal(again.headers.etag, first.headers.etag);
  }
  for (const body of [
    BODY.replace('"quantity":2', '"quantity":3'),
    BODY.replace('"petId":9007199254740993', '"petId":9007199254740992'),
    BODY.replace('10:30:00+01:00', '10:30:00.001+01:00'),
    BODY.replace(/,"shipDate":"[^"]*"/, ''),
  ]) {
    const other = await placeOrder(service, 'k1', body);
    assert.equal(other.status, 422, body);
    assert.equal(JSON.parse(other.body).code, 'idempotency_key_reused');
  }
  assert.equal((await service.store.status()).orders.pending, 0n);
});

testService('64 identical requests at once place one order, and get equal responses', async (t) => {
  const service = await startService(t);
  const answers = await Promise.all(Array.from({ length: 64 }, () => placeOrder(service, 'k1')));
  assert.deepEqual(new Set(answers.map(({ body }) => body)).size, 1);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  const fresh = answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined);
  assert.equal(fresh.length, 1);
  assert.equal((await service.store.status()).orders.pending, 1n);
});

test('idempotency keys belong to the API key', async (t) => {
  const one = await startService(t);
  const first = await placeOrder(one, 'k1');
  const other = await one.newKey({});
  const second = await one.call(
    'POST',
    ORDERS,
    {
      authorization: `Bearer ${other}`,
      'content-type': 'application/json',
      'idempotency-key': 'k1',
    },
    BODY,
  );
  assert.equal(second.status, 201);
  assert.notEqual(JSON.parse(second.body).id, JSON.parse(first.body).id);
});

test('the idempotency key must be 1 to 255 visible ASCII characters, sent once', async (t) => {
  const service = await startService(t);
  const missing = await service.call('POST', ORDERS, { 'content-type': 'application/json' }, BODY);
  assert.equal(missing.status, 400);
  assert.equal(JSON.parse(missing.body).code, 'idempotency_key_missing');
  for (const key of ['x'.repeat(256), 'a b', '"', '"a"b"', '""', 'é']) {
    const { status, body } = await placeOrder(service, key);
    assert.equal(status, 400, key);
    assert.equal(JSON.parse(body).errors[0].parameter, 'Idempotency-Key');
  }
  for (const key of ['x'.repeat(255), `"${'y'.repeat(255)}"`, '~!,;']) {
    assert.equal((await placeOrder(service, key)).status, 201, key);
  }
});

test('a body that is not plain JSON is 415', async (t) => {
  const service = await startService(t);
  const wrong: Record<string, string>[] = [
    { 'content-type': 'text/plain' },
    { 'content-encoding': 'gzip' },
  ];
  for (const headers of wrong) {
    const all = { 'content-type': 'application/json', 'idempotency-key': 'k', ...headers };
    assert.equal((await service.call('POST', ORDERS, all, BODY)).status, 415);
  }
});

test('an invalid body is refused with every problem, and places nothing', async (t) => {
  const service = await startService(t);
  const { status, body } = await placeOrder(
    service,
    'k1',
    '{"petId":"7","quantity":0,"shipDate":"2026-12-01","colour":"red"}',
  );
  assert.equal(status, 400);
  const pointers = JSON.parse(body).errors.map((each: { pointer: string }) => each.pointer);
  assert.deepEqual(pointers.sort(), ['/colour', '/petId', '/quantity', '/shipDate']);
  assert.equal((await service.store.status()).revision, 0n);
  // Failures are not kept: the key is free for the corrected request.
  assert.equal((await placeOrder(service, 'k1')).status, 201);
});

testService('the history of a placed order names the API key that placed it', async (t) => {
  const service = await startService(t);
  await placeOrder(service, 'k1');
  const { body } = await service.call('GET', `${ORDERS}/1/history`);
  const [event] = JSON.parse(body).events;
  assert.deepEqual([event.type, event.by], ['placed', service.key.id]);
});

testService('when int64 has no ids left, nothing is placed', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(2n ** 63n - 1n));
  const { status, body } = await placeOrder(service, 'k1');
  assert.deepEqual([status, JSON.parse(body).code], [507, 'no_ids_left']);
  assert.equal((await service.store.status()).orders.pending, 1n);
});

const withReference = (reference: string, body = BODY) =>
  `${body.slice(0, -1)},"reference":${JSON.stringify(reference)}}`;

testService(
  'an API key places one order under a reference, and gets it as it is later',
  async (t) => {
    const service = await startService(t);
    const body = withReference('Bestellung "Ü" 1/2 😀');
    const first = await placeOrder(service, 'k1', body);
    assert.equal(first.status, 201);
    assert.equal(JSON.parse(first.body).reference, 'Bestellung "Ü" 1/2 😀');
    // Another Idempotency-Key, as after a crash of the integrator's program.
    const second = await placeOrder(service, 'k2', body);
    assert.deepEqual([second.status, second.body], [200, first.body]);
    assert.equal(second.headers['idempotent-replayed'], 'true');
    assert.equal(second.headers.location, first.headers.location);
    assert.equal(second.headers.etag, first.headers.etag);
    await service.store.apply([{ type: 'ship', id: 1n, at: 5 }]);
    const third = await placeOrder(service, 'k3', body);
    const { status, shipDate, reference } = JSON.parse(third.body);
    assert.deepEqual(
      [third.status, status, shipDate],
      [200, 'shipped', '1970-01-01T00:00:00.005Z'],
    );
    // The first Idempotency-Key returns the first response.
    assert.deepEqual((await placeOrder(service, 'k1', body)).body, first.body);

    const other = await placeOrder(service, 'k4', body.replace('"quantity":2', '"quantity":3'));
    assert.deepEqual([other.status, JSON.parse(other.body).code], [409, 'reference_taken']);
    const reused = await placeOrder(service, 'k1', withReference('another'));
    assert.equal(reused.status, 422);

    const filter = `?reference=${encodeURIComponent(reference)}`;
    const found = await service.call('GET', `${ORDERS}${filter}`);
    assert.deepEqual(JSON.parse(found.body).orders, [JSON.parse(third.body)]);
    const none = await service.call('GET', `${ORDERS}?reference=x`);
    assert.deepEqual(JSON.parse(none.body).orders, []);
    const history = await service.call('GET', `${ORDERS}/1/history`);
    assert.equal(JSON.parse(history.body).reference, reference);
    const v1 = await service.call('GET', '/v1/store/orders');
    assert.ok(!v1.body.includes('reference'));
  },
);

testService('a reference is 1 to 255 characters without control characters', async (t) => {
  const service = await startService(t);
  for (const reference of ['😀'.repeat(255), ' ', '=1+1']) {
    assert.equal(
      (
        await placeOrder(
          service,
          reference.slice(-1).codePointAt(0)!.toString(),
          withReference(reference),
        )
      ).status,
      201,
    );
  }
  for (const reference of ['', '😀'.repeat(256), 'a\nb', '\u0000', '\u0085', '\ud800']) {
    const answer = await placeOrder(service, 'k', withReference(reference));
    const [problem] = JSON.parse(answer.body).errors;
    assert.deepEqual([answer.status, problem.pointer], [400, '/reference'], reference);
  }
});

testService('pages with a filter by reference follow each other', async (t) => {
  const service = await startService(t);
  const orders = Array.from({ length: 5 }, (_, id) => ({
    ...pending(BigInt(id)),
    reference: id === 2 ? 'b' : 'a|b',
  }));
  await place(service.store, ...orders);
  const ids: number[] = [];
  for (let cursor = ''; ; ) {
    const path = `${ORDERS}?reference=a%7Cb&direction=desc&limit=3${cursor}`;
    const { orders: found, next } = JSON.parse((await service.call('GET', path)).body);
    ids.push(...found.map(({ id }: { id: number }) => id));
    if (next === undefined) break;
    cursor = `&cursor=${next}`;
    const other = await service.call(
      'GET',
      `${ORDERS}?reference=b&direction=desc&limit=3${cursor}`,
    );
    assert.equal(JSON.parse(other.body).code, 'cursor_invalid');
  }
  assert.deepEqual(ids, [4, 3, 1, 0]);
});

testService(
  'a placement that has found an order by its reference keeps its Idempotency-Key',
  async (t) => {
    const service = await startService(t);
    const { call, store } = service;
    const send = (key: string, content: object) =>
      call(
        'POST',
        ORDERS,
        { 'content-type': 'application/json', 'idempotency-key': key },
        JSON.stringify(content),
      );
    const content = { petId: 1, quantity: 1, reference: 'PO-1' };
    assert.equal((await send('a', content)).status, 201);
    const found = await send('b', content);
    assert.equal(found.status, 200);
    const { id } = JSON.parse(found.body);
    // The key decides: other content is refused, and the same gets the order as it is now.
    const others = [
      { petId: 2, quantity: 1 },
      { petId: 2, quantity: 1, reference: 'PO-2' },
      { petId: 1, quantity: 2, reference: 'PO-1' },
    ];
    for (const other of others) {
      const { status, body } = await send('b', other);
      assert.deepEqual([status, JSON.parse(body).code], [422, 'idempotency_key_reused']);
    }
    await store.apply([{ type: 'cancel', id: BigInt(id) }]);
    const again = await send('b', content);
    assert.deepEqual([again.status, JSON.parse(again.body).status], [200, 'cancelled']);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.equal(JSON.parse((await send('a', content)).body).status, 'pending');
    assert.equal((await store.status()).revision, 2n);
    // Several at once, of which the first places the order.
    const next = { petId: 1, quantity: 1, reference: 'PO-3' };
    const statuses = await Promise.all(['c', 'd', 'c', 'd', 'e'].map((key) => send(key, next)));
    assert.equal(new Set(statuses.map(({ body }) => JSON.parse(body).id)).size, 1);
    for (const key of ['c', 'd', 'e']) assert.equal((await send(key, others[0]!)).status, 422);
  },
);

testService('pet, quantity and dates have bounds when an order is placed or shipped', async (t) => {
  const service = await startService(t);
  const order = { petId: 1, quantity: 1 };
  for (const [body, pointer] of [
    [{ ...order, petId: 0 }, '/petId'],
    [{ ...order, petId: -5 }, '/petId'],
    [{ ...order, quantity: 0 }, '/quantity'],
    [{ ...order, quantity: 2 ** 31 }, '/quantity'],
    [{ ...order, shipDate: '1969-12-31T23:59:59Z' }, '/shipDate'],
    [{ ...order, shipDate: '0001-01-01T00:00:00Z' }, '/shipDate'],
  ] as const) {
    const answer = await placeOrder(service, 'k', JSON.stringify(body));
    assert.deepEqual([answer.status, JSON.parse(answer.body).errors[0].pointer], [400, pointer]);
  }
  const most =
    '{"petId":9223372036854775807,"quantity":2147483647,"shipDate":"1970-01-01T00:00:00Z"}';
  assert.equal((await placeOrder(service, 'k', most)).status, 201);
  const json = { 'content-type': 'application/json' };
  const ship = await service.call(
    'POST',
    `${ORDERS}/1/ship`,
    json,
    '{"shippedAt":"0001-01-01T00:00:00Z"}',
  );
  assert.deepEqual([ship.status, JSON.parse(ship.body).errors[0].pointer], [400, '/shippedAt']);
});
