/** Below this many digits, every integer is exact as a number too. */
const MANY_DIGITS = /\d{16}/;

/**
 * Parses the JSON of a response with every digit of its integers, which become bigint. Responses have no other numbers.
 * @throws SyntaxError if the text is not JSON; Error if it has integers of 16 digits or more, and this runtime cannot
 *   parse them exactly
 */
export function parseExact(text: string): unknown {
  if (!MANY_DIGITS.test(text)) return withBigints(JSON.parse(text));
  expectExactIntegers();
  return JSON.parse(text, exactReviver as (key: string, value: unknown) => unknown);
}

/** https://tc39.es/proposal-json-parse-with-source/ */
function exactReviver(_key: string, value: unknown, { source }: { source: string }): unknown {
  return typeof value === 'number' ? BigInt(source) : value;
}

let isExact: boolean | undefined;

function expectExactIntegers(): void {
  if (isExact === undefined) {
    const reviver = (_key: string, value: unknown, context?: { source?: string }) =>
      context?.source === undefined ? value : context.source;
    isExact = JSON.parse('9007199254740993', reviver) === '9007199254740993';
  }
  if (isExact) return;
  throw new Error(
    'this runtime rounds integers beyond 2^53, so ids would be wrong: use Node.js 22, Deno, Bun or a browser of 2025 or newer',
  );
}

function withBigints(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withBigints);
  const record = value as Record<string, unknown>;
  for (const name of Object.keys(record)) record[name] = withBigints(record[name]);
  return record;
}
