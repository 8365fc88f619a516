import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Scope } from '../../../src/domain/api-key.ts';
import { pending, place, startService, testService } from '../../http/harness.ts';

const JSON_BODY = { 'content-type': 'application/json' };
const ORDERS = '/v2/store/orders';
const code = ({ body }: { body: string }) => JSON.parse(body).code;

testService('cancel and ship return the changed order', async (t) => {
  const { call, store, key } = await startService(t);
  await place(store, pending(1n), pending(2n), pending(3n));
  const cancelled = await call('POST', `${ORDERS}/1/cancel`);
  assert.equal(cancelled.status, 200);
  assert.equal(JSON.parse(cancelled.body).status, 'cancelled');
  const shippedAt = '2026-11-20T10:00:00.000Z';
  const headers = { 'content-type': 'application/json' };
  const shipped = await call('POST', `${ORDERS}/2/ship`, headers, `{"shippedAt":"${shippedAt}"}`);
  const { status, shipDate, complete, revision } = JSON.parse(shipped.body);
  assert.deepEqual([status, shipDate, complete, revision], ['shipped', shippedAt, true, 3]);
  const now = await call('POST', `${ORDERS}/3/ship`);
  assert.equal(now.status, 200);
  assert.equal(JSON.parse(now.body).shipDate, JSON.parse(now.body).updatedAt);
  for (const [id, answer] of [
    [1, cancelled],
    [2, shipped],
    [3, now],
  ] as const) {
    const got = await call('GET', `${ORDERS}/${id}`);
    assert.equal(got.body, answer.body);
    assert.equal(got.headers.etag, answer.headers.etag);
  }
  const { events } = JSON.parse((await call('GET', `${ORDERS}/2/history`)).body);
  assert.deepEqual(
    events.map(({ type, by }: { type: string; by?: string }) => [type, by]),
    [
      ['placed', undefined],
      ['shipped', key.id],
    ],
  );
});

testService('a history has the names of keys for keys that may read changes', async (t) => {
  const { call, key, newKey, store } = await startService(t);
  await place(store, pending(1n));
  await call('POST', `${ORDERS}/1/cancel`);
  const namesFor = async (headers?: Record<string, string>) => {
    const { events } = JSON.parse((await call('GET', `${ORDERS}/1/history`, headers)).body);
    return events.map(({ byName }: { byName?: string }) => byName);
  };
  const bearer = async (scopes: readonly Scope[]) => ({
    authorization: `Bearer ${await newKey({ scopes })}`,
  });
  assert.deepEqual(await namesFor(), [undefined, key.name]);
  assert.deepEqual(await namesFor(await bearer(['orders:read', 'changes:read'])), [
    undefined,
    key.name,
  ]);
  assert.deepEqual(await namesFor(await bearer(['orders:read'])), [undefined, undefined]);
});

testService(
  'an order that is not pending is a conflict, and one that does not exist 404',
  async (t) => {
    const { call, store } = await startService(t);
    await place(store, pending(1n), pending(2n));
    await store.apply([
      { type: 'cancel', id: 1n },
      { type: 'ship', id: 2n },
    ]);
    for (const [path, status, expected] of [
      ['1/cancel', 409, 'order_already_cancelled'],
      ['1/ship', 409, 'order_already_cancelled'],
      ['2/cancel', 409, 'order_already_shipped'],
      ['2/ship', 409, 'order_already_shipped'],
      ['3/cancel', 404, 'order_not_found'],
      ['3/ship', 404, 'order_not_found'],
      ['01/ship', 404, 'invalid_order_id'],
      ['9223372036854775808/cancel', 404, 'invalid_order_id'],
    ] as const) {
      const answer = await call('POST', `${ORDERS}/${path}`);
      assert.deepEqual([answer.status, code(answer)], [status, expected], path);
    }
    assert.equal(code(await call('GET', `${ORDERS}/x`)), 'invalid_order_id');
    assert.equal(code(await call('GET', `${ORDERS}/x/history`)), 'invalid_order_id');
    assert.equal(code(await call('GET', `${ORDERS}/3/history`)), 'order_not_found');
  },
);

