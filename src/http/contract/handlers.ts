import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { type ExactJson, parseExactJson } from '../../../protocol/exact-json.ts';
import type { Operation, Parameter } from '../../../protocol/openapi.ts';
import { cut } from '../../domain/text.ts';
import { headerCount } from '../connection/well-formed.ts';
import { isErrorCode, type RequestProblem } from '../error-records.ts';
import { MAX_JSON_BYTES } from '../limits.ts';
import type { Exchange, RouteHandler } from '../request/exchange.ts';
import { invalid, refuse, refuseMediaType, sendReply } from '../request/reply.ts';
import { type ContractValidation, escaped, type Validated } from './validation.ts';

/** The schemas of an operation's input: parameters of path and query, and the body. */
export interface Accepted {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: Operation['requestBody'];
}

/** The input of an operation, valid by its contract. */
export interface OperationInput<Parameters, Body> {
  /** Of path and query, by name. */
  readonly parameters: Parameters;
  readonly body: Body;
}

/**
 * Returns a handler whose input is validated against the contract of its operation. Invalid requests get 415; the error of a
 * parameter that has its own code; or 400 with an Error record that lists the problems of parameters and body, up to MAX_PROBLEMS.
 */
export function validated<Parameters, Body = undefined>(
  validation: ContractValidation,
  { parameters, requestBody }: Accepted,
  handle: (exchange: Exchange, input: OperationInput<Parameters, Body>) => void | Promise<void>,
): RouteHandler {
  const readParameters = validation.parameters<Parameters>(parameters);
  for (const { 'x-error-code': code } of parameters) {
    if (code !== undefined && !isErrorCode(code)) throw new Error(`no error has the code ${code}`);
  }
  const codes = new Map(parameters.map((each) => [each.name, each['x-error-code']]));
  const schema = requestBody?.content['application/json']?.schema;
  const mediaTypes = Object.keys(requestBody?.content ?? {});
  const validateBody = schema === undefined ? undefined : validation.body<Body>(schema);
  return {
    maxBodyBytes:
      validateBody === undefined ? undefined : (requestBody!['x-max-bytes'] ?? MAX_JSON_BYTES),
    handle: (exchange) => {
      const isEmpty = requestBody?.required !== true && exchange.body.length === 0;
      const isExpected = validateBody !== undefined && !isEmpty;
      if (isExpected && !isPlainJson(exchange.request, mediaTypes)) {
        return sendReply(exchange, refuseMediaType(exchange.request.method, mediaTypes));
      }
      const found = readParameters(exchange.parameters, exchange.query);
      const body: Validated<Body> =
        validateBody === undefined || isEmpty
          ? { value: undefined as Body }
          : readJsonBody(exchange.body, validateBody);
      if (found.problems === undefined && body.problems === undefined) {
        return handle(exchange, { parameters: found.value, body: body.value });
      }
      const own = found.problems?.map(({ parameter }) => codes.get(parameter!)).find(isErrorCode);
      if (own !== undefined) return sendReply(exchange, refuse(own));
      const code = found.problems === undefined ? 'body_invalid' : 'parameter_invalid';
      const problems = [...(found.problems ?? []), ...(body.problems ?? [])];
      sendReply(exchange, invalid(code, problems));
    },
  };
}

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
function isPlainJson(request: IncomingMessage, types: readonly string[]): boolean {
  const { 'content-type': type = '', 'content-encoding': coding = '' } = request.headers;
  // `headers` has only the first of several.
  if (headerCount(request, 'content-type') > 1) return false;
  const [, name] = MEDIA_TYPE.exec(type.trim()) ?? [];
  if (name === undefined || !types.includes(name.toLowerCase())) return false;
  if (type.match(PARAMETERS)?.some((each) => OTHER_CHARSET.test(each))) return false;
  return coding.split(',').every((each) => ['', 'identity'].includes(each.trim().toLowerCase()));
}

/** The JSON value of a body, with every digit of its integers, as `validate` accepts it. */
function readJsonBody<T>(bytes: Buffer, validate: (value: unknown) => Validated<T>): Validated<T> {
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
function unstorableText(value: unknown, pointer = ''): string | undefined {
  if (typeof value === 'string') {
    return value.includes('\0') || !value.isWellFormed() ? pointer : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, item] of Object.entries(value)) {
    if (unstorableText(name) !== undefined) return pointer;
    const found = unstorableText(item, `${pointer}/${escaped(name)}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
