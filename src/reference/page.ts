import type { OpenApi, Operation } from '../contract/openapi.ts';
import { ERROR_CODES, errorResponse } from '../http/errors.ts';
import { type Html, html } from '../pages/html.ts';
import { markdown } from './markdown.ts';
import { anchor, operationSection } from './operation.ts';
import { recordTable } from './schema.ts';
import { table } from './table.ts';

/** A version of the contract, and where it is served. */
export interface Documented {
  readonly version: string;
  readonly document: OpenApi;
  /** Such as https://api.store.example/v2 */
  readonly baseUrl: string;
}

/** What the page loads besides itself. */
export interface PageParts {
  /** In the head: styles and, where "try it" is wanted, its script. */
  readonly head: Html;
  /** Prefix of the paths of operations for "try it"; undefined for a page without "try it". */
  readonly rootPath?: string;
}

/** Writes the API reference: one page for all versions, readable without scripts. */
export function referencePage(
  versions: readonly Documented[],
  { head, rootPath }: PageParts,
): string {
  return html`<!doctype html>
<html lang="en"${rootPath !== undefined && html` data-root="${rootPath}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Store Orders API reference</title>
${head}
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><p class="title">Store Orders <span>API reference</span></p>
${rootPath !== undefined && keyForm()}</header>
<nav aria-label="Operations">
${versions.map(navigation)}
<p><a href="#errors">Error codes</a></p>
</nav>
<main id="content">
<h1>Store Orders API</h1>
${versions.map(versionSection)}
${errorTable(versions)}
</main>
</body>
</html>
`.text;
}

/** The key stays in the page: it is neither stored nor part of a URL. */
function keyForm(): Html {
  return html`<form class="key" hidden><label for="key">API key</label>
<input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="so_live_…">
<small>for “Try it”; not stored</small></form>`;
}

const operationsOf = ({ document }: Documented) =>
  Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation })),
  );

function navigation(documented: Documented): Html {
  const { version } = documented;
  const link = (operation: Operation) => html`<li><a href="#${anchor(version, operation)}">${
    operation.deprecated === true ? html`<s>${operation.summary}</s>` : operation.summary
  }</a></li>
`;
  return html`<p><a href="#${version}">Version ${version.slice(1)}</a></p>
<ul>
${operationsOf(documented).map(({ operation }) => link(operation))}<li><a href="#${version}-records">Records</a></li>
</ul>
`;
}

function versionSection(documented: Documented): Html {
  const { version, document, baseUrl } = documented;
  const { info, components } = document;
  return html`<section aria-labelledby="${version}">
<h2 id="${version}">Version ${version.slice(1)} <small>${info.version}</small></h2>
<p><code>${baseUrl}</code> · <a href="/openapi/${version}.yaml">OpenAPI in YAML</a> · <a href="/openapi/${version}.json">in JSON</a></p>
${markdown(info.description)}
${operationsOf(documented).map(({ path, method, operation }) =>
  operationSection(document, operation, { version, method, path, baseUrl }),
)}
<h3 id="${version}-records">Records of version ${version.slice(1)}</h3>
${Object.entries(components.schemas).map(([name, schema]) => recordTable(name, schema, version))}
</section>
`;
}

function errorTable(versions: readonly Documented[]): Html {
  const inVersions = (code: string) =>
    versions
      .filter(({ document }) =>
        document.components.schemas.Error?.properties?.code?.['x-extensible-enum']?.includes(code),
      )
      .map(({ version }) => version)
      .join(', ');
  const rows = ERROR_CODES.map((code) => {
    const { status, body } = errorResponse(code);
    return [
      html`<code>${code}</code>`,
      status,
      inVersions(code),
      JSON.parse(body).message,
    ] as const;
  });
  return html`<section aria-labelledby="errors">
<h2 id="errors">Error codes</h2>
${table('Table of error codes', ['Code', 'Status', 'Versions', 'Message'], rows)}
</section>`;
}
