import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CONSUMER, installPacked, STRICT } from '../client/packed.ts';
import { temporaryFolder } from '../temporary.ts';

const TSC = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));

/** An empty project with the packed package installed. */
let project: string;

before((t) => {
  project = temporaryFolder(t as never);
  installPacked(project);
});

test('the package has the compiled library and its types, and nothing else', () => {
  const installed = join(project, 'node_modules/@store-orders/client');
  assert.deepEqual(readdirSync(installed).sort(), ['LICENSE', 'README.md', 'dist', 'package.json']);
  const dist = readdirSync(join(installed, 'dist'), { recursive: true, withFileTypes: true });
  const files = dist
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  assert.ok(files.every((file) => /\.d\.ts$|\.js$/.test(file)));
  const bytes = files.map((file) => readFileSync(file).length);
  assert.ok(bytes.reduce((sum, each) => sum + each, 0) < 240_000);
});

test('the types of the package are checked in a project that uses it', () => {
  writeFileSync(join(project, 'consumer.ts'), CONSUMER);
  for (const module of ['nodenext', 'esnext --moduleResolution bundler']) {
    const flags = [...STRICT, '--module', ...module.split(' '), 'consumer.ts'];
    execFileSync(TSC, flags, { cwd: project, stdio: 'pipe' });
  }
});
