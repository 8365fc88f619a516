import {
  type Header,
  isStream,
  type OpenApi,
  type Operation,
  type Parameter,
  type Response,
  resolved,
} from '../contract/openapi.ts';
import { toJson } from '../json/to-json.ts';
import { type Html, html } from '../pages/html.ts';
import { CLIENT_LINES, curlLine } from './examples.ts';
import { markdown } from './markdown.ts';
import { typeName } from './schema.ts';
import { nameCell, table } from './table.ts';

/** The location of an operation. */
export interface Place {
  readonly version: string;
  readonly method: string;
  /** Relative to the version: /store/orders/{orderId} */
  readonly path: string;
  /** Of the version, such as https://api.store.example/v2 */
  readonly baseUrl: string;
}

/** The id of the section of an operation. */
export function anchor(version: string, { operationId }: Operation): string {
  return `${version}-${operationId}`;
}

/** Writes the section of an operation. */
export function operationSection(document: OpenApi, operation: Operation, place: Place): Html {
  const { version, method, path, baseUrl } = place;
  const parameters = (operation.parameters ?? []).map((each) => resolved(document, each));
  const id = anchor(version, operation);
  const { operationId, summary, requestBody } = operation;
  const media = requestBody?.content['application/json'];
  return html`<article id="${id}" aria-labelledby="${id}-title">
<h3 id="${id}-title">${summary} ${badges(operation)}</h3>
<p class="line"><code class="method ${method}">${method.toUpperCase()}</code> <code>/${version}${path}</code>
<span class="name">${operationId}</span></p>
${markdown(operation.description)}
${scopeOf(operation)}
${parameters.length > 0 && parameterTable(parameters, version, id)}
${
  media !== undefined &&
  html`<h4>Body</h4>
<p>${typeName(media.schema, version)}, as <code>application/json</code>${
    requestBody?.required !== true && ', or none'
  }</p>
${exampleOf(media.example)}`
}
<h4>Examples</h4>
<pre tabindex="0" aria-label="With curl"><code>${curlLine(operation, parameters, { method, url: baseUrl + path })}</code></pre>
<pre tabindex="0" aria-label="With the client library"><code>${CLIENT_LINES[version]?.[operationId]}</code></pre>
${!isStream(operation) && tryIt(parameters, place, { id, hasBody: media !== undefined })}
<h4>Responses</h4>
${Object.entries(operation.responses).map(([status, response]) =>
  responseOf(document, status, resolved(document, response), version),
)}
</article>
`;
}

function badges(operation: Operation): Html {
  const stability = operation['x-stability'] ?? 'stable';
  const sunset = operation['x-sunset'];
  return html`<span class="badge ${stability}">${stability}</span>${
    operation.deprecated === true &&
    html` <span class="badge deprecated">deprecated${sunset !== undefined && html`, ends ${sunset.slice(0, 10)}`}</span>`
  }`;
}

function scopeOf({ 'x-scope': scope }: Operation): Html {
  if (scope === 'none') return html`<p>Every key may call it.</p>`;
  return scope === undefined ? html`` : html`<p>Requires the scope <code>${scope}</code>.</p>`;
}

function parameterTable(parameters: readonly Parameter[], version: string, id: string): Html {
  const columns = ['Name', 'In', 'Type', 'Description'];
  const rows = parameters.map(
    ({ name, in: where, required, schema, description }) =>
      [
        nameCell(name, required === true),
        where,
        typeName(schema, version),
        markdown(description),
      ] as const,
  );
  return html`<h4>Parameters</h4>
${table(`Parameters of ${id}`, columns, rows)}`;
}

function responseOf(
  document: OpenApi,
  status: string,
  { description, headers = {}, content = {} }: Response,
  version: string,
): Html {
  const [type, media] = Object.entries(content)[0] ?? [];
  const examples = [
    media?.example,
    ...Object.values(media?.examples ?? {}).map(({ value }) => value),
  ];
  const title = status === 'default' ? 'any other' : status;
  return html`<details><summary><code>${title}</code> ${markdown(description)}</summary>
${media !== undefined && html`<p>${typeName(media.schema, version)}, as <code>${type}</code></p>`}
${examples.map(exampleOf)}
<dl>${Object.entries(headers).map(
    ([name, header]) =>
      html`<dt><code>${name}</code></dt><dd>${markdown(resolved<Header>(document, header).description)}</dd>
`,
  )}</dl>
</details>
`;
}

function exampleOf(example: unknown): Html {
  if (example === undefined) return html``;
  const text = typeof example === 'string' ? example : toJson(example, 2);
  return html`<pre tabindex="0" aria-label="Example"><code>${text}</code></pre>`;
}

/** The form that scripts show. Nothing is filled in, so that no order is changed by accident. */
function tryIt(
  parameters: readonly Parameter[],
  { method, path, version }: Place,
  { id, hasBody }: { readonly id: string; readonly hasBody: boolean },
): Html {
  return html`<form class="try" hidden data-method="${method}" data-path="/${version}${path}">
<h4>Try it</h4>
${parameters.map(
  ({ name, in: where, required }) =>
    html`<label for="${id}-${name}">${name}${required !== true && html` <small>optional</small>`}</label>
<input id="${id}-${name}" name="${name}" data-in="${where}" autocomplete="off" spellcheck="false"${required === true && html` required`}>
`,
)}${
  hasBody &&
  html`<label for="${id}-body">Body</label>
<textarea id="${id}-body" name="body" rows="4" spellcheck="false"></textarea>
`
}<button>Send ${method.toUpperCase()}</button>
<pre class="answer" role="status" tabindex="0" aria-label="Response"></pre>
</form>`;
}
