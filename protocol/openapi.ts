/** The parts of OpenAPI 3.1 that the contracts use. */
export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  /** Of operations that have none of their own. */
  readonly security?: Operation['security'];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  /** What the service sends to endpoints, by name. */
  readonly webhooks?: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
    readonly [kind: string]: Readonly<Record<string, unknown>> | undefined;
  };
}

interface Ref {
  readonly $ref: string;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  /** Of v2: the scope that the API key needs; none if every key may call it. */
  readonly security?: readonly { readonly apiKey: readonly string[] }[];
  readonly parameters?: readonly (Parameter | Ref)[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, Response | Ref>>;
  /** As oasdiff has them: beta, or alpha for an experimental operation; absent for a stable one. */
  readonly 'x-stability-level'?: string;
  readonly 'x-sunset'?: string;
}

interface RequestBody {
  readonly required?: boolean;
  /** By default MAX_JSON_BYTES. */
  readonly 'x-max-bytes'?: number;
  readonly content: Readonly<Record<string, Media>>;
}

/** Arrays are comma-separated (style: form, explode: false). */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
  /** Code of the Error record for an invalid value, instead of `parameter_invalid`. */
  readonly 'x-error-code'?: string;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | Ref>>;
  readonly content?: Readonly<Record<string, Media>>;
  /** The error codes of the response. */
  readonly 'x-error-codes'?: readonly string[];
  /** The status of each code, if the response stands for several statuses. */
  readonly 'x-error-statuses'?: readonly number[];
}

export interface Header {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  /** Of a text: values that can be sent, beside others; in the contract of v1 as x-extensible-enum. */
  readonly examples?: readonly string[];
  readonly 'x-extensible-enum'?: readonly string[];
  readonly [keyword: string]: unknown;
}

/** Returns the values that a text is known to have, beside others. */
export function openValues(schema: Schema): readonly string[] | undefined {
  return schema.examples ?? schema['x-extensible-enum'];
}

/** Returns the scope that an operation of v2 needs; undefined for one that every key may call. */
export function scopeOf({ security }: Pick<Operation, 'security'>): string | undefined {
  return security?.[0]?.apiKey[0];
}

/** Whether the success response is a stream. */
export function isStream({ responses }: Operation): boolean {
  const success = responses['200'] as Response | undefined;
  return success?.content !== undefined && 'text/event-stream' in success.content;
}

/** Follows a reference within the document. @throws Error if it leads nowhere */
export function resolved<T extends object>(document: OpenApi, item: T | Ref): T {
  if (!('$ref' in item) || typeof item.$ref !== 'string') return item as T;
  const [, , kind, name] = item.$ref.split('/');
  const found = document.components[kind!]?.[name!];
  if (found === undefined) throw new Error(`the contract has nothing at ${item.$ref}`);
  return found as T;
}
