import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { extname } from 'node:path';
import type { FixedFile } from '../http/fixed-response.ts';
import type { Router } from '../http/router.ts';
import { addFiles, securityHeaders, stylesOf } from '../pages/files.ts';
import { Html, html } from '../pages/html.ts';

const PATH = '/console';
const STYLES = new URL('./console.css', import.meta.url);
const SCRIPTS = new URL('./browser/', import.meta.url);
const CLIENT = new URL('../../client/src/', import.meta.url);
/** The package is resolved to its files for Node.js, in a folder of their own. */
const LIT_HTML_FOLDER = new URL('../', import.meta.resolve('lit-html'));
/** The files of lit-html that the page uses; each imports only others of them. */
const LIT_HTML = ['lit-html.js', 'directive.js', 'directive-helpers.js', 'directives/repeat.js'];

/** Of the scripts: .ts in a clone, .js in the npm package. */
const EXTENSION = extname(import.meta.filename);

/** Where the browser finds the packages that scripts import by name. */
const IMPORT_MAP = JSON.stringify({
  imports: {
    'lit-html': `${PATH}/lit-html/lit-html.js`,
    'lit-html/': `${PATH}/lit-html/`,
    '@store-orders/client': `${PATH}/client/client${EXTENSION}`,
  },
});

const IMPORT_MAP_HASH = `sha256-${createHash('sha256').update(IMPORT_MAP).digest('base64')}`;

/**
 * Adds the staff console. Its scripts are sent as they are written, without their types; the npm package has them so.
 * @param rootPath what precedes /v2 in the paths of the service
 */
export function addConsole(router: Router, rootPath: string): void {
  const files: FixedFile[] = [
    { path: PATH, type: 'text/html', make: () => page(rootPath) },
    { path: `${PATH}/console.css`, type: 'text/css', make: () => stylesOf(STYLES) },
    ...scriptsIn(SCRIPTS, `${PATH}/browser`),
    ...scriptsIn(CLIENT, `${PATH}/client`),
    ...LIT_HTML.map((name) => ({
      path: `${PATH}/lit-html/${name}`,
      type: 'text/javascript',
      make: () => readFileSync(new URL(name, LIT_HTML_FOLDER), 'utf8'),
    })),
  ];
  addFiles(router, files, securityHeaders([IMPORT_MAP_HASH], ['lit-html']));
}

/** The scripts in a folder; their names stay as they are, so that they find each other. */
function scriptsIn(folder: URL, path: string): FixedFile[] {
  const names = readdirSync(folder, { encoding: 'utf8', recursive: true }).filter((each) =>
    each.endsWith(EXTENSION),
  );
  return names.map((name) => ({
    path: `${path}/${name}`,
    type: 'text/javascript',
    make: () => withoutTypes(readFileSync(new URL(name, folder), 'utf8')),
  }));
}

function withoutTypes(source: string): string {
  return EXTENSION === '.ts' ? stripTypeScriptTypes(source) : source;
}

function page(rootPath: string): string {
  return html`<!doctype html>
<html lang="en" data-root="${rootPath}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Orders</title>
<link rel="stylesheet" href="${PATH}/console.css">
<script type="importmap">${new Html(IMPORT_MAP)}</script>
<script type="module" src="${PATH}/browser/main${EXTENSION}"></script>
</head>
<body>
<div id="app"><noscript>The console needs JavaScript.</noscript></div>
</body>
</html>
`.text;
}
