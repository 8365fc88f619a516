import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ordersIn } from '../process/orders-in.ts';
import { PROGRAM, type RunOptions, run } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

/** The import takes a minute, and on a slow machine longer than other commands may take. */
const LIMIT_MS = 300_000;

test('a million orders can be imported with a heap of 256 MB', { timeout: LIMIT_MS }, async (t) => {
  const folder = temporaryFolder(t);
  const database = `sqlite:${join(folder, 'store.db')}`;
  const path = join(folder, 'million.ndjson');
  execFileSync('sh', ['-c', `"${process.execPath}" "${PROGRAM}" sample 1000000 > "${path}"`]);
  const nodeFlags = ['--max-old-space-size=256', '--max-semi-space-size=16'];
  const { code, stderr } = await run(['import', path, '--database', database], {
    ...{ nodeFlags, limitMs: LIMIT_MS },
  });
  assert.equal(code, 0, stderr);
  t.diagnostic(stderr.trim());
  const last = await run(['show', '1000000', '--json', '--database', database]);
  assert.equal(JSON.parse(last.stdout).id, 1_000_000);
});

test('an import that fails on a conflicting order loses no other order when it is run again', async (t) => {
  const folder = temporaryFolder(t);
  const database = `sqlite:${join(folder, 'store.db')}`;
  const path = join(folder, 'a.ndjson');
  const cli = (args: readonly string[], options?: RunOptions) =>
    run([...args, '--database', database], options);
  const count = 200_000;
  const rows = Array.from({ length: count }, (_, i) => `{"id":${i + 1},"petId":1}\n`);
  writeFileSync(path, rows.join(''));
  const child = spawn(process.execPath, [PROGRAM, 'import', path, '--database', database]);
  const ended = once(child, 'close');
  for (let tries = 0; tries < 2_000 && ordersIn(database) === 0; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await cli(['import', '-'], { input: `{"id":${count - 1_000},"petId":2}\n` });
  assert.deepEqual(await ended, [1, null]);
  const again = await cli(['import', path]);
  assert.equal(again.code, 1, 'the order still differs');
  assert.match(again.stderr, /order 199000 exists in the store with a different petId/);
  writeFileSync(path, rows.filter((_, i) => i + 1 !== count - 1_000).join(''));
  assert.equal((await cli(['import', path])).code, 0);
  const ids = (await cli(['export'])).stdout.trim().split('\n');
  assert.equal(ids.length, count);
});

for (const [kind, rowOf] of [
  ['without ids', () => '{"petId":1,"quantity":2}\n'],
  ['with ids', (index: number) => `{"id":${index + 1},"quantity":2}\n`],
] as const) {
  test(`an import ${kind} that was killed resumes when it is run again`, async (t) => {
    const folder = temporaryFolder(t);
    const database = `sqlite:${join(folder, 'store.db')}`;
    const cli = (args: readonly string[], options?: RunOptions) =>
      run([...args, '--database', database], options);
    const count = 60_000;
    const path = join(folder, 'a.ndjson');
    writeFileSync(path, Array.from({ length: count }, (_, i) => rowOf(i)).join(''));
    const child = spawn(process.execPath, [PROGRAM, 'import', path, '--database', database]);
    const exported = async () => (await cli(['export'])).stdout.split('\n').length - 1;
    for (let tries = 0; tries < 2_000 && child.exitCode === null; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (ordersIn(database) > 0) break;
    }
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
    const before = await exported();
    assert.ok(before > 0 && before < count, `${before} were imported before the kill`);
    // In between, some of its orders ship, and orders with higher ids are placed.
    await cli(['ship', '1', '2']);
    await cli(['import', '-'], { input: `{"id":${count + 1}}\n{"id":${count + 2}}\n` });
    const again = await cli(['import', path, '--json']);
    assert.equal(again.code, 0, again.stderr);
    assert.deepEqual(JSON.parse(again.stdout), {
      imported: count - before,
      skipped: before,
      dryRun: false,
    });
    assert.equal(await exported(), count + 2);
  });
}
