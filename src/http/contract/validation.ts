import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { INTEGER } from '../../../protocol/exact-json.ts';
import type { Parameter, Schema } from '../../../protocol/openapi.ts';
import { cut } from '../../domain/text.ts';
import { parseTimestamp, timestampProblem } from '../../domain/timestamp.ts';
import type { RequestProblem } from '../error-records.ts';

/** A value that satisfies its schema, or its problems. */
export type Validated<T> =
  | { readonly value: T; readonly problems?: undefined }
  | { readonly problems: readonly RequestProblem[] };

const INT64 = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n };
const INT32 = { minimum: -(2n ** 31n), maximum: 2n ** 31n - 1n };
/** Maximum length of a name or pointer of the request that a problem repeats. */
const MAX_ECHO = 100;

/** Compiles the schemas of a contract; integers are validated as bigint, exactly. */
export class ContractValidation {
  readonly #ajv: Ajv2020;
  /** Operations share parameters and bodies. */
  readonly #compiled = new Map<Schema, ValidateFunction>();

  /** @param components of the contract, which schemas may refer to as "#/components/…" */
  constructor(components: object = {}) {
    this.#ajv = newAjv(components);
  }

  /** A validator of JSON values; problems have pointers. */
  body<T>(schema: Schema): (value: unknown) => Validated<T> {
    const validate = this.#compile(schema);
    return (value) => {
      if (validate(value)) return { value: value as T };
      return {
        problems: validate.errors!.filter(isOwnProblem).map((error) => ({
          ...pointerOf(error),
          detail: detailOf(error),
        })),
      };
    };
  }

  /** A validator of path parameters, which are decoded, and of a query as it was sent. */
  parameters<T>(
    parameters: readonly Parameter[],
  ): (path: Readonly<Record<string, string | undefined>>, query: string) => Validated<T> {
    const readers = parameters.map((each) => ({ ...each, read: this.#parameterReader(each) }));
    const inQuery = new Map(
      parameters.filter((each) => each.in === 'query').map(({ name, schema }) => [name, schema]),
    );
    return (path, query) => {
      const problems: RequestProblem[] = [];
      const given = readQuery(query, inQuery, problems);
      const values: Record<string, unknown> = {};
      for (const { name, in: where, required = false, read } of readers) {
        const text = where === 'path' ? (path[name] ?? '') : given.get(name);
        if (text === undefined && required)
          problems.push({ parameter: name, detail: 'is required' });
        if (text === undefined) continue;
        const { value, details } = read(text);
        if (details === undefined) values[name] = value;
        else for (const detail of details) problems.push({ parameter: name, detail });
      }
      return problems.length === 0 ? { value: values as T } : { problems };
    };
  }

  #parameterReader({ name, in: where, schema }: Parameter) {
    if (!['path', 'query'].includes(where) || schema.$ref !== undefined) {
      throw new Error(`the parameter ${name} has an unsupported location or reference`);
    }
    const validate = this.#compile(schema);
    return (text: string): { value?: unknown; details?: readonly string[] } => {
      if (text === '') return { details: ['must not be empty'] };
      const value = textValue(text, schema);
      if (validate(value)) return { value };
      return { details: [...new Set(validate.errors!.map(detailOf))] };
    };
  }

  #compile(schema: Schema): ValidateFunction {
    const validate = this.#compiled.get(schema) ?? this.#ajv.compile(forBigint(schema) as Schema);
    this.#compiled.set(schema, validate);
    return validate;
  }
}

function newAjv(components: object): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    verbose: true,
    // `npm run check` validates the schemas; doing it here would double the time of compiling.
    meta: false,
    validateSchema: false,
  });
  ajv.addVocabulary(['components', 'example', 'x-pattern-detail']);
  ajv.addFormat('date-time', (text) => parseTimestamp(text) !== undefined);
  ajv.addKeyword({
    keyword: 'int64',
    schemaType: 'object',
    errors: false,
    validate: ({ minimum, maximum }: typeof INT64, value: unknown) =>
      typeof value === 'bigint' && value >= minimum && value <= maximum,
  });
  ajv.addSchema({ $id: 'contract', components: forBigint(components) }, 'contract');
  return ajv;
}

