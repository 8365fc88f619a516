import type { Logger } from 'pino';
import { actionOf } from '../store/audit.ts';
import {
  claimEnvironment,
  expectEnvironment,
  expectNotMoved,
  type OpenOptions,
} from '../store/open-options.ts';
import type { Store } from '../store/store.ts';
import type { Config } from './settings/config.ts';

/**
 * Opens the store and verifies that this service may serve it.
 * @param onMade called if the database did not exist and was created
 * @param onWaiting called with the reason why startup waits
 * @throws StoreNotUsable, StoreUnavailable
 */
export async function openForService(
  config: Config,
  logger: Logger,
  onMade: () => void,
  onWaiting: (reason: string) => void,
): Promise<Store> {
  let steps: string | undefined;
  const reported = new Set<string>();
  const reportLoss = (record: string) => {
    if (!reported.has(record)) logger.error({ record }, 'acknowledged changes are lost');
    reported.add(record);
  };
  const store = await config.database.open({
    create: true,
    purpose: 'service',
    currentUrl: () =>
      config.currentDatabaseUrl((reason) =>
        logger.warn({ file: config.databaseUrlFile, reason }, 'the database URL is not used'),
      ),
    onMigrated: (from, to) => {
      steps = `schema ${from} → ${to}`;
      if (from === 0) onMade();
      else logger.info({ from, to }, 'migrated the schema');
    },
    onConnection: connectionLog(logger),
    onWarning: warningLog(logger),
    onWaiting,
    onLost: reportLoss,
    onBackup: (file, problems) =>
      logger.info({ file, problems }, 'made a backup before the migration'),
    ...(config.backups && { backupFolder: config.backups.folder }),
  });
  try {
    await claim(store, config);
    // A command may have found them before.
    for (const { what } of await store.history.losses()) reportLoss(what);
  } catch (error) {
    await store.close();
    throw error;
  }
  if (steps !== undefined) await recordMigration(store, steps, logger);
  return store;
}

/** Logs connections at debug, and at info when they are to another server than the one before. */
function connectionLog(logger: Logger): NonNullable<OpenOptions['onConnection']> {
  let used: string | undefined;
  return (what, server) => {
    const isOther = server !== undefined && JSON.stringify(server) !== used;
    if (isOther) used = JSON.stringify(server);
    logger[isOther ? 'info' : 'debug']({ ...server }, what);
  };
}

/** The least time between two warnings of the same source: a trigger of PostgreSQL can raise one in each transaction. */
const WARNED_EVERY_MS = 60_000;

function warningLog(logger: Logger): NonNullable<OpenOptions['onWarning']> {
  const nextAt = new Map<string, number>();
  return ({ source, message }) => {
    const now = performance.now();
    if (now < (nextAt.get(source) ?? 0)) return;
    nextAt.set(source, now + WARNED_EVERY_MS);
    logger.warn({ source, warning: message }, 'a warning of the database');
  };
}

/**
 * Verifies that the store was not moved and belongs to the environment of the service, so that keys of another
 * environment give no access to it. Records the environment if the store has none.
 * @throws StoreNotUsable otherwise
 */
async function claim(store: Store, { database, environment }: Config): Promise<void> {
  expectNotMoved(database.label, (await store.status({ evenIfMoved: true })).movedTo);
  expectEnvironment(database.label, await claimEnvironment(store, environment), environment);
}

/** Records the migration, with user and host. If that fails, the service starts nevertheless. */
async function recordMigration(store: Store, steps: string, logger: Logger): Promise<void> {
  try {
    await store.apply([{ type: 'audit', action: actionOf('serve', steps) }]);
  } catch (error) {
    logger.warn({ err: error, steps }, 'the migration was not recorded');
  }
}
