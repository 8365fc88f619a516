import type { AddressInfo } from 'node:net';
import { buildAdmin } from '../http/admin.ts';
import type { Store } from '../store/store.ts';
import type { Log } from '../telemetry/logger.ts';
import { COMMIT, VERSION } from '../version.ts';
import { printFirstKey } from './first-key.ts';
import { Service } from './service.ts';
import type { Config } from './settings/config.ts';
import { misspelt, type Settings } from './settings/reader.ts';
import { handleSignals } from './signals.ts';

interface StartOptions {
  /** The variables of the process, the only source of OpenTelemetry's settings. */
  readonly environment: Settings;
  /** The variables that `config` was read from: of the process, overridden by SETTINGS_FILE. */
  readonly settings: Settings;
  /** Reads the configuration again, on SIGHUP. @throws ConfigError */
  readonly read: () => Config;
  readonly writeErr: (line: string) => void;
  /** Rejects if the text could not be written. */
  readonly writeErrWhole: (text: string) => Promise<void>;
  /** Called with the open store before it is served. */
  readonly prepare: (store: Store) => Promise<void>;
  /** Whether to create an API key if the store has none. */
  readonly makesFirstKey: boolean;
}

/**
 * Starts the service: the admin listener, which answers probes and metrics while the store is opened; the store; the public listener.
 * Resolves once requests are served, or when the process is stopped before that.
 * @throws StoreNotUsable, StoreUnavailable, and errors of listeners
 */
export async function start(config: Config, log: Log, options: StartOptions): Promise<void> {
  const { environment, settings, read, writeErr, writeErrWhole, prepare, makesFirstKey } = options;
  const { logger } = log;
  const database = config.database.label;
  for (const [name, meant] of misspelt(settings)) {
    logger.warn(
      { name, meant },
      'unknown environment variable, which resembles a known one; it has no effect',
    );
  }
  logger.info(
    { version: VERSION, commit: COMMIT, database, environment: config.environment },
    'starting',
  );
  const service = new Service(config, logger);
  await service.startTraces(environment);
  const admin = buildAdmin({
    whyNotReady: () => service.answerReadiness(),
    metrics: () => service.metrics.registry.metrics(),
    database,
    listState: () => service.listState,
    head: () => service.head(),
    names: config.adminNames,
    logger,
  });
  const shutdown = handleSignals(config, log, { service, admin, read });
  try {
    logger.info(`Admin listening at ${urlOf(await admin.listen(config.admin))}`);
    // Logged, since a mistyped path results in a new, empty store.
    const store = await service.open(() => writeErr(`Created the store ${database}.`));
    await prepare(store);
    const listening = await service.listen();
    logger.info(`Server listening at ${urlOf(listening)}`);
    if (makesFirstKey)
      await printFirstKey(store, config, { listening, write: writeErrWhole, logger });
  } catch (error) {
    // A stop during startup makes the remaining startup steps fail.
    if (shutdown.hasBegun) return;
    await Promise.allSettled([service.close(), admin.close()]);
    throw error;
  }
}

/** Returns the URL of a bound address; 0.0.0.0 stands for all addresses. */
function urlOf({ address, port }: AddressInfo): string {
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
