import { type Html, html } from '../pages/html.ts';
import { markdown } from './markdown.ts';
import type { Schema } from './openapi.ts';

/** Writes the type of a value; a record is a link to its table. */
export function typeName(schema: Schema, version: string): Html {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1)!;
    return html`<a href="#${version}-${name}">${name}</a>`;
  }
  if (schema.type === 'array') return html`array of ${typeName(schema.items!, version)}`;
  const { minimum, maximum } = schema;
  return html`${schema.type}${schema.format !== undefined && html` <small>${schema.format}</small>`}${
    minimum !== undefined && html` <small>from ${minimum}</small>`
  }${maximum !== undefined && html` <small>to ${maximum}</small>`}${
    schema.enum !== undefined && html`: ${schema.enum.map((each) => html`<code>${each}</code> `)}`
  }`;
}

/** Writes the table of a record; the fields of objects within it follow it, by their paths. */
export function recordTable(name: string, schema: Schema, version: string): Html {
  return html`<section class="record">
<h4 id="${version}-${name}">${name}</h4>
${markdown(schema.description)}
<div class="scroll" tabindex="0" role="region" aria-label="Fields of ${name} in ${version}"><table>
<thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Description</th></tr></thead>
<tbody>
${fieldRows(schema, version, '')}</tbody>
</table></div>
</section>
`;
}

function fieldRows(
  { properties = {}, required = [] }: Schema,
  version: string,
  path: string,
): Html[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const inner = field.type === 'array' ? field.items! : field;
    const end = field.type === 'array' ? '[].' : '.';
    const row = html`<tr><th scope="row"><code>${path}${name}</code>${
      !required.includes(name) && html` <small>optional</small>`
    }</th><td>${typeName(field, version)}</td><td>${markdown(field.description)}</td></tr>
`;
    return [row, ...(inner.properties ? fieldRows(inner, version, `${path}${name}${end}`) : [])];
  });
}
