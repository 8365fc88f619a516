import type { Operation, Parameter } from '../protocol/openapi.ts';
import { type Html, html } from '../src/http/pages/html.ts';
import { bodyToEdit } from './examples.ts';

/**
 * Writes the form that scripts show. The body is that of the example, and an Idempotency-Key is generated; ids are never filled in, so
 * that no order is changed by accident.
 */
export function tryItForm(
  operation: Operation,
  parameters: readonly Parameter[],
  {
    method,
    path,
    environment,
  }: {
    readonly method: string;
    readonly path: string;
    readonly environment: string;
  },
): Html {
  const media = operation.requestBody?.content['application/json'];
  const place = environment === 'production' ? 'in production' : `in ${environment}`;
  return html`<details class="try" hidden><summary>Try it<span class="env ${environment}">${environment}</span></summary>
<form data-method="${method}" data-path="${path}" aria-label="Try ${operation.operationId} of ${path.slice(1, 3)}">
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
