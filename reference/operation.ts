import {
  isStream,
  type OpenApi,
  type Operation,
  type Parameter,
  type Response,
  resolved,
  scopeOf,
} from '../protocol/openapi.ts';
import { Html, html } from '../src/http/pages/html.ts';
import { bodyToEdit, clientLines, curlLine, pythonLines, type Sampled } from './examples.ts';
import { children, fieldLines, typeName } from './fields.ts';
import { errorLink, scopeAnchor } from './guide.ts';
import { markdown } from './markdown.ts';
import { bodyExample, sampleTabs } from './samples.ts';

/** The location of an operation. */
interface Place extends Omit<Sampled, 'operation' | 'parameters'> {
  /** Where "try it" acts. */
  readonly environment: string;
}

/** The id of the section of an operation. */
export function anchor(version: string, { operationId }: Operation): string {
  return `${version}-${operationId}`;
}

const parametersOf = (document: OpenApi, { parameters = [] }: Operation): Parameter[] =>
  parameters.map((each) => resolved(document, each));

/** Writes the section of an operation. */
export function operationSection(document: OpenApi, operation: Operation, place: Place): Html {
  const { version, method, path } = place;
  const parameters = parametersOf(document, operation);
  const id = anchor(version, operation);
  return html`<article id="${id}">
<div class="text">
<h3 class="operation">${operation.summary}${badges(operation)}</h3>
<p class="line"><span class="method ${method}">${method.toUpperCase()}</span> <code>${breakable(`/${version}${path}`)}</code></p>
<dl class="facts"><div><dt>Operation</dt><dd><code>${operation.operationId}</code></dd></div>${scopeLine(operation)}<div><dt>Safe to repeat</dt><dd>${repeatable(method, parameters)}</dd></div></dl>
${deprecation(operation)}${markdown(operation.description)}
${PARAMETER_KINDS.map(([where, title]) => parameterLines(document, parameters, { where, title, id }))}
${bodyLines(document, operation, id)}
${returned(document, operation, id)}
<h4>Responses</h4>
<ul class="responses">${Object.keys(operation.responses).map((status) => responseLine(document, operation, status))}</ul>
</div>
<div class="aside">${callAndAnswer(document, operation, place)}
${!isStream(operation) && tryItForm(operation, parameters, place)}</div>
</article>
`;
}

/** Writes samples of an operation, and the example of a success. @param id of the section */
export function callAndAnswer(
  document: OpenApi,
  operation: Operation,
  place: Omit<Place, 'environment'>,
  id = anchor(place.version, operation),
): Html {
  const call = { operation, parameters: parametersOf(document, operation), ...place };
  const samples = {
    curl: curlLine(call),
    JavaScript: clientLines(call),
    Python: pythonLines(call),
  };
  const { status, media } = successOf(document, operation);
  const example = media?.example ?? Object.values(media?.examples ?? {})[0]?.value;
  return html`${sampleTabs(id, samples)}
${example !== undefined && bodyExample(status, status === '201' ? 'Created' : 'OK', example)}`;
}

/** Writes the section of a request that the service sends. */
export function deliverySection(document: OpenApi, operation: Operation, version: string): Html {
  const parameters = parametersOf(document, operation);
  const id = anchor(version, operation);
  const example = operation.requestBody?.content['application/json']?.example;
  return html`<article id="${id}">
<div class="text">
<h3 class="operation">${operation.summary}${badges(operation)}</h3>
<p class="line"><span class="method post">POST</span> the URL of a webhook</p>
${markdown(operation.description)}
${parameterLines(document, parameters, { where: 'header', title: 'Headers', id })}
${bodyLines(document, operation, id)}
<h4>Answers</h4>
<ul class="responses">${Object.keys(operation.responses).map((status) => responseLine(document, operation, status))}</ul>
</div>
<div class="aside">${bodyExample('POST', 'Body', example, 'Body of a delivery')}</div>
</article>
`;
}

const PARAMETER_KINDS = [
  ['path', 'Path'],
  ['query', 'Query'],
  ['header', 'Headers'],
] as const;

/** A path that breaks at its slashes. */
function breakable(path: string): Html {
  return html`${path.split('/').map((part, index) => html`${index > 0 && html`/<wbr>`}${part}`)}`;
}

function badges(operation: Operation): Html {
  const level = operation['x-stability-level'] ?? 'stable';
  const stability = level === 'alpha' ? 'experimental' : level;
  return html`${stability !== 'stable' && html` <span class="badge ${stability}">${stability}</span>`}${
    operation.deprecated === true && html` <span class="badge deprecated">deprecated</span>`
  }`;
}

function deprecation(operation: Operation): Html {
  const sunset = operation['x-sunset'];
  if (operation.deprecated !== true) return html``;
  return html`<p class="notice"><span><b>Deprecated${sunset !== undefined && `, ends ${sunset.slice(0, 10)}`}.</b> From then on the response is 410. Stop calling it before.</span></p>
`;
}

function scopeLine(operation: Operation): Html {
  if (operation.security === undefined) return html``;
  const scope = scopeOf(operation);
  const name =
    scope === undefined
      ? html`any key`
      : html`<a href="#${scopeAnchor(scope)}"><code>${scope}</code></a>`;
  return html`<div><dt>Scope</dt><dd>${name}</dd></div>`;
}

