import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { type FixedBody, fixedBody, sendFixed } from '../http/fixed-response.ts';
import type { Router } from '../http/router.ts';

const PATH = '/console';
const STYLES = new URL('./console.css', import.meta.url);
const SCRIPTS = new URL('./browser/', import.meta.url);
const CLIENT = new URL('../../client/src/', import.meta.url);
/** The package is resolved to its files for Node.js, in a folder of their own. */
const LIT_HTML_FOLDER = new URL('../', import.meta.resolve('lit-html'));
/** The files of lit-html that the page uses; each imports only others of them. */
const LIT_HTML = ['lit-html.js', 'directive.js', 'directive-helpers.js', 'directives/repeat.js'];

/** Where the browser finds the packages that scripts import by name. */
const IMPORT_MAP = JSON.stringify({
  imports: {
    'lit-html': `${PATH}/lit-html/lit-html.js`,
    'lit-html/': `${PATH}/lit-html/`,
    '@store-orders/client': `${PATH}/client/client.ts`,
  },
});

/**
 * No other host, no inline script but the import map, no frame around the page. Only lit-html makes markup, from the
 * templates of the page.
 */
const SECURITY_HEADERS = [
  'content-security-policy',
  `default-src 'none'; script-src 'self' 'sha256-${createHash('sha256').update(IMPORT_MAP).digest('base64')}'; ` +
    "style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
    "require-trusted-types-for 'script'; trusted-types lit-html",
  ...['referrer-policy', 'no-referrer', 'cross-origin-opener-policy', 'same-origin'],
];

/**
 * Adds the staff console. Its scripts are sent as they are written, without their types. Each file is read at its first
 * request.
 * @param rootPath what precedes /v2 in the paths of the service
 */
export function addConsole(router: Router, rootPath: string): void {
  const add = (path: string, type: string, make: () => string) => {
    let body: FixedBody | undefined;
    router.addPublic(PATH + path, (exchange) => {
      body ??= fixedBody(make());
      sendFixed(exchange, body, `${type}; charset=utf-8`, SECURITY_HEADERS);
    });
  };
  const addScripts = (path: string, folder: URL) => {
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.ts'))) {
      const make = () => stripTypeScriptTypes(readFileSync(new URL(name, folder), 'utf8'));
      add(`${path}/${name}`, 'text/javascript', make);
    }
  };
  add('', 'text/html', () => page(rootPath));
  add('/console.css', 'text/css', () => readFileSync(STYLES, 'utf8'));
  addScripts('/browser', SCRIPTS);
  addScripts('/client', CLIENT);
  for (const name of LIT_HTML) {
    const make = () => readFileSync(new URL(name, LIT_HTML_FOLDER), 'utf8');
    add(`/lit-html/${name}`, 'text/javascript', make);
  }
}

function page(rootPath: string): string {
  return `<!doctype html>
<html lang="en" data-root="${rootPath}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Orders</title>
<link rel="stylesheet" href="${PATH}/console.css">
<script type="importmap">${IMPORT_MAP}</script>
<script type="module" src="${PATH}/browser/main.ts"></script>
</head>
<body>
<div id="app"><noscript>The console needs JavaScript.</noscript></div>
</body>
</html>
`;
}
