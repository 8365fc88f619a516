import { codesOf } from '../../build/records.ts';
import {
  type Header,
  type OpenApi,
  type Operation,
  openValues,
  type Parameter,
  type Response,
  resolved,
  type Schema,
} from '../../protocol/openapi.ts';
import { MAX_JSON_BYTES } from '../../src/http/limits.ts';

/** Of what clients send, more may be accepted; of what the service sends, nothing may be new that a client would have to accept. */
type Direction = 'sent by clients' | 'sent by the service';

type Media = Readonly<Record<string, { readonly schema: Schema }>>;

/** Keys that are compared, or that bind no client. Another key is reported: a comparison that ignores it could miss a break. */
const KNOWN = {
  path: ['get', 'post', 'patch', 'delete', 'put'],
  operation: [
    ...['operationId', 'tags', 'summary', 'description', 'deprecated'],
    ...['security', 'parameters', 'requestBody', 'responses'],
  ],
  parameter: [
    ...['name', 'in', 'required', 'description', 'deprecated', 'example', 'examples'],
    ...['schema', 'style', 'explode'],
  ],
  body: ['required', 'description', 'content'],
  response: ['description', 'headers', 'content'],
  media: ['schema', 'example', 'examples'],
  schema: [
    ...['type', 'format', 'enum', 'const', 'pattern', 'items', 'properties', 'required'],
    ...['minimum', 'minLength', 'minItems', 'maximum', 'maxLength', 'maxItems'],
    ...['additionalProperties', 'description', 'title', 'example', 'examples'],
  ],
  reference: ['$ref', 'description'],
} as const;

/**
 * Returns what would break clients of a released contract: what docs/stability.md promises for stable operations, as rules that compare two
 * documents. Most are those of oasdiff (https://github.com/oasdiff/oasdiff/blob/main/docs/BREAKING-CHANGES.md). Operations that were not
 * stable are not compared.
 */
export function breakingChanges(before: OpenApi, after: OpenApi): string[] {
  const found: string[] = [];
  const comparison = new Comparison(before, after, found);
  comparison.document();
  for (const [path, methods] of Object.entries(before.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const now = after.paths[path]?.[method];
      const place = `${method.toUpperCase()} ${path}`;
      if (!isStable(operation)) continue;
      if (now === undefined) found.push(`${place} is gone`);
      else comparison.operation(place, operation, now);
    }
  }
  for (const [name, { post }] of Object.entries(before.webhooks ?? {})) {
    const now = after.webhooks?.[name]?.post;
    if (!isStable(post)) continue;
    if (now === undefined) found.push(`the webhook ${name} is gone`);
    else comparison.webhook(name, post, now);
  }
  const codes = errorCodesOf(after);
  for (const code of errorCodesOf(before)) {
    if (!codes.includes(code)) found.push(`the error code ${code} is gone`);
  }
  return found;
}

function isStable(operation: Operation): boolean {
  return (operation['x-stability-level'] ?? 'stable') === 'stable';
}

/** The codes of Error records. */
function errorCodesOf({ components }: OpenApi): readonly string[] {
  return openValues(components.schemas.Error!.properties!.code!)!;
}

class Comparison {
  readonly #before: OpenApi;
  readonly #after: OpenApi;
  readonly #found: string[];

  constructor(before: OpenApi, after: OpenApi, found: string[]) {
    this.#before = before;
    this.#after = after;
    this.#found = found;
  }

