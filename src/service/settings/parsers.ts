import { parseTimestamp } from '../../domain/timestamp.ts';

/** What values a setting can have. */
export interface Kind<T> {
  /** Valid values, for messages: "HOST must be …". */
  readonly expected: string;
  readonly parse: (text: string) => T | undefined;
}

const kind = <T>(expected: string, parse: Kind<T>['parse']): Kind<T> => ({ expected, parse });

export function oneOf<T extends string>(values: readonly T[]): Kind<T> {
  return kind(values.join(' or '), (text) => values.find((value) => value === text));
}

export const TRUTH = kind(
  'true or false',
  (text) => text === 'true' || (text === 'false' ? false : undefined),
);

/** "localhost" is read as 127.0.0.1, since the system may resolve it to ::1 as well. */
export const HOST_NAME = kind('a host name or an IP address', (text) => {
  if (text === 'localhost') return '127.0.0.1';
  return /^[0-9A-Za-z._:%-]+$/.test(text) ? text : undefined;
});

export const HOST_NAMES = kind('host names, separated by commas', (text) => {
  const names = text.toLowerCase().split(',');
  return names.every((name) => /^[0-9a-z._-]+$/.test(name)) ? names : undefined;
});

export const PORT_NUMBER = kind('a port from 0 to 65535', (text) =>
  /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined,
);

const MAX_SECONDS = 3_600;

/** In milliseconds. */
export const SECONDS = kind(`whole seconds from 0 to ${MAX_SECONDS}`, (text) => {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  return seconds <= MAX_SECONDS ? seconds * 1_000 : undefined;
});

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A whole number with a unit; without one it is seconds. In milliseconds. */
export const DURATION = kind('a time such as 30m, 6h or 1d, up to 365d', (text) => {
  const [, count, unit] = /^([1-9]\d{0,8})([smhd]?)$/.exec(text) ?? [];
  if (count === undefined) return undefined;
  const ms = Number(count) * UNITS_MS[(unit || 's') as keyof typeof UNITS_MS];
  return ms <= 365 * UNITS_MS.d ? ms : undefined;
});

export const COUNT = kind('a number from 1 to 1000', (text) =>
  /^[1-9]\d{0,3}$/.test(text) && Number(text) <= 1_000 ? Number(text) : undefined,
);

/** The version prefix that the path of BASE_URL ends in; other versions replace it with their own. */
const VERSION_PREFIX = '/v1';

/** A base URL, without its version prefix. */
export const WEB_URL = kind(
  `an http or https URL whose path ends in ${VERSION_PREFIX}, without query`,
  (text) => {
    if (!URL.canParse(text)) return undefined;
    const url = new URL(text);
    const path = url.pathname.replace(/\/$/, '');
    const isPlain = url.search === '' && url.hash === '' && url.username === '';
    const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
    // Request paths are decoded before they are compared, so this path must have no escapes.
    const isLiteral = /^[0-9A-Za-z/._~-]*$/.test(path) && !path.includes('//');
    if (!isPlain || !isWeb || !isLiteral || !path.endsWith(VERSION_PREFIX)) return undefined;
    return url.origin + path.slice(0, -VERSION_PREFIX.length);
  },
);

/** Origins as browsers send them: RFC 6454, section 6.1. */
export const ORIGINS = kind(
  'comma-separated origins such as https://shop.example, or *',
  (text) => {
    const origins = text.split(',').map((origin) => origin.trim());
    const isOrigin = (origin: string) => URL.canParse(origin) && new URL(origin).origin === origin;
    return text.trim() === '*' || origins.every(isOrigin) ? origins : undefined;
  },
);

/** A date-time, or a date, which means its start in UTC; in milliseconds since the epoch. */
export const DATE = kind('a date such as 2027-12-31 or 2027-12-31T00:00:00Z', (text) => {
  return parseTimestamp(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
});

/** Returns a host for use in a URL by a client on this machine. */
export function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