function repeatable(method: string, parameters: readonly Parameter[]): string {
  if (method === 'get') return 'yes';
  const isKeyed = parameters.some(({ name }) => name === 'Idempotency-Key');
  return isKeyed ? 'with the same Idempotency-Key' : 'after a 503 or no response, see below';
}

function parameterLines(
  document: OpenApi,
  parameters: readonly Parameter[],
  { where, title, id }: { readonly where: string; readonly title: string; readonly id: string },
): Html {
  const found = parameters.filter((each) => each.in === where);
  if (found.length === 0) return html``;
  return html`<h4>${title}</h4>
${found.map((each) => fieldLines(document, { ...each, id: `${id}-${each.name}` }))}`;
}

function bodyLines(document: OpenApi, { requestBody }: Operation, id: string): Html {
  const media = requestBody?.content['application/json'];
  if (media === undefined) return html``;
  return html`<h4>Body</h4>
<p><span class="type">${typeName(media.schema)}, as <code>application/json</code>${requestBody?.required !== true && ', or none'}</span></p>
${children(document, media.schema, `${id}-body`)}`;
}

/** Returns the response to the first request, not to a repetition. */
function successOf(document: OpenApi, { responses }: Operation) {
  const successes = Object.entries(responses).filter(([status]) => /^2\d\d$/.test(status));
  const [status, response] = successes.find(([each]) => each === '201') ?? successes[0]!;
  const { content = {} } = resolved<Response>(document, response);
  const [type, media] = Object.entries(content)[0] ?? [];
  return { status, type, media };
}

function returned(document: OpenApi, operation: Operation, id: string): Html {
  const { type, media } = successOf(document, operation);
  if (media === undefined) return html``;
  return html`<h4>Returns</h4>
<p><span class="type">${typeName(media.schema)}, as <code>${type}</code></span></p>
${children(document, media.schema, `${id}-result`)}`;
}

/** Error codes are links: in the description, or after it if it does not name them. */
function responseLine(document: OpenApi, { responses }: Operation, status: string): Html {
  const response = resolved<Response>(document, responses[status]!);
  const codes = response['x-error-codes'] ?? [];
  const { text } = markdown(response.description);
  const linked = text.replaceAll(/<code>(\w+)<\/code>/g, (name, code) =>
    codes.includes(code) ? errorLink(code).text : name,
  );
  const rest = codes.filter((code) => !text.includes(`<code>${code}</code>`));
  const isGood = status.startsWith('2') || status === '304';
  return html`<li class="s${status}"><p><code class="code ${isGood ? 'good' : 'other'}">${status === 'default' ? 'other' : status}</code></p><div>${new Html(linked)}${
    rest.length > 0 && html`<p class="codes">${rest.map((code) => html`${errorLink(code)} `)}</p>`
  }</div></li>
`;
}

/** Writes the form that scripts show, with the example of a body. Ids are never filled in, so that no order is changed by accident. */
function tryItForm(
  operation: Operation,
  parameters: readonly Parameter[],
  { version, method, path, environment }: Place,
): Html {
  const media = operation.requestBody?.content['application/json'];
  const place = environment === 'production' ? 'in production' : `in ${environment}`;
  return html`<details class="try" hidden><summary>Try it<span class="env ${environment}">${environment}</span></summary>
<form data-method="${method}" data-path="/${version}${path}" aria-label="Try ${operation.operationId} of ${version}">
${parameters.map(parameterField)}${
  media !== undefined &&
  html`<label class="row"><b>Body</b> <span class="small">${operation.requestBody?.required === true ? 'the example; edit it' : 'optional'}</span>
<textarea name="body" rows="6" spellcheck="false">${bodyToEdit(operation)}</textarea></label>
`
}<p class="problem" role="alert"></p>
<div class="end"><button class="primary">Send ${method.toUpperCase()}</button></div>
${method !== 'get' && html`<div class="confirm notice" hidden><p>${operation.summary}: this is done for real <b>${place}</b>.</p><div class="end"><button type="button" class="not-now">Not now</button><button type="button" class="primary do-it">${operation.summary}</button></div></div>`}
</form>
<div class="result" hidden><figure class="response"><figcaption><span class="status" role="status"></span></figcaption><pre class="answer" tabindex="0" aria-label="Response"></pre></figure>
<details class="response"><summary>Headers of the response</summary><pre class="headers" tabindex="0" aria-label="Headers of the response"></pre></details>
<details class="response"><summary>Request as curl</summary><pre class="sent" tabindex="0" aria-label="Request as curl"></pre></details></div>
</details>`;
}

function parameterField({ name, in: where, required, schema }: Parameter): Html {
  const isKey = name === 'Idempotency-Key';
  const values = schema.enum ?? schema.items?.enum;
  const hint = isKey ? 'generated' : required === true ? '' : 'optional';
  const attributes = html`name="${name}" data-in="${where}"${required === true && html` required pattern=".*\\S.*"`}`;
  const control =
    values === undefined
      ? html`<input ${attributes} autocomplete="off" spellcheck="false"${isKey && html` data-generated`}>`
      : html`<select ${attributes}><option value=""></option>${values.map((each) => html`<option>${each}</option>`)}</select>`;
  return html`<label class="row"><b>${name}</b> <span class="small">${hint}</span>
${control}</label>${isKey && html`<button type="button" class="another">Another key</button>`}
`;
}
