import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { fixedBody, sendFixed } from '../http/fixed-response.ts';
import type { Router } from '../http/router.ts';
import { Html, html } from './html.ts';
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

/** No other host, no inline script or style, no frame around the page, and no text that becomes markup. */
const SECURITY_HEADERS = [
  'content-security-policy',
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  ...['referrer-policy', 'no-referrer', 'cross-origin-opener-policy', 'same-origin'],
];

/** Adds the API reference, with "try it". Each part is made at its first request. */
export function addReference(
  router: Router,
  contracts: readonly ContractText[],
  reach: Reach,
): void {
  const page = () =>
    referencePage(documented(contracts, reach.rootUrl), {
      head: html`<link rel="stylesheet" href="${PATH}/reference.css">
<script type="module" src="${PATH}/try-it.js"></script>`,
      rootPath: reach.rootPath,
    });
  for (const [path, type, make] of [
    [PATH, 'text/html; charset=utf-8', page],
    [`${PATH}/reference.css`, 'text/css; charset=utf-8', () => readFileSync(STYLES, 'utf8')],
    [`${PATH}/try-it.js`, 'text/javascript; charset=utf-8', () => readFileSync(SCRIPT, 'utf8')],
  ] as const) {
    let body: ReturnType<typeof fixedBody> | undefined;
    router.addPublic(path, (exchange) => {
      body ??= fixedBody(make());
      sendFixed(exchange, body, type, SECURITY_HEADERS);
    });
  }
}

/** Returns the API reference as one file without scripts, for a documentation site. */
export function staticReference(contracts: readonly ContractText[], rootUrl: string): string {
  const head = html`<style>${new Html(readFileSync(STYLES, 'utf8'))}</style>`;
  return referencePage(documented(contracts, rootUrl), { head });
}

function documented(contracts: readonly ContractText[], rootUrl: string) {
  return contracts.map(({ version, source }) => ({
    version,
    document: load(source) as OpenApi,
    baseUrl: `${rootUrl}/${version}`,
  }));
}