  /** What all operations share: the paths of the servers, and how a client sends its key. */
  document(): void {
    const pathsOf = ({ servers }: OpenApi) => servers.map(({ url }) => new URL(url).pathname);
    this.#same('the path of the servers', pathsOf(this.#before)[0], pathsOf(this.#after)[0]);
    const schemes = this.#after.components.securitySchemes ?? {};
    for (const [name, scheme] of Object.entries(this.#before.components.securitySchemes ?? {})) {
      const now = schemes[name] as object | undefined;
      if (now === undefined) this.#found.push(`the security scheme ${name} is gone`);
      for (const key of ['type', 'scheme', 'in', 'name'] as const) {
        const [had, has] = [scheme, now ?? {}].map((each) => (each as Record<string, string>)[key]);
        this.#same(`the security scheme ${name}: ${key}`, had, has);
      }
    }
    for (const [path, methods] of Object.entries(this.#after.paths)) {
      this.#known(path, methods, KNOWN.path);
    }
  }

  operation(place: string, before: Operation, after: Operation): void {
    if (!isStable(after)) this.#found.push(`${place} is not stable any more`);
    this.#known(place, after, KNOWN.operation);
    this.#same(`${place}: the operationId`, before.operationId, after.operationId);
    this.#security(place, before, after);
    this.#parameters(place, before, after, 'sent by clients');
    this.#requestBody(place, before, after);
    this.#responses(place, before, after);
    this.#errorCodes(place, before, after);
  }

  /** What the service sends to an endpoint is its side of the contract, and so is what the answers of endpoints mean. */
  webhook(name: string, before: Operation, after: Operation): void {
    const place = `the webhook ${name}`;
    this.#known(place, after, KNOWN.operation);
    this.#parameters(place, before, after, 'sent by the service');
    const [old, now] = [before, after].map((each) => each.requestBody?.content ?? {});
    this.#content(place, old!, now!, 'sent by the service');
    for (const status of Object.keys(before.responses)) {
      if (!(status in after.responses)) this.#found.push(`${place}: ${status} is gone`);
    }
  }

  /** Each client that met a requirement must meet one now. */
  #security(place: string, before: Operation, after: Operation): void {
    const had = before.security ?? this.#before.security ?? [];
    const has = after.security ?? this.#after.security ?? [];
    const isMet = (was: (typeof had)[number]) =>
      has.some((each) =>
        Object.entries(each).every(([scheme, scopes]) => {
          const own = (was as Readonly<Record<string, readonly string[]>>)[scheme];
          return own !== undefined && scopes.every((scope) => own.includes(scope));
        }),
      );
    if (has.length > 0 && !(had.length > 0 && had.every(isMet))) {
      const needed = has.flatMap((each) => Object.entries(each).flat(2));
      this.#found.push(`${place}: the scope is ${needed.slice(1)} of ${needed[0]}`);
    }
  }

  #parametersOf(document: OpenApi, { parameters = [] }: Operation): Map<string, Parameter> {
    const all = parameters.map((each) => resolved<Parameter>(document, each));
    return new Map(all.map((each) => [`${each.in} parameter ${each.name}`, each]));
  }

