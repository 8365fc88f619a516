import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import type { Environment } from '../domain/api-key.ts';
import { FAULTS, type Fault } from '../store/store.ts';
import { COMMIT, VERSION } from '../version.ts';
import { registerGauges } from './gauges.ts';
import { registerRequests } from './request-tally.ts';
import { registerBackups, registerStore, type StoreSource } from './store-metrics.ts';
import { registerWebhooks } from './webhook-metrics.ts';

/** Default metrics that are removed: `promtool check metrics` rejects their names, and other metrics have the same data. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_utilization_histogram',
  'nodejs_eventloop_utilization_summary',
];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000];

export type Metrics = ReturnType<typeof createMetrics>;

/** Sources that are read at each scrape. */
interface MetricsSources {
  readonly environment: Environment;
  /** The database, without its password. */
  readonly database: string;
  readonly store: StoreSource;
  readonly isReady: () => Promise<boolean>;
}

/** Creates all metrics of /metrics. Other modules only update them. */
export function createMetrics({ environment, database, store, isReady }: MetricsSources) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const { node, sqlite = '' } = process.versions;
  const build = { version: VERSION, commit: COMMIT, node, sqlite, environment };
  registerGauges(registry, [
    {
      name: 'store_orders_build_info',
      help: 'Always 1; the labels show the running versions.',
      labelNames: ['version', 'commit', 'node', 'sqlite', 'environment', 'engine'],
      read: () => [[{ ...build, engine: store()?.engine.name ?? 'unknown' }, 1]],
    },
    {
      name: 'store_orders_ready',
      help: '1 while /readyz returns 200, 0 otherwise.',
      read: async () => ((await isReady()) ? 1 : 0),
    },
  ]);
  registerStore(registry, database, store);
  const faults = new Counter({
    name: 'store_orders_store_errors_total',
    help: 'Requests and refreshes of the list that failed in the store, by cause.',
    labelNames: ['cause'] as const,
    registers,
  });

  // Initialized to 0, so that the first fault of a cause is an increase.
  for (const cause of FAULTS) faults.inc({ cause }, 0);

  return {
    registry,
    countFault: (cause: Fault) => faults.inc({ cause }),
    countRequest: registerRequests(registry),
    observeLoad: ({ streams, streamBacklogBytes, pendingCommands }: Load) =>
      registerGauges(registry, [
        { name: 'store_orders_streams', help: 'Open streams of changes.', read: streams },
        {
          name: 'store_orders_stream_backlog_bytes',
          help: 'Bytes that wait for the clients of all streams of changes.',
          read: streamBacklogBytes,
        },
        {
          name: 'store_orders_pending_commands',
          help: 'Commands (cancels, placements, shipments) that wait for a transaction to start or to commit.',
          read: pendingCommands,
        },
      ]),
    responseBytes: new Counter({
      name: 'store_orders_http_response_body_bytes_total',
      help: 'Bytes of response bodies handed to clients.',
      labelNames: ['operation'] as const,
      registers,
    }),
    ...registerBackups(registry),
    ...registerWebhooks(registry),
    traceFailures: new Counter({
      name: 'store_orders_trace_export_failures_total',
      help: 'Failed exports of traces, including an invalid endpoint.',
      registers,
    }),
    deprecatedCalls: new Counter({
      name: 'store_orders_deprecated_calls_total',
      help: 'Calls of a deprecated operation, by API key.',
      labelNames: ['operation', 'key_id', 'key_name'] as const,
      registers,
    }),
    sunset: new Gauge({
      name: 'store_orders_sunset_timestamp_seconds',
      help: 'When a deprecated operation ends, in seconds since the epoch.',
      labelNames: ['operation'] as const,
      registers,
    }),
    listRefreshes: new Counter({
      name: 'store_orders_list_refreshes_total',
      help: 'Refreshes of the list in memory from the store, by whether orders had changed.',
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

/** Queues of the process, read at each scrape. */
interface Load {
  readonly streams: () => number;
  readonly streamBacklogBytes: () => number;
  readonly pendingCommands: () => number;
}
