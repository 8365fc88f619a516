import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
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

test('if the bundled Node.js cannot start, a system Node.js that is new enough is linked', async (t) => {
  const { link, run, target } = installed(t, MISSING);
  symlinkSync(target, link);
  await run();
  assert.equal(readlinkSync(link), process.execPath);
});

test('if neither can be used, one line says what to install', async (t) => {
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
  assert.match(failed.stderr, /^store-orders needs Node.js 24.15 or newer: .*libatomic1.*\n$/);
  assert.equal(existsSync(link), false);
});
