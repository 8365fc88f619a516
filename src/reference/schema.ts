import type { Schema } from '../contract/openapi.ts';
import { type Html, html } from '../pages/html.ts';
import { markdown } from './markdown.ts';
import { nameCell, table } from './table.ts';

/** Writes the type of a value; a record is a link to its table. */
export function typeName(schema: Schema, version: string): Html {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1)!;
    return html`<a href="#${version}-${name}">${name}</a>`;
  }
  if (schema.type === 'array') return html`array of ${typeName(schema.items!, version)}`;
  const { minimum, maximum } = schema;
  // Error codes have a table of their own.
  const values = schema.enum ?? (schema.pattern === undefined && schema['x-extensible-enum']);
  return html`${schema.type}${schema.format !== undefined && html` <small>${schema.format}</small>`}${
    minimum !== undefined && html` <small>from ${minimum}</small>`
  }${maximum !== undefined && html` <small>to ${maximum}</small>`}${
    values && html`: ${values.map((each) => html`<code>${each}</code> `)}`
  }`;
}

/** Writes the table of a record; the fields of objects within it follow it, by their paths. */
export function recordTable(name: string, schema: Schema, version: string): Html {
  const columns = ['Field', 'Type', 'Description'];
  return html`<section class="record">
<h4 id="${version}-${name}">${name}</h4>
${markdown(schema.description)}
${table(`Fields of ${name} in ${version}`, columns, fieldRows(schema, version, ''))}
</section>
`;
}

function fieldRows(
  { properties = {}, required = [] }: Schema,
  version: string,
  path: string,
): (readonly [Html, Html, Html])[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const inner = field.type === 'array' ? field.items! : field;
    const end = field.type === 'array' ? '[].' : '.';
    const heading = nameCell(`${path}${name}`, required.includes(name));
    const row = [heading, typeName(field, version), markdown(field.description)] as const;
    return [row, ...(inner.properties ? fieldRows(inner, version, `${path}${name}${end}`) : [])];
  });
}
