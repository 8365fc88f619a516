import { ENVIRONMENTS } from '../../domain/api-key.ts';
import { parseAllowedTargets } from '../../feed/deliveries/addresses.ts';
import {
  KEY_BYTES,
  readWebhookKey,
  type WebhookKey,
  WebhookKeyUnusable,
} from '../../feed/deliveries/webhook-key.ts';
import {
  COUNT,
  DATE,
  DURATION,
  HOST_NAME,
  HOST_NAMES,
  type Kind,
  ORIGINS,
  oneOf,
  PORT_NUMBER,
  SECONDS,
  TRUTH,
  WEB_URL,
} from './parsers.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** A setting: an environment variable, a line of a settings file, or a flag of `serve`. */
export interface Setting<T> extends Kind<T> {
  /** The flag of `serve`; absent without one. */
  readonly flag?: string;
  /** The default, as text; absent without one. */
  readonly default?: string;
  /** A description of the default for help and docs, if it is not a fixed text. */
  readonly otherwise?: string;
  /** Whether a change takes effect without a restart: on SIGHUP, or with the next connection to the database. */
  readonly isLive?: true;
  /** One line for help and docs. */
  readonly help: string;
}

/** Infers the type of the value. */
const setting = <T>(each: Setting<T>): Setting<T> => each;
const text = (given: string) => given;
const MAX_STORE_NAME = 100;
const parseStoreName = (given: string) => ([...given].length <= MAX_STORE_NAME ? given : undefined);

