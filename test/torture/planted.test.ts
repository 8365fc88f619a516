import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { plantedFaults } from './planted.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('each planted fault can still be planted, and is looked for', () => {
  for (const { name, patch, words, hunt } of plantedFaults()) {
    assert.ok(hunt !== undefined, `${name} has no entry in HUNTS`);
    assert.match(words, /^[A-Z].*\.$/);
    const { status, stderr } = spawnSync('git', ['apply', '--check', patch], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    assert.equal(status, 0, `${name}: ${stderr}`);
  }
});
