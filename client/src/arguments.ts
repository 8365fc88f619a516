import { CODING_SUFFIX } from '../../protocol/coding-suffix.ts';
import { CALLS, type ParameterKind } from '../../protocol/generated/calls.ts';
import type { OperationName } from '../../protocol/generated/error-codes.ts';

const INT64_MAX = 2n ** 63n - 1n;
/** The rule of the service: visible ASCII, alone or as a string (RFC 8941, section 3.3.3) without escapes. */
const IDEMPOTENCY_KEY = /^(?:"[\x21\x23-\x5b\x5d-\x7e]{1,255}"|[\x21\x23-\x7e][\x21-\x7e]{0,254})$/;
const STRONG_ETAG = /^"[\x21\x23-\x7e]*"$/;
const ETAG = /^(?:W\/)?"[\x21\x23-\x7e]*"$/;

// Each of these functions throws a TypeError for an invalid value; some also accept undefined.

export function int64Text(value: bigint, name: string): string {
  if (typeof value !== 'bigint') {
    throw new TypeError(
      `${name} must be a bigint, such as 9007199254740993n: a number cannot hold every id (got ${typeof value})`,
    );
  }
  if (value > INT64_MAX || value < -INT64_MAX - 1n) throw new TypeError(`${name} is not an int64`);
  return String(value);
}

export function timeText(time: Date | string | undefined, name: string): string | undefined {
  if (time === undefined || typeof time === 'string') return time;
  if (time instanceof Date && !Number.isNaN(time.getTime())) return time.toISOString();
  throw new TypeError(`${name} must be a valid Date, or a string such as 2026-12-01T09:30:00Z`);
}

export function plainObject(value: object, name: string): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw new TypeError(`${name} must be an object`);
}

export function text(value: string | undefined, name: string): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw new TypeError(`${name} must be a string`);
}

export function oneOf<T extends string>(
  value: T | undefined,
  values: readonly T[],
  name: string,
): T | undefined {
  if (value === undefined || values.includes(value)) return value;
  throw new TypeError(`${name} must be one of ${values.join(', ')}`);
}

/** @returns `value`, or `otherwise` if it is undefined */
export function duration(value: number | undefined, otherwise: number, name: string): number {
  if (value === undefined) return otherwise;
  if (typeof value === 'number' && value > 0) return value;
  throw new TypeError(`${name} must be a number of milliseconds above 0`);
}

/** @returns `value`, or `otherwise` if it is undefined */
export function count(value: number | undefined, otherwise: number, name: string): number {
  if (value === undefined) return otherwise;
  if (value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && value >= 0)) {
    return value;
  }
  throw new TypeError(`${name} must be an integer, 0 or more`);
}

function pageSize(value: number | undefined): string | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value > 0)) return value?.toString();
  throw new TypeError('limit must be an integer above 0');
}

/** The parameters of an operation, as the service reads them; other names are ignored. */
export function queryOf(
  operation: OperationName,
  values: object,
): Readonly<Record<string, string | undefined>> {
  plainObject(values, 'a query');
  const kinds = Object.entries(CALLS[operation].query);
  return Object.fromEntries(
    kinds.map(([name, kind]) => [name, valueText(values[name as never], kind, name)]),
  );
}

function valueText(value: unknown, kind: ParameterKind, name: string): string | undefined {
  if (value === undefined) return undefined;
  if (kind === 'int64') return int64Text(value as bigint, name);
  if (kind === 'time') return timeText(value as Date, name);
  if (kind === 'text') return text(value as string, name);
  if (kind === 'count') return pageSize(value as number);
  if (!('listOf' in kind)) return oneOf(value as string, kind, name);
  const values = Array.isArray(value) ? [...value] : [value];
  return values.map((each) => valueText(each, kind.listOf, name)).join();
}

/** The path of an operation with the id of an order, a pet, a webhook or an API key. */
export function pathWith(path: string, id: bigint | string | undefined): string {
  const [, name] = /\{(\w+)\}/.exec(path) ?? [];
  if (name === undefined) return path;
  const what = { webhookId: 'a webhook', keyId: 'an API key' }[name];
  if (what === undefined) return path.replace(`{${name}}`, int64Text(id as bigint, 'id'));
  if (typeof id !== 'string' || id === '') throw new TypeError(`id must be the id of ${what}`);
  return path.replace(`{${name}}`, encodeURIComponent(id));
}

export function functionOf<F>(value: F | undefined, name: string): F | undefined {
  if (value === undefined || typeof value === 'function') return value;
  throw new TypeError(`${name} must be a function`);
}

export function abortSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined || typeof signal?.addEventListener === 'function') return signal;
  throw new TypeError('signal must be an AbortSignal');
}

/** The value of If-Match. */
export function strongEtag(etag: string | undefined): string | undefined {
  if (etag === undefined) return etag;
  if (typeof etag === 'string' && (etag.startsWith('W/') || CODING_SUFFIX.test(etag))) {
    throw new TypeError(
      'ifMatch is a weak ETag (W/…), or has the suffix of a compression (-gzip), and matches no order. A proxy has changed it, for example by compressing the response; use the etag of the order, or configure the proxy to keep ETags unchanged',
    );
  }
  if (typeof etag === 'string' && STRONG_ETAG.test(etag)) return etag;
  if (etag === '') {
    throw new TypeError(
      'ifMatch is empty: the response had no ETag. A proxy may have removed it; configure the proxy to keep ETags unchanged',
    );
  }
  throw new TypeError('ifMatch must be the ETag of an order, including its quotes');
}

/** The value of If-None-Match, which may be a weak ETag. */
export function anyEtag(etag: string | undefined): string | undefined {
  if (etag === undefined || (typeof etag === 'string' && ETAG.test(etag))) return etag;
  throw new TypeError('ifNoneMatch must be an ETag, including its quotes');
}

export function idempotencyKeyOf(key: string | undefined): string {
  if (key === undefined) return randomHex(16);
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key;
  throw new TypeError('idempotencyKey must be 1 to 255 visible ASCII characters');
}

/** crypto.randomUUID is not used, since browsers provide it only over HTTPS. */
export function randomHex(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
