import { ENVIRONMENTS, type Environment } from '../../domain/api-key.ts';
import {
  type AllowedTargets,
  PUBLIC_ONLY,
  parseAllowedTargets,
} from '../../feed/deliveries/addresses.ts';
import {
  KEY_BYTES,
  readWebhookKey,
  type WebhookKey,
  type WebhookKeyFile,
  WebhookKeyUnusable,
} from '../../feed/deliveries/webhook-key.ts';
import type { Database } from '../../store/database.ts';
import { readDatabase, type UrlSource, urlSource } from './database-url.ts';
import {
  COUNT,
  DURATION,
  oneOf,
  parseBaseUrl,
  parseCount,
  parseDate,
  parseDuration,
  parseHost,
  parseOrigins,
  parsePort,
  parseSeconds,
  SECONDS,
  urlHost,
  VERSION_PREFIX,
} from './parsers.ts';
import { type Settings, SettingsReader } from './settings.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const DEFAULTS = {
  HOST: '127.0.0.1',
  PORT: '8080',
  DATABASE_URL: 'sqlite:data/store-orders.db',
  ENVIRONMENT: 'production',
  PET_LOOKUP_DEPRECATED_AT: '2026-11-01T00:00:00Z',
  PET_LOOKUP_SUNSET_AT: '2027-12-31T00:00:00Z',
  OPERATIONS_HOST: '127.0.0.1',
  OPERATIONS_PORT: '8081',
  REUSE_PORT: 'false',
  CONSOLE: 'on',
  CAN_LOSE_CHANGES: 'false',
  DRAIN_SECONDS: '5',
  STOP_LIMIT_SECONDS: '10',
  LOG_LEVEL: 'info',
  BACKUP_EVERY: '24h',
  BACKUP_KEEP: '7',
} as const;

const HOST_NAME = 'a host name or an IP address';
const PORT_NUMBER = 'a port from 0 to 65535';
const TRUTH = 'true or false';
const KEY_FILE = `a readable file with ${KEY_BYTES} bytes in Base64, as "openssl rand -base64 ${KEY_BYTES}" prints them`;
const TARGETS = 'comma-separated addresses, networks such as 10.0.0.0/8, and http';
const ORIGINS = 'comma-separated origins such as https://shop.example, or *';

type Variable =
  | keyof typeof DEFAULTS
  | 'BASE_URL'
  | 'CORS_ORIGINS'
  | 'STAGING_BASE_URL'
  | 'BACKUP_DIR'
  | 'DATABASE_URL_FILE'
  | 'WEBHOOK_KEY_FILE'
  | 'WEBHOOK_ALLOW';

export interface Config {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  readonly database: Database;
  /** The file that its URL is read from. */
  readonly databaseUrlFile: string | undefined;
  /** Returns the current URL; if it is read from a file, the password may have changed. */
  readonly currentDatabaseUrl: UrlSource;
  readonly environment: Environment;
  /** URL at which integrators reach this service; base URLs are this URL followed by /v1 or /v2. */
  readonly rootUrl: string;
  /** The path of `rootUrl`; empty for the root itself. */
  readonly rootPath: string;
  readonly stagingRootUrl: string | undefined;
  /** Origins whose scripts may use the service from a browser; "*" for all. */
  readonly corsOrigins: readonly string[];
  /** Milliseconds since the epoch. */
  readonly petLookup: { readonly deprecatedAt: number; readonly sunsetAt: number };
  readonly admin: { readonly host: string; readonly port: number };
  /** Whether other processes may listen on the same port (SO_REUSEPORT). */
  readonly reusePort: boolean;
  /** Whether the staff console is served. */
  readonly hasConsole: boolean;
  /** Whether a failover of the database can lose acknowledged changes; getSummary reports it. */
  readonly canLoseChanges: boolean;
  /**
   * After a stop signal: how long the service continues to serve while not ready, and the limit for the shutdown
   * after that.
   */
  readonly drainMs: number;
  readonly stopLimitMs: number;
  readonly logLevel: LogLevel;
  /** Undefined unless the service makes backups of its own. */
  readonly backups: BackupSettings | undefined;
  readonly webhooks: WebhookSettings;
}

