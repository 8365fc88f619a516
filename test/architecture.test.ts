import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const sourcesIn = (pattern: string) =>
  globSync(pattern, { cwd: ROOT }).map((path) => path.replaceAll('\\', '/'));
const SOURCES = sourcesIn('{src,protocol,console,reference}/**/*.ts');
/** The client library, a package of its own. */
const CLIENT = sourcesIn('client/src/**/*.ts');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/**
 * The floors of the house, from the ground up, and the rooms on each. A file imports files of its own room and of the floors below,
 * and none of the rooms beside its own.
 */
const FLOORS = [
  ['src/assets'],
  ['protocol', 'src/concurrency', 'src/version'],
  ['src/domain', 'client'],
  ['src/store'],
  ['src/records', 'src/telemetry'],
  ['src/http'],
  ['src/listing', 'src/feed', 'console', 'reference'],
  ['src/api'],
  ['src/service'],
  ['src/cli'],
  ['src/main'],
];

/** The TypeScript files that a file imports, or starts as a thread. */
function filesImportedBy(path: string): string[] {
  const source = read(path).replaceAll(/\$\{extname\([\w.]+\)\}/g, '.ts');
  const specifiers = [...source.matchAll(/(?:from |import\(|new URL\(\s*)['`](\.[^'`]+)['`]/g)];
  return specifiers
    .map(([, specifier]) => join(dirname(path), specifier!).replaceAll('\\', '/'))
    .filter((target) => target.endsWith('.ts'));
}

const isIn = (path: string, room: string) => path === `${room}.ts` || path.startsWith(`${room}/`);

/** Returns the floor of a file, 0 for the ground, and its room. */
function placeOf(path: string): { floor: number; room: string } {
  for (const [floor, rooms] of FLOORS.entries()) {
    const room = rooms.find((each) => isIn(path, each));
    if (room !== undefined) return { floor, room };
  }
  throw new Error(`${path} is in no room`);
}

test('an import leads down, or stays in its room', () => {
  const wrong: string[] = [];
  for (const path of SOURCES) {
    const from = placeOf(path);
    for (const target of filesImportedBy(path)) {
      const to = placeOf(target);
      const isDown = to.floor < from.floor || to.room === from.room;
      if (!isDown) wrong.push(`${path} → ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('ARCHITECTURE.md shows these floors', () => {
  const [picture] = read('ARCHITECTURE.md').match(/(?<=```\n)main\n.*?(?=\n```)/s)!;
  const shown = picture.split('\n').map((line) => line.split(/ {4,}/)[0]!.split(/ +/));
  const nameOf = (room: string) => room.replace('src/', '');
  assert.deepEqual(
    shown.map((rooms) => rooms.toSorted()),
    FLOORS.map((rooms) => rooms.map(nameOf).toSorted()).reverse(),
  );
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

test('the client library imports nothing but its own files, and those of the protocol', () => {
  for (const path of CLIENT) {
    for (const target of filesImportedBy(path)) {
      assert.ok(CLIENT.includes(target) || target.startsWith('protocol/'), path);
    }
    const packages = [...read(path).matchAll(/(?:from|import\() ?'([^.'][^']*)'/g)];
    assert.deepEqual(packages, [], path);
  }
});

test('the domain contains no HTTP and no SQL', () => {
  for (const path of SOURCES.filter((each) => each.startsWith('src/domain/'))) {
    assert.doesNotMatch(read(path), /node:http|node:sqlite|\bSELECT\b/, path);
  }
});

/** Where programs begin: the service and commands, the console, and programs with the client library. */
const ENTRIES = [
  'src/main.ts',
  ...['console/browser/main.ts', 'console/browser/qr-code.ts'],
  'client/src/client.ts',
];

test('every file is reachable from main.ts, or from that of a page', () => {
  const used = new Set(ENTRIES);
  const open = [...ENTRIES];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const target of filesImportedBy(path)) {
      if (used.has(target)) continue;
      used.add(target);
      open.push(target);
    }
  }
  for (const path of SOURCES) assert.ok(used.has(path), `nothing uses ${path}`);
});

test('every package that is imported is listed in dependencies', () => {
  const dependencies = {
    ...JSON.parse(read('package.json')).dependencies,
    // Made part of the console's script.
    ...JSON.parse(read('console/package.json')).optionalDependencies,
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
/** It has a file for each migration and engine. */
const LARGE = ['src/store/migrations'];

test(`a folder has 2 to ${MAX_FILES} files, or further folders`, () => {
  const files = Map.groupBy([...SOURCES, ...CLIENT], (path) => dirname(path));
  for (const [folder, { length }] of files) {
    assert.ok(length <= MAX_FILES || LARGE.includes(folder), `${folder} has ${length} files`);
    const hasFolders = files.keys().some((each) => each.startsWith(`${folder}/`));
    assert.ok(length > 1 || hasFolders, `${folder} has one file`);
  }
});

/**
 * At most how many lines and exported names each room has, without generated files. What a change adds, it takes away elsewhere; raising a
 * ceiling needs a page in docs/decisions/ that says what the lines are for (065).
 */
const CEILINGS: Readonly<Record<string, readonly [lines: number, names: number]>> = {
  'src/assets': [43, 5],
  'src/concurrency': [153, 5],
  'src/version': [28, 2],
  'src/domain': [1726, 137],
  'src/store': [11517, 418],
  'src/records': [275, 19],
  'src/telemetry': [898, 20],
  'src/http': [2941, 119],
  'src/listing': [657, 9],
  'src/feed': [1651, 42],
  'src/api': [1925, 89],
  'src/service': [1731, 43],
  'src/cli': [4564, 101],
  'src/main': [36, 0],
  protocol: [430, 41],
  console: [8180, 228],
  reference: [956, 28],
  client: [3413, 116],
};

const WRITTEN = [...SOURCES, ...CLIENT].filter((path) => !path.includes('/generated/'));
const EXPORTED = /^export (?:async |abstract )?(?:function\*?|const|class|interface|type) (\w+)/gm;
const namesExportedBy = (path: string) =>
  [...read(path).matchAll(EXPORTED)].map(([, name]) => name!);

test('no room has more lines, or exported names, than its ceiling', () => {
  const rooms = Map.groupBy(WRITTEN, (path) =>
    Object.keys(CEILINGS).find((room) => isIn(path, room)),
  );
  assert.deepEqual([...rooms.keys()].toSorted(), Object.keys(CEILINGS).toSorted());
  for (const [room, paths] of rooms) {
    const lines = paths.reduce((sum, path) => sum + read(path).split('\n').length - 1, 0);
    const names = paths.flatMap(namesExportedBy).length;
    const [mostLines, mostNames] = CEILINGS[room!]!;
    assert.ok(lines <= mostLines, `${room} has ${lines} lines, of ${mostLines} at most`);
    assert.ok(names <= mostNames, `${room} exports ${names} names, of ${mostNames} at most`);
  }
});

test('no exported name is in two rooms of src/', () => {
  const roomOf = new Map<string, string>();
  for (const path of SOURCES.filter((each) => each.startsWith('src/'))) {
    const { room } = placeOf(path);
    for (const name of namesExportedBy(path)) {
      assert.equal(roomOf.get(name) ?? room, room, `${name} is exported in two rooms`);
      roomOf.set(name, room);
    }
  }
});

test('every export has a user outside its file', () => {
  const others = sourcesIn(
    '{test,build,client/conformance,bench/{clients,peers,scenarios}}/**/*.ts',
  ).filter((path) => !path.includes('node_modules'));
  const used = new Set<string>();
  for (const path of [...SOURCES, ...CLIENT, ...others]) {
    const imports = /(?:import|export) (?:type )?\{([^}]*)\} from '(\.[^']+)'/g;
    for (const [, names, specifier] of read(path).matchAll(imports)) {
      const target = join(dirname(path), specifier!).replaceAll('\\', '/');
      for (const [name] of names!.matchAll(/\w+/g)) used.add(`${target} ${name}`);
    }
  }
  const exported = WRITTEN.flatMap((path) =>
    namesExportedBy(path).map((name) => `${path} ${name}`),
  );
  // The entry of the package has what programs use.
  const isPublic = (each: string) => each.startsWith('client/src/client.ts ');
  assert.deepEqual(
    exported.filter((each) => !used.has(each) && !isPublic(each)),
    [],
  );
});
