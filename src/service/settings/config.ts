import { isDeepStrictEqual } from 'node:util';
import { PUBLIC_ONLY } from '../../feed/deliveries/addresses.ts';
import type { Rotation } from '../../store/backups.ts';
import type { Database } from '../../store/database.ts';
import { readDatabaseSetting, urlSource } from './database-url.ts';
import { urlHost } from './parsers.ts';
import { type Settings, SettingsReader } from './reader.ts';
import { SETTING_NAMES, SETTINGS, type Setting, type SettingName, type ValueOf } from './table.ts';

/**
 * Reads the configuration of the service. Flags override the settings, which override the defaults.
 * @param environment as `readEnvironment` returns it
 * @throws ConfigError
 */
export function readConfig(environment: Settings, flags: Settings = {}) {
  const settings = new SettingsReader(environment, flags);
  /** After a problem, undefined: `finish` throws then. */
  const read = <Name extends SettingName>(name: Name) => settings.read(name) as ValueOf<Name>;
  const [host, port] = [read('HOST'), read('PORT')];
  const database = readDatabaseSetting(settings)!;
  const databaseUrlFile = settings.given('DATABASE_URL_FILE');
  // If the port is not known yet, the URL is relative: OpenAPI resolves it against the location of the contract.
  const ownUrl = port === 0 ? '' : `http://${urlHost(host ?? '')}:${port}`;
  const admin = { host: read('OPERATIONS_HOST'), port: read('OPERATIONS_PORT') };
  const config = {
    host,
    /** 0 selects any free port. */
    port,
    database,
    /** The file that its URL is read from. */
    databaseUrlFile,
    environment: read('ENVIRONMENT'),
    /** URL at which integrators reach this service; base URLs are this URL followed by /v1 or /v2. */
    rootUrl: settings.read('BASE_URL') ?? ownUrl,
    stagingRootUrl: settings.read('STAGING_BASE_URL'),
    /** Origins whose scripts may use the service from a browser; "*" for all. */
    corsOrigins: settings.read('CORS_ORIGINS') ?? [],
    petLookup: readPetLookup(settings),
    admin,
    /** Host names for which the admin listener answers, besides those of every machine. */
    adminNames: settings.read('OPERATIONS_NAMES') ?? [],
    reusePort: read('REUSE_PORT'),
    hasConsole: read('CONSOLE') === 'on',
    /** Of the store, for people; undefined if the operators have given it none. */
    storeName: settings.read('STORE_NAME'),
    canLoseChanges: read('CAN_LOSE_CHANGES'),
    /** After a stop signal: how long the service continues to serve while not ready, and the limit for the shutdown after that. */
    drainMs: read('DRAIN_SECONDS'),
    stopLimitMs: read('STOP_LIMIT_SECONDS'),
    logLevel: read('LOG_LEVEL'),
    /** Undefined unless the service makes backups of its own. */
    backups: readBackups(settings, database),
    webhooks: readWebhooks(settings, database),
    /** The settings as given, to find those that have changed. */
    given: Object.fromEntries(SETTING_NAMES.map((name) => [name, settings.given(name)])),
  };
  // Only validated here: the key is read when it is needed.
  settings.read('WEBHOOK_KEY_FILE');
  if (port !== 0 && port !== undefined && port === admin.port && host === admin.host) {
    settings.problems.push(`OPERATIONS_PORT must differ from PORT, not "${port}"`);
  }
  settings.finish();
  return Object.freeze({
    ...config,
    /** The path of `rootUrl`; empty for the root itself. */
    rootPath: new URL(config.rootUrl, 'http://localhost').pathname.replace(/\/$/, ''),
    /** Returns the current URL; if it is read from a file, the password may have changed. */
    currentDatabaseUrl: urlSource(databaseUrlFile, database),
  });
}

export type Config = ReturnType<typeof readConfig>;

