// npm run records: writes src/records.ts, the types of the records in both contracts.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';

interface Schema {
  readonly $ref?: string;
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly 'x-extensible-enum'?: readonly string[];
}

/** v2's records have their own names; of v1's, these two do not exist in v2. */
const OF_V1 = ['Order', 'Pet'];
/** A name that does not hide the global Error. */
const RENAMED: Readonly<Record<string, string>> = { Error: 'ErrorRecord' };

/** Returns the text of src/records.ts. */
export function recordsSource(): string {
  const [v1, v2] = [schemasOf('v1'), schemasOf('v2')];
  const codes = new Set([v1, v2].flatMap((schemas) => codesOf(schemas) ?? []));
  const schemas = [...OF_V1.map((name) => [name, v1[name]!] as const), ...Object.entries(v2)];
  return [
    '// Made from the contracts by "npm run records". Integers are bigint, times RFC 3339 in UTC with milliseconds.\n',
    ...schemas.map(([name, schema]) => interfaceOf(name, schema)),
    '/** The error codes of this release of the contracts; a service may send others. */',
    `export type ErrorCode =\n${[...codes].map((code) => `  | '${code}'`).join('\n')}\n  | (string & {});\n`,
  ].join('\n');
}

function schemasOf(version: string): Readonly<Record<string, Schema>> {
  const url = new URL(`../contract/${version}.yaml`, import.meta.url);
  const contract = load(readFileSync(url, 'utf8')) as {
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  };
  return contract.components.schemas;
}

function codesOf({ Error: error }: Readonly<Record<string, Schema>>) {
  return error?.properties?.code?.['x-extensible-enum'];
}

function interfaceOf(name: string, schema: Schema): string {
  return `${comment(schema, '')}export interface ${RENAMED[name] ?? name} ${objectOf(schema, '')}\n`;
}

function objectOf({ properties = {}, required = [] }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?';
    return `${comment(schema, inner)}${inner}readonly ${name}${mark}: ${typeOf(schema, inner)};`;
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

function typeOf(schema: Schema, indent: string): string {
  const extensible = schema['x-extensible-enum'];
  if (extensible?.includes('bad_request')) return 'ErrorCode';
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)!;
  if (extensible !== undefined) {
    return [...extensible.map((value) => `'${value}'`), '(string & {})'].join(' | ');
  }
  if (schema.enum !== undefined) return schema.enum.map((value) => `'${value}'`).join(' | ');
  if (schema.type === 'array') {
    const item = typeOf(schema.items!, indent);
    return `readonly ${item.startsWith('{') ? `(${item})` : item}[]`;
  }
  if (schema.type === 'object') return objectOf(schema, indent);
  if (schema.type === 'integer') return 'bigint';
  return schema.type!;
}

function comment({ description }: Schema, indent: string): string {
  return description === undefined ? '' : `${indent}/** ${description.trim()} */\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL('src/records.ts', import.meta.url), recordsSource());
}
