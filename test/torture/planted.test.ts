import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { plantedFaults } from './planted/patches.ts';
import { SMALL_FAULTS } from './planted/small-faults.ts';

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

test('each small fault has a name of its own and one place, and tests that look for it', () => {
  const names = SMALL_FAULTS.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)]);
  const paths = globSync('test/**/*.ts', { cwd: ROOT });
  for (const { name, breaks, file, text, fault, tests } of SMALL_FAULTS) {
    assert.match(name, /^[a-z\d]+(-[a-z\d]+)+$/);
    assert.match(breaks, /^\S.*\.$/, name);
    const places = readFileSync(`${ROOT}${file}`, 'utf8').split(text).length - 1;
    assert.equal(places, 1, `${name} has ${places} places in ${file}`);
    assert.notEqual(fault, text, name);
    assert.ok(tests.length > 0 && tests.every((word) => paths.some((path) => path.includes(word))));
  }
});
