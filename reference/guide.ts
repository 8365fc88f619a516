import { asset } from '../src/assets.ts';
import { SCOPES } from '../src/domain/api-key.ts';
import { Html, html, icon } from '../src/http/pages/html.ts';
import { refuse } from '../src/http/request/reply.ts';
import { inlineMarkdown, markdown } from './markdown.ts';
import { bodyExample, sampleTabs } from './samples.ts';

/** The permissions of each scope. */
const PERMITTED: Readonly<Record<(typeof SCOPES)[number], string>> = {
  'orders:read': 'list, find and count orders, and read their histories',
  'orders:place': 'place orders',
  'orders:cancel': 'cancel orders',
  'orders:ship': 'ship orders',
  'changes:read': 'follow all changes, and read what happened and with which keys',
  'webhooks:manage': 'create webhooks, read all of them, and change those that the key has created',
  'webhooks:manage-all':
    'in addition, change webhooks that other keys or operators have created; only for keys that name it',
  'keys:manage':
    'list, create, change and revoke API keys, within what the key itself may do; only for keys that name it',
};

const NEXT = 'm6 3.5 4.5 4.5L6 12.5';
const INFO = 'M8 14A6 6 0 1 1 8 2a6 6 0 0 1 0 12Zm0-3V7.5m0-2.4V5';

/** Sections beside the operations, by their ids. */
export const GUIDE = [
  ['first-request', 'First request'],
  ['keys', 'Keys and scopes'],
  ['ids', 'Exact ids'],
  ['pagination', 'Pages of a list'],
  ['retries', 'Retries and limits'],
  ['webhooks', 'Webhooks'],
  ['errors', 'Error codes'],
  ['changelog', 'Changelog of the contract'],
] as const;

/** The sections before the operations. @param firstCall its samples and its answer */
export function guides(rootUrl: string, firstCall: Html): Html {
  const texts = (['ids', 'pagination', 'retries', 'webhooks'] as const).map((id) =>
    textSection(id, asset(`reference/guides/${id}.md`), rootUrl),
  );
  return html`${withPartIds('first-request', firstRequest(firstCall))}
${withPartIds('keys', keysSection())}
${texts}`;
}

/** From nothing to a first request. */
function firstRequest(firstCall: Html): Html {
  return html`<section id="first-request" aria-labelledby="first-request-title">
<div class="text">
<h1 id="first-request-title">First request in two minutes</h1>
<p class="lead">List the orders of a pet store, cancel those that have not shipped and, with version 2, place, ship and follow them.</p>
<p><b>An order is not edited</b>: to change its quantity, pet or date, cancel it and place another.</p>
<p><b>Client library</b> for JavaScript: <code>npm install @store-orders/client</code></p>
<ol class="steps">
<li><b>Get a key</b> <p>Whoever runs the store makes it, with the <a href="#keys">scopes</a> you need. It is shown once.</p></li>
<li><b>Send it as a bearer token</b> <p>Every operation needs it, in the <code>Authorization</code> header. Keep it out of URLs and of code.</p></li>
<li><b>Read the answer with every digit</b> <p>Ids are int64. <code>JSON.parse</code> turns 9007199254740993 into 9007199254740992, <a href="#ids">another order</a>; the samples here do not.</p></li>
</ol>
<p class="note" id="first-request-which-version">${icon(INFO)}<span><b>Which version?</b> Both are stable. Version 1 stays as it is; version 2 has everything, and changes only compatibly.</span></p>
<h2 class="then">Then</h2>
<ul class="next">
<li><a href="#v2-cancelOrder"><b>Cancel an order</b>${icon(NEXT)}<span>And be sure that it is cancelled.</span></a></li>
<li><a href="#v2-placeOrder"><b>Place an order</b>${icon(NEXT)}<span>Once, however often you send it.</span></a></li>
<li><a href="#webhooks"><b>Receive changes</b>${icon(NEXT)}<span>As webhooks, signed and in order.</span></a></li>
<li><a href="#v2-streamChanges"><b>Keep an exact copy</b>${icon(NEXT)}<span>Follow every change, without gaps.</span></a></li>
<li><a href="#retries"><b>Repeat requests</b>${icon(NEXT)}<span>Safely, after whatever was lost.</span></a></li>
<li><a href="#errors"><b>Handle errors</b>${icon(NEXT)}<span>One record, codes that stay.</span></a></li>
</ul>
</div>
<div class="aside">${firstCall}
${bodyExample('401', 'Without a key', JSON.parse(refuse('api_key_missing').body))}</div>
</section>`;
}

