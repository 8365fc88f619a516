import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import type { Router } from '../http/router.ts';
import { addFiles, securityHeaders, stylesOf } from '../pages/files.ts';
import { Html, html } from '../pages/html.ts';
import type { OpenApi } from './openapi.ts';
import { referencePage } from './page.ts';

/** A version of the contract. */
export interface ContractText {
  readonly version: string;
  /** The YAML. */
  readonly source: string;
}

/** Where integrators reach the service. */
export interface Reach {
  /** Such as https://api.store.example */
  readonly rootUrl: string;
  /** The path of `rootUrl`. */
  readonly rootPath: string;
}

const PATH = '/reference';
const STYLES = new URL('./reference.css', import.meta.url);
const SCRIPT = new URL('./browser/try-it.js', import.meta.url);

/**
 * Adds the API reference, with "try it".
 * @param contracts called when the page is first asked for
 */
export function addReference(
  router: Router,
  contracts: () => readonly ContractText[],
  reach: Reach,
): void {
  const page = () =>
    referencePage(documented(contracts(), reach.rootUrl), {
      head: html`<link rel="stylesheet" href="${PATH}/reference.css">
<script type="module" src="${PATH}/try-it.js"></script>`,
      rootPath: reach.rootPath,
    });
  const script = () => readFileSync(SCRIPT, 'utf8');
  const files = [
    { path: PATH, type: 'text/html', make: page },
    { path: `${PATH}/reference.css`, type: 'text/css', make: () => stylesOf(STYLES) },
    { path: `${PATH}/try-it.js`, type: 'text/javascript', make: script },
  ];
  addFiles(router, files, securityHeaders([], []));
}

/** Returns the API reference as one file without scripts, for a documentation site. */
export function staticReference(contracts: readonly ContractText[], rootUrl: string): string {
  const head = html`<style>${new Html(stylesOf(STYLES))}</style>`;
  return referencePage(documented(contracts, rootUrl), { head });
}

function documented(contracts: readonly ContractText[], rootUrl: string) {
  return contracts.map(({ version, source }) => ({
    version,
    document: load(source) as OpenApi,
    baseUrl: `${rootUrl}/${version}`,
  }));
}
