import { asset } from '../src/assets.ts';
import { addFiles, filesDigest, securityHeaders, stylesOf } from '../src/http/pages/files.ts';
import { Html, html } from '../src/http/pages/html.ts';
import type { FixedFile } from '../src/http/request/fixed-response.ts';
import type { Router } from '../src/http/request/router.ts';
import { type Documented, type Live, referencePage } from './page.ts';

const PATH = '/reference';
const STYLES = 'reference/reference.css';
const SCRIPTS = ['reference', 'find', 'ranking', 'places', 'try-it', 'exact-json'];

/** Adds the API reference, with "try it". @param versions called when the page is first asked for */
export function addReference(
  router: Router,
  versions: () => readonly Documented[],
  { rootUrl, rootPath, environment, hasConsole }: { readonly rootUrl: string } & Live,
): void {
  const scripts = SCRIPTS.map((name) => ({ name, source: asset(`reference/browser/${name}.js`) }));
  const styles = stylesOf(STYLES);
  const digest = filesDigest([styles, ...scripts.map(({ source }) => source)]);
  const head = html`<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${PATH}/${digest}/reference.css">
<script type="module" src="${PATH}/${digest}/reference.js"></script>`;
  const live = { rootPath, environment, hasConsole };
  const page = () => referencePage(versions(), { rootUrl, head, live, linkRoot: '' });
  const files: FixedFile[] = [
    { path: PATH, type: 'text/html', make: page },
    { path: `${PATH}/{digest}/reference.css`, digest, type: 'text/css', make: () => styles },
    ...scripts.map(({ name, source }) => ({
      path: `${PATH}/{digest}/${name}.js`,
      digest,
      type: 'text/javascript',
      make: () => source,
    })),
  ];
  addFiles(router, files, securityHeaders([]));
}

/** Returns the API reference as one file without scripts, whose links lead to the service. @param rootUrl such as https://api.store.example */
export function staticReference(versions: readonly Documented[], rootUrl: string): string {
  const head = html`<style>${new Html(stylesOf(STYLES))}</style>`;
  return referencePage(versions, { rootUrl, head, linkRoot: rootUrl });
}
