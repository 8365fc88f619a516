import { parseTimestamp } from '../../domain/timestamp.ts';

/** The version prefix that the path of BASE_URL ends in; other versions replace it with their own. */
export const VERSION_PREFIX = '/v1';

const MAX_SECONDS = 3_600;
export const SECONDS = `whole seconds from 0 to ${MAX_SECONDS}`;

export function oneOf<T extends string>(values: readonly T[]): (text: string) => T | undefined {
  return (text) => values.find((value) => value === text);
}

export function parseTruth(text: string): boolean | undefined {
  return text === 'true' || (text === 'false' ? false : undefined);
}

/** "localhost" is read as 127.0.0.1, since the system may resolve it to ::1 as well. */
export function parseHost(text: string): string | undefined {
  if (text === 'localhost') return '127.0.0.1';
  return /^[0-9A-Za-z._:%-]+$/.test(text) ? text : undefined;
}

export function parseNames(text: string): readonly string[] | undefined {
  const names = text.toLowerCase().split(',');
  return names.every((name) => /^[0-9a-z._-]+$/.test(name)) ? names : undefined;
}

export function parsePort(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

/** Parses seconds; returns milliseconds. */
export function parseSeconds(text: string): number | undefined {
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  return seconds <= MAX_SECONDS ? seconds * 1_000 : undefined;
}

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
export const DURATION = 'a time such as 30m, 6h or 1d, up to 365d';

/** Parses a whole number with a unit; without one it is seconds. Returns milliseconds. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,8})([smhd]?)$/.exec(text) ?? [];
  if (count === undefined) return undefined;
  const ms = Number(count) * UNITS_MS[(unit || 's') as keyof typeof UNITS_MS];
  return ms <= 365 * UNITS_MS.d ? ms : undefined;
}

export const COUNT = 'a number from 1 to 1000';

export function parseCount(text: string): number | undefined {
  return /^[1-9]\d{0,3}$/.test(text) && Number(text) <= 1_000 ? Number(text) : undefined;
}

/** Parses a base URL; returns it without its version prefix. */
export function parseBaseUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const path = url.pathname.replace(/\/$/, '');
  const isPlain = url.search === '' && url.hash === '' && url.username === '';
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:';
  // Request paths are decoded before they are compared, so this path must have no escapes.
  const isLiteral = /^[0-9A-Za-z/._~-]*$/.test(path) && !path.includes('//');
  if (!isPlain || !isWeb || !isLiteral || !path.endsWith(VERSION_PREFIX)) return undefined;
  return url.origin + path.slice(0, -VERSION_PREFIX.length);
}

/** Parses origins as browsers send them: RFC 6454, section 6.1. */
export function parseOrigins(text: string): readonly string[] | undefined {
  const origins = text.split(',').map((origin) => origin.trim());
  const isOrigin = (origin: string) => URL.canParse(origin) && new URL(origin).origin === origin;
  return text.trim() === '*' || origins.every(isOrigin) ? origins : undefined;
}

/** Parses a date-time, or a date, which means its start in UTC; returns milliseconds since the epoch. */
export function parseDate(text: string): number | undefined {
  return parseTimestamp(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
}

/** Returns a host for use in a URL by a client on this machine. */
export function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