/** How webhooks are delivered. */
export interface WebhookSettings {
  /** Undefined on PostgreSQL without WEBHOOK_KEY_FILE: there are no webhooks then. */
  readonly keyFile: WebhookKeyFile | undefined;
  readonly allowed: AllowedTargets;
}

/** How the service makes backups of its own. */
export interface BackupSettings {
  readonly folder: string;
  readonly everyMs: number;
  /** Number of backups that are kept. */
  readonly keep: number;
}

/**
 * Reads the configuration of the service. Flags take precedence over the environment, and the environment over the
 * defaults.
 * @param environment as `readEnvironment` returns it
 * @throws ConfigError
 */
export function readConfig(environment: Settings, flags: Settings = {}): Config {
  const settings = new SettingsReader<Variable>(environment, flags, DEFAULTS);
  const host = settings.read('HOST', parseHost, HOST_NAME);
  const port = settings.read('PORT', parsePort, PORT_NUMBER);
  const database = readDatabase(settings);
  const environmentName = readEnvironmentName(settings);
  const { rootUrl, stagingRootUrl } = readUrls(settings, host, port);
  const corsOrigins = settings.isSet('CORS_ORIGINS')
    ? settings.read('CORS_ORIGINS', parseOrigins, ORIGINS)
    : [];
  const petLookup = readPetLookup(settings);
  const adminHost = settings.read('OPERATIONS_HOST', parseHost, HOST_NAME);
  const adminPort = settings.read('OPERATIONS_PORT', parsePort, PORT_NUMBER);
  const reusePort = settings.read('REUSE_PORT', oneOf(['true', 'false']), TRUTH);
  const hasConsole = settings.read('CONSOLE', oneOf(['on', 'off']), 'on or off');
  const canLoseChanges = settings.read('CAN_LOSE_CHANGES', oneOf(['true', 'false']), TRUTH);
  const drainMs = settings.read('DRAIN_SECONDS', parseSeconds, SECONDS);
  const stopLimitMs = settings.read('STOP_LIMIT_SECONDS', parseSeconds, SECONDS);
  const logLevel = settings.read('LOG_LEVEL', oneOf(LOG_LEVELS), LOG_LEVELS.join(' | '));
  const backups = readBackups(settings, database);
  const webhooks = readWebhooks(settings, database);
  if (settings.isSet('WEBHOOK_KEY_FILE')) settings.read('WEBHOOK_KEY_FILE', existingKey, KEY_FILE);
  if (port !== 0 && port !== undefined && port === adminPort && host === adminHost) {
    settings.problems.push(`OPERATIONS_PORT must differ from PORT, not "${port}"`);
  }
  settings.finish();
  return Object.freeze({
    host: host!,
    port: port!,
    database: database!,
    databaseUrlFile: settings.given('DATABASE_URL_FILE'),
    currentDatabaseUrl: urlSource(settings.given('DATABASE_URL_FILE'), database!),
    environment: environmentName!,
    rootUrl: rootUrl!,
    rootPath: new URL(rootUrl!, 'http://localhost').pathname.replace(/\/$/, ''),
    stagingRootUrl,
    corsOrigins: corsOrigins!,
    petLookup,
    admin: { host: adminHost!, port: adminPort! },
    reusePort: reusePort === 'true',
    hasConsole: hasConsole === 'on',
    canLoseChanges: canLoseChanges === 'true',
    drainMs: drainMs!,
    stopLimitMs: stopLimitMs!,
    logLevel: logLevel!,
    backups,
    webhooks,
  });
}

/** The configuration of the commands other than `serve`. */
export interface DatabaseConfig {
  readonly database: Database;
  /** Undefined if not set; the environment recorded in the store applies then. */
  readonly environment: Environment | undefined;
  readonly webhooks: WebhookSettings;
}

/**
 * Reads the configuration of a command other than `serve`.
 * @throws ConfigError
 */
export function readDatabaseConfig(environment: Settings, flags: Settings = {}): DatabaseConfig {
  const settings = new SettingsReader<Variable>(environment, flags, DEFAULTS);
  const database = readDatabase(settings);
  const environmentName = readEnvironmentName(settings);
  const webhooks = readWebhooks(settings, database);
  settings.finish();
  const isSet = settings.isSet('ENVIRONMENT');
  return {
    database: database!,
    environment: isSet ? environmentName : undefined,
    webhooks,
  };
}

