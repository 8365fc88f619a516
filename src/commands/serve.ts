import type { AddressInfo } from 'node:net';
import { type Command, Option } from 'commander';
import { type Config, DEFAULTS, readConfig } from '../config/config.ts';
import { withSettingsFile } from '../config/settings.ts';
import { misspelt } from '../config/similar-names.ts';
import { buildAdmin } from '../http/admin.ts';
import { printFirstKey } from '../serve/first-key.ts';
import { LiveLogLevel } from '../serve/live-log-level.ts';
import { rereadOnSignal } from '../serve/reread.ts';
import { Service } from '../serve/service.ts';
import { shutdownOnSignal } from '../serve/shutdown.ts';
import type { Store } from '../store/store.ts';
import { databaseLabel } from '../store/url.ts';
import { createLog, type Log } from '../telemetry/logger.ts';
import { COMMIT, VERSION } from '../version.ts';
import { type DatabaseFlags, databaseCommand, databaseSettings } from './database.ts';
import { addSamples, sampleCount } from './sample.ts';
import { say } from './terminal/output.ts';
import { terminal } from './terminal/terminal.ts';

interface ServeFlags extends DatabaseFlags {
  readonly host?: string;
  readonly port?: string;
  readonly baseUrl?: string;
  readonly environment?: string;
  readonly operationsHost?: string;
  readonly operationsPort?: string;
  readonly reusePort?: true;
  readonly drainSeconds?: string;
  readonly stopLimitSeconds?: string;
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
    .addOption(flag('--base-url <url>', 'BASE_URL', 'public URL of the service'))
    .addOption(flag('--environment <name>', 'ENVIRONMENT', 'production or staging'))
    .addOption(flag('--operations-host <host>', 'OPERATIONS_HOST', 'for health and metrics'))
    .addOption(flag('--operations-port <port>', 'OPERATIONS_PORT', 'for health and metrics'))
    .addOption(
      flag('--reuse-port', 'REUSE_PORT', 'share the port with other processes (SO_REUSEPORT)'),
    )
    .addOption(
      flag('--drain-seconds <count>', 'DRAIN_SECONDS', 'how long to keep serving while not ready'),
    )
    .addOption(
      flag(
        '--stop-limit-seconds <count>',
        'STOP_LIMIT_SECONDS',
        'how long until remaining requests are cut off',
      ),
    )
    .addOption(flag('--log-level <level>', 'LOG_LEVEL', 'trace … fatal, or silent'))
    .option('--sample <count>', 'add sample orders to an empty store')
    .option('--no-first-key', 'do not create a first key')
    .addHelpText(
      'after',
      `\nBy environment, or in the file that SETTINGS_FILE names: BACKUP_DIR, BACKUP_EVERY, BACKUP_KEEP, CAN_LOSE_CHANGES, CONSOLE, CORS_ORIGINS,
PET_LOOKUP_DEPRECATED_AT, PET_LOOKUP_SUNSET_AT, STAGING_BASE_URL. By environment only: OTEL_EXPORTER_OTLP_ENDPOINT, and other
variables of OpenTelemetry. README.md has all settings.`,
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
    REUSE_PORT: flags.reusePort === undefined ? undefined : 'true',
    DRAIN_SECONDS: flags.drainSeconds,
    STOP_LIMIT_SECONDS: flags.stopLimitSeconds,
    LOG_LEVEL: flags.logLevel,
  };
  return { ...given, ...databaseSettings(flags) } as Partial<Record<string, string>>;
}

/** Initialization of a new store. */
interface FirstSteps {
  /** Number of sample orders to add if the store has no orders. */
  readonly samples: number;
  /** Whether to create an API key if the store has none. */
  readonly firstKey: boolean;
}

async function serve(flags: ServeFlags): Promise<void> {
  const read = () => readConfig(terminal().env, settings(flags));
  const config = read();
  const samples = flags.sample === undefined ? 0 : sampleCount(flags.sample);
  const steps = { samples, firstKey: flags.firstKey };
  const log = await createLog(config.logLevel);
  const database = databaseLabel(config.databaseUrl);
  const { environment } = config;
  warnOfMisspelt(log);
  log.logger.info({ version: VERSION, commit: COMMIT, database, environment }, 'starting');
  await serveUntilStopped(config, read, log, steps);
}

async function serveUntilStopped(
  config: Config,
  read: () => Config,
  log: Log,
  steps: FirstSteps,
): Promise<void> {
  const service = new Service(config, log.logger);
  await service.startTraces(terminal().env);
  const operations = buildAdmin({
    whyNotReady: () => service.answerReadiness(),
    metrics: () => service.registry.metrics(),
    served: () => service.served,
    logger: log.logger,
  });
  const stop = async () => {
    await service.drain(config.drainMs);
    await service.close();
    await operations.close();
  };
  const ending = shutdownOnSignal(log, stop, config.drainMs + config.stopLimitMs);
  const level = new LiveLogLevel(log.logger, config.logLevel);
  level.toggleOnSignal();
  // Closing the terminal of a service that runs in one stops it.
  if (process.stdout.isTTY) process.on('SIGHUP', () => ending.begin('SIGHUP'));
  else {
    rereadOnSignal(config, {
      ...{ log, read },
      setLogLevel: (to) => level.configure(to),
      setOrigins: (origins) => service.allowOrigins(origins),
    });
  }
  try {
    await listenForOperations(operations, config, log);
    const store = await service.open(() => sayMade(config));
    await begin(config, log, store, steps, () => service.listen());
  } catch (error) {
    // A stop during startup makes the remaining startup steps fail.
    if (ending.hasBegun) return;
    await Promise.allSettled([service.close(), operations.close()]);
    throw error;
  }
}

/** Warns of variables that have no effect, and resemble some that have. */
function warnOfMisspelt({ logger }: Log): void {
  for (const [name, meant] of misspelt(withSettingsFile(terminal().env))) {
    logger.warn(
      { name, meant },
      'a variable of this name has no effect; it resembles one that has',
    );
  }
}

/** Reports that a store was created, since a mistyped path silently yields a new, empty one. */
function sayMade({ databaseUrl }: Config): void {
  say(`Made the store ${databaseLabel(databaseUrl)}.`);
}

async function listenForOperations(
  operations: ReturnType<typeof buildAdmin>,
  config: Config,
  { logger }: Log,
): Promise<void> {
  const { address, port } = await operations.listen(config.operations);
  logger.info(`Operations listening at ${urlOf(address, port)}`);
}

/** Returns the URL of a listener as bound, with 0.0.0.0 for all addresses. */
function urlOf(address: string, port: number): string {
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

async function begin(
  config: Config,
  { logger }: Log,
  store: Store,
  { samples, firstKey }: FirstSteps,
  listen: () => Promise<AddressInfo>,
): Promise<void> {
  if (samples > 0) await addSamples(store, samples);
  const listening = await listen();
  logger.info(`Server listening at ${urlOf(listening.address, listening.port)}`);
  if (firstKey) await printFirstKey(store, config, listening);
}
