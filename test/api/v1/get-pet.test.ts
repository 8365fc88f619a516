import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService, testService } from '../../http/harness.ts';

const SETTINGS = {
  PET_LOOKUP_DEPRECATED_AT: '2026-11-01T00:00:00Z',
  PET_LOOKUP_SUNSET_AT: '2999-12-31',
};

testService('a pet is returned with the fields that it has', async (t) => {
  const { call, store } = await startService(t, SETTINGS);
  await store.apply([
    { type: 'putPets', pets: [{ id: 9007199254740993n, name: 'Zoë "Z"', tag: 'cat' }] },
    { type: 'putPets', pets: [{ id: 2n }] },
  ]);
  const answer = await call('GET', '/v1/pets/9007199254740993');
  assert.equal(answer.status, 200);
  assert.equal(answer.body, '{"id":9007199254740993,"name":"Zoë \\"Z\\"","tag":"cat"}');
  assert.equal((await call('GET', '/v1/pets/2')).body, '{"id":2}');
});

testService('an unknown pet and an invalid id are 404, each with its own code', async (t) => {
  const { call } = await startService(t, SETTINGS);
  for (const [id, code] of [
    ['1', 'pet_not_found'],
    ['01', 'invalid_pet_id'],
    ['9223372036854775808', 'invalid_pet_id'],
  ]) {
    const answer = await call('GET', `/v1/pets/${id}`);
    assert.equal(answer.status, 404);
    assert.equal(JSON.parse(answer.body).code, code);
  }
});

test('every response has the Deprecation, Sunset and Link headers', async (t) => {
  const { call, store } = await startService(t, SETTINGS);
  await store.apply([{ type: 'putPets', pets: [{ id: 1n }] }]);
  const answers = [
    await call('GET', '/v1/pets/1'),
    await call('HEAD', '/v1/pets/1'),
    await call('GET', '/v1/pets/2'),
    await call('GET', '/v1/pets/x'),
    await call('GET', '/v1/pets/1', { authorization: '' }),
    await call('POST', '/v1/pets/1'),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 404, 404, 401, 405],
  );
  for (const { headers } of answers) {
    assert.equal(headers.deprecation, '@1793491200');
    assert.equal(headers.sunset, 'Tue, 31 Dec 2999 00:00:00 GMT');
    assert.match(String(headers.link), /<\/openapi\/v1\.yaml>; rel="deprecation"/);
  }
});

test('other operations have no deprecation headers', async (t) => {
  const { call } = await startService(t, SETTINGS);
  const { headers } = await call('GET', '/v1/store/orders');
  assert.equal(headers.deprecation, undefined);
  assert.equal(headers.sunset, undefined);
});

test('from the sunset on, getting a pet is 410', async (t) => {
  const { call, store } = await startService(t, {
    PET_LOOKUP_SUNSET_AT: new Date().toISOString(),
  });
  await store.apply([{ type: 'putPets', pets: [{ id: 1n }] }]);
  const answer = await call('GET', '/v1/pets/1');
  assert.equal(answer.status, 410);
  assert.equal(JSON.parse(answer.body).code, 'pet_lookup_gone');
});

test('calls to the deprecated operation are counted by key', async (t) => {
  const { call, metrics, key } = await startService(t, SETTINGS);
  await call('GET', '/v1/pets/1');
  await call('GET', '/v1/pets/2');
  const text = await metrics.registry.metrics();
  const line = `store_orders_deprecated_calls_total{operation="getPet",key_id="${key.id}",key_name="test"} 2`;
  assert.ok(text.includes(line), text);
});
