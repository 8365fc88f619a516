import { toJson } from '../protocol/exact-json.ts';
import { type Html, html } from '../src/http/pages/html.ts';
import { codeView } from './code-view.ts';

const LANGUAGES = ['curl', 'JavaScript', 'Python'] as const;
type Samples = Readonly<Partial<Record<(typeof LANGUAGES)[number], string>>>;

/** Writes a sample in its languages. Radio buttons make the tabs, so they work without scripts. */
export function sampleTabs(id: string, samples: Samples): Html {
  const languages = LANGUAGES.filter((each) => samples[each] !== undefined);
  return html`<div class="samples" role="group" aria-label="Sample">
<div class="languages">${languages.map(
    (language, index) =>
      html`<label><input type="radio" class="hidden" name="${id}-language" value="${language}"${index === 0 && html` checked`}>${language}</label>`,
  )}</div>
${languages.map(
  (language) =>
    html`<pre class="panel ${language}" tabindex="0" aria-label="With ${language}"><code>${codeView(samples[language]!, language)}</code></pre>
`,
)}</div>`;
}

/** Writes an example of a response, or of a request that the service sends. @param label for screen readers */
export function bodyExample(
  status: string,
  title: string,
  example: unknown,
  label = `Response ${status}`,
): Html {
  const kind = /^[45]/.test(status) ? 'other' : 'good';
  const code = typeof example === 'string' ? example : codeView(toJson(example, 2), 'json');
  return html`<figure class="response ${kind}"><figcaption><b>${status}</b> ${title}</figcaption>
<pre tabindex="0" aria-label="${label}"><code>${code}</code></pre></figure>
`;
}
