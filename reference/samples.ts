import { toJson } from '../protocol/exact-json.ts';
import { type Html, html } from '../src/http/pages/html.ts';
import { codeView } from './code-view.ts';
import type { Samples } from './examples.ts';

const LANGUAGES = ['curl', 'JavaScript', 'Python'] as const;

/** Writes a sample in all languages. Radio buttons make the tabs, so they work without scripts. */
export function sampleTabs(id: string, samples: Samples): Html {
  return html`<div class="samples" role="group" aria-label="Sample">
<div class="languages">${LANGUAGES.map(
    (language, index) =>
      html`<label><input type="radio" class="hidden" name="${id}-language" value="${language}"${index === 0 && html` checked`}>${language}</label>`,
  )}</div>
${LANGUAGES.map(
  (language) =>
    html`<pre class="panel ${language}" tabindex="0" aria-label="With ${language}"><code>${codeView(samples[language], language)}</code></pre>
`,
)}</div>`;
}

export function responseExample(status: string, title: string, example: unknown): Html {
  const code = typeof example === 'string' ? example : codeView(toJson(example, 2), 'json');
  const kind = status.startsWith('2') ? 'good' : 'other';
  return html`<figure class="response ${kind}"><figcaption><b>${status}</b> ${title}</figcaption>
<pre tabindex="0" aria-label="Response ${status}"><code>${code}</code></pre></figure>
`;
}

/** Writes the body of a request that the service sends. */
export function deliveryExample(example: unknown): Html {
  return html`<figure class="response good"><figcaption><b>POST</b> Body</figcaption>
<pre tabindex="0" aria-label="Body of a delivery"><code>${codeView(toJson(example, 2), 'json')}</code></pre></figure>
`;
}
