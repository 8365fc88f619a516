import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { plantedFaults } from './planted.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('each planted fault can still be planted, is looked for, and is documented', () => {
  const documented = readFileSync(`${ROOT}docs/reliability.md`, 'utf8');
  for (const { name, patch, words, hunt } of plantedFaults()) {
    assert.ok(hunt !== undefined, `${name} has no entry in HUNTS`);
    assert.match(words, /^[A-Z].*\.$/);
    assert.ok(documented.includes(`| \`${name}\` | ${words} | ${hunt.slice(0, 2).join(', ')} |`));
    const { status, stderr } = spawnSync('git', ['apply', '--check', patch], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    assert.equal(status, 0, `${name}: ${stderr}`);
  }
});
