import { readFileSync } from 'node:fs';
import { ENVIRONMENTS, type Environment } from '../keys/api-key.ts';
import { parseTimestamp } from '../orders/timestamp.ts';
import { databaseUrlProblem, isSameDatabase } from '../store/open.ts';
import { type Settings, SettingsReader } from './settings.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const MAX_STOP_SECONDS = 3_600;
const SECONDS = `whole seconds from 0 to ${MAX_STOP_SECONDS}`;

/** The version prefix that the path of every base URL ends in. */
const VERSION_PREFIX = '/v1';

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
  DRAIN_SECONDS: '5',
  STOP_LIMIT_SECONDS: '10',
  LOG_LEVEL: 'info',
} as const;

type Variable = keyof typeof DEFAULTS | 'BASE_URL' | 'STAGING_BASE_URL' | 'DATABASE_URL_FILE';

export interface Config {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly databaseUrl: string;
  /** As it is now, where a file holds it: a password may have changed. */
  readonly currentDatabaseUrl: () => string;
  readonly environment: Environment;
  /** Where integrators reach this service; without a trailing slash. */
  readonly baseUrl: string;
  /** The path of `baseUrl`: what every operation of the contract is below. */
  readonly basePath: string;
  readonly stagingBaseUrl: string | undefined;
  /** Milliseconds since the epoch. */
  readonly petLookup: { readonly deprecatedAt: number; readonly sunsetAt: number };
  readonly operations: { readonly host: string; readonly port: number };
  /** Whether other processes may listen at the same port: SO_REUSEPORT. */
  readonly reusePort: boolean;
  /** After a signal to stop: how long it goes on serving, not ready, and how long the stop may then take. */
  readonly drainMs: number;
  readonly stopLimitMs: number;
  readonly logLevel: LogLevel;
}

/**
 * The configuration of the service. Flags come before the environment, that before the defaults.
 * @throws ConfigError
 */
export function readConfig(environment: Settings, flags: Settings = {}): Config {
  const settings = new SettingsReader<Variable>(environment, flags, DEFAULTS);
  const host = settings.read('HOST', parseHost, 'a host name or an IP address');
  const port = settings.read('PORT', parsePort, 'a port from 0 to 65535');
  const databaseUrl = readDatabaseUrl(settings);
  const environmentName = readEnvironmentName(settings);
  const urlExpected = `an http or https URL whose path ends in ${VERSION_PREFIX}, without query`;
  // A port that is not known yet is left out: a server URL may be relative, to where the contract is.
  const ownUrl = port === 0 ? '' : `http://${urlHost(host ?? '')}:${port}`;
  const baseUrl = settings.isSet('BASE_URL')
    ? settings.read('BASE_URL', parseBaseUrl, urlExpected)
    : `${ownUrl}${VERSION_PREFIX}`;
  const stagingBaseUrl = settings.isSet('STAGING_BASE_URL')
    ? settings.read('STAGING_BASE_URL', parseBaseUrl, urlExpected)
    : undefined;
  const petLookup = readPetLookup(settings);
  const operationsHost = settings.read(
    'OPERATIONS_HOST',
    parseHost,
    'a host name or an IP address',
  );
  const operationsPort = settings.read('OPERATIONS_PORT', parsePort, 'a port from 0 to 65535');
  const reusePort = settings.read('REUSE_PORT', oneOf(['true', 'false']), 'true or false');
  const drainMs = settings.read('DRAIN_SECONDS', parseSeconds, SECONDS);
  const stopLimitMs = settings.read('STOP_LIMIT_SECONDS', parseSeconds, SECONDS);
  const logLevel = settings.read('LOG_LEVEL', oneOf(LOG_LEVELS), LOG_LEVELS.join(' | '));
  if (port !== 0 && port !== undefined && port === operationsPort && host === operationsHost) {
    settings.problems.push(`OPERATIONS_PORT must be another port than PORT, not "${port}"`);
  }
  settings.finish();
  return Object.freeze({
    host: host!,
    port: port!,
    databaseUrl: databaseUrl!,
    currentDatabaseUrl: urlSource(settings.given('DATABASE_URL_FILE'), databaseUrl!),
    environment: environmentName!,
    baseUrl: baseUrl!,
    basePath: new URL(baseUrl!, 'http://localhost').pathname,
    stagingBaseUrl,
    petLookup,
    operations: { host: operationsHost!, port: operationsPort! },
    reusePort: reusePort === 'true',
    drainMs: drainMs!,
    stopLimitMs: stopLimitMs!,
    logLevel: logLevel!,
  });
}

