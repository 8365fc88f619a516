import { readdirSync, readFileSync } from 'node:fs';
import { asset, IS_CLONE } from '../src/assets.ts';
import { addFiles, filesDigest, securityHeaders, stylesOf } from '../src/http/pages/files.ts';
import { html } from '../src/http/pages/html.ts';
import type { FixedFile } from '../src/http/request/fixed-response.ts';
import type { Router } from '../src/http/request/router.ts';

const PATH = '/console';
/** In this order: later ones win. */
const STYLES = 'frame floating filters list details scan activity keys sign-in narrow print'
  .split(' ')
  .map((name) => `console/styles/${name}.css`);
/** That of the page, and the codes of invitations, which few pages show. A clone has only their sources, and makes them of these. */
export const SCRIPTS = ['main', 'qr-code'] as const;
const RELAY = 'console/relay.js';

/** What the page has to know before a key is given. */
interface Shown {
  /** The part of the service's paths before /v2. */
  readonly rootPath: string;
  readonly environment: string;
  /** The name that the store was given. */
  readonly storeName: string | undefined;
}

/** Adds the staff console: a page with a script and a style. Their paths have a digest, so that browsers can keep them. */
export function addConsole(router: Router, shown: Shown): void {
  const styles = stylesOf(...STYLES);
  const built = IS_CLONE ? undefined : SCRIPTS.map((name) => asset(`console/browser/${name}.js`));
  const digest = filesDigest([styles, ...(built ?? sourceTexts())]);
  const folder = `${PATH}/${digest}`;
  const files: FixedFile[] = [
    { path: PATH, type: 'text/html', make: () => pageOf(folder, shown) },
    { path: `${PATH}/{digest}/console.css`, digest, type: 'text/css', make: () => styles },
    ...SCRIPTS.map((name, index) => ({
      path: `${PATH}/{digest}/${name}.js`,
      digest,
      type: 'text/javascript',
      make: async () => built?.[index] ?? (await import('./bundle.ts')).bundle(name),
    })),
    // At one address, by which browsers know it.
    { path: `${PATH}/relay.js`, type: 'text/javascript', make: () => asset(RELAY) },
  ];
  addFiles(router, files, securityHeaders(['lit-html', 'relay']));
}

/** The texts of what the script is made from. */
function sourceTexts(): string[] {
  const folders = ['./browser/', '../client/src/', '../protocol/'].map(
    (folder) => new URL(folder, import.meta.url),
  );
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { encoding: 'utf8', recursive: true })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => new URL(name, folder)),
  );
  const packages = new URL('../package-lock.json', import.meta.url);
  return [...files, packages].map((file) => readFileSync(file, 'utf8'));
}

function pageOf(folder: string, { rootPath, environment, storeName }: Shown): string {
  const store = storeName ?? 'Store Orders';
  return html`<!doctype html>
<html lang="en" data-root="${rootPath}" data-environment="${environment}" data-store="${store}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Orders · ${store}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${folder}/console.css">
<script type="module" src="${folder}/main.js"></script>
</head>
<body>
<div id="app"><main class="sign-in"><p class="loading" role="status">Loading the console…</p><noscript>It needs JavaScript.</noscript></main></div>
</body>
</html>
`.text;
}
