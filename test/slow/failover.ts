import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { test } from 'node:test';
import { temporaryFolder } from '../temporary.ts';
import { tryFailovers } from '../torture/failover/failover.ts';

test('under Patroni, a switchover, the end of all sessions and a kill of PostgreSQL lose and double nothing', async (t) => {
  const folder = temporaryFolder(t);
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  const options = { folder, seed: 1, minutes: 1, only: undefined, fault: undefined };
  const result = await tryFailovers({ ...options, report: (line) => t.diagnostic(line) }, 3);
  if (result.outcome === 'skipped') return t.skip(result.reason);
  assert.notEqual(result.outcome, 'failed', 'findings' in result ? result.findings.join('\n') : '');
  // Beside other tests there are fewer operations than a run of its own must have; each fault has happened.
  if (result.outcome === 'undecided')
    assert.match(result.reason, /^\d{4} operations of at least \d+$/);
});
