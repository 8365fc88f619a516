import type { OpenApi, Operation } from '../protocol/openapi.ts';
import { type Html, html, icon, MARK } from '../src/http/pages/html.ts';
import { changelogSection, errorGuide, GUIDE, guides } from './guide.ts';
import { markdown } from './markdown.ts';
import { anchor, callAndAnswer, deliverySection, operationSection } from './operation.ts';

/** A version of the contract. */
export interface Documented {
  readonly version: string;
  readonly document: OpenApi;
}

/** The parts of the page besides the contracts. */
interface PageParts {
  /** The URL of the service, such as https://api.store.example */
  readonly rootUrl: string;
  /** In the head: styles and, where "try it" is wanted, its script. */
  readonly head: Html;
  /** The beginning of links to other pages of the service; empty for a page that it serves. */
  readonly linkRoot: string;
  /** For "try it"; undefined for a page without it. */
  readonly live?: Live | undefined;
}

/** The data that scripts need to send requests. */
export interface Live {
  /** Precedes /v1 in the paths of the service. */
  readonly rootPath: string;
  readonly environment: string;
  readonly hasConsole: boolean;
}

const SEARCH = 'M7 11.5a4.5 4.5 0 1 1 0-9 4.5 4.5 0 0 1 0 9Zm3.3-1.2 3.2 3.2';

/** Writes the API reference: one page for all versions, readable and printable without scripts. */
export function referencePage(versions: readonly Documented[], parts: PageParts): string {
  const { head, live, linkRoot, rootUrl } = parts;
  const { version: latest, document } = versions.at(-1)!;
  const call = { version: latest, method: 'get', path: '/store/orders', rootUrl };
  const firstCall = callAndAnswer(document, document.paths[call.path]!.get!, call, 'first-request');
  return html`<!doctype html>
<html lang="en"${live !== undefined && html` data-root="${live.rootPath}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Store Orders API reference</title>
${head}
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="bar">
<a class="brand" href="#first-request"><svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><rect width="24" height="24" rx="6"></rect><path d="${MARK}"></path></svg><span>Store Orders <span class="api">API</span></span></a>
<nav class="segments" aria-label="Version">${versions.map(({ version, document }) => html`<a href="#${version}" data-version="${version}">${version} <span>${stabilityOf(document)}</span></a>`)}</nav>
<div class="links"><a href="${linkRoot}/openapi/${latest}.yaml">OpenAPI</a>${live?.hasConsole === true && html`<a href="/console">Console</a>`}</div>
${live !== undefined && KEY_FORM}
</header>
<details class="contents" open><summary>Contents <span class="where"></span></summary>
<nav class="operations" aria-label="Contents">
${
  live !== undefined &&
  html`<form class="find" role="search" hidden><label class="hidden" for="find">Find guides, operations, fields and errors</label>${icon(SEARCH)}<input id="find" type="search" autocomplete="off" spellcheck="false" placeholder="Find"><kbd aria-hidden="true">/</kbd></form>
<ul class="found" aria-label="Found" hidden></ul><p class="found-none small" role="status"></p>`
}
<div class="all">
<ul>${GUIDE.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>
${versions.map(navigation)}
</div>
</nav></details>
<main id="content">
${guides(rootUrl, firstCall)}
${versions.map((each) => versionSection(each, parts))}
${errorGuide(rootUrl)}
${changelogSection()}
</main>
</body>
</html>
`.text;
}

/** The key stays in the page: it is neither stored nor part of a URL. */
const KEY_FORM = html`<form class="key" hidden><label class="hidden" for="key">API key</label>
<input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="Key for “Try it”" aria-describedby="key-kept"><span class="hidden" id="key-kept">The key stays in the page; it is not stored.</span></form>`;

const operationsOf = (paths: OpenApi['paths']) =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation })),
  );

function stabilityOf({ info }: OpenApi): string {
  return info.version.includes('-') ? 'Beta' : 'Stable';
}

type Tagged = Operation & { readonly tags: readonly string[] };
const METHODS: Readonly<Record<string, string>> = { delete: 'DEL', patch: 'PATCH' };

function navigation({ version, document }: Documented): Html {
  const stability = stabilityOf(document);
  const all = operationsOf({ ...document.paths, ...document.webhooks });
  const groups = Map.groupBy(all, ({ operation }) => (operation as Tagged).tags[0]!);
  const link = ({ method, operation }: (typeof all)[number]) =>
    html`<li><a href="#${anchor(version, operation)}"><span>${operation.summary}</span><span class="method ${method}">${METHODS[method] ?? method.toUpperCase()}</span></a></li>
`;
  const group = ([tag, operations]: [string, typeof all]) =>
    html`<p class="group">${tag}</p><ul aria-label="${version} ${tag}">${operations.map(link)}</ul>`;
  return html`<p><a href="#${version}">Version ${version.slice(1)}</a> <span class="badge ${stability.toLowerCase()}">${stability}</span></p>
${[...groups].map(group)}`;
}

function versionSection({ version, document }: Documented, parts: PageParts): Html {
  const { rootUrl, linkRoot, live } = parts;
  const stability = stabilityOf(document);
  const environment = live?.environment ?? 'production';
  return html`<section class="version" id="${version}" aria-labelledby="${version}-title">
<div class="text"><h2 id="${version}-title">Version ${version.slice(1)} <span class="badge ${stability.toLowerCase()}">${stability}</span> <small>${document.info.version}</small></h2>
<p><code>${rootUrl}/${version}</code>, described in OpenAPI: download <a href="${linkRoot}/openapi/${version}.yaml">YAML</a> or <a href="${linkRoot}/openapi/${version}.json">JSON</a></p>
${markdown(document.info.description)}</div>
${operationsOf(document.paths).map(({ path, method, operation }) =>
  operationSection(document, operation, { version, method, path, rootUrl, environment }),
)}
${Object.values(document.webhooks ?? {}).map(({ post }) => deliverySection(document, post, version))}
</section>
`;
}
