import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { RequestProblem } from '../http/errors.ts';
import { type ExactJson, type JsonValue, parseExactJson } from '../json/exact-json.ts';
import { escaped, type Validated } from './validation.ts';

/** application/json, with UTF-8 as the only permitted charset (RFC 8259, section 8.1). */
const JSON_TYPE = /^application\/json[\t ]*(?:;[\t ]*charset="?utf-8"?[\t ]*)?$/i;

/** Returns whether the headers of a request declare its body as JSON that is not compressed. */
export function isPlainJson(headers: IncomingHttpHeaders): boolean {
  const { 'content-type': type, 'content-encoding': coding = 'identity' } = headers;
  return type !== undefined && JSON_TYPE.test(type.trim()) && coding === 'identity';
}

/** The JSON value of a body, with every digit of its integers, as `validate` accepts it. */
export function readJsonBody<T>(
  bytes: Buffer,
  validate: (value: unknown) => Validated<T>,
): Validated<T> {
  const whole = (detail: string): { problems: RequestProblem[] } => ({
    problems: [{ pointer: '', detail }],
  });
  if (!isUtf8(bytes)) return whole('is not valid UTF-8');
  let json: ExactJson;
  try {
    // Other numbers become JavaScript numbers, which no schema accepts; an OtherNumber would pass as an object.
    json = parseExactJson(bytes.toString('utf8'), Number);
  } catch {
    return whole('is not valid JSON');
  }
  if (json.repeatedName !== undefined) {
    return whole(`has the field ${JSON.stringify(json.repeatedName.slice(0, 40))} twice`);
  }
  const unstorable = unstorableText(json.value);
  if (unstorable !== undefined) {
    const detail = 'must be text without U+0000 and unpaired surrogates';
    return { problems: [{ pointer: unstorable, detail }] };
  }
  return validate(json.value);
}

/** Returns the pointer to text that PostgreSQL or UTF-8 cannot store; undefined if there is none. */
function unstorableText(value: JsonValue, pointer = ''): string | undefined {
  if (typeof value === 'string') {
    return value.includes('\0') || !value.isWellFormed() ? pointer : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, item] of Object.entries(value)) {
    if (unstorableText(name) !== undefined) return pointer;
    const found = unstorableText(item as JsonValue, `${pointer}/${escaped(name)}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
