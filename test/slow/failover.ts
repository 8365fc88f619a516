import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const TORTURE = fileURLToPath(new URL('../torture/main.ts', import.meta.url));
const LIMIT_MS = 280_000;

test('under Patroni, a switchover, the end of all sessions and a kill of PostgreSQL lose and double nothing', (t) => {
  const args = ['failover', '--only', 'the shortest three', '--minutes', '1', '--seed', '1'];
  const { stdout, stderr } = spawnSync(process.execPath, [TORTURE, ...args], {
    encoding: 'utf8',
    timeout: LIMIT_MS,
  });
  const result = /^failover (\w+) in \d+ s, seed 1: (.*)$/m.exec(stdout);
  assert.ok(result !== null, stdout + stderr);
  const [, outcome, reason] = result;
  if (outcome === 'skipped') return t.skip(reason);
  // Beside other tests there are fewer operations than a run of its own must have; each fault has happened.
  if (outcome === 'undecided') assert.match(reason!, /^\d{4} operations of at least \d+$/);
  else assert.equal(outcome, 'passed', stdout);
});
