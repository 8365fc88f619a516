import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  IMPLIED_SCOPES,
  newApiKey,
  newSecret,
  SCOPES,
  type Scope,
  secretDigest,
} from '../../../src/domain/api-key.ts';
import { CONTRACTS } from '../../http/contract-check.ts';
import { pending, place, startService, testService } from '../../http/harness.ts';
import { eventually } from '../../postgres.ts';
import { queryDatabase } from '../../store/engines.ts';
import { openStream } from './open-stream.ts';

const ORDERS = '/v2/store/orders';
const WEBHOOKS = '/v2/webhooks';

test('a key with scopes can do what they name, and nothing else, in both versions', async (t) => {
  const { call, newKey, store } = await startService(t);
  await place(store, pending(1n));
  const json = { 'content-type': 'application/json', 'idempotency-key': 'k' };
  const calls: readonly [Scope | undefined, string, string, Record<string, string>?, string?][] = [
    ['orders:read', 'GET', '/v1/store/orders'],
    ['orders:read', 'HEAD', '/v1/store/orders'],
    ['orders:cancel', 'DELETE', '/v1/store/orders/404'],
    [undefined, 'GET', '/v1/pets/1'],
    [undefined, 'GET', '/v2/key'],
    ['orders:read', 'GET', ORDERS],
    ['orders:read', 'GET', `${ORDERS}/1`],
    ['orders:read', 'GET', `${ORDERS}/1/history`],
    ['orders:read', 'GET', '/v2/store/counts'],
    ['orders:read', 'GET', '/v2/store'],
    ['orders:read', 'POST', `${ORDERS}/find`, json, '{"ids":[1]}'],
    ['orders:place', 'POST', ORDERS, json, '{"petId":1,"quantity":1}'],
    ['orders:cancel', 'POST', `${ORDERS}/404/cancel`],
    ['orders:ship', 'POST', `${ORDERS}/404/ship`],
    ['orders:cancel', 'POST', '/v2/store/orders/cancel', json, '{"orders":[{"id":404}]}'],
    ['orders:ship', 'POST', '/v2/store/orders/ship', json, '{"orders":[{"id":404}]}'],
    ['changes:read', 'GET', '/v2/store/changes'],
    ['changes:read', 'GET', '/v2/store/changes/stream?after=nonsense'],
    [
      'changes:read',
      'GET',
      '/v2/store/activity?boundaries=2026-11-21T00:00:00Z,2026-11-22T00:00:00Z',
    ],
    ['webhooks:manage', 'GET', WEBHOOKS],
    ['webhooks:manage', 'POST', WEBHOOKS, json, '{"url":"https://shop.example/"}'],
    ['webhooks:manage', 'GET', `${WEBHOOKS}/wh_404`],
    ['webhooks:manage', 'PATCH', `${WEBHOOKS}/wh_404`, json, '{}'],
    ['webhooks:manage', 'DELETE', `${WEBHOOKS}/wh_404`],
    ['webhooks:manage', 'POST', `${WEBHOOKS}/wh_404/rotate-secret`],
    ['webhooks:manage', 'POST', `${WEBHOOKS}/wh_404/test`],
    ['keys:manage', 'GET', '/v2/keys'],
    ['keys:manage', 'POST', '/v2/keys', json, '{}'],
    ['keys:manage', 'GET', '/v2/keys/key_404'],
    ['keys:manage', 'PATCH', '/v2/keys/key_404', json, '{}'],
    ['keys:manage', 'POST', '/v2/keys/key_404/rotate'],
    ['keys:manage', 'POST', '/v2/keys/key_404/revoke'],
    [undefined, 'POST', '/v2/key/redeem'],
  ];
  // Each operation of the contracts is among them.
  const count = Object.values(CONTRACTS).flatMap(({ paths }) =>
    Object.values(paths).flatMap((item) => Object.keys(item)),
  ).length;
  assert.equal(calls.filter(([, method]) => method !== 'HEAD').length, count);
  for (const granted of SCOPES) {
    const authorization = `Bearer ${await newKey({ scopes: [granted] })}`;
    for (const [needed, method, path, headers, body] of calls) {
      const answer = await call(method, path, { ...headers, authorization }, body);
      const isAllowed = needed === undefined || needed === granted;
      assert.equal(answer.status !== 403, isAllowed, `${granted}: ${method} ${path}`);
    }
  }
});

