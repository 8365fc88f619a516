import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { queryDatabase } from '../store/engines.ts';
import { temporaryFolder } from '../temporary.ts';
import { NEEDS_NAMESPACES } from './needs.ts';
import { PROGRAM, run, spawnProgram } from './program.ts';

const changesIn = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('changes are written as NDJSON, from the first one or after the cursor of a line', async (t) => {
  const database = ['--database', `sqlite:${join(temporaryFolder(t), 'a.db')}`];
  await run(['import', '-', ...database], { input: '{"id":1}\n{"id":9007199254740993}\n' });
  await run(['cancel', '9007199254740993', ...database]);
  const { code, stdout } = await run(['changes', ...database]);
  assert.equal(code, 0);
  assert.match(stdout, /"order":\{"id":9007199254740993,/);
  const all = changesIn(stdout);
  assert.deepEqual(
    all.map(({ type, cursor }) => [type, cursor !== undefined]),
    [
      ['placed', false],
      ['placed', true],
      ['cancelled', true],
    ],
  );
  const rest = await run(['changes', '--after', all[1].cursor, ...database]);
  assert.deepEqual(changesIn(rest.stdout), all.slice(2));
  assert.equal((await run(['changes', '--after', 'now', ...database])).stdout, '');
  // Another store does not have these changes.
  const other = ['--database', `sqlite:${join(temporaryFolder(t), 'b.db')}`];
  await run(['migrate', ...other]);
  const gone = await run(['changes', '--after', all[2].cursor, ...other]);
  assert.deepEqual([gone.code, gone.stdout], [1, '']);
  assert.match(gone.stderr, /the cursor is no longer valid/);
});

test('changes --verify proves what it writes, from the start or a cursor, and detects an order that was altered', async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  const database = ['--database', `sqlite:${path}`];
  await run(['import', '-', ...database], { input: '{"id":1}\n{"id":2}\n' });
  await run(['ship', '1', ...database]);
  await run(['cancel', '2', ...database]);
  const { code, stdout, stderr } = await run(['changes', '--verify', ...database]);
  assert.equal(code, 0);
  const all = changesIn(stdout);
  assert.equal(stderr, `Verified up to ${all.at(-1).cursor}.\n`);
  const rest = await run(['changes', '--verify', '--after', all[1].cursor, ...database]);
  assert.deepEqual([rest.code, changesIn(rest.stdout).length], [0, 2]);
  await queryDatabase(`sqlite:${path}`, 'UPDATE orders SET quantity = 7 WHERE id = 2');
  const altered = await run(['changes', '--verify', ...database]);
  assert.equal(altered.code, 1);
  assert.match(altered.stderr, /the changes after revision 0 up to 3 are not those that the head/);
  assert.equal(altered.stdout, '');
});

test('edits of the heads by hand are found by changes --verify, and reported by copy and rechain', async (t) => {
  const folder = temporaryFolder(t);
  const url = `sqlite:${join(folder, 'a.db')}`;
  const database = ['--database', url];
  await run(['import', '-', ...database], { input: '{"id":1}\n{"id":2}\n' });
  await run(['cancel', '2', ...database]);
  await queryDatabase(url, 'UPDATE store SET head = zeroblob(32)');
  assert.equal((await run(['changes', '--verify', ...database])).code, 1);
  const copied = await run(['copy', '--from', url, '--to', `sqlite:${join(folder, 'b.db')}`]);
  assert.equal(copied.code, 0, copied.stderr);
  assert.match(copied.stderr, /^Warning: the head of the store is not that of its last revision/m);
  await run(['reactivate', ...database]);
  assert.equal((await run(['rechain', ...database])).code, 0);
  assert.equal((await run(['changes', '--verify', ...database])).code, 0);
  await queryDatabase(url, 'UPDATE order_events SET head = NULL WHERE revision = 1');
  const missing = await run(['changes', ...database]);
  assert.deepEqual([missing.code, missing.stdout], [1, '']);
  assert.match(
    missing.stderr,
    /^store-orders: revision 1 is not complete; run "store-orders check"$/m,
  );
  await queryDatabase(url, 'DELETE FROM orders WHERE id = 2');
  const incomplete = await run(['rechain', ...database]);
  assert.deepEqual([incomplete.code, incomplete.stdout], [1, '']);
  assert.match(incomplete.stderr, /events whose orders were deleted/);
});

test('changes are written to the end, however many there are', async (t) => {
  const database = ['--database', `sqlite:${join(temporaryFolder(t), 'a.db')}`];
  const ids = Array.from({ length: 5_001 }, (_, index) => index + 1);
  await run(['import', '-', ...database], { input: ids.map((id) => `{"id":${id}}\n`).join('') });
  const { stdout } = await run(['changes', ...database]);
  assert.deepEqual(
    changesIn(stdout).map(({ order }) => order.id),
    ids,
  );
});

test('changes --follow continues with changes of other processes, until it is interrupted', async (t) => {
  const database = ['--database', `sqlite:${join(temporaryFolder(t), 'a.db')}`];
  await run(['import', '-', ...database], { input: '{"id":1}\n' });
  const child = spawnProgram(t, ['changes', '--follow', ...database]);
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  assert.match((await lines.next()).value!, /"type":"placed"/);
  await run(['ship', '1', ...database]);
  assert.match((await lines.next()).value!, /"type":"shipped"/);
  child.kill('SIGINT');
  await once(child, 'exit');
});

test('keys are created with scopes and a limit, and listed with them', async (t) => {
  const database = ['--database', `sqlite:${join(temporaryFolder(t), 'a.db')}`];
  const scopes = ['--scope', 'orders:read', '--scope', 'orders:cancel'];
  const create = ['keys', 'create', '--name', 'shop', ...scopes, '--cancels-per-hour', '25'];
  const { stdout } = await run([...create, '--json', ...database]);
  const { scopes: created, cancelsPerHour } = JSON.parse(stdout);
  assert.deepEqual([created, cancelsPerHour], [['orders:read', 'orders:cancel'], 25]);
  await run(['keys', 'create', '--name', 'all', ...database]);
  const listed = JSON.parse((await run(['keys', 'list', '--json', ...database])).stdout);
  assert.deepEqual(
    listed.map((key: Record<string, unknown>) => [key.name, key.scopes, key.cancelsPerHour]),
    [
      ['shop', ['orders:read', 'orders:cancel'], 25],
      ['all', undefined, undefined],
    ],
  );
  const table = await run(['keys', 'list', ...database]);
  assert.match(table.stdout, /orders:read orders:cancel +25 +any +an operator +none\n/);
  assert.match(table.stdout, /all but \S+ and \S+ +any +any +an operator +none\n/);
});

test('a waiting command ends on SIGTERM even as process 1, as in a container', {
  skip: NEEDS_NAMESPACES,
}, async (t) => {
  const database = ['--database', `sqlite:${join(temporaryFolder(t), 'a.db')}`];
  await run(['import', '-', ...database], { input: '{"id":1}\n' });
  const command = [process.execPath, PROGRAM, 'changes', '--follow', ...database];
  const spaces = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child'];
  const outer = spawn('unshare', [...spaces, ...command], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => outer.kill('SIGKILL'));
  await once(outer.stdout, 'data');
  const children = readFileSync(`/proc/${outer.pid}/task/${outer.pid}/children`, 'utf8');
  const exited = once(outer, 'exit');
  process.kill(Number(children), 'SIGTERM');
  assert.deepEqual(await exited, [143, null]);
});
