/** A whole number in its only spelling, of any size. */
export const INTEGER = /^(?:0|-?[1-9]\d*)$/;

/** A number with a fraction or an exponent, as it was written. It is not treated as an integer, even if its value is whole. */
export class OtherNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A JSON value; integers as bigint, whatever their size. */
type JsonValue =
  | string
  | bigint
  | OtherNumber
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

export interface ExactJson {
  readonly value: JsonValue;
  /** A name that occurs twice in an object of the text; JSON.parse keeps the last value. */
  readonly repeatedName: string | undefined;
}

/** https://tc39.es/proposal-json-parse-with-source/, which TypeScript does not declare yet. */
type Reviver = (this: unknown, key: string, value: unknown, context: { source: string }) => unknown;

/** Returns the value for a number that is not an integer. */
type OtherNumberOf = (source: string) => unknown;

function parsed(text: string, otherNumber: OtherNumberOf) {
  // Starts at -1, since the last call of the reviver is for the object that wraps the whole value.
  let members = -1;
  const reviver: Reviver = function (_key, value, { source }) {
    if (!Array.isArray(this)) members += 1;
    if (typeof value !== 'number') return value;
    return INTEGER.test(source) ? BigInt(source) : otherNumber(source);
  };
  const value: unknown = JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
  return { value, members };
}

/** Parses a JSON text with every digit of its integers, which become bigint. @throws SyntaxError */
export function parseIntegers(text: string, otherNumber: OtherNumberOf): unknown {
  return parsed(text, otherNumber).value;
}

/** Parses a JSON text in the same way, and finds a name that an object has twice. @throws SyntaxError */
export function parseExactJson(
  text: string,
  otherNumber: (source: string) => OtherNumber | number = (source) => new OtherNumber(source),
): ExactJson {
  const { value, members } = parsed(text, otherNumber);
  const repeatedName = repeatsName(text, members) ? repeatedNameIn(text) : undefined;
  return { value: value as JsonValue, repeatedName };
}

declare const VALUE: unique symbol;
/** A JSON text, with the type of its value, so that the compiler can compare replies with the contract. */
export type Json<T> = string & { readonly [VALUE]: T };

/** A record as the service sends it: integers may be bigint or number, since JSON writes both in the same way. */
export type Sent<T> = T extends string
  ? T
  : T extends bigint
    ? bigint | number
    : T extends readonly (infer Item)[]
      ? readonly Sent<Item>[]
      : T extends object
        ? { readonly [Name in keyof T]: Sent<T[Name]> }
        : T;

/**
 * Writes JSON with every digit of bigints.
 * @param space as of JSON.stringify
 */
export function toJson<T>(value: T, space?: number | string): Json<T> {
  // The item itself: some programs add a toJSON to BigInt.prototype, and `given` is its result.
  function replacer(this: Record<string, unknown>, key: string, given: unknown): unknown {
    const item = this[key];
    return typeof item === 'bigint' ? rawJson(String(item)) : given;
  }
  return JSON.stringify(value, replacer, space) as Json<T>;
}

/** JSON.rawJSON of the same proposal. */
function rawJson(text: string): unknown {
  return (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON(text);
}

/** Returns whether this runtime can read and write every integer. */
export function hasExactIntegers(): boolean {
  const source = '9007199254740993';
  const reviver = (_key: string, value: unknown, context?: { source?: string }) =>
    context?.source === undefined ? value : context.source;
  return JSON.parse(source, reviver) === source && 'rawJSON' in JSON;
}

/** Whether a valid JSON text names more members than its objects have. */
function repeatsName(text: string, members: number): boolean {
  // Most programs write no blank between a name and its colon; then counting `":` is enough.
  let count = 0;
  for (let at = text.indexOf('":'); at !== -1; at = text.indexOf('":', at + 2)) count += 1;
  if (count === members && !/"[ \t\r\n]+:/.test(text)) return false;
  count = 0;
  for (const [, , colon] of text.matchAll(TOKENS)) if (colon !== undefined) count += 1;
  return count > members;
}

function repeatedNameIn(text: string): string {
  const objects: Set<string>[] = [];
  for (const [token, quoted, colon] of text.matchAll(TOKENS)) {
    if (token === '{') objects.push(new Set());
    else if (token === '}') objects.pop();
    else if (colon !== undefined) {
      const name = JSON.parse(quoted!);
      if (objects.at(-1)!.has(name)) return name;
      objects.at(-1)!.add(name);
    }
  }
  throw new Error('no name is repeated');
}

/** Braces, and strings with the colon that makes them names. */
const TOKENS = /("(?:[^"\\]|\\.)*")([ \t\r\n]*:)?|[{}]/g;