test('getKey has what the operators have given the key', async (t) => {
  const { call, key, store } = await startService(t);
  const secret = newSecret('production');
  const given = {
    ...({ name: 'web shop', environment: 'production', scopes: ['orders:read'] } as const),
    cancelsPerHour: 7,
  };
  const expiresAt = Date.UTC(2999, 0, 1);
  const limited = newApiKey(secret, { ...given, now: 0, expiresAt });
  await store.apply([{ type: 'createKey', key: limited }]);
  const asked = await call('GET', '/v2/key', { authorization: `Bearer ${secret}` });
  const end = { expiresAt: '2999-01-01T00:00:00.000Z' };
  assert.deepEqual(JSON.parse(asked.body), { id: limited.id, ...given, ...end });
  assert.deepEqual(JSON.parse((await call('GET', '/v2/key')).body), {
    ...{ id: key.id, name: key.name, environment: 'production' },
    scopes: IMPLIED_SCOPES,
  });
});

testService(
  'a key with a limit cancels that many orders in an hour, in both versions together',
  async (t) => {
    const { call, newKey, store } = await startService(t);
    const orders = Array.from({ length: 30 }, (_, index) => pending(BigInt(index + 1)));
    await place(store, ...orders);
    const authorization = `Bearer ${await newKey({ cancelsPerHour: 10 })}`;
    const answers = await Promise.all(
      orders.map(({ id }) =>
        id % 2n === 0n
          ? call('DELETE', `/v1/store/orders/${id}`, { authorization })
          : call('POST', `${ORDERS}/${id}/cancel`, { authorization }),
      ),
    );
    const refused = answers.filter(({ status }) => status === 429);
    assert.equal(refused.length, 20);
    assert.equal((await store.status()).orders.cancelled, 10n);
    for (const { headers } of refused) {
      const seconds = Number(headers['retry-after']);
      assert.ok(seconds > 3_500 && seconds <= 3_601, String(seconds));
    }
    // What has no effect does not count, and other keys are not limited.
    const missing = await call('DELETE', '/v1/store/orders/404', { authorization });
    assert.equal(missing.status, 404);
    const last = (await store.orders(orders.map(({ id }) => id))).find(
      (each) => each.status === 'pending',
    );
    assert.equal((await call('DELETE', `/v1/store/orders/${last!.id}`)).status, 204);
  },
);

testService(
  'a key with a limit places that many orders in an hour, and repeats them freely',
  async (t) => {
    const { call, newKey } = await startService(t);
    const authorization = `Bearer ${await newKey({ placesPerHour: 2 })}`;
    const key = JSON.parse((await call('GET', '/v2/key', { authorization })).body);
    assert.equal(key.placesPerHour, 2);
    const place = (name: string) =>
      call(
        'POST',
        ORDERS,
        { authorization, 'idempotency-key': name, 'content-type': 'application/json' },
        '{"petId":1,"quantity":1}',
      );
    const statuses = [];
    for (const name of ['a', 'b', 'c', 'a']) statuses.push((await place(name)).status);
    assert.deepEqual(statuses, [201, 201, 429, 201]);
    const { headers, body } = await place('c');
    assert.equal(JSON.parse(body).code, 'place_limit_reached');
    const seconds = Number(headers['retry-after']);
    assert.ok(seconds > 3_500 && seconds <= 3_601, String(seconds));
  },
);

