import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { extname } from 'node:path';
import { addFiles, digestOf, securityHeaders, stylesOf } from '../src/http/pages/files.ts';
import { Html, html } from '../src/http/pages/html.ts';
import type { FixedFile } from '../src/http/request/fixed-response.ts';
import type { Router } from '../src/http/request/router.ts';

const PATH = '/console';
/** In this order: later ones win. */
const STYLES = [
  'frame',
  'floating',
  'filters',
  'list',
  'details',
  'activity',
  'sign-in',
  'narrow',
  'print',
].map((name) => new URL(`./styles/${name}.css`, import.meta.url));
const SCRIPTS = new URL('./browser/', import.meta.url);
/** The client library, and protocol/; the paths between their files are the same as here. */
const CLIENT = new URL('../client/src/', import.meta.url);
const PROTOCOL = new URL('../protocol/', import.meta.url);
/** The package resolves to its files for Node.js, in a subfolder. */
const LIT_HTML_FOLDER = new URL('../', import.meta.resolve('lit-html'));
/** The files of lit-html that the page uses; they import only each other. */
const LIT_HTML = ['lit-html.js', 'directive.js', 'directive-helpers.js', 'directives/repeat.js'];

/** Of the scripts: .ts in a clone, .js in the npm package. */
const EXTENSION = extname(import.meta.filename);

/**
 * Adds the staff console. Its scripts are sent as written, with their types removed, as in the npm package. Their paths have a digest of all of
 * them, so that browsers can keep them.
 * @param rootPath the part of the service's paths before /v2
 */
export function addConsole(
  router: Router,
  { rootPath, environment }: { readonly rootPath: string; readonly environment: string },
): void {
  const scripts = [
    ...scriptsIn(SCRIPTS, 'browser'),
    ...scriptsIn(CLIENT, 'client/src'),
    ...scriptsIn(PROTOCOL, 'protocol'),
  ];
  const library = LIT_HTML.map((name) =>
    fileOf(`lit-html/${name}`, new URL(name, LIT_HTML_FOLDER)),
  );
  const sources = [...scripts, ...library];
  const styles = stylesOf(...STYLES);
  const digest = digestOf([...sources.map(({ source }) => source), styles]);
  const folder = `${PATH}/${digest}`;
  const importMap = JSON.stringify({
    imports: {
      'lit-html': `${folder}/lit-html/lit-html.js`,
      'lit-html/': `${folder}/lit-html/`,
      '@store-orders/client': `${folder}/client/src/client${EXTENSION}`,
    },
  });
  const hash = `sha256-${createHash('sha256').update(importMap).digest('base64')}`;
  const page = () => pageOf({ folder, importMap, rootPath, environment });
  const files: FixedFile[] = [
    { path: PATH, type: 'text/html', make: page },
    {
      path: `${PATH}/{digest}/console.css`,
      digest,
      type: 'text/css',
      make: () => styles,
    },
    ...sources.map(({ path, source }) => ({
      path: `${PATH}/{digest}/${path}`,
      digest,
      type: 'text/javascript',
      make: () => withoutTypes(source),
    })),
  ];
  addFiles(router, files, securityHeaders([hash], ['lit-html']));
}

/** A script, and its path below the folder of the console. */
interface Script {
  readonly path: string;
  readonly source: string;
}

/** The scripts in a folder; their names stay as they are, so that they find each other. */
function scriptsIn(folder: URL, path: string): Script[] {
  return readdirSync(folder, { encoding: 'utf8', recursive: true })
    .filter((name) => name.endsWith(EXTENSION))
    .map((name) => fileOf(`${path}/${name}`, new URL(name, folder)));
}

const fileOf = (path: string, file: URL): Script => ({ path, source: readFileSync(file, 'utf8') });

function withoutTypes(source: string): string {
  return EXTENSION === '.ts' ? stripTypeScriptTypes(source) : source;
}

function pageOf({
  folder,
  importMap,
  rootPath,
  environment,
}: {
  readonly folder: string;
  readonly importMap: string;
  readonly rootPath: string;
  readonly environment: string;
}): string {
  return html`<!doctype html>
<html lang="en" data-root="${rootPath}" data-environment="${environment}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Orders · Store Orders</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${folder}/console.css">
<script type="importmap">${new Html(importMap)}</script>
<script type="module" src="${folder}/browser/main${EXTENSION}"></script>
</head>
<body>
<div id="app"><noscript>The console needs JavaScript.</noscript></div>
</body>
</html>
`.text;
}