function keysSection(): Html {
  return html`<section id="keys" aria-labelledby="keys-title"><div class="text">
<h2 id="keys-title">Keys and scopes</h2>
<p>A key belongs to one environment, <code>so_live_…</code> to production and <code>so_test_…</code> to staging, where you can test, and may do what its scopes permit. Without the scope of an operation, the response is 403 ${errorLink('scope_missing')}. <a href="#v2-getKey">getKey</a> returns what a key may do.</p>
<table><thead><tr><th scope="col">Scope</th><th scope="col">Permits to</th></tr></thead><tbody>
${SCOPES.map((scope) => html`<tr id="${scopeAnchor(scope)}"><th scope="row"><code>${scope}</code></th><td>${PERMITTED[scope]}</td></tr>`)}
</tbody></table>
<p><b>Limits</b>: a key can have a limit of cancels in an hour. Beyond it, a cancel is 429 ${errorLink('cancel_limit_reached')} with <code>Retry-After</code>.</p>
<p><b>Browsers</b>: scripts of other origins can call the service only if its operators allow their origin (CORS). A key in a public page is visible to every visitor: call the service from a server of your own.</p>
</div></section>`;
}

export const scopeAnchor = (scope: string): string => `scope-${scope.replace(':', '-')}`;

/** The changes of the contract by version. Links to other documents are text here, or left out if they are in parentheses, and headings are below that of the section. */
export function changelogSection(): Html {
  const text = asset('docs/contract-changelog.md').replaceAll(/ \(\[[^\]]+\]\([^)]*\)\)/g, '');
  const body = text.slice(text.search(/^## /m)).replaceAll(/^#/gm, '##');
  return textSection('changelog', body.replaceAll(/\[([^\]]+)\]\((?!https?:|#)[^)]*\)/g, '$1'));
}

/** The beginning of a part of a guide: a paragraph or an item of a list that begins with words in bold, or a heading. */
const PART = /<(?:(?:p|li)(?=><(?:b|strong)>)|h[345])(?=>(?:<\w+>)?([^<]*\w))/g;

/** Gives the parts of a guide ids that are made from their words, so that links to them stay valid when others come. */
function withPartIds(guide: string, { text }: Html): Html {
  const idOf = (words: string) => `${guide}-${words.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
  return new Html(text.replaceAll(PART, (tag, words: string) => `${tag} id="${idOf(words)}"`));
}

/** A sample in the Markdown of a guide. */
const SAMPLE = /^```(curl|JavaScript|Python)\n(.*?)\n```$/gms;

/** A section that is written in Markdown: its samples, for the service at this URL, are beside its text. @param table below both */
function textSection(id: (typeof GUIDE)[number][0], text: string, rootUrl = '', table = html``) {
  const title = GUIDE.find(([each]) => each === id)![1];
  const samples = Object.fromEntries(
    [...text.matchAll(SAMPLE)].map(([, language, code]) => [
      language!,
      code!.replaceAll('https://api.store.example', rootUrl),
    ]),
  );
  const isWhole = Object.keys(samples).length === 0;
  return html`<section${isWhole && html` class="whole-width"`} id="${id}" aria-labelledby="${id}-title">
<div class="text"><h2 id="${id}-title">${title}</h2>
${withPartIds(id, markdown(text.replaceAll(SAMPLE, '')))}</div>
${!isWhole && html`<div class="aside">${sampleTabs(id, samples)}</div>`}${table}</section>`;
}

/** A link to the explanation of an error code. */
export const errorLink = (code: string): Html =>
  html`<a href="#error-${code}"><code>${code}</code></a>`;

/** Writes the error codes with their causes and remedies, which docs/errors.md explains. */
export function errorGuide(rootUrl: string): Html {
  const rows = asset('docs/errors.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));
  const table = html`<table class="errors">
<thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Cause</th><th scope="col">What to do</th></tr></thead>
<tbody>
${rows.map(([, code, status, cause, remedy], index) => {
  const name = code!.replaceAll('`', '');
  // A code of one version has its name after the cause.
  const [, text, only] = /^(.*?)(?: (?:In )?(v\d)\.)?$/.exec(cause!)!;
  const isFirst = rows.findIndex(([, each]) => each === code) === index;
  return html`<tr${isFirst && html` id="error-${name}"`}><th scope="row"><code>${name}</code>${only && html` <small>${only}</small>`}</th><td>${status}</td><td>${inlineMarkdown(text!)}</td><td>${inlineMarkdown(remedy!)}</td></tr>
`;
})}</tbody>
</table>
`;
  return textSection('errors', asset('reference/guides/errors.md'), rootUrl, table);
}
