import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../../src/store/store.ts';
import { startService } from '../../http/harness.ts';
import { until } from '../../postgres.ts';

/** Reads that wait until they are let go on. */
function heldReads() {
  const begun: PromiseWithResolvers<void>[] = [];
  const held = async <T>(read: () => Promise<T>): Promise<T> => {
    const end = Promise.withResolvers<void>();
    begun.push(end);
    await end.promise;
    return read();
  };
  const wrap = (store: Store): Store => ({
    ...store,
    page: (query) => held(() => store.page(query)),
    count: (filter) => held(() => store.count(filter)),
  });
  return { begun, wrap };
}

const PAGE = '/v2/store/orders';
const COUNT = '/v2/store/counts';

for (const [path, atOnce] of [
  [PAGE, 2],
  [COUNT, 1],
] as const) {
  test(`a key has ${atOnce} at a time of ${path}, waits a second for the next one, and delays no other key`, async (t) => {
    const { begun, wrap } = heldReads();
    const { call, newKey } = await startService(t, {}, wrap);
    const authorization = `Bearer ${await newKey({ scopes: ['orders:read'] })}`;
    const ask = () => call('GET', path, { authorization });
    const held = Array.from({ length: atOnce }, ask);
    await until('the reads of the key', () => begun.length === atOnce);
    const waiting = [ask(), ask()];
    const other = call('GET', path);
    await until('the read of another key', () => begun.length === atOnce + 1);
    begun[atOnce]!.resolve();
    assert.equal((await other).status, 200);
    for (const { status, headers, body } of await Promise.all(waiting)) {
      assert.deepEqual([status, headers['retry-after']], [429, '1']);
      assert.equal(JSON.parse(body).code, 'read_limit_reached');
    }
    assert.equal(begun.length, atOnce + 1);
    for (const { resolve } of begun) resolve();
    for (const { status } of await Promise.all(held)) assert.equal(status, 200);
  });
}

test('pages, changes and webhooks of a key are carried out in turn with its other pages, and single orders are not', async (t) => {
  const { begun, wrap } = heldReads();
  const { call } = await startService(t, {}, wrap);
  const pages = [call('GET', PAGE), call('GET', PAGE)];
  await until('two pages', () => begun.length === 2);
  const others = ['/v2/store/changes', '/v2/webhooks'].map((path) => call('GET', path));
  assert.equal((await call('GET', `${PAGE}/1`)).status, 404);
  assert.equal((await call('GET', '/v1/store/orders')).status, 200);
  for (const other of others) assert.equal((await other).status, 429);
  for (const { resolve } of begun) resolve();
  for (const page of pages) assert.equal((await page).status, 200);
});
