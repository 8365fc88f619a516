import { type Command, Option } from 'commander';
import { DEFAULTS, readConfig } from '../config.ts';
import { within } from '../http/deadline.ts';
import { createLog } from '../http/logging.ts';
import { createMetrics } from '../http/metrics.ts';
import { buildOperations } from '../http/operations.ts';
import { buildServer } from '../http/server.ts';
import { Listing } from '../orders/listing.ts';
import type { Order } from '../orders/order.ts';
import { sampleOrders } from '../orders/sample.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { type DatabaseFlags, databaseCommand, databaseSettings } from './database.ts';
import { printFirstKey } from './first-key.ts';
import { grouped, say } from './output.ts';
import { sampleCount } from './sample.ts';
import { stopOnSignal } from './stop-on-signal.ts';
import { watchStore } from './watch-store.ts';

/** How long a probe of readiness waits for the store. */
const READY_WITHIN_MS = 1_000;
/** Sample orders placed in one transaction. */
const SAMPLE_BATCH = 2_000;
const SAMPLE_SEED = 1;

interface ServeFlags extends DatabaseFlags {
  readonly host?: string;
  readonly port?: string;
  readonly baseUrl?: string;
  readonly environment?: string;
  readonly operationsHost?: string;
  readonly operationsPort?: string;
  readonly logLevel?: string;
  readonly sample?: string;
  readonly firstKey: boolean;
}

export function serveCommand(): Command {
  const flag = (
    flags: string,
    variable: keyof typeof DEFAULTS | 'BASE_URL',
    description: string,
  ) => {
    const fallback = { BASE_URL: 'http://HOST:PORT/v1', ...DEFAULTS }[variable];
    return new Option(flags, `${description} (environment: ${variable}, default: ${fallback})`);
  };
  return databaseCommand(
    'serve',
    'run the service',
    `npx store-orders serve
npx store-orders serve --port 9000 --database sqlite:/var/lib/store-orders/orders.db
npx store-orders serve --sample 1000`,
  )
    .addOption(flag('--host <host>', 'HOST', 'address to listen on'))
    .addOption(flag('--port <port>', 'PORT', 'port to listen on'))
    .addOption(flag('--base-url <url>', 'BASE_URL', 'where integrators reach the service'))
    .addOption(flag('--environment <name>', 'ENVIRONMENT', 'production or staging'))
    .addOption(flag('--operations-host <host>', 'OPERATIONS_HOST', 'for health and metrics'))
    .addOption(flag('--operations-port <port>', 'OPERATIONS_PORT', 'for health and metrics'))
    .addOption(flag('--log-level <level>', 'LOG_LEVEL', 'trace … fatal, or silent'))
    .option('--sample <count>', 'put sample orders into the store if it has none')
    .option('--no-first-key', 'do not make a key for a store that has none')
    .addHelpText(
      'after',
      '\nBy environment only: DATABASE_URL_FILE, STAGING_BASE_URL, PET_LOOKUP_DEPRECATED_AT, PET_LOOKUP_SUNSET_AT',
    )
    .action(serve);
}

function settings(flags: ServeFlags): Partial<Record<string, string>> {
  const given = {
    HOST: flags.host,
    PORT: flags.port,
    BASE_URL: flags.baseUrl,
    ENVIRONMENT: flags.environment,
    OPERATIONS_HOST: flags.operationsHost,
    OPERATIONS_PORT: flags.operationsPort,
    LOG_LEVEL: flags.logLevel,
  };
  return { ...given, ...databaseSettings(flags) } as Partial<Record<string, string>>;
}

async function serve(flags: ServeFlags): Promise<void> {
  const config = readConfig(process.env, settings(flags));
  const samples = flags.sample === undefined ? 0 : sampleCount(flags.sample);
  const log = createLog(config.logLevel);
  const { logger } = log;
  const store = await openStore(config.databaseUrl, { create: true, isPatient: false });
  const metrics = createMetrics(store, config.environment);
  let isServing = false;
  const listing = new Listing(store, (changed) =>
    metrics.listRefreshes.inc({ changed: changed > 0 ? 'yes' : 'no' }),
  );
  /** Whether the list could be answered now: the store is there, and nothing of it has to be read anew. */
  const isListAtHand = () =>
    within(READY_WITHIN_MS, () => listing.current()).then(
      () => true,
      () => false,
    );
  const operations = buildOperations({
    registry: metrics.registry,
    isReady: async () => isServing && (await isListAtHand()),
  });
  const server = buildServer({ config, store, listing, metrics, logger });
  let unwatch = () => {};

  stopOnSignal(log, async () => {
    isServing = false;
    unwatch();
    await server.close();
    await store.close();
    await operations.close();
  });
  try {
    const address = await operations.listen(config.operations);
    logger.info(`Operations listening at ${address}`);
    if (samples > 0) await addSamples(store, samples);
    logger.info(
      `Server listening at ${await server.listen({ host: config.host, port: config.port })}`,
    );
    if (flags.firstKey) await printFirstKey(store, config, server);
  } catch (error) {
    await Promise.allSettled([server.close(), operations.close(), store.close()]);
    throw error;
  }
  unwatch = watchStore(listing, logger);
  isServing = true;
}

/** Samples never mix with orders that are there already. */
async function addSamples(store: Store, count: number): Promise<void> {
  const { orders } = await store.status();
  if (orders.pending + orders.shipped + orders.cancelled > 0n) {
    say('The store has orders already, so no samples were added.');
    return;
  }
  let batch: { type: 'place'; order: Order }[] = [];
  for (const order of sampleOrders(count, SAMPLE_SEED)) {
    batch.push({ type: 'place', order });
    if (batch.length < SAMPLE_BATCH) continue;
    await store.apply(batch);
    batch = [];
  }
  await store.apply(batch);
  say(`Added ${grouped(count)} sample orders.`);
}
