import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '../temporary.ts';

const BIN = fileURLToPath(new URL('../../bin', import.meta.url));

/** An installed project whose bundled Node.js is the shell script `node`. */
function installed(t: TestContext, node: string) {
  const folder = temporaryFolder(t);
  cpSync(BIN, join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const pinned = join(folder, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin');
  mkdirSync(pinned, { recursive: true });
  writeFileSync(join(pinned, 'node'), `#!/bin/sh\n${node}\n`);
  chmodSync(join(pinned, 'node'), 0o755);
  mkdirSync(join(folder, 'node_modules/.bin'));
  const link = join(folder, 'node_modules/.bin/node');
  const run = (flags: readonly string[] = []) =>
    promisify(execFile)(process.execPath, [...flags, join(folder, 'bin/link-node.js')]);
  return { folder, link, run, target: `../node-${process.platform}-${process.arch}/bin/node` };
}

const MISSING = 'echo "node: error while loading shared libraries: libatomic.so.1" >&2; exit 127';

test('the bundled Node.js is linked, replacing a dangling link', async (t) => {
  const { link, run, target } = installed(t, 'echo v26.10.0');
  symlinkSync('../nowhere', link);
  await run();
  assert.equal(readlinkSync(link), target);
  await run();
  assert.equal(readlinkSync(link), target);
});

test('install scripts of packages run with the Node.js that needs no libatomic', () => {
  const { packages } = JSON.parse(readFileSync(join(BIN, '../package-lock.json'), 'utf8'));
  const { optionalDependencies } = packages['pinned-node/24'];
  for (const [name, version] of Object.entries(optionalDependencies)) {
    assert.equal(packages[`node_modules/${name}`].version, version);
  }
});

test('the first of two bundled Node.js that starts is linked', async (t) => {
  const { folder, link, run, target } = installed(t, 'echo v24.21.0');
  const name = `node-${process.platform}-${process.arch}`;
  const first = join(folder, 'pinned-node/26/node_modules', name, 'bin');
  mkdirSync(first, { recursive: true });
  for (const [script, expected] of [
    [MISSING, target],
    ['echo v26.10.0', `../../pinned-node/26/node_modules/${name}/bin/node`],
  ] as const) {
    writeFileSync(join(first, 'node'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    await run();
    assert.equal(readlinkSync(link), expected);
  }
});

test('if the bundled Node.js cannot start, a system Node.js that is new enough is linked', async (t) => {
  const { link, run, target } = installed(t, MISSING);
  symlinkSync(target, link);
  await run();
  assert.equal(readlinkSync(link), process.execPath);
});

test('if neither can be used, one line names what to install', async (t) => {
  const { folder, link, run, target } = installed(t, MISSING);
  symlinkSync(target, link);
  const old = join(folder, 'old.cjs');
  writeFileSync(
    old,
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });",
  );
  const failed = await run(['--require', old]).then(
    () => assert.fail('it must fail'),
    (error) => error,
  );
  assert.match(failed.stderr, /^store-orders needs Node.js 24.15 or newer: .*libatomic.*\n$/);
  assert.equal(existsSync(link), false);
});