/** Returns the settings that differ between two configurations and take effect only with a restart. */
export function needRestart(running: Config, next: Config): string[] {
  const hasBackups = running.backups !== undefined || next.backups !== undefined;
  const changed = SETTING_NAMES.filter((name) => {
    const { isLive, default: fallback, parse }: Setting<unknown> = SETTINGS[name];
    if (isLive || name === 'DATABASE_URL') return false;
    if (/^BACKUP_(?:EVERY|KEEP)$/.test(name) && !hasBackups) return false;
    // By value, which can have several spellings; of a file by its path.
    const valueIn = ({ given }: Config) => {
      const text = given[name] ?? fallback;
      return text === undefined || name === 'WEBHOOK_KEY_FILE' ? text : parse(text);
    };
    return !isDeepStrictEqual(valueIn(running), valueIn(next));
  });
  // The password in a file may change without a restart: it is read again for each connection.
  const isSame =
    next.databaseUrlFile === undefined
      ? running.database.url === next.database.url
      : running.database.identity === next.database.identity;
  return isSame ? changed : [...changed, 'DATABASE_URL'];
}

/**
 * Reads the configuration of a command other than `serve`. Its environment is undefined if not set; that recorded in the store applies then.
 * @throws ConfigError
 */
export function readDatabaseConfig(environment: Settings, flags: Settings = {}) {
  const settings = new SettingsReader(environment, flags);
  const database = readDatabaseSetting(settings);
  const name = settings.read('ENVIRONMENT');
  const webhooks = readWebhooks(settings, database);
  settings.finish();
  const isSet = settings.given('ENVIRONMENT') !== undefined;
  return { database: database!, environment: isSet ? name : undefined, webhooks };
}

/** How webhooks are delivered. Without WEBHOOK_KEY_FILE, the key is in a file beside an SQLite database; on PostgreSQL there are no webhooks then. */
function readWebhooks(settings: SettingsReader, database: Database | undefined) {
  const given = settings.given('WEBHOOK_KEY_FILE');
  const path = database?.file?.path;
  const own = path === undefined ? undefined : { path: `${path}-webhook-key`, madeFor: path };
  const keyFile = given === undefined ? own : { path: given, madeFor: undefined };
  /** How many webhooks an API key may have. */
  const maxOfKey = settings.read('WEBHOOKS_PER_KEY') ?? 0;
  return { keyFile, allowed: settings.read('WEBHOOK_ALLOW') ?? PUBLIC_ONLY, maxOfKey };
}

/** Backups of an SQLite database; PostgreSQL has tools of its own. */
function readBackups(
  settings: SettingsReader,
  database: Database | undefined,
): Rotation | undefined {
  const everyMs = settings.read('BACKUP_EVERY');
  const keep = settings.read('BACKUP_KEEP');
  const folder = settings.given('BACKUP_DIR');
  if (folder === undefined) return undefined;
  if (database !== undefined && database.file === undefined) {
    settings.problems.push('BACKUP_DIR is only for SQLite; back up PostgreSQL with its own tools');
  }
  return { folder, everyMs: everyMs!, keep: keep! };
}

/** In milliseconds since the epoch. RFC 9745, section 4: the sunset must not be earlier than the deprecation. */
function readPetLookup(settings: SettingsReader) {
  const sunsetAt = settings.read('PET_LOOKUP_SUNSET_AT') ?? 0;
  const deprecatedAt = settings.read('PET_LOOKUP_DEPRECATED_AT') ?? 0;
  if (deprecatedAt <= sunsetAt || settings.problems.length > 0) return { deprecatedAt, sunsetAt };
  if (settings.given('PET_LOOKUP_DEPRECATED_AT') !== undefined) {
    settings.problems.push(
      'PET_LOOKUP_SUNSET_AT must be no earlier than PET_LOOKUP_DEPRECATED_AT ' +
        `(${new Date(deprecatedAt).toISOString()}), not "${new Date(sunsetAt).toISOString()}"`,
    );
  }
  return { deprecatedAt: sunsetAt, sunsetAt };
}