/** Without WEBHOOK_KEY_FILE, the key is in a file beside an SQLite database. */
function readWebhooks(
  settings: SettingsReader<Variable>,
  database: Database | undefined,
): WebhookSettings {
  const given = settings.given('WEBHOOK_KEY_FILE');
  const allowed = settings.isSet('WEBHOOK_ALLOW')
    ? settings.read('WEBHOOK_ALLOW', parseTargets, TARGETS)
    : PUBLIC_ONLY;
  const path = database?.file?.path;
  const own = path === undefined ? undefined : { path: `${path}-webhook-key`, madeFor: path };
  const keyFile = given === undefined ? own : { path: given, madeFor: undefined };
  return { keyFile, allowed: allowed ?? PUBLIC_ONLY };
}

function parseTargets(text: string): AllowedTargets | undefined {
  const targets = parseAllowedTargets(text);
  return 'wrong' in targets ? undefined : targets;
}

function existingKey(path: string): WebhookKey | undefined {
  try {
    return readWebhookKey({ path });
  } catch (error) {
    if (error instanceof WebhookKeyUnusable) return undefined;
    throw error;
  }
}

/** SQLite only: PostgreSQL has tools of its own, and several nodes. */
function readBackups(
  settings: SettingsReader<Variable>,
  database: Database | undefined,
): BackupSettings | undefined {
  const everyMs = settings.read('BACKUP_EVERY', parseDuration, DURATION);
  const keep = settings.read('BACKUP_KEEP', parseCount, COUNT);
  const folder = settings.given('BACKUP_DIR');
  if (folder === undefined) return undefined;
  if (database?.file === undefined && database !== undefined) {
    settings.problems.push('BACKUP_DIR is only for SQLite; back up PostgreSQL with its own tools');
  }
  return { folder, everyMs: everyMs!, keep: keep! };
}

function readEnvironmentName(settings: SettingsReader<Variable>): Environment | undefined {
  return settings.read('ENVIRONMENT', oneOf(ENVIRONMENTS), ENVIRONMENTS.join(' or '));
}

/** Reads the URLs at which integrators reach the service, without version prefix. */
function readUrls(
  settings: SettingsReader<Variable>,
  host: string | undefined,
  port: number | undefined,
) {
  const urlExpected = `an http or https URL whose path ends in ${VERSION_PREFIX}, without query`;
  // If the port is not known yet, the URL is relative: OpenAPI resolves it against the location of the contract.
  const ownUrl = port === 0 ? '' : `http://${urlHost(host ?? '')}:${port}`;
  const rootUrl = settings.isSet('BASE_URL')
    ? settings.read('BASE_URL', parseBaseUrl, urlExpected)
    : ownUrl;
  const stagingRootUrl = settings.isSet('STAGING_BASE_URL')
    ? settings.read('STAGING_BASE_URL', parseBaseUrl, urlExpected)
    : undefined;
  return { rootUrl, stagingRootUrl };
}

/** RFC 9745, section 4: the sunset must not be earlier than the deprecation. */
function readPetLookup(settings: SettingsReader<Variable>): Config['petLookup'] {
  const expected = 'a date such as 2027-12-31 or 2027-12-31T00:00:00Z';
  const sunsetAt = settings.read('PET_LOOKUP_SUNSET_AT', parseDate, expected) ?? 0;
  const deprecatedAt = settings.read('PET_LOOKUP_DEPRECATED_AT', parseDate, expected) ?? 0;
  if (deprecatedAt <= sunsetAt || settings.problems.length > 0) return { deprecatedAt, sunsetAt };
  if (settings.isSet('PET_LOOKUP_DEPRECATED_AT')) {
    settings.problems.push(
      'PET_LOOKUP_SUNSET_AT must be no earlier than PET_LOOKUP_DEPRECATED_AT ' +
        `(${new Date(deprecatedAt).toISOString()}), not "${new Date(sunsetAt).toISOString()}"`,
    );
  }
  return { deprecatedAt: sunsetAt, sunsetAt };
}