/** All settings; docs/configuration.md is written from them, and a test compares the two. */
export const SETTINGS = {
  HOST: setting({
    flag: '--host <host>',
    default: '127.0.0.1',
    ...HOST_NAME,
    help: 'Address to listen on; 0.0.0.0 for all.',
  }),
  PORT: setting({
    flag: '--port <port>',
    default: '8080',
    ...PORT_NUMBER,
    help: 'Port to listen on; 0 for any free one.',
  }),
  DATABASE_URL: setting({
    flag: '--database <url>',
    default: 'sqlite:data/store-orders.db',
    parse: text,
    expected: 'a URL',
    help: 'URL of the database: sqlite:PATH (~/ is the home folder), created if it does not exist, or postgres://USER:PASSWORD@HOST/DATABASE.',
  }),
  DATABASE_URL_FILE: setting({
    flag: '--database-file <file>',
    parse: text,
    expected: 'a readable file',
    help: 'A file that contains the URL, which keeps its password out of the process list; read again for each connection.',
  }),
  BASE_URL: setting({
    flag: '--base-url <url>',
    otherwise: 'http://HOST:PORT/v1',
    ...WEB_URL,
    help: 'Public URL of v1; ends in /v1. v2 is at the same URL with /v2.',
  }),
  STAGING_BASE_URL: setting({
    ...WEB_URL,
    help: 'URL of the staging environment, for the contract.',
  }),
  ENVIRONMENT: setting({
    flag: '--environment <name>',
    default: 'production',
    ...oneOf(ENVIRONMENTS),
    help: 'production or staging. Keys of the other environment are rejected.',
  }),
  CORS_ORIGINS: setting({
    ...ORIGINS,
    isLive: true,
    help: 'Comma-separated origins whose scripts may call the service from a browser, such as https://shop.example; * for all.',
  }),
  PET_LOOKUP_DEPRECATED_AT: setting({
    default: '2026-11-01T00:00:00Z',
    ...DATE,
    help: 'When the pet lookup was deprecated.',
  }),
  PET_LOOKUP_SUNSET_AT: setting({
    default: '2027-12-31T00:00:00Z',
    ...DATE,
    help: 'When the pet lookup ends; 410 from then on.',
  }),
  OPERATIONS_HOST: setting({
    flag: '--operations-host <host>',
    default: '127.0.0.1',
    ...HOST_NAME,
    help: 'Address of the admin listener: /livez, /readyz, /head, /metrics.',
  }),
  OPERATIONS_PORT: setting({
    flag: '--operations-port <port>',
    default: '8081',
    ...PORT_NUMBER,
    help: 'Port of the admin listener.',
  }),
  OPERATIONS_NAMES: setting({
    ...HOST_NAMES,
    help: 'Host names by which Prometheus, probes or a balancer reach the admin listener, besides IP addresses, names without a dot, names that begin with that of the machine, and private domains such as .internal. Requests for others are 421.',
  }),
  REUSE_PORT: setting({
    flag: '--reuse-port',
    default: 'false',
    ...TRUTH,
    help: 'true: share the port with other processes (SO_REUSEPORT), to use several cores.',
  }),
  CONSOLE: setting({
    default: 'on',
    ...oneOf(['on', 'off']),
    help: 'off: do not serve the staff console.',
  }),
  STORE_NAME: setting({
    parse: parseStoreName,
    expected: 'up to 100 characters',
    help: 'Name of the store, for integrators (getStore) and in the console.',
  }),
  CAN_LOSE_CHANGES: setting({
    default: 'false',
    ...TRUTH,
    help: 'true if the database has an asynchronous standby, so that a failover can lose acknowledged changes; getStore reports it to integrators.',
  }),
  DRAIN_SECONDS: setting({
    flag: '--drain-seconds <count>',
    default: '5',
    ...SECONDS,
    help: 'On shutdown, how long to keep serving while /readyz is 503; skipped unless /readyz responded 200 within the last minute.',
  }),
  STOP_LIMIT_SECONDS: setting({
    flag: '--stop-limit-seconds <count>',
    default: '10',
    ...SECONDS,
    help: 'On shutdown, how long until remaining requests are cut off.',
  }),
  BACKUP_DIR: setting({
    parse: text,
    expected: 'a folder',
    help: 'Folder for automatic backups (SQLite only).',
  }),
  BACKUP_EVERY: setting({
    default: '24h',
    ...DURATION,
    help: 'How often a backup is made in BACKUP_DIR.',
  }),
  BACKUP_KEEP: setting({
    default: '7',
    ...COUNT,
    help: 'How many of these backups are kept.',
  }),
  WEBHOOK_KEY_FILE: setting({
    otherwise: 'beside an SQLite database, made for the first webhook',
    parse: existingKey,
    expected: `a readable file with ${KEY_BYTES} bytes in Base64, as "openssl rand -base64 ${KEY_BYTES}" prints them`,
    help: `A file with ${KEY_BYTES} bytes in Base64, from which the secrets of webhooks are derived. Required for webhooks on PostgreSQL, and the same on all nodes.`,
  }),
  WEBHOOK_ALLOW: setting({
    parse: (given) => {
      const targets = parseAllowedTargets(given);
      return 'wrong' in targets ? undefined : targets;
    },
    expected: 'comma-separated addresses, networks such as 10.0.0.0/8, and http',
    help: 'What webhooks may call besides https on port 443 at public addresses: comma-separated addresses, networks such as 10.0.0.0/8, and http.',
  }),
  WEBHOOKS_PER_KEY: setting({
    default: '20',
    ...COUNT,
    help: 'How many webhooks one API key may have; operators may create any number up to that of the store.',
  }),
  LOG_LEVEL: setting({
    flag: '--log-level <level>',
    default: 'info',
    ...oneOf(LOG_LEVELS),
    expected: LOG_LEVELS.join(' | '),
    isLive: true,
    help: 'trace, debug, info, warn, error, fatal or silent.',
  }),
} as const;

export type SettingName = keyof typeof SETTINGS;
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];
export type ValueOf<Name extends SettingName> =
  (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never;

/** Variables that have an effect, but are no settings of the service. */
export const OTHER_VARIABLES = {
  SETTINGS_FILE:
    'A file with lines NAME=value, as in an EnvironmentFile of systemd, which override the environment. The service rereads it on SIGHUP.',
  OTEL_EXPORTER_OTLP_ENDPOINT:
    'Endpoint to which a span of each request is exported; other variables of OpenTelemetry apply.',
} as const;

/** Returns the default of a setting, for help and docs. */
export function defaultOf(name: SettingName): string | undefined {
  const { default: fixed, otherwise } = SETTINGS[name] as Setting<unknown>;
  return fixed ?? otherwise;
}

/** Returns the flag of a setting, such as --host; undefined without one. */
export function flagOf(name: SettingName): string | undefined {
  return (SETTINGS[name] as Setting<unknown>).flag?.split(' ')[0];
}

function existingKey(path: string): WebhookKey | undefined {
  try {
    return readWebhookKey({ path });
  } catch (error) {
    if (error instanceof WebhookKeyUnusable) return undefined;
    throw error;
  }
}
