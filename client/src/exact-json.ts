import { StoreOrdersError } from './errors.ts';

/** Below this many digits, every integer is exact as a number too. */
const MANY_DIGITS = /\d{16}/;
const INTEGER = /^-?\d+$/;

/**
 * Parses JSON with every digit of its integers, which become bigint. Other numbers stay numbers; the service has none.
 * @throws SyntaxError if the text is not JSON
 */
export function parse(text: string): unknown {
  if (!MANY_DIGITS.test(text)) return withBigints(JSON.parse(text));
  expectExactIntegers();
  return JSON.parse(text, exactReviver as (key: string, value: unknown) => unknown);
}

/**
 * Writes JSON with every digit of bigints, such as those of the records, as `parse` and the service read it.
 * @param space as of JSON.stringify
 */
export function stringify(value: unknown, space?: number | string): string {
  expectExactIntegers();
  // The item itself: `given` is what a toJSON of BigInt.prototype, which some programs add, has made of it.
  function replacer(this: Record<string, unknown>, key: string, given: unknown): unknown {
    const item = this[key];
    return typeof item === 'bigint' ? EXACT_JSON.rawJSON(String(item)) : given;
  }
  return JSON.stringify(value, replacer, space);
}

/** https://tc39.es/proposal-json-parse-with-source/, which TypeScript does not declare yet. */
const EXACT_JSON = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

function exactReviver(_key: string, value: unknown, { source }: { source: string }): unknown {
  if (typeof value !== 'number') return value;
  return INTEGER.test(source) ? BigInt(source) : smallBigint(value);
}

let isExact: boolean | undefined;

/** @throws StoreOrdersError if this runtime cannot read or write every int64 */
export function expectExactIntegers(): void {
  if (isExact === undefined) {
    const reviver = (_key: string, value: unknown, context?: { source?: string }) =>
      context?.source === undefined ? value : context.source;
    const isRead = JSON.parse('9007199254740993', reviver) === '9007199254740993';
    isExact = isRead && typeof EXACT_JSON.rawJSON === 'function';
  }
  if (isExact) return;
  throw new StoreOrdersError(
    'this runtime rounds integers beyond 2^53, so ids would be wrong; use Node.js 22 or newer, Deno, Bun, Cloudflare Workers, or a browser from 2025 or newer',
  );
}

/** Also of 1.0 and 1e3, which the service does not write. */
function smallBigint(value: number): bigint | number {
  return Number.isSafeInteger(value) ? BigInt(value) : value;
}

function withBigints(value: unknown): unknown {
  if (typeof value === 'number') return smallBigint(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withBigints);
  const record = value as Record<string, unknown>;
  for (const name of Object.keys(record)) record[name] = withBigints(record[name]);
  return record;
}
