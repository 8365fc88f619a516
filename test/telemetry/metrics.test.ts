import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTS, StoreUnavailable } from '../../src/store/store.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

const metricsOf = (sources: Partial<Parameters<typeof createMetrics>[0]> = {}) =>
  createMetrics({
    environment: 'production',
    database: 'sqlite:test.db',
    store: () => undefined,
    isReady: async () => true,
    ...sources,
  });

const made = (sources: Partial<Parameters<typeof createMetrics>[0]>) =>
  metricsOf(sources).registry.metrics();

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
    store: () => ({
      ...{ status, sizes: status, history: { losses: status } },
      engine: { name: 'sqlite', schema: 7 },
    }),
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
    store: () => ({
      ...{ status, sizes, history: { losses: async () => [] } },
      engine: { name: 'sqlite', schema: 7 },
    }),
    isReady: async () => true,
  });
  await registry.metrics();
  assert.deepEqual(reads, { status: 1, sizes: 1 });
  await registry.metrics();
  assert.deepEqual(reads, { status: 2, sizes: 2 });
});

test('requests are counted once, also in scrapes that overlap', async () => {
  const metrics = metricsOf();
  const operation = { operation: 'getOrder', version: 'v2' };
  for (let count = 0; count < 3; count += 1) metrics.countRequest(operation, '200', 0.001);
  metrics.countRequest(operation, '200');
  metrics.countRequest({ operation: 'none', version: 'none' }, '400');
  const scrapes = await Promise.all([1, 2, 3].map(() => metrics.registry.metrics()));
  for (const text of scrapes) {
    const lines = text
      .split('\n')
      .filter((line) => line.startsWith('store_orders_http_requests_total'));
    assert.deepEqual(lines.sort(), [
      'store_orders_http_requests_total{operation="getOrder",version="v2",status="200"} 4',
      'store_orders_http_requests_total{operation="none",version="none",status="400"} 1',
    ]);
  }
});
