import { readFileSync } from 'node:fs';
import type { Router } from '../http/router.ts';
import { addFiles, securityHeaders, stylesOf } from '../pages/files.ts';
import { Html, html } from '../pages/html.ts';
import { type Documented, referencePage } from './page.ts';

const PATH = '/reference';
const STYLES = new URL('./reference.css', import.meta.url);
const SCRIPT = new URL('./browser/try-it.js', import.meta.url);

/**
 * Adds the API reference, with "try it".
 * @param versions called when the page is first asked for
 * @param rootPath what precedes the paths of operations
 */
export function addReference(
  router: Router,
  versions: () => readonly Documented[],
  rootPath: string,
): void {
  const page = () =>
    referencePage(versions(), {
      head: html`<link rel="stylesheet" href="${PATH}/reference.css">
<script type="module" src="${PATH}/try-it.js"></script>`,
      rootPath,
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
export function staticReference(versions: readonly Documented[]): string {
  const head = html`<style>${new Html(stylesOf(STYLES))}</style>`;
  return referencePage(versions, { head });
}
