import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTS, StoreUnavailable } from '../../src/store/store.ts';
import { createMetrics, type MetricsSources } from '../../src/telemetry/metrics.ts';

const made = (sources: Partial<MetricsSources>) =>
  createMetrics({
    environment: 'production',
    database: 'sqlite:test.db',
    store: () => undefined,
    isReady: async () => true,
    ...sources,
  }).registry.metrics();

test('store_orders_ready is 1 while the service is ready, otherwise 0', async () => {
  assert.match(await made({}), /^store_orders_ready 1$/m);
  assert.match(await made({ isReady: async () => false }), /^store_orders_ready 0$/m);
});

test('every fault is exported from the start, at 0', async () => {
  const text = await made({});
  for (const cause of FAULTS) {
    assert.ok(text.includes(`store_orders_store_errors_total{cause="${cause}"} 0`), cause);
  }
});

test('metrics are served while the store is unavailable, without the number of orders', async () => {
  const status = () => Promise.reject(new StoreUnavailable('gone', 'unreachable'));
  const text = await made({
    store: () => ({ status, sizes: status, engine: { name: 'sqlite', schema: 7 } }),
  });
  assert.match(text, /^store_orders_schema_version\{engine="sqlite"\} 7$/m);
  assert.doesNotMatch(text, /^store_orders_(orders\{|ids_left )/m);
});

test('a scrape reads the status and the sizes of the store once each, and the next scrape anew', async () => {
  const reads = { status: 0, sizes: 0 };
  const failed = (what: keyof typeof reads) => () => {
    reads[what] += 1;
    return Promise.reject(new StoreUnavailable('gone', 'unreachable'));
  };
  const [status, sizes] = [failed('status'), failed('sizes')];
  const { registry } = createMetrics({
    environment: 'production',
    database: 'sqlite:test.db',
    store: () => ({ status, sizes, engine: { name: 'sqlite', schema: 7 } }),
    isReady: async () => true,
  });
  await registry.metrics();
  assert.deepEqual(reads, { status: 1, sizes: 1 });
  await registry.metrics();
  assert.deepEqual(reads, { status: 2, sizes: 2 });
});
