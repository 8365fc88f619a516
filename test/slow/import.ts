import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PROGRAM, type RunOptions, run } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

/** The command line on a new database, and a way to write files beside it. */
function commandLine(t: TestContext) {
  const folder = temporaryFolder(t);
  const database = `sqlite:${join(folder, 'store.db')}`;
  return {
    folder,
    database,
    cli: (args: readonly string[], options?: RunOptions) =>
      run([...args, '--database', database], options),
    file: (name: string, content: string | Buffer) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    },
  };
}

test('a million orders import on a heap of 256 MB', { timeout: 110_000 }, async (t) => {
  const { folder, cli, database } = commandLine(t);
  const path = join(folder, 'million.ndjson');
  execFileSync('sh', ['-c', `"${process.execPath}" "${PROGRAM}" sample 1000000 > "${path}"`]);
  const nodeFlags = ['--max-old-space-size=256', '--max-semi-space-size=16'];
  const { code, stderr } = await run(['import', path, '--database', database], { nodeFlags });
  assert.equal(code, 0, stderr);
  t.diagnostic(stderr.trim());
  const last = await cli(['show', '1000000', '--json']);
  assert.equal(JSON.parse(last.stdout).id, 1_000_000);
});