testService(
  'with If-Match an order is changed only if it still has the ETag that was read',
  async (t) => {
    const { call, store } = await startService(t);
    await place(store, pending(1n));
    await place(store, pending(2n));
    const etagOf = async (id: number) =>
      String((await call('GET', `${ORDERS}/${id}`)).headers.etag);
    const [one, two] = [await etagOf(1), await etagOf(2)];
    assert.notEqual(one, two);
    // A library may have left the quotes out.
    for (const malformed of ['x', one.slice(1, -1), one.slice(1), `'${one.slice(1, -1)}'`]) {
      const answer = await call('POST', `${ORDERS}/1/cancel`, { 'if-match': malformed });
      assert.deepEqual([answer.status, code(answer)], [400, 'parameter_invalid'], malformed);
    }
    for (const wrong of [two, '"x"', `W/${one}, "x"`, '']) {
      const answer = await call('POST', `${ORDERS}/1/cancel`, { 'if-match': wrong });
      assert.deepEqual([answer.status, code(answer)], [412, 'order_changed'], wrong);
    }
    // What has no effect anyway is told first (RFC 9110, section 13.2.1).
    const ship = await call('POST', `${ORDERS}/2/ship`, { 'if-match': `"x", ${two}` });
    assert.equal(ship.status, 200);
    assert.equal((await call('POST', `${ORDERS}/2/ship`, { 'if-match': '"x"' })).status, 409);
    assert.equal((await call('POST', `${ORDERS}/9/ship`, { 'if-match': '"x"' })).status, 404);
    assert.equal((await call('POST', `${ORDERS}/1/cancel`, { 'if-match': '*' })).status, 200);
  },
);

