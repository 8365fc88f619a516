import { type OpenApi, openValues, resolved, type Schema } from '../protocol/openapi.ts';
import { type Html, html } from '../src/http/pages/html.ts';
import { markdown } from './markdown.ts';

/** Writes the type of a value, with its limits. */
export function typeName(schema: Schema): Html {
  if (schema.$ref !== undefined) return html`${nameOf(schema.$ref)}`;
  const { minimum, maximum, minItems, maxItems, minLength, maxLength } = schema;
  if (schema.type === 'array')
    return html`array of ${typeName(schema.items!)}${countOf(';', 'items', minItems, maxItems)}`;
  // The length of a time or of a listed value is given by these.
  const isFree = schema.format === undefined && schema.enum === undefined;
  // Error codes have a table of their own.
  const values = schema.enum ?? (schema.pattern === undefined && openValues(schema));
  return html`${String(schema.format ?? schema.type)}${minimum !== undefined && `, from ${minimum}`}${maximum !== undefined && ` to ${maximum}`}${isFree && countOf(',', 'characters', minLength, maxLength)}${
    values && html`: ${values.map((each, index) => html`${index > 0 && ', '}<code>${each}</code>`)}`
  }`;
}

/** How many parts a value can have; nothing without an upper limit. */
const countOf = (mark: string, parts: string, least: unknown, most: unknown): string =>
  most === undefined
    ? ''
    : `${mark} ${least === undefined ? 'at most' : `${least} to`} ${most} ${parts}`;

const nameOf = (ref: string): string => ref.split('/').at(-1)!;

/** A value that a field, a parameter or a body can have. */
interface Field {
  /** Unique in the page; absent for a field that has no address of its own. */
  readonly id?: string | undefined;
  readonly name: string;
  readonly schema: Schema;
  /** Of a parameter; otherwise that of the schema. */
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
}

/** Writes a field as lines; the fields of what it contains open in place. */
export function fieldLines(
  document: OpenApi,
  { id, name, schema, description = schema.description, required }: Field,
): Html {
  return html`<div class="field"${id !== undefined && html` id="${id}"`}><p><code class="name">${name}</code> <span class="type">${typeName(schema)}</span>${
    required === true && html` <span class="required">required</span>`
  }</p>${markdown(description)}${children(document, schema)}</div>
`;
}

/** Writes the fields of a record, or of a list's items; nothing for other values. */
export function children(document: OpenApi, schema: Schema, id?: string): Html {
  const { name, record } = recordIn(document, schema);
  if (record?.properties === undefined) return html``;
  const { properties, required = [] } = record;
  const names = Object.keys(properties);
  const of = name === undefined ? '' : ` of ${name}`;
  return html`<details class="fields"${id?.endsWith('-body') === true && html` open`}><summary>${names.length} ${names.length === 1 ? 'field' : 'fields'}${of}</summary>
${names.map((name) => {
  const schema = inPlace(document, properties[name]!);
  const anchor = id === undefined ? undefined : `${id}-${name}`;
  return fieldLines(document, { id: anchor, name, schema, required: required.includes(name) });
})}</details>`;
}

/** Follows a reference to a text, which has no fields to open. */
function inPlace(document: OpenApi, schema: Schema): Schema {
  const named = resolved(document, schema);
  return named.type === 'string' ? named : schema;
}

/** Follows references and lists to a record. */
function recordIn(
  document: OpenApi,
  schema: Schema,
  name?: string,
): { readonly name: string | undefined; readonly record: Schema | undefined } {
  if (schema.$ref !== undefined) {
    const named = nameOf(schema.$ref);
    return recordIn(document, document.components.schemas[named]!, named);
  }
  if (schema.type === 'array') return recordIn(document, schema.items!, name);
  return { name, record: schema };
}
