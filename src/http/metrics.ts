import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import type { Environment } from '../keys/api-key.ts';
import { ORDER_STATUSES } from '../orders/order.ts';
import type { Store } from '../store/store.ts';
import { VERSION } from '../version.ts';
import { within } from './deadline.ts';
import { ANSWER_WITHIN_MS } from './limits.ts';
import { RequestTally } from './request-tally.ts';

const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000];

export type Metrics = ReturnType<typeof createMetrics>;

/** What /metrics shows. Everything is registered here; others only count. */
export function createMetrics(store: Pick<Store, 'status'>, environment: Environment) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  registerBuildInfo(registry, environment);
  registerOrdersByStatus(registry, store);

  return {
    registry,
    requests: tallyRequests(registry),
    responseBytes: new Counter({
      name: 'store_orders_http_response_body_bytes_total',
      help: 'Bytes of response bodies handed to clients.',
      labelNames: ['operation'] as const,
      registers,
    }),
    deprecatedCalls: new Counter({
      name: 'store_orders_deprecated_calls_total',
      help: 'Calls of a deprecated operation, by API key.',
      labelNames: ['operation', 'key_id', 'key_name'] as const,
      registers,
    }),
    listRefreshes: new Counter({
      name: 'store_orders_list_refreshes_total',
      help: 'Looks of the list at the store, by whether orders had changed.',
      labelNames: ['changed'] as const,
      registers,
    }),
    batchSize: new Histogram({
      name: 'store_orders_command_batch_size',
      help: 'Commands carried out in one transaction.',
      buckets: BATCH_BUCKETS,
      registers,
    }),
  };
}

function tallyRequests(registry: Registry): RequestTally {
  const tally = new RequestTally();
  new Counter({
    name: 'store_orders_http_requests_total',
    help: 'Requests by operation ("none": none of the contract) and status ("aborted": not answered).',
    labelNames: ['operation', 'status'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, line } of tally.lines()) this.inc(labels, line.count);
    },
  });
  const name = 'store_orders_http_request_duration_seconds';
  const help = 'From the arrival of a request to the end of its answer.';
  const aggregator = 'sum';
  const type = 'histogram';
  // Of a metric, a registry asks no more than this.
  registry.registerMetric({
    ...{ name, help, type, aggregator },
    get: async () => ({ name, help, type, aggregator, values: tally.durations(name) }),
  } as unknown as Histogram);
  return tally;
}

function registerBuildInfo(registry: Registry, environment: Environment): void {
  const { node, sqlite = '' } = process.versions;
  new Gauge({
    name: 'store_orders_build_info',
    help: 'Always 1; the labels say what is running.',
    labelNames: ['version', 'node', 'sqlite', 'environment'] as const,
    registers: [registry],
    aggregator: 'first',
  }).set({ version: VERSION, node, sqlite, environment }, 1);
}

function registerOrdersByStatus(registry: Registry, store: Pick<Store, 'status'>): void {
  new Gauge({
    name: 'store_orders_orders',
    help: 'Orders in the store, by status.',
    labelNames: ['status'] as const,
    registers: [registry],
    // All workers see the same store.
    aggregator: 'first',
    async collect() {
      // A store that cannot be asked leaves the gauge empty; what is unknown is not reported.
      this.reset();
      const status = await within(ANSWER_WITHIN_MS, () => store.status()).catch(() => undefined);
      if (status === undefined) return;
      for (const name of ORDER_STATUSES) this.set({ status: name }, Number(status.orders[name]));
    },
  });
}