testService('Retry-After is the first second at which the key may cancel again', async (t) => {
  const { call, newKey, store, url } = await startService(t);
  await place(store, pending(1n));
  const authorization = `Bearer ${await newKey({ cancelsPerHour: 1 })}`;
  const { id } = (await store.keys()).find(({ cancelsPerHour }) => cancelsPerHour === 1)!;
  const retryAt = (Math.floor(Date.now() / 1000) + 1_800) * 1000;
  await queryDatabase(
    url,
    `INSERT INTO cancel_uses (key_id, second, count) VALUES ('${id}', ${retryAt / 1000 - 3_600}, 1)`,
  );
  for (let count = 0; count < 5; count += 1) {
    const before = Date.now();
    const { status, headers } = await call('POST', `${ORDERS}/1/cancel`, { authorization });
    assert.equal(status, 429);
    const wait = Number(headers['retry-after']) * 1000;
    assert.ok(Date.now() + wait >= retryAt, 'not too early');
    assert.ok(before + wait < retryAt + 1000, 'not too late');
  }
});

testService(
  'a rotated key is the same key: its placement is not placed twice, and its cancels count on',
  async (t) => {
    const service = await startService(t);
    const secret = await service.newKey({ cancelsPerHour: 1 });
    const as = (bearer: string, headers = {}) => ({
      authorization: `Bearer ${bearer}`,
      ...headers,
    });
    const json = { 'content-type': 'application/json', 'idempotency-key': 'k' };
    const body = '{"petId":1,"quantity":1,"reference":"PO 1"}';
    const placeAs = (bearer: string) =>
      service.call('POST', '/v2/store/orders', as(bearer, json), body);
    const first = await placeAs(secret);
    assert.equal(first.status, 201);
    const { id } = JSON.parse((await service.call('GET', '/v2/key', as(secret))).body);
    const next = newSecret('production');
    const rotate = async (formerUntil: number, to = next) => {
      const digest = secretDigest(to);
      await service.store.apply([{ type: 'rotateKey', id, digest, formerUntil }]);
    };
    await rotate(Date.now() + 3_600_000);
    for (const bearer of [next, secret]) {
      const again = await placeAs(bearer);
      assert.deepEqual([again.status, again.body], [201, first.body]);
      assert.equal(again.headers['idempotent-replayed'], 'true');
      const key = JSON.parse((await service.call('GET', '/v2/key', as(bearer))).body);
      assert.equal(key.id, id);
    }
    const orders = [1, 2].map(
      (number) => ({ id: BigInt(100 + number), status: 'pending' }) as const,
    );
    await service.store.apply(orders.map((order) => ({ type: 'insertOrder', order })));
    const cancel = (bearer: string, order: number) =>
      service.call('POST', `/v2/store/orders/${order}/cancel`, as(bearer));
    assert.equal((await cancel(secret, 101)).status, 200);
    assert.equal((await cancel(next, 102)).status, 429);
    // Rotated again at once, the first secret ends.
    await rotate(Date.now() + 3_600_000, newSecret('production'));
    await eventually(async () => assert.equal((await cancel(secret, 102)).status, 401));
    assert.equal((await service.call('GET', '/v2/key', as(next))).status, 200);
  },
);

testService('a stream ends with the secret that opened it', async (t) => {
  const service = await startService(t);
  const secret = await service.newKey({ scopes: ['changes:read'] });
  const former = await openStream(t, { ...service, secret });
  const [key] = (await service.store.keys()).filter(({ scopes }) => scopes !== undefined);
  const next = newSecret('production');
  const formerUntil = Date.now() + 1_000;
  await service.store.apply([
    { type: 'rotateKey', id: key!.id, digest: secretDigest(next), formerUntil },
  ]);
  const present = await openStream(t, { ...service, secret: next });
  // The stream ends without an event.
  assert.deepEqual(await former.take(1), []);
  assert.ok(Date.now() >= formerUntil);
  await service.store.apply([{ type: 'insertOrder', order: { id: 1n, status: 'pending' } }]);
  assert.equal((await present.take(1)).length, 1);
});
