import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = globSync('src/**/*.ts', { cwd: ROOT }).map((path) => path.replaceAll('\\', '/'));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const MAX_FILE_LINES = 250;
const MAX_FUNCTION_LINES = 50;

const EVERY_ENGINE_MAY_USE = [
  ...['keys', 'orders', 'pets'],
  ...['store/consistency', 'store/sequence', 'store/store', 'store/tables'],
];

/** Which parts of src/ each part may use; a part not named here may use none. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  'src/main.ts': ['commands', 'files', 'settings', 'store', 'version'],
  'src/commands/': ['config', 'files', 'http', 'keys', 'orders', 'store', 'commands', 'version'],
  'src/config.ts': ['keys', 'orders', 'settings', 'store'],
  'src/files/': ['files', 'orders', 'pets'],
  'src/http/': ['config', 'http', 'keys', 'orders', 'pets', 'store/store', 'version'],
  'src/keys/': ['keys'],
  'src/orders/': ['orders'],
  'src/pets/': ['pets'],
  'src/store/open.ts': ['store'],
  'src/store/store.ts': ['keys', 'orders', 'pets'],
  'src/store/backup.ts': ['store'],
  'src/store/copy.ts': ['store'],
  'src/store/consistency.ts': ['keys', 'orders'],
  'src/store/sequence.ts': [],
  'src/store/tables.ts': ['store/store'],
  'src/store/sqlite/': [...EVERY_ENGINE_MAY_USE, 'store/sqlite'],
  'src/store/postgres/': [...EVERY_ENGINE_MAY_USE, 'store/postgres'],
  'src/settings.ts': [],
  'src/version.ts': [],
};

/** What a file imports of ours, as paths below src/ without their ending. */
function importsOf(path: string): string[] {
  const specifiers = [...read(path).matchAll(/(?:from |import\(|new URL\()'(\.[^']+)'/g)];
  return specifiers
    .map(([, specifier]) => join(dirname(path), specifier!).replaceAll('\\', '/'))
    .filter((target) => target.endsWith('.ts'))
    .map((target) => target.slice('src/'.length, -'.ts'.length));
}

test('imports point one way', () => {
  for (const path of SOURCES) {
    const part = Object.keys(MAY_USE).find((prefix) => path.startsWith(prefix));
    assert.ok(part, `${path} has no place in the architecture`);
    for (const target of importsOf(path)) {
      const isAllowed = MAY_USE[part]!.some(
        (allowed) => target === allowed || target.startsWith(`${allowed}/`),
      );
      assert.ok(isAllowed, `${path} must not import ${target}`);
    }
  }
});

test('the domain knows no HTTP and no SQL', () => {
  for (const path of SOURCES.filter((each) => /^src\/(orders|pets|keys)\//.test(each))) {
    assert.doesNotMatch(read(path), /node:http|node:sqlite|\bSELECT\b/, path);
  }
});

test('every file is used', () => {
  const used = new Set(['main']);
  const open = ['src/main.ts'];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const target of importsOf(path)) {
      if (used.has(target)) continue;
      used.add(target);
      open.push(`src/${target}.ts`);
    }
  }
  for (const path of SOURCES) assert.ok(used.has(path.slice(4, -3)), `nothing uses ${path}`);
});

test('no drawers and no barrels: a file is named after what it holds', () => {
  for (const path of SOURCES) {
    assert.doesNotMatch(path, /\b(utils?|helpers?|common|shared|misc|lib|index)\b/);
    assert.doesNotMatch(read(path), /^export (\*|\{[^}]*\} from)/m, `${path} only passes on`);
  }
});

test('files and functions stay short', () => {
  for (const path of SOURCES) {
    const lines = read(path).split('\n');
    assert.ok(lines.length <= MAX_FILE_LINES, `${path} has ${lines.length} lines`);
    for (const { name, length } of functionsOf(lines)) {
      assert.ok(length <= MAX_FUNCTION_LINES, `${path}: ${name} has ${length} lines`);
    }
  }
});

/** Functions and methods: the formatter puts their first and last lines at the same indentation. */
function functionsOf(lines: readonly string[]) {
  const found: { name: string; length: number }[] = [];
  let isInClass = false;
  for (const [start, line] of lines.entries()) {
    if (/^(export )?class /.test(line)) isInClass = true;
    else if (line === '}') isInClass = false;
    const head = isInClass
      ? /^( {2})(?:static |async |get )*(#?\w+)[<(].*[{(]$/.exec(line)
      : /^()(?:export )?(?:async )?function\*? (\w+)/.exec(line);
    if (head === null) continue;
    const end = lines.findIndex((each, index) => index > start && each === `${head[1]}}`);
    found.push({ name: head[2]!, length: end - start + 1 });
  }
  assert.ok(found.every(({ length }) => length > 1));
  return found;
}

test('an id is never made a JavaScript number', () => {
  for (const path of SOURCES) {
    assert.doesNotMatch(
      read(path),
      /(?:Number|parseInt|parseFloat)\((?:\w+\.)*(?:\w*[iI]d)\b/,
      path,
    );
    assert.doesNotMatch(read(path), /parseInt\(|parseFloat\(/, path);
  }
});

test('tests ask the service only through what checks the answers', () => {
  for (const path of globSync('test/**/*.ts', { cwd: ROOT })) {
    if (path.endsWith('http/harness.ts') || path.endsWith('architecture.test.ts')) continue;
    assert.doesNotMatch(read(path), /\.inject\(/, path);
  }
});
