import { asset } from '../src/assets.ts';
import { type Html, html } from '../src/http/pages/html.ts';
import { inlineMarkdown } from './markdown.ts';

/** The id of the first row of an error code. */
const errorAnchor = (code: string): string => `error-${code}`;

/** A link to the explanation of an error code. */
export const errorLink = (code: string): Html =>
  html`<a href="#${errorAnchor(code)}"><code>${code}</code></a>`;

/** Writes the error codes with their causes and remedies, which docs/errors.md explains. */
export function errorGuide(): Html {
  const rows = asset('docs/errors.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));
  const seen = new Set<string>();
  return html`<section class="whole-width" id="errors" aria-labelledby="errors-title">
<h2 id="errors-title">Error codes</h2>
<p>Decide by <code>code</code>; <code>message</code> is for people and may change. Treat a code that you do not know by its status alone.</p>
<table class="errors">
<thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Cause</th><th scope="col">What to do</th></tr></thead>
<tbody>
${rows.map(([, code, status, cause, remedy]) => {
  const name = code!.replaceAll('`', '');
  const isFirst = !seen.has(name);
  seen.add(name);
  return html`<tr${isFirst && html` id="${errorAnchor(name)}"`}><th scope="row"><code>${name}</code></th><td>${status}</td><td>${inlineMarkdown(cause!)}</td><td>${inlineMarkdown(remedy!)}</td></tr>
`;
})}</tbody>
</table>
</section>`;
}