  #parameters(place: string, before: Operation, after: Operation, direction: Direction): void {
    const old = this.#parametersOf(this.#before, before);
    const now = this.#parametersOf(this.#after, after);
    for (const [name, parameter] of now) {
      const was = old.get(name);
      const at = `${place}: ${name}`;
      if (was !== undefined) this.#field(at, was, parameter, direction);
      else if (parameter.required === true && direction === 'sent by clients')
        this.#found.push(`${at} is required`);
    }
    for (const name of old.keys()) {
      if (!now.has(name)) this.#found.push(`${place}: ${name} is gone`);
    }
  }

  /** A parameter, or a header of a response. */
  #field(place: string, old: Parameter | Header, now: Parameter | Header, direction: Direction) {
    this.#known(place, now, KNOWN.parameter);
    const [was, is] = [old.required === true, now.required === true];
    if (direction === 'sent by clients' && is && !was) this.#found.push(`${place} is required`);
    if (direction === 'sent by the service' && was && !is)
      this.#found.push(`${place} may be absent`);
    for (const key of ['style', 'explode', 'x-error-code'] as const) {
      const [had, has] = [old, now].map((each) => (each as unknown as Record<string, string>)[key]);
      this.#same(`${place}: ${key}`, had, has);
    }
    this.#schema(place, old.schema, now.schema, direction);
  }

  #requestBody(place: string, before: Operation, after: Operation): void {
    const [old, now] = [before.requestBody, after.requestBody];
    const at = `${place}: the body`;
    if (now?.required === true && old?.required !== true) this.#found.push(`${at} is required`);
    if (old === undefined) return;
    this.#known(at, now ?? {}, KNOWN.body);
    const bytes = [old, now].map((each) => each?.['x-max-bytes'] ?? MAX_JSON_BYTES);
    if (bytes[1]! < bytes[0]!) this.#found.push(`${at} may have less bytes`);
    this.#content(at, old.content, now?.content ?? {}, 'sent by clients');
  }

  #responses(place: string, before: Operation, after: Operation): void {
    for (const status of Object.keys(after.responses)) {
      // A client has to expect further error statuses.
      if (/^[123]/.test(status) && !(status in before.responses))
        this.#found.push(`${place}: ${status} is new`);
    }
    for (const [status, response] of Object.entries(before.responses)) {
      const at = `${place}: ${status}`;
      const found = after.responses[status];
      if (found === undefined) {
        // A client that handles an error which is not sent any more is right as it is.
        if (/^[23]/.test(status)) this.#found.push(`${at} is gone`);
        continue;
      }
      const old = resolved<Response>(this.#before, response);
      const now = resolved<Response>(this.#after, found);
      this.#known(at, now, KNOWN.response);
      for (const [name, header] of Object.entries(old.headers ?? {})) {
        const has = now.headers?.[name];
        if (has === undefined) this.#found.push(`${at}: ${name} is gone`);
        else {
          const [was, is] = [resolved(this.#before, header), resolved(this.#after, has)];
          this.#field(`${at}: ${name}`, was as Header, is as Header, 'sent by the service');
        }
      }
      this.#content(at, old.content ?? {}, now.content ?? {}, 'sent by the service');
    }
  }

  /** A code that an operation has keeps its status, and its name: clients decide by either. An error may not be sent any more. */
  #errorCodes(place: string, before: Operation, after: Operation): void {
    const statusesOf = (document: OpenApi, { responses }: Operation) => {
      const all = Object.entries(responses).flatMap(([status, each]) =>
        codesOf(status, resolved<Response>(document, each)),
      );
      return Map.groupBy(all, ([code]) => code);
    };
    const [old, now] = [statusesOf(this.#before, before), statusesOf(this.#after, after)];
    for (const [code, [[, status] = []]] of old) {
      const isNew = ([each, places]: [string, (readonly [string, number])[]]) =>
        !old.has(each) && places.some(([, other]) => other === status);
      const instead = now.has(code) ? undefined : [...now].find(isNew);
      if (instead !== undefined) this.#found.push(`${place}: ${code} is ${instead[0]}`);
    }
    for (const [code, places] of now) {
      const was = old.get(code)?.map(([, status]) => status);
      for (const [, status] of places) {
        if (was !== undefined && !was.includes(status))
          this.#found.push(`${place}: ${code} has the status ${status}`);
      }
    }
  }

  #content(place: string, before: Media, after: Media, direction: Direction): void {
    for (const [type, { schema }] of Object.entries(before)) {
      const now = after[type];
      if (now === undefined) this.#found.push(`${place}: ${type} is gone`);
      else {
        this.#known(place, now, KNOWN.media);
        this.#schema(place, schema, now.schema, direction);
      }
    }
  }

  #schema(place: string, old: Schema, changed: Schema, direction: Direction): void {
    if (changed.$ref !== undefined) this.#known(place, changed, KNOWN.reference);
    const [before, after] = [resolved(this.#before, old), resolved(this.#after, changed)];
    this.#known(place, after, KNOWN.schema);
    const isRequest = direction === 'sent by clients';
    const [narrow, wide] = isRequest ? [before, after] : [after, before];
    this.#values(place, before, after, isRequest);
    this.#bounds(place, before, after, isRequest);
    const [had, has] = [before.properties ?? {}, after.properties ?? {}];
    const required = after.required ?? [];
    for (const [name, property] of Object.entries(had)) {
      const at = `${place}.${name}`;
      const now = has[name];
      const wasRequired = before.required?.includes(name) === true;
      if (isRequest && required.includes(name) && !wasRequired)
        this.#found.push(`${at} is required`);
      if (!isRequest && !required.includes(name) && wasRequired)
        this.#found.push(`${at} may be absent`);
      if (now === undefined) this.#found.push(`${at} is gone`);
      else this.#schema(at, property, now, direction);
    }
    for (const name of required) {
      if (isRequest && had[name] === undefined) this.#found.push(`${place}.${name} is required`);
    }
    if (wide.items !== undefined && narrow.items === undefined) {
      this.#found.push(`${place}: items is ${after.items === undefined ? 'gone' : 'new'}`);
    } else if (before.items !== undefined && after.items !== undefined) {
      this.#schema(`${place}[]`, before.items, after.items, direction);
    }
  }

  /** Types, formats, patterns and enums: of requests the values may become more, of responses less. */
  #values(place: string, before: Schema, after: Schema, isRequest: boolean): void {
    const [narrow, wide] = isRequest ? [before, after] : [after, before];
    const types = [wide.type].flat();
    for (const type of [narrow.type].flat()) {
      if (wide.type !== undefined && !types.includes(type))
        this.#found.push(`${place}: the type is ${after.type}`);
    }
    this.#same(`${place}: the format`, before.format, after.format);
    if (wide.pattern !== undefined)
      this.#same(`${place}: the pattern`, before.pattern, after.pattern);
    const [few, many] = [narrow, wide].map((each) =>
      each.const === undefined ? each.enum : [each.const],
    );
    if (many !== undefined && few?.every((value) => many.includes(value as string)) !== true) {
      this.#found.push(`${place}: the values are ${after.const ?? after.enum}`);
    }
    // A value that clients wait for, or send, is still there.
    for (const value of openValues(before) ?? []) {
      if (openValues(after)?.includes(value) === false)
        this.#found.push(`${place}: the value ${value} is gone`);
    }
  }

  #bounds(place: string, before: Schema, after: Schema, isRequest: boolean): void {
    const [narrow, wide] = isRequest ? [before, after] : [after, before];
    for (const name of ['minimum', 'minLength', 'minItems']) {
      const [least, limit] = [narrow[name], wide[name]] as (number | undefined)[];
      if (limit !== undefined && (least === undefined || least < limit)) {
        this.#found.push(`${place}: ${name} is ${after[name]}`);
      }
    }
    for (const name of ['maximum', 'maxLength', 'maxItems']) {
      const [most, limit] = [narrow[name], wide[name]] as (number | undefined)[];
      if (limit !== undefined && (most === undefined || most > limit)) {
        this.#found.push(`${place}: ${name} is ${after[name]}`);
      }
    }
    const [had, has] = [before.additionalProperties ?? true, after.additionalProperties ?? true];
    if (typeof has !== 'boolean') this.#found.push(`${place}: additionalProperties is a schema`);
    // Fields that are not described are refused or ignored: neither may change for a request.
    if (isRequest && had && !has) this.#found.push(`${place}: other fields are refused`);
  }

  /** Extensions (x-…) bind nobody, except those that are compared. */
  #known(place: string, part: object, keys: readonly string[]): void {
    for (const key of Object.keys(part)) {
      if (!keys.includes(key) && !key.startsWith('x-'))
        this.#found.push(`${place}: "${key}" is not compared`);
    }
  }

  #same(what: string, before: unknown, after: unknown): void {
    if (before !== after) this.#found.push(`${what} is ${after}`);
  }
}