test('a weak ETag in If-Match, or one with the suffix of a compression, is 400, since it can never match', async (t) => {
  const { call, store } = await startService(t);
  await place(store, pending(1n));
  const etag = String((await call('GET', `${ORDERS}/1`)).headers.etag);
  const [gzip, br, jetty, other] = ['-gzip', '-br', '--gzip', ';gzip'].map((suffix) =>
    etag.replace(/"$/, `${suffix}"`),
  );
  for (const weak of [
    ...[`W/${etag}`, `W/${etag}, W/"x"`, `, W/${etag}`],
    ...[gzip!, br!, jetty!, other!, `${gzip}, W/${etag}`, `W/${gzip}`],
  ]) {
    const { status, body } = await call('POST', `${ORDERS}/1/cancel`, { 'if-match': weak });
    const { errors } = JSON.parse(body);
    assert.deepEqual([status, errors[0].parameter], [400, 'If-Match']);
    assert.match(errors[0].detail, /weak ETag.* proxy/);
  }
  const strong = await call('POST', `${ORDERS}/1/cancel`, { 'if-match': `W/"x", ${etag}` });
  assert.equal(strong.status, 200);
});

testService(
  'a conflict contains the order if the same key made the change, so that a lost response can be recovered',
  async (t) => {
    const { call, store, newKey } = await startService(t);
    await place(store, ...[1n, 2n, 3n, 4n].map((id) => pending(id)));
    const scopes = ['orders:cancel', 'orders:ship'] as const;
    const bearer = async () => ({ authorization: `Bearer ${await newKey({ scopes })}` });
    const [own, other] = [await bearer(), await bearer()];
    const orderIn = ({ body }: { body: string }) => JSON.parse(body).order;
    for (const [path, opposite] of [
      ['1/cancel', '1/ship'],
      ['2/ship', '2/cancel'],
    ]) {
      const first = await call('POST', `${ORDERS}/${path}`, own);
      const again = await call('POST', `${ORDERS}/${path}`, own);
      assert.deepEqual([again.status, orderIn(again)], [409, JSON.parse(first.body)]);
      assert.equal(again.headers.etag, first.headers.etag);
      assert.equal(orderIn(await call('POST', `${ORDERS}/${path}`, other)), undefined);
      assert.equal(orderIn(await call('POST', `${ORDERS}/${opposite}`, own)), undefined);
    }
    await store.apply([{ type: 'cancel', id: 3n }]);
    assert.equal(orderIn(await call('POST', `${ORDERS}/3/cancel`, own)), undefined);
    await call('DELETE', '/v1/store/orders/4', own);
    assert.equal(orderIn(await call('POST', `${ORDERS}/4/cancel`, own)).status, 'cancelled');
  },
);

testService('the store has a name, an environment, a time, counts and a position', async (t) => {
  const { call, store } = await startService(t, { STORE_NAME: 'Pets of Köln' });
  await place(store, pending(1n), pending(2n), pending(3n));
  await store.apply([{ type: 'cancel', id: 1n }]);
  const begin = Date.now();
  const { headers, body } = await call('GET', '/v2/store');
  assert.deepEqual([headers['cache-control'], headers.etag], ['no-store, no-transform', undefined]);
  const { time, head, changesAfter, ...facts } = JSON.parse(body);
  assert.ok(Date.parse(time) >= begin && Date.parse(time) <= Date.now(), time);
  assert.deepEqual(facts, {
    ...{ name: 'Pets of Köln', environment: 'production' },
    counts: { pending: 2, shipped: 0, cancelled: 1 },
    ...{ canLoseChanges: false, revision: 2 },
  });
  assert.equal(changesAfter, `2-${head}`);
  await store.apply([{ type: 'ship', id: 2n }]);
  const { changes } = JSON.parse(
    (await call('GET', `/v2/store/changes?after=${changesAfter}`)).body,
  );
  assert.deepEqual(
    changes.map(({ type, order }: { type: string; order: { id: number } }) => [type, order.id]),
    [['shipped', 2]],
  );
});

test('the store has canLoseChanges as configured, and no name without one', async (t) => {
  const { call } = await startService(t, { CAN_LOSE_CHANGES: 'true' });
  const { canLoseChanges, ...others } = JSON.parse((await call('GET', '/v2/store')).body);
  assert.deepEqual([canLoseChanges, 'name' in others], [true, false]);
  const long = { STORE_NAME: 'x'.repeat(101) };
  await assert.rejects(startService(t, long), /STORE_NAME must be up to 100 characters/);
});

test('bodies of cancel and ship are validated; without one, or with an empty object, the order is changed', async (t) => {
  const { call, store } = await startService(t);
  await place(store, ...[1n, 2n, 3n, 4n].map(pending));
  const type = (value: string) => ({ 'content-type': value });
  for (const [change, orders] of [
    ['cancel', [1, 2]],
    ['ship', [3, 4]],
  ] as const) {
    const [one, other] = orders.map((id) => `${ORDERS}/${id}/${change}`);
    assert.equal((await call('POST', one!, type('text/plain'), '{}')).status, 415);
    for (const body of ['not json', '[]', 'null', '{"at":1}']) {
      assert.equal((await call('POST', one!, type('application/json'), body)).status, 400, body);
    }
    assert.equal((await call('POST', one!, type('application/json'), '{}')).status, 200);
    assert.equal((await call('POST', other!)).status, 200);
  }
});

testService('a read is 304 while it has the ETag of If-None-Match', async (t) => {
  const { call, store } = await startService(t);
  await place(store, pending(1n));
  for (const path of ['/v2/store/counts', `${ORDERS}/1`, `${ORDERS}/1/history`]) {
    const first = await call('GET', path);
    assert.equal(first.headers['cache-control'], 'private, no-cache, no-transform');
    const ifNoneMatch = { 'if-none-match': String(first.headers.etag) };
    assert.equal((await call('GET', path, ifNoneMatch)).status, 304, path);
    assert.equal((await call('HEAD', path)).headers.etag, first.headers.etag);
  }
  const before = String((await call('GET', `${ORDERS}/1`)).headers.etag);
  const counts = String((await call('GET', '/v2/store/counts')).headers.etag);
  await store.apply([{ type: 'cancel', id: 1n }]);
  assert.equal((await call('GET', `${ORDERS}/1`, { 'if-none-match': before })).status, 200);
  const changed = await call('GET', '/v2/store/counts', { 'if-none-match': counts });
  assert.deepEqual(JSON.parse(changed.body).counts, { pending: 0, shipped: 0, cancelled: 1 });
});

testService(
  'an order that is placed and changed in one transaction has an ETag for each state',
  async (t) => {
    const { call, store, newKey } = await startService(t);
    const authorization = `Bearer ${await newKey({})}`;
    const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'k' };
    const placed = await call('POST', ORDERS, headers, '{"petId":1,"quantity":1}');
    await store.apply([
      { type: 'insertOrder', order: pending(7n) },
      { type: 'cancel', id: 7n },
    ]);
    const cancelled = await call('GET', `${ORDERS}/7`);
    assert.match(String(placed.headers.etag), /-pending"$/);
    assert.match(String(cancelled.headers.etag), /-cancelled"$/);
  },
);

testService(
  'a history has the events up to the state that its ETag names, and none after it',
  async (t) => {
    const { call, store } = await startService(t, {}, (own) => ({
      ...own,
      // The order is cancelled while its history is being read.
      events: async (id) => {
        await own.orders([id]);
        await own.apply([{ type: 'cancel', id }]);
        return own.events(id);
      },
    }));
    await place(store, pending(1n));
    const etag = String((await call('GET', `${ORDERS}/1`)).headers.etag);
    const { headers, body } = await call('GET', `${ORDERS}/1/history`);
    assert.equal(headers.etag, etag.replace(/"$/, '-named"'));
    assert.deepEqual(
      JSON.parse(body).events.map(({ type }: { type: string }) => type),
      ['placed'],
    );
  },
);

testService(
  'with a reference in the body an order is changed only if it has the reference',
  async (t) => {
    const { call, store } = await startService(t);
    const reference = 'Bestellung 50% Ü';
    await place(store, { ...pending(1n), reference }, pending(2n));
    const cancel = (id: number, value: string) =>
      call('POST', `${ORDERS}/${id}/cancel`, JSON_BODY, JSON.stringify({ reference: value }));
    for (const [id, wrong] of [
      [1, 'Bestellung'],
      [1, `${reference} `],
      [2, reference],
    ] as const) {
      const answer = await cancel(id, wrong);
      assert.deepEqual([answer.status, code(answer)], [412, 'reference_differs'], wrong);
    }
    for (const malformed of ['', '\u0000', '\u0085', '\ud800', 'a'.repeat(256)]) {
      const answer = await cancel(1, malformed);
      const [problem] = JSON.parse(answer.body).errors;
      assert.deepEqual([answer.status, problem.pointer], [400, '/reference'], malformed);
    }
    assert.equal((await cancel(9, 'x')).status, 404);
    const right = await cancel(1, reference);
    assert.deepEqual([right.status, JSON.parse(right.body).reference], [200, reference]);
    // A cancelled order of another reference is not presented as the result of this request.
    assert.equal(code(await cancel(1, 'other')), 'reference_differs');
    assert.equal(code(await cancel(1, reference)), 'order_already_cancelled');
    const ship = await call('POST', `${ORDERS}/2/ship`, JSON_BODY, '{"reference":"x"}');
    assert.equal(ship.status, 412);
  },
);

testService(
  'the reason of a cancel and the tracking number of a shipment are in the order, its history and the feed',
  async (t) => {
    const { call, store } = await startService(t);
    await place(store, ...[1n, 2n, 3n, 4n, 5n].map(pending));
    const change = async (path: string, body: object) => {
      const answer = await call('POST', `${ORDERS}/${path}`, JSON_BODY, JSON.stringify(body));
      assert.equal(answer.status, 200, answer.body);
      return JSON.parse(answer.body);
    };
    const read = async (path: string) => JSON.parse((await call('GET', `/v2/store/${path}`)).body);
    const reason = 'Käfig "zu" klein 🐹';
    const cancelled = await change('1/cancel', { reason });
    const shipped = await change('2/ship', { trackingNumber: '00340434161094042557' });
    const [third] = (await change('cancel', { orders: [{ id: 3, reason: 'duplicate' }] })).results;
    const [fourth] = (await change('ship', { orders: [{ id: 4, trackingNumber: 'T4' }] })).results;
    const fifth = await change('5/cancel', {});
    const details = ({ reason, trackingNumber }: Detailed) => [reason, trackingNumber];
    const expected = [
      [reason, undefined],
      [undefined, '00340434161094042557'],
      ['duplicate', undefined],
      [undefined, 'T4'],
      [undefined, undefined],
    ];
    assert.deepEqual([cancelled, shipped, third.order, fourth.order, fifth].map(details), expected);
    const { orders } = await read('orders');
    assert.deepEqual(orders.map(details), expected);
    assert.deepEqual(await read('orders/1'), cancelled);
    const { changes } = await read('changes');
    const after = (type: 'placed' | 'ended') =>
      changes
        .filter((each: { type: string }) => (each.type === 'placed') === (type === 'placed'))
        .map(({ order }: { order: Detailed }) => details(order));
    assert.deepEqual(after('ended'), expected);
    assert.deepEqual(after('placed'), Array(5).fill([undefined, undefined]));
    for (const [index, each] of expected.entries()) {
      const { events } = await read(`orders/${index + 1}/history`);
      assert.deepEqual(events.map(details), [[undefined, undefined], each]);
    }
  },
);

testService('reasons and tracking numbers have limits, and no other fields', async (t) => {
  const { call, store } = await startService(t);
  await place(store, pending(1n), pending(2n), { ...pending(3n), reference: '🐹'.repeat(255) });
  for (const [action, body, pointer] of [
    ['cancel', { reason: '' }, '/reason'],
    ['cancel', { reason: 'x'.repeat(65) }, '/reason'],
    ['cancel', { reason: 'a\nb' }, '/reason'],
    ['cancel', { reason: null }, '/reason'],
    ['cancel', { trackingNumber: 'x' }, '/trackingNumber'],
    ['ship', { trackingNumber: 'x'.repeat(129) }, '/trackingNumber'],
    ['ship', { trackingNumber: 7 }, '/trackingNumber'],
    ['ship', { reason: 'x' }, '/reason'],
  ] as const) {
    const text = JSON.stringify(body);
    const answer = await call('POST', `${ORDERS}/1/${action}`, JSON_BODY, text);
    assert.equal(answer.status, 400, text);
    assert.equal(JSON.parse(answer.body).errors[0].pointer, pointer);
  }
  for (const [path, longest] of [
    ['1/cancel', { reason: '🐹'.repeat(64) }],
    ['2/ship', { trackingNumber: '🐹'.repeat(128) }],
    ['3/ship', { reference: '🐹'.repeat(255) }],
  ] as const) {
    const answer = await call('POST', `${ORDERS}/${path}`, JSON_BODY, JSON.stringify(longest));
    assert.equal(answer.status, 200, answer.body);
  }
});

testService('a history is read page by page', async (t) => {
  const { call, store } = await startService(t);
  await place(store, pending(1n), pending(2n));
  await store.apply([{ type: 'cancel', id: 1n, reason: 'other' }]);
  const page = async (query: string) => {
    const { status, body } = await call('GET', `${ORDERS}/1/history${query}`);
    return { status, ...JSON.parse(body) };
  };
  const first = await page('?limit=1');
  assert.deepEqual([first.events.length, first.events[0].type], [1, 'placed']);
  const second = await page(`?limit=1&cursor=${first.next}`);
  const [event] = second.events;
  assert.deepEqual([event.type, event.reason, second.next], ['cancelled', 'other', undefined]);
  assert.equal((await page('')).next, undefined);
  assert.equal((await page('?cursor=x')).code, 'cursor_invalid');
  const other = await call('GET', `${ORDERS}/2/history?cursor=${first.next}`);
  assert.equal(JSON.parse(other.body).code, 'cursor_invalid');
});

testService('an order record has its ETag', async (t) => {
  const { call, store } = await startService(t);
  await place(store, pending(1n));
  const { headers, body } = await call('GET', `${ORDERS}/1`);
  const { etag } = JSON.parse(body);
  assert.equal(etag, headers.etag);
  const [listed] = JSON.parse((await call('GET', ORDERS)).body).orders;
  assert.equal(listed.etag, etag);
  const cancel = await call('POST', `${ORDERS}/1/cancel`, { 'if-match': listed.etag });
  assert.equal(cancel.status, 200);
  assert.equal(JSON.parse(cancel.body).etag, cancel.headers.etag);
});

interface Detailed {
  readonly reason?: string;
  readonly trackingNumber?: string;
}

testService(
  'requests that change an order honour If-Match and If-None-Match, in both versions',
  async (t) => {
    const { call, store } = await startService(t);
    await place(store, ...[1n, 2n, 3n, 4n, 5n, 6n].map(pending));
    const etagOf = async (id: number) =>
      String((await call('GET', `${ORDERS}/${id}`)).headers.etag);
    const code = ({ body }: { body: string }) => JSON.parse(body).code;
    const changes = [
      (id: number) => ['DELETE', `/v1/store/orders/${id}`, 204] as const,
      (id: number) => ['POST', `${ORDERS}/${id}/cancel`, 200] as const,
      (id: number) => ['POST', `${ORDERS}/${id}/ship`, 200] as const,
    ];
    for (const [index, change] of changes.entries()) {
      const [method, path, success] = change(index + 1);
      const etag = await etagOf(index + 1);
      const stale = await call(method, path, { 'if-match': '"1-x-pending"' });
      assert.deepEqual([stale.status, code(stale)], [412, 'order_changed'], path);
      // A malformed field might name the present state.
      for (const tags of ['*', etag, `W/${etag}`, `"a", ${etag}`, etag.slice(1, -1), '"a", *']) {
        const answer = await call(method, path, { 'if-none-match': tags });
        assert.deepEqual(
          [answer.status, code(answer)],
          [412, 'precondition_failed'],
          `${path} ${tags}`,
        );
      }
      const conditions = { 'if-match': `"a", ${etag}`, 'if-none-match': '"a"' };
      assert.equal((await call(method, path, conditions)).status, success, path);
      // A request that would be refused without the condition is refused for the same reason.
      const again = await call(method, path, { 'if-match': '"a"', 'if-none-match': '*' });
      assert.ok([404, 409].includes(again.status));
    }
    const missing = await call('DELETE', '/v1/store/orders/99', { 'if-match': '*' });
    assert.equal(missing.status, 404);
    const any = await call('DELETE', '/v1/store/orders/4', { 'if-match': '*' });
    assert.equal(any.status, 204);
    assert.equal(
      (await call('DELETE', '/v1/store/orders/5', { 'if-match': `W/${await etagOf(5)}` })).status,
      412,
    );
  },
);

testService(
  'a request to several orders, or to the list, has no state that If-Match could name',
  async (t) => {
    const { call, store } = await startService(t);
    await place(store, pending(1n));
    const json = { 'content-type': 'application/json', 'idempotency-key': 'a' };
    const requests = [
      ['/v2/store/orders/cancel', '{"orders":[{"id":1}]}', ['"a"', '*'], ['a']],
      ['/v2/store/orders/ship', '{"orders":[{"id":1}]}', ['"a"', '*'], ['a']],
      [ORDERS, '{"petId":1,"quantity":1}', ['"a"'], ['*', 'a']],
    ] as const;
    for (const [path, body, unmatched, matched] of requests) {
      for (const tags of unmatched) {
        const { status } = await call('POST', path, { ...json, 'if-match': tags }, body);
        assert.equal(status, 412, `${path} If-Match ${tags}`);
      }
      for (const tags of matched) {
        const { status } = await call('POST', path, { ...json, 'if-none-match': tags }, body);
        assert.equal(status, 412, `${path} If-None-Match ${tags}`);
      }
    }
    assert.equal((await store.status()).revision, 1n);
  },
);

testService('a history with names and one without have different ETags', async (t) => {
  const { call, store, newKey } = await startService(t);
  await place(store, pending(1n));
  const path = `${ORDERS}/1/history`;
  const authorization = `Bearer ${await newKey({ scopes: ['orders:read'] })}`;
  const [named, unnamed] = [await call('GET', path), await call('GET', path, { authorization })];
  assert.notEqual(named.headers.etag, unnamed.headers.etag);
  const known = { 'if-none-match': String(named.headers.etag) };
  assert.equal((await call('GET', path, { authorization, ...known })).status, 200);
  assert.equal((await call('GET', path, known)).status, 304);
});

test('what a proxy must not touch has no-transform', async (t) => {
  const { call, store } = await startService(t);
  await place(store, pending(1n));
  for (const path of ['', '/1', '/1/history']) {
    const { headers } = await call('GET', ORDERS + path);
    assert.match(String(headers['cache-control']), /no-transform/);
  }
  for (const status of [200, 409]) {
    const answer = await call('POST', `${ORDERS}/1/cancel`);
    assert.equal(answer.status, status);
    assert.notEqual(answer.headers.etag, undefined);
    assert.match(String(answer.headers['cache-control']), /^no-store, no-transform$/);
  }
});

test('If-None-Match is met by an ETag that a proxy which compresses has changed', async (t) => {
  const { call, store } = await startService(t);
  await place(store, ...Array.from({ length: 20 }, (_, index) => pending(BigInt(index + 1))));
  for (const path of [`${ORDERS}/1`, `${ORDERS}/1/history`, ORDERS, '/v1/store/orders']) {
    for (const coding of ['identity', 'gzip']) {
      const accept = { 'accept-encoding': coding };
      const etag = String((await call('GET', path, accept)).headers.etag);
      for (const suffix of ['-gzip', '-br', ';gzip']) {
        const changed = etag.replace(/"$/, `${suffix}"`);
        for (const known of [changed, `"x", W/${changed}`, `${changed}, "x"`]) {
          const answer = await call('GET', path, { ...accept, 'if-none-match': known });
          assert.equal(answer.status, 304, `${path} ${known}`);
        }
      }
      const { headers } = await call('GET', path, { ...accept, 'if-none-match': etag });
      assert.equal(headers.etag, etag);
    }
  }
});