/** What the commands beside `serve` need. */
export interface DatabaseConfig {
  readonly databaseUrl: string;
  /** Undefined where it is not set: then the store knows. */
  readonly environment: Environment | undefined;
}

/** @throws ConfigError */
export function readDatabaseConfig(environment: Settings, flags: Settings = {}): DatabaseConfig {
  const settings = new SettingsReader<Variable>(environment, flags, DEFAULTS);
  const databaseUrl = readDatabaseUrl(settings);
  const environmentName = readEnvironmentName(settings);
  settings.finish();
  const isSet = settings.isSet('ENVIRONMENT');
  return { databaseUrl: databaseUrl!, environment: isSet ? environmentName : undefined };
}

/** From DATABASE_URL or, so that a password need not stand in the environment, a file that has it. */
function readDatabaseUrl(settings: SettingsReader<Variable>): string | undefined {
  const { problems } = settings;
  const isInFile = settings.isSet('DATABASE_URL_FILE');
  if (isInFile && settings.isSet('DATABASE_URL')) {
    const both = `${settings.nameOf('DATABASE_URL')} or ${settings.nameOf('DATABASE_URL_FILE')}`;
    problems.push(`set ${both}, not both`);
    return undefined;
  }
  const url = isInFile
    ? settings.read('DATABASE_URL_FILE', contentOf, 'a file that can be read')
    : settings.read('DATABASE_URL', (text) => text, 'a URL');
  if (url === undefined) return undefined;
  const problem = databaseUrlProblem(url);
  if (problem === undefined) return url;
  const where = isInFile
    ? `what ${settings.nameOf('DATABASE_URL_FILE')} holds`
    : settings.nameOf('DATABASE_URL');
  // A password can be anywhere in a URL that is wrong.
  const shown = /^sqlite:|^[\w./-]*$/.test(url) ? `, not "${url}"` : '';
  problems.push(`${where} ${problem}${shown}`);
  return undefined;
}

/**
 * The URL as it is at each call. Only user and password may change: another database would be another store, under a
 * service that goes on with the list of this one. What is no such URL, or cannot be read, changes nothing.
 */
function urlSource(file: string | undefined, url: string): () => string {
  if (file === undefined) return () => url;
  let last = url;
  return () => {
    const now = contentOf(file);
    const isUsable = now !== undefined && databaseUrlProblem(now) === undefined;
    if (isUsable && isSameDatabase(now, url)) last = now;
    return last;
  };
}

/** Undefined where it cannot be read. */
export function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

function readEnvironmentName(settings: SettingsReader<Variable>): Environment | undefined {
  return settings.read('ENVIRONMENT', oneOf(ENVIRONMENTS), ENVIRONMENTS.join(' or '));
}

/** RFC 9745, section 4: the sunset is not earlier than the deprecation. */
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

function oneOf<T extends string>(values: readonly T[]): (text: string) => T | undefined {
  return (text) => values.find((value) => value === text);
}

/** One address and not two: "localhost" may be both 127.0.0.1 and ::1. */
function parseHost(text: string): string | undefined {
  if (text === 'localhost') return '127.0.0.1';
  return /^[0-9A-Za-z._:%-]+$/.test(text) ? text : undefined;
}

function parsePort(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

/** Seconds as milliseconds. */
function parseSeconds(text: string): number | undefined {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  return seconds <= MAX_STOP_SECONDS ? seconds * 1_000 : undefined;
}

function parseBaseUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const path = url.pathname.replace(/\/$/, '');
  const isPlain = url.search === '' && url.hash === '' && url.username === '';
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
  // Paths are decoded before they are compared, so this one must stand as it is.
  const isLiteral = /^[0-9A-Za-z/._~-]*$/.test(path) && !path.includes('//');
  if (!isPlain || !isWeb || !isLiteral || !path.endsWith(VERSION_PREFIX)) return undefined;
  return url.origin + path;
}

/** A date-time, or a date for its first moment in UTC. */
export function parseDate(text: string): number | undefined {
  return parseTimestamp(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
}

/** A host as it stands in a URL that a client on this machine can use. */
export function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
