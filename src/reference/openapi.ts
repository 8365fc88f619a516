/** The parts of OpenAPI 3.1 that the contracts use. Integers in examples are bigint. */
export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly [kind: string]: Readonly<Record<string, unknown>>;
  };
}

export interface Ref {
  readonly $ref: string;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  readonly 'x-scope'?: string;
  readonly parameters?: readonly (Parameter | Ref)[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, Media>>;
  };
  readonly responses: Readonly<Record<string, Response | Ref>>;
  readonly 'x-stability'?: string;
  readonly 'x-sunset'?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | Ref>>;
  readonly content?: Readonly<Record<string, Media>>;
}

export interface Header {
  readonly description: string;
}

export interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: bigint;
  readonly maximum?: bigint;
  readonly pattern?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly 'x-extensible-enum'?: readonly string[];
}

/** Whether a success has no end. */
export function isStream({ responses }: Operation): boolean {
  const success = responses['200'] as Response | undefined;
  return success?.content !== undefined && 'text/event-stream' in success.content;
}

/** Follows a reference within the document. */
export function resolved<T extends object>(document: OpenApi, item: T | Ref): T {
  if (!('$ref' in item) || typeof item.$ref !== 'string') return item as T;
  const [, , kind, name] = item.$ref.split('/');
  return document.components[kind!]![name!] as T;
}
