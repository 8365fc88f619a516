import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const sourcesIn = (pattern: string) =>
  globSync(pattern, { cwd: ROOT }).map((path) => path.replaceAll('\\', '/'));
const SOURCES = sourcesIn('src/**/*.ts');
/** The client library, a package of its own. */
const CLIENT = sourcesIn('client/src/**/*.ts');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const DOMAIN = ['orders', 'keys', 'pets', 'webhooks/webhook', 'concurrency'];
/** What the floors above may use of the store: its promises, and never an engine. */
const STORE = [
  'store/store',
  'store/commands',
  'store/activity',
  'store/feed',
  'store/pages',
  'store/feed-cursor',
  'store/cursor',
  'store/batcher',
  'store/webhook-lags',
];
/** What the engines may use of the store. */
const ENGINE = [
  ...DOMAIN,
  'listing',
  'store/activity',
  'store/audit',
  'store/commands',
  'store/diagnosis',
  'store/expected-schema',
  'store/feed',
  'store/imports',
  'store/migration-steps',
  'store/open-options',
  'store/operations',
  'store/pages',
  'store/store',
  'store/tables',
];

/** What each part of src/ may import besides itself; the first that matches counts. A part not listed may import nothing. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  'src/main.ts': ['program', 'store/url'],
  'src/program.ts': ['commands', 'config', 'files', 'store', 'version', 'webhooks/key'],
  'src/version.ts': [],
  'src/orders/': [],
  'src/keys/': [],
  'src/pets/': [],
  'src/concurrency/': [],
  'src/json/': [],
  'src/listing/': ['orders'],
  'src/webhooks/delivering/': [...DOMAIN, ...STORE, 'api', 'json', 'webhooks', 'version'],
  'src/webhooks/': ['orders', 'concurrency'],
  'src/store/store.ts': [
    ...DOMAIN,
    'listing',
    'store/activity',
    'store/audit',
    'store/commands',
    'store/feed',
    'store/imports',
    'store/pages',
  ],
  'src/store/tables/': [
    ...DOMAIN,
    'json',
    'store/audit',
    'store/commands',
    'store/feed',
    'store/imports',
    'store/store',
  ],
  'src/store/sqlite/database/': [...DOMAIN, 'store/expected-schema', 'store/store', 'store/tables'],
  'src/store/sqlite/maintenance/': [...ENGINE, 'store/sqlite/database'],
  'src/store/sqlite/': ENGINE,
  'src/store/postgres/database/': [
    ...DOMAIN,
    'store/expected-schema',
    'store/open-options',
    'store/store',
    'store/tables',
  ],
  'src/store/postgres/maintenance/': [...ENGINE, 'store/postgres/database'],
  'src/store/postgres/': ENGINE,
  'src/store/': [...DOMAIN, 'json', 'store'],
  'src/config/': ['keys', 'orders', 'store/url', 'webhooks'],
  'src/files/': ['orders', 'pets', 'json'],
  'src/telemetry/': [...DOMAIN, ...STORE, 'version'],
  'src/http/': [...DOMAIN, ...STORE, 'listing', 'telemetry', 'json'],
  'src/contract/': ['config', 'http', 'json', 'keys', 'orders'],
  'src/api/': [
    ...[...DOMAIN, ...STORE, 'listing', 'http', 'contract', 'json'],
    ...['webhooks/addresses', 'webhooks/key', 'webhooks/signature'],
  ],
  'src/pages/': ['http'],
  'src/reference/': ['http', 'json', 'pages', 'contract/openapi', 'keys/scopes'],
  'src/console/': ['http', 'pages'],
  'src/serve/': [
    ...DOMAIN,
    'listing',
    'store',
    'config',
    'telemetry',
    'http',
    'contract',
    'api',
    'reference',
    'console',
    'pages',
    'webhooks',
    'version',
  ],
  'src/commands/': [
    ...DOMAIN,
    'store',
    'config',
    'files',
    'json',
    'telemetry',
    'http',
    'contract',
    'api',
    'reference',
    'serve',
    'version',
    'webhooks',
  ],
};

/** The TypeScript files that a file imports, or starts as a thread. */
function filesImportedBy(path: string): string[] {
  const source = read(path).replaceAll(/\$\{extname\([\w.]+\)\}/g, '.ts');
  const specifiers = [...source.matchAll(/(?:from |import\(|new URL\(\s*)['`](\.[^'`]+)['`]/g)];
  return specifiers
    .map(([, specifier]) => join(dirname(path), specifier!).replaceAll('\\', '/'))
    .filter((target) => target.endsWith('.ts'));
}

/** The files of src/ that a file imports, as paths below src/ without extension. */
function importsOf(path: string): string[] {
  return filesImportedBy(path).map((target) => target.slice('src/'.length, -'.ts'.length));
}

/** Whether the file `path` may import `target`, a path below src/ without extension. */
function mayImport(path: string, target: string): boolean {
  const part = Object.keys(MAY_USE).find((prefix) => path.startsWith(prefix));
  if (part === undefined) return false;
  const own = part.endsWith('/') ? [part.slice('src/'.length, -1)] : [];
  return [...MAY_USE[part]!, ...own].some(
    (allowed) => target === allowed || target.startsWith(`${allowed}/`),
  );
}

test('a file imports only the parts of src/ that it may use', () => {
  for (const path of SOURCES) {
    for (const target of importsOf(path)) {
      assert.ok(mayImport(path, target), `${path} must not import ${target}`);
    }
  }
});

test('there are no import cycles', () => {
  const stack: string[] = [];
  const done = new Set<string>();
  const visit = (path: string) => {
    const seenAt = stack.indexOf(path);
    assert.equal(seenAt, -1, [...stack.slice(seenAt), path].join(' → '));
    if (done.has(path)) return;
    stack.push(path);
    for (const target of filesImportedBy(path)) visit(target);
    stack.pop();
    done.add(path);
  };
  for (const path of [...SOURCES, ...CLIENT]) visit(path);
});

test('the client library imports nothing but its own files', () => {
  for (const path of CLIENT) {
    for (const target of filesImportedBy(path)) assert.ok(CLIENT.includes(target), path);
    const packages = [...read(path).matchAll(/(?:from|import\() ?'([^.'][^']*)'/g)];
    // Only the optional replica in a database needs Node.js.
    const isAllowed = ([, name]: RegExpMatchArray) =>
      path.endsWith('/sqlite.ts') && name!.startsWith('node:');
    assert.ok(packages.every(isAllowed), `${path} imports ${packages}`);
  }
});

test('the domain contains no HTTP and no SQL', () => {
  for (const path of SOURCES.filter((each) => /^src\/(orders|pets|keys|listing)\//.test(each))) {
    assert.doesNotMatch(read(path), /node:http|node:sqlite|\bSELECT\b/, path);
  }
});

/** Where programs begin: the service and commands, and the pages in a browser. */
const ENTRIES = ['src/main.ts', 'src/console/browser/main.ts'];

test('every file is reachable from main.ts, or from that of a page', () => {
  const used = new Set(ENTRIES.map((path) => path.slice(4, -3)));
  const open = [...ENTRIES];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const target of importsOf(path)) {
      if (used.has(target)) continue;
      used.add(target);
      open.push(`src/${target}.ts`);
    }
  }
  for (const path of SOURCES) assert.ok(used.has(path.slice(4, -3)), `nothing uses ${path}`);
});

test('every package that src/ imports is listed in dependencies', () => {
  const dependencies = {
    ...JSON.parse(read('package.json')).dependencies,
    // Served with the console, see its import map.
    '@store-orders/client': 'client/',
  };
  for (const path of SOURCES) {
    for (const [, name] of read(path).matchAll(
      /(?:from|import\() ?'((?:@[\w-]+\/)?[\w-][\w.-]*)/g,
    )) {
      assert.ok(name === 'node' || name! in dependencies, `${path} imports ${name}`);
    }
  }
});

test('there are no catch-all files (utils, helpers, index) and no re-exports', () => {
  for (const path of [...SOURCES, ...CLIENT]) {
    assert.doesNotMatch(path, /\b(utils?|helpers?|common|shared|misc|lib|index)\b/);
    // The entry of a package names what is public.
    if (path === 'client/src/client.ts') continue;
    assert.doesNotMatch(read(path), /^export (\*|\{[^}]*\} from)/m, `${path} re-exports`);
  }
});

test('an id is never converted to a JavaScript number', () => {
  for (const path of SOURCES) {
    assert.doesNotMatch(
      read(path),
      /(?:Number|parseInt|parseFloat)\((?:\w+\.)*(?:\w*[iI]d)\b/,
      path,
    );
    assert.doesNotMatch(read(path), /parseInt\(|parseFloat\(/, path);
  }
});

const MAX_FILES = 20;
/** Folders with more files: one for each command, and one for each migration and engine. */
const LARGE = ['src/commands', 'src/store/migrations'];

test(`a folder has at most ${MAX_FILES} files`, () => {
  const files = Map.groupBy([...SOURCES, ...CLIENT], (path) => dirname(path));
  for (const [folder, { length }] of files) {
    assert.ok(length <= MAX_FILES || LARGE.includes(folder), `${folder} has ${length} files`);
  }
});
