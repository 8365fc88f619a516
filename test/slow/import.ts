import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { PROGRAM, run } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

test('a million orders can be imported with a heap of 256 MB', { timeout: 110_000 }, async (t) => {
  const folder = temporaryFolder(t);
  const database = `sqlite:${join(folder, 'store.db')}`;
  const path = join(folder, 'million.ndjson');
  execFileSync('sh', ['-c', `"${process.execPath}" "${PROGRAM}" sample 1000000 > "${path}"`]);
  const nodeFlags = ['--max-old-space-size=256', '--max-semi-space-size=16'];
  const { code, stderr } = await run(['import', path, '--database', database], { nodeFlags });
  assert.equal(code, 0, stderr);
  t.diagnostic(stderr.trim());
  const last = await run(['show', '1000000', '--json', '--database', database]);
  assert.equal(JSON.parse(last.stdout).id, 1_000_000);
});
