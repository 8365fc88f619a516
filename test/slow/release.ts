import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../temporary.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('a release needs a clean commit with a version and a changelog, and is reproducible', {
  timeout: 100_000,
}, (t) => {
  const clone = join(temporaryFolder(t), 'clone');
  execFileSync('git', ['clone', '--quiet', ROOT, clone]);
  // "npm pack" links the Node.js of the clone into node_modules, which is that of this folder: it has to find the same one.
  for (const path of ['node_modules', 'pinned-node/26/node_modules']) {
    symlinkSync(join(ROOT, path), join(clone, path));
  }
  // git ignores the folder node_modules, not a link of that name.
  writeFileSync(join(clone, '.git/info/exclude'), 'node_modules\n');
  const release = () =>
    spawnSync(process.execPath, ['build/release.ts'], { cwd: clone, encoding: 'utf8' });
  const edit = (path: string, change: (text: string) => string) =>
    writeFileSync(join(clone, path), change(readFileSync(join(clone, path), 'utf8')));

  edit('package.json', (text) => text.replace(/"version": ".*"/, '"version": "99.0.0"'));
  const refused = release();
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /- the working tree has changes\n/);
  assert.match(refused.stderr, /- CHANGELOG.md has no heading "## \[99.0.0\] - YYYY-MM-DD"/);

  edit('client/package.json', (text) =>
    text.replace(/"version": ".*"/, '"version": "99.0.0-beta.1"'),
  );
  edit('CHANGELOG.md', (text) =>
    text.replace('## [Unreleased]\n', '## [Unreleased]\n\n## [99.0.0] - 2030-01-01\n'),
  );
  for (const contract of ['v1.yaml', 'v2.yaml']) {
    cpSync(join(clone, 'contract', contract), join(clone, 'contract/released', contract));
  }
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com'];
  execFileSync('git', [...author, 'commit', '--quiet', '--all', '--message', 'x'], { cwd: clone });
  const sums = [release(), release()].map(({ status, stderr }) => {
    assert.equal(status, 0, stderr);
    execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], {
      cwd: join(clone, 'release'),
    });
    return readFileSync(join(clone, 'release/SHA256SUMS'), 'utf8');
  });
  assert.match(release().stdout, /npm publish .* --tag beta \.\/release\/store-orders-client/);
  assert.equal(sums[0], sums[1]);
  const notes = [join(ROOT, 'build/release-notes.ts'), '1.0.0'];
  assert.match(execFileSync(process.execPath, notes, { encoding: 'utf8' }), /\S/);
  assert.match(sums[0]!, /store-orders-99\.0\.0\.tgz\n.*store-orders-client-\S+\.tgz\n$/s);
});
