import {
  type OpenApi,
  type Operation,
  openValues,
  type Parameter,
  type Response,
  resolved,
  type Schema,
  scopeOf,
} from '../../protocol/openapi.ts';
import { MAX_JSON_BYTES } from '../../src/http/limits.ts';

/** Of what clients send, more may be accepted; of what the service sends, nothing may be new that a client would have to accept. */
type Direction = 'sent by clients' | 'sent by the service';

/**
 * Returns what would break clients of a released contract: what docs/stability.md promises for stable operations, as rules that compare two
 * documents. Most are those of oasdiff (https://github.com/oasdiff/oasdiff/blob/main/docs/BREAKING-CHANGES.md). Operations that were not
 * stable are not compared.
 */
export function breakingChanges(before: OpenApi, after: OpenApi): string[] {
  const found: string[] = [];
  const comparison = new Comparison(before, after, found);
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
  const codes = codesOf(after);
  for (const code of codesOf(before)) {
    if (!codes.includes(code)) found.push(`the error code ${code} is gone`);
  }
  return found;
}

function isStable(operation: Operation): boolean {
  return (operation['x-stability-level'] ?? 'stable') === 'stable';
}

/** The codes of Error records. */
export function codesOf({ components }: OpenApi): readonly string[] {
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

  operation(place: string, before: Operation, after: Operation): void {
    if (!isStable(after)) this.#found.push(`${place} is not stable any more`);
    this.#same(`${place}: the operationId`, before.operationId, after.operationId);
    if (scopeOf(after) !== undefined) {
      this.#same(`${place}: the scope`, scopeOf(before), scopeOf(after));
    }
    this.#parameters(place, before, after);
    this.#requestBody(place, before, after);
    this.#responses(place, before, after);
  }

  /** What the service sends to an endpoint is its side of the contract. */
  webhook(name: string, before: Operation, after: Operation): void {
    const place = `the webhook ${name}`;
    const headers = this.#parametersOf(this.#after, after);
    for (const parameter of this.#parametersOf(this.#before, before).keys()) {
      if (!headers.has(parameter)) this.#found.push(`${place}: ${parameter} is gone`);
    }
    const content = [before, after].map((each) => each.requestBody?.content ?? {});
    this.#content(place, content[0]!, content[1]!, 'sent by the service');
  }

  #parametersOf(document: OpenApi, { parameters = [] }: Operation): Map<string, Parameter> {
    const all = parameters.map((each) => resolved<Parameter>(document, each));
    return new Map(all.map((each) => [`${each.in} parameter ${each.name}`, each]));
  }

  #parameters(place: string, before: Operation, after: Operation): void {
    const old = this.#parametersOf(this.#before, before);
    const now = this.#parametersOf(this.#after, after);
    for (const [name, { required, schema }] of now) {
      const was = old.get(name);
      const at = `${place}: ${name}`;
      if (required === true && was?.required !== true) this.#found.push(`${at} is required`);
      if (was !== undefined) this.#schema(at, was.schema, schema, 'sent by clients');
    }
    for (const name of old.keys()) {
      if (!now.has(name)) this.#found.push(`${place}: ${name} is gone`);
    }
  }

  #requestBody(place: string, before: Operation, after: Operation): void {
    const [old, now] = [before.requestBody, after.requestBody];
    if (now?.required === true && old?.required !== true) {
      this.#found.push(`${place}: the body is required`);
    }
    if (old === undefined) return;
    const bytes = [old, now].map((each) => each?.['x-max-bytes'] ?? MAX_JSON_BYTES);
    if (bytes[1]! < bytes[0]!) this.#found.push(`${place}: the body may have less bytes`);
    this.#content(`${place}: the body`, old.content, now?.content ?? {}, 'sent by clients');
  }

  #responses(place: string, before: Operation, after: Operation): void {
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
      for (const name of Object.keys(old.headers ?? {})) {
        if (now.headers?.[name] === undefined) this.#found.push(`${at}: ${name} is gone`);
      }
      this.#content(at, old.content ?? {}, now.content ?? {}, 'sent by the service');
    }
  }

  #content(
    place: string,
    before: Readonly<Record<string, { readonly schema: Schema }>>,
    after: Readonly<Record<string, { readonly schema: Schema }>>,
    direction: Direction,
  ): void {
    for (const [type, { schema }] of Object.entries(before)) {
      const now = after[type];
      if (now === undefined) this.#found.push(`${place}: ${type} is gone`);
      else this.#schema(place, schema, now.schema, direction);
    }
  }

  #schema(place: string, old: Schema, changed: Schema, direction: Direction): void {
    const [before, after] = [resolved(this.#before, old), resolved(this.#after, changed)];
    const isRequest = direction === 'sent by clients';
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
    if (before.items !== undefined && after.items !== undefined) {
      this.#schema(`${place}[]`, before.items, after.items, direction);
    }
  }

  /** Types, formats, patterns and enums: of requests the values may become more, of responses less. */
  #values(place: string, before: Schema, after: Schema, isRequest: boolean): void {
    const [narrow, wide] = isRequest ? [before, after] : [after, before];
    const types = [wide.type].flat() as string[];
    for (const type of [narrow.type].flat() as string[]) {
      if (!types.includes(type)) this.#found.push(`${place}: the type is ${after.type}`);
    }
    this.#same(`${place}: the format`, before.format, after.format);
    if (wide.pattern !== undefined)
      this.#same(`${place}: the pattern`, before.pattern, after.pattern);
    if (wide.enum === undefined) return;
    const isWithin = narrow.enum?.every((value) => wide.enum!.includes(value));
    if (isWithin !== true) this.#found.push(`${place}: the values are ${after.enum}`);
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
    // Fields that are not described are refused or ignored: neither may change for a request.
    if (
      isRequest &&
      before.additionalProperties !== false &&
      after.additionalProperties === false
    ) {
      this.#found.push(`${place}: other fields are refused`);
    }
  }

  #same(what: string, before: unknown, after: unknown): void {
    if (before !== after) this.#found.push(`${what} is ${after}`);
  }
}
