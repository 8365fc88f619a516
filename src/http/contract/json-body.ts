import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { type ExactJson, type JsonValue, parseExactJson } from '../../../protocol/exact-json.ts';
import { cut } from '../../domain/text.ts';
import { headerCount } from '../connection/well-formed.ts';
import type { RequestProblem } from '../error-records.ts';
import { escaped, type Validated } from './validation.ts';

/** RFC 9110, section 5.6.6: a parameter with a token or a quoted string. */
const PARAMETER = /[!#$%&'*+.^`|~\w-]+=(?:[!#$%&'*+.^`|~\w-]+|"(?:[^"\\]|\\.)*")/;
/** A media type and its parameters, which may be empty. Matches in linear time, since it reads no blank in two ways. */
const MEDIA_TYPE = new RegExp(
  `^([!#$%&'*+.^\`|~\\w/-]+)[\\t ]*(?:;[\\t ]*(?:${PARAMETER.source}[\\t ]*)?)*$`,
);
const PARAMETERS = new RegExp(PARAMETER, 'g');
/** UTF-8 is the only charset of JSON (RFC 8259, section 8.1); some libraries leave its hyphen out. */
const OTHER_CHARSET = /^charset=(?!"?utf-?8"?$)/i;

/**
 * A body with more JSON values than this is refused, since 1,000 orders have a few thousand. Each value takes a microsecond, so a million of
 * them would delay other requests by a second.
 */
const MAX_VALUES = 20_000;

/**
 * Returns whether the headers of a request declare its body as JSON of one of these media types, in lower case, that is not compressed. Unknown
 * parameters are ignored.
 */
export function isPlainJson(request: IncomingMessage, types: readonly string[]): boolean {
  const { 'content-type': type = '', 'content-encoding': coding = '' } = request.headers;
  // `headers` has only the first of several.
  if (headerCount(request, 'content-type') > 1) return false;
  const [, name] = MEDIA_TYPE.exec(type.trim()) ?? [];
  if (name === undefined || !types.includes(name.toLowerCase())) return false;
  if (type.match(PARAMETERS)?.some((each) => OTHER_CHARSET.test(each))) return false;
  return coding.split(',').every((each) => ['', 'identity'].includes(each.trim().toLowerCase()));
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
  // RFC 8259, section 8.1: a byte order mark may be ignored.
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  let json: ExactJson;
  try {
    if (!hasFewValues(text)) return whole(`has more than ${MAX_VALUES} JSON values`);
    // Other numbers become JavaScript numbers, which no schema accepts. An OtherNumber would pass for an object.
    json = parseExactJson(text, Number);
  } catch (error) {
    // The parser has no more room on the stack.
    const isDeep = error instanceof RangeError;
    return whole(isDeep ? 'is nested too deeply' : 'is not valid JSON');
  }
  if (json.repeatedName !== undefined) {
    return whole(`has the field ${JSON.stringify(cut(json.repeatedName, 40))} twice`);
  }
  const unstorable = unstorableText(json.value);
  if (unstorable !== undefined) {
    const detail = 'must be text without U+0000 and unpaired surrogates';
    return { problems: [{ pointer: unstorable, detail }] };
  }
  return validate(json.value);
}

/**
 * Whether a JSON text has at most MAX_VALUES in its objects and arrays. Takes a fiftieth of the time of `parseExactJson`.
 * @throws SyntaxError
 */
function hasFewValues(text: string): boolean {
  // A value has at least two characters: brackets or quotes, or a digit and a comma.
  if (text.length <= 2 * MAX_VALUES) return true;
  let count = 0;
  const waiting: unknown[] = [JSON.parse(text)];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    const inside = Object.values(next);
    count += inside.length;
    if (count > MAX_VALUES) return false;
    for (const each of inside) waiting.push(each);
  }
  return true;
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
