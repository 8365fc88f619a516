import { hasExactIntegers, parseIntegers, toJson } from '../../protocol/exact-json.ts';
import { StoreOrdersError } from './errors.ts';

/** Below this many digits, every integer is exact as a number too. */
const MANY_DIGITS = /\d{16}/;

/**
 * Parses JSON with every digit of its integers, which become bigint. Other numbers stay numbers; the service has none.
 * @throws SyntaxError if the text is not JSON
 */
export function parse(text: string): unknown {
  if (!MANY_DIGITS.test(text)) return withBigints(JSON.parse(text));
  expectExactIntegers();
  return parseIntegers(text, (source) => smallBigint(Number(source)));
}

/**
 * Writes JSON with every digit of bigints, such as those of the records, as `parse` and the service read it.
 * @param space as of JSON.stringify
 */
export function stringify(value: unknown, space?: number | string): string {
  expectExactIntegers();
  return toJson(value, space);
}

let isExact: boolean | undefined;

/** @throws StoreOrdersError if this runtime cannot read or write every int64 */
export function expectExactIntegers(): void {
  isExact ??= hasExactIntegers();
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
