import assert from 'node:assert/strict';
import { pending, place, startService, testService } from '../../http/harness.ts';
import { ACTIVITY, activity, hoursFromNow } from './activity.ts';

testService('activity counts what happened in each period, and by each key', async (t) => {
  const service = await startService(t);
  const { call, store, key } = service;
  await place(store, ...[1n, 2n, 3n].map((id) => pending(id)));
  await call('POST', '/v2/store/orders/1/cancel');
  await store.apply([{ type: 'ship', id: 2n }]);
  const boundaries = hoursFromNow(-2, -1, 1);
  const { periods, byKey, next, revision } = await activity(service, `boundaries=${boundaries}`);
  const [from, now, before] = boundaries.split(',');
  assert.deepEqual(periods, [
    { from, before: now, placed: 0, cancelled: 0, shipped: 0 },
    { from: now, before, placed: 3, cancelled: 1, shipped: 1 },
  ]);
  assert.deepEqual(byKey, [
    { placed: 3, cancelled: 0, shipped: 1 },
    { by: key.id, byName: key.name, placed: 0, cancelled: 1, shipped: 0 },
  ]);
  assert.deepEqual([next, revision], [undefined, 3]);
  const ofKey = await activity(service, `boundaries=${boundaries}&by=${key.id}`);
  assert.deepEqual(ofKey.periods[1], { from: now, before, placed: 0, cancelled: 1, shipped: 0 });
  assert.deepEqual([ofKey.byKey, ofKey.revision], [byKey.slice(1), 3]);
});

testService(
  'boundaries are exact below the millisecond, up to the end of the year 9999',
  async (t) => {
    const service = await startService(t);
    await place(service.store, pending(1n));
    const { body } = await service.call('GET', '/v2/store/orders/1');
    const time: string = JSON.parse(body).placedAt;
    const later = time.replace('Z', '0001Z');
    const placedIn = async (...boundaries: string[]) => {
      const { periods } = await activity(service, `boundaries=${boundaries}`);
      return (periods as unknown as { placed: number }[]).map(({ placed }) => placed);
    };
    const end = '9999-12-31T23:59:59.999999Z';
    assert.deepEqual(await placedIn('2026-01-01T00:00:00Z', later, end), [1, 0]);
    assert.deepEqual(await placedIn('2026-01-01T00:00:00Z', time, end), [0, 1]);
    assert.deepEqual(await placedIn(time, end), [1]);
    assert.deepEqual(await placedIn('2026-01-01T00:00:00Z', time), [0]);
    const { periods } = await activity(service, `boundaries=${time},${end}`);
    assert.equal((periods[0] as { before: string }).before, '9999-12-31T23:59:59.999Z');
  },
);

testService('invalid boundaries of periods are refused, and up to 100 accepted', async (t) => {
  const service = await startService(t);
  const { call } = service;
  const hour = (each: number) => `2026-11-22T${String(each).padStart(2, '0')}:00:00Z`;
  const days = (count: number) =>
    Array.from({ length: count }, (_, day) => new Date(day * 86_400_000).toISOString());
  for (const count of [2, 100]) {
    const { periods } = await activity(service, `boundaries=${days(count)}`);
    assert.equal(periods.length, count - 1);
  }
  const wrong = [
    [hour(1)],
    [hour(2), hour(1)],
    [hour(1), hour(1)],
    [hour(1), 'tomorrow'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.9999Z'],
    days(101),
  ];
  for (const boundaries of wrong) {
    const answer = await call('GET', `${ACTIVITY}?boundaries=${boundaries}`);
    const { code, errors } = JSON.parse(answer.body);
    assert.deepEqual([answer.status, code], [400, 'parameter_invalid']);
    assert.equal(errors[0].parameter, 'boundaries');
  }
  const without = await call('GET', ACTIVITY);
  assert.equal(JSON.parse(without.body).errors[0].detail, 'is required');
});

testService('activity has an ETag, and needs the scope of the changes', async (t) => {
  const { call, newKey } = await startService(t);
  const url = `${ACTIVITY}?boundaries=${hoursFromNow(-1, 1)}`;
  const { headers } = await call('GET', url);
  assert.equal((await call('GET', url, { 'if-none-match': String(headers.etag) })).status, 304);
  const authorization = `Bearer ${await newKey({ scopes: ['orders:read'] })}`;
  assert.equal((await call('GET', url, { authorization })).status, 403);
});
