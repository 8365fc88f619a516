import type { Config } from './config.ts';

/** What can change only with a restart, by variable. */
const FIXED: Readonly<Record<string, (config: Config) => unknown>> = {
  DATABASE_URL_FILE: ({ databaseUrlFile }) => databaseUrlFile,
  HOST: ({ host }) => host,
  PORT: ({ port }) => port,
  BASE_URL: ({ rootUrl }) => rootUrl,
  STAGING_BASE_URL: ({ stagingRootUrl }) => stagingRootUrl,
  ENVIRONMENT: ({ environment }) => environment,
  PET_LOOKUP_DEPRECATED_AT: ({ petLookup }) => petLookup.deprecatedAt,
  PET_LOOKUP_SUNSET_AT: ({ petLookup }) => petLookup.sunsetAt,
  OPERATIONS_HOST: ({ admin }) => admin.host,
  OPERATIONS_PORT: ({ admin }) => admin.port,
  REUSE_PORT: ({ reusePort }) => reusePort,
  CONSOLE: ({ hasConsole }) => hasConsole,
  CAN_LOSE_CHANGES: ({ canLoseChanges }) => canLoseChanges,
  DRAIN_SECONDS: ({ drainMs }) => drainMs,
  STOP_LIMIT_SECONDS: ({ stopLimitMs }) => stopLimitMs,
  BACKUP_DIR: ({ backups }) => backups?.folder,
  BACKUP_EVERY: ({ backups }) => backups?.everyMs,
  BACKUP_KEEP: ({ backups }) => backups?.keep,
  WEBHOOK_KEY_FILE: ({ webhooks }) => webhooks.keyFile?.path,
  WEBHOOK_ALLOW: ({ webhooks }) => JSON.stringify(webhooks.allowed),
};

/** Returns the variables that differ between two configurations and take effect with a restart only. */
export function needRestart(running: Config, next: Config): string[] {
  const changed = Object.entries(FIXED).filter(([, of]) => of(running) !== of(next));
  const names = changed.map(([name]) => name);
  // A file is read again for each connection, so that it may have another password.
  const isSame =
    next.databaseUrlFile === undefined
      ? running.database.url === next.database.url
      : running.database.identity === next.database.identity;
  if (!isSame) names.push('DATABASE_URL');
  return names;
}