/** A schema with integers as the keyword int64, and references into the contract. */
function forBigint(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(forBigint);
  if (typeof node !== 'object' || node === null) return node;
  expectSupported(node as Schema);
  const { type, format, minimum, maximum, ...rest } = node as Record<string, unknown>;
  if (type !== 'integer') {
    const entries = Object.entries(node).map(([name, value]) =>
      name === '$ref'
        ? [name, String(value).replace(/^#\//, 'contract#/')]
        : [name, forBigint(value)],
    );
    return Object.fromEntries(entries);
  }
  const range = format === 'int32' ? INT32 : INT64;
  const int64 = {
    minimum: minimum === undefined ? range.minimum : BigInt(minimum as number),
    maximum: maximum === undefined ? range.maximum : BigInt(maximum as number),
  };
  return { ...rest, int64 };
}

/** Keywords that the validator would ignore, that would reject valid input, or that would take unbounded time. */
const UNSUPPORTED = ['default', 'uniqueItems'];
const UNSUPPORTED_INTEGER = ['enum', 'const', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];

/** Fails at startup, rather than with wrong responses later. @throws Error */
function expectSupported(schema: Schema): void {
  const { type } = schema;
  const isOdd = type === 'number' || (Array.isArray(type) && type.includes('integer'));
  const names = type === 'integer' ? [...UNSUPPORTED, ...UNSUPPORTED_INTEGER] : UNSUPPORTED;
  const name = isOdd ? 'type' : names.find((each) => typeof type === 'string' && each in schema);
  if (name === undefined) return;
  throw new Error(`a schema with "${name}": ${JSON.stringify(schema[name])} is not supported`);
}

/** Converts the text of a parameter to the type in its schema; text that does not fit stays text. */
function textValue(text: string, schema: Schema): unknown {
  if (schema.type === 'array') {
    return text.split(',').map((item) => textValue(item, schema.items as Schema));
  }
  if (schema.type === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true';
  // The "+" of an offset is decoded as a blank unless it is encoded: 2026-11-26T10:00:00+01:00.
  if (schema.format === 'date-time') return text.replace(/ (?=\d\d:\d\d$)/, '+');
  return schema.type === 'integer' && INTEGER.test(text) ? BigInt(text) : text;
}

/** Reads `name=value` pairs as forms send them: names must be known and unique, percent-encoding valid, and "+" is a blank. */
function readQuery(
  query: string,
  known: ReadonlyMap<string, Schema>,
  problems: RequestProblem[],
): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals === -1 ? pair : pair.slice(0, equals));
    const value = decoded(equals === -1 ? '' : pair.slice(equals + 1));
    const parameter = cut(name ?? pair, MAX_ECHO);
    if (name === undefined || value === undefined) {
      problems.push({ parameter, detail: 'has malformed percent-encoding' });
    } else if (!known.has(name)) problems.push({ parameter, detail: 'is not a known parameter' });
    else if (values.has(name)) {
      const isList = known.get(name)!.type === 'array';
      const detail = `must be sent only once${isList ? ', with commas between its values' : ''}`;
      problems.push({ parameter, detail });
    } else values.set(name, value);
  }
  return values;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Whether an error is not the consequence of another: a text that is no time has no year either. */
function isOwnProblem(
  { keyword, instancePath }: ErrorObject,
  _: number,
  all: readonly ErrorObject[],
): boolean {
  if (keyword !== 'pattern') return true;
  return !all.some((each) => each.keyword === 'format' && each.instancePath === instancePath);
}

function pointerOf({ instancePath, keyword, params }: ErrorObject): { pointer: string } {
  const name = keyword === 'required' ? params.missingProperty : params.additionalProperty;
  const pointer = name === undefined ? instancePath : `${instancePath}/${escaped(name)}`;
  const short = cut(pointer, MAX_ECHO);
  // Without half of an escape at its end.
  return { pointer: short.length < pointer.length ? short.replace(/~$/, '') : short };
}

/** RFC 6901, section 3. */
export function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function detailOf(problem: ErrorObject): string {
  const { keyword, params, schema, parentSchema, message, data } = problem;
  if (keyword === 'int64') {
    const { minimum, maximum } = schema as typeof INT64;
    return `must be an integer from ${minimum} to ${maximum}, in digits only`;
  }
  if (keyword === 'required') return 'is required';
  if (keyword === 'additionalProperties') return 'is not a known field';
  if (keyword === 'enum') return `must be one of ${params.allowedValues.join(', ')}`;
  if (keyword === 'type' && params.type === 'boolean') return 'must be true or false';
  if (keyword === 'minLength') return `must have at least ${params.limit} characters`;
  if (keyword === 'maxLength') return `must have at most ${params.limit} characters`;
  if (keyword === 'pattern') return String(parentSchema?.['x-pattern-detail'] ?? message);
  if (keyword === 'maxItems') return `must have at most ${params.limit} items`;
  if (keyword === 'minItems') return `must have at least ${params.limit} items`;
  if (keyword === 'format') return `must be ${timestampProblem(String(data))}`;
  return message ?? 'is not valid';
}
