import assert from 'node:assert/strict';
import {
  closeSync,
  copyFileSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { eventually, query } from '../postgres.ts';
import { ENGINES, newPostgresDatabase } from '../store/engines.ts';
import { temporaryFolder } from '../temporary.ts';
import { otherEngine } from './copy-contents.ts';
import { run, serve } from './program.ts';

const ORDERS = '/v1/store/orders';

/** A store of 1,000 orders, a backup of it, and a function that runs commands on it. */
async function withBackup(t: TestContext) {
  const folder = temporaryFolder(t);
  const [path, backup] = [join(folder, 'store.db'), join(folder, 'backup.db')];
  const database = `sqlite:${path}`;
  const cli = (...args: string[]) => run([...args, '--database', database]);
  const { stdout: input } = await run(['sample', '1000']);
  await run(['import', '-', '--database', database], { input });
  assert.equal((await cli('backup', backup)).code, 0);
  return { folder, path, backup, database, cli };
}

const keptDatabases = (folder: string) =>
  readdirSync(folder).filter((name) => name.startsWith('store.db.before-'));

test('restore replaces the database with a backup and keeps the previous database', async (t) => {
  const { folder, path, backup, database, cli } = await withBackup(t);
  assert.equal((await cli('ship', '1')).code, 0);
  const { code, stderr } = await cli('restore', backup);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /Restored 1,000 orders .* to sqlite:.*store\.db/);
  assert.match((await cli('show', '1')).stdout, /status +pending/);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const [before, ...others] = keptDatabases(folder);
  assert.deepEqual(others, []);
  const shown = await run(['show', '1', '--database', `sqlite:${join(folder, before!)}`]);
  assert.match(shown.stdout, /status +shipped/);
  const service = await serve(t, [], { database });
  assert.equal(JSON.parse((await service.call('GET', ORDERS)).body).length, 1_000);
});

test('after a killed service, restore leaves no log files and the previous database keeps their changes', async (t) => {
  const { folder, path, backup, database, cli } = await withBackup(t);
  const killed = await serve(t, [], { database });
  assert.equal((await killed.call('DELETE', `${ORDERS}/1`)).status, 204);
  await killed.stop('SIGKILL');
  assert.ok(existsSync(`${path}-wal`));
  assert.equal((await cli('restore', backup)).code, 0);
  for (const name of readdirSync(folder)) assert.doesNotMatch(name, /-(wal|shm|journal)$/);
  assert.equal((await cli('check')).code, 0);
  const before = `sqlite:${join(folder, keptDatabases(folder)[0]!)}`;
  const shown = await run(['show', '1', '--database', before]);
  assert.match(shown.stdout, /status +cancelled/);
});

test('restore names the keys that were revoked, and the webhooks that were deleted, paused or rotated after the backup', async (t) => {
  const folder = temporaryFolder(t);
  const database = `sqlite:${join(folder, 'store.db')}`;
  const command = async (...args: string[]) => {
    const { code, stdout, stderr } = await run([...args, '--database', database]);
    assert.equal(code, 0, stderr);
    return { stdout, stderr };
  };
  const idIn = (stderr: string) => /(?:key|wh)_\w+/.exec(stderr)![0];
  const key = idIn((await command('keys', 'create', '--name', 'leaked')).stderr);
  const ids: string[] = [];
  for (const name of ['deleted', 'paused', 'rotated', 'kept']) {
    const made = await command('webhooks', 'create', `https://shop.example/${name}`);
    ids.push(idIn(made.stderr));
  }
  const [deleted, paused, rotated, kept] = ids as [string, string, string, string];
  const backup = join(folder, 'backup.db');
  await command('backup', backup);
  await command('keys', 'revoke', key);
  await command('webhooks', 'delete', deleted);
  await command('webhooks', 'pause', paused);
  await command('webhooks', 'rotate', rotated);
  const { stderr } = await command('restore', backup);
  for (const line of [
    `${key} (leaked) was revoked`,
    `${deleted} (https://shop.example/deleted) was deleted`,
    `${paused} (https://shop.example/paused) was paused`,
    `${rotated} (https://shop.example/rotated) was rotated`,
  ]) {
    assert.ok(stderr.includes(`  after the backup, ${line}\n`), stderr);
  }
  assert.ok(!stderr.includes(kept));
});

test('restore refuses a store in use, and unsuitable backups and targets', async (t) => {
  const { folder, path, backup, database, cli } = await withBackup(t);
  const refused = async (reason: RegExp, ...args: string[]) => {
    const { code, stderr } = await run(['restore', ...args]);
    assert.equal(code, 1, stderr);
    assert.match(stderr, reason);
  };
  const service = await serve(t, [], { database });
  await refused(/it is in use; stop the service/, backup, '--database', database);
  await service.stop();
  await refused(/are the same file/, path, '--database', database);
  await refused(/the database does not exist/, join(folder, 'none.db'), '--database', database);
  const other = join(folder, 'other.db');
  new DatabaseSync(other).exec('CREATE TABLE t (x); INSERT INTO t VALUES (1)');
  await refused(/another program/, other, '--database', database);
  await refused(/another program/, backup, '--database', `sqlite:${other}`);
  writeFileSync(join(folder, 'text'), 'no database at all, '.repeat(100));
  await refused(/not an SQLite database/, backup, '--database', `sqlite:${join(folder, 'text')}`);
  await refused(/"restore" supports only SQLite/, backup, '--database', 'postgres://localhost/x');
  const staging = join(folder, 'staging.db');
  await run(['keys', 'create', '--name', 'x', '--database', `sqlite:${staging}`], {
    env: { ENVIRONMENT: 'staging' },
  });
  await refused(
    /for staging, but the backup is for production/,
    backup,
    '--database',
    `sqlite:${staging}`,
  );
  assert.deepEqual(keptDatabases(folder), []);
  assert.equal((await cli('check')).code, 0);
});

test('restore makes no file beside the database, which would belong to the user that restores', async (t) => {
  const { backup } = await withBackup(t);
  const folder = temporaryFolder(t);
  const on = ['--database', `sqlite:${join(folder, 'new.db')}`];
  assert.equal((await run(['restore', backup, ...on])).code, 0);
  assert.deepEqual(readdirSync(folder), ['new.db']);
});

test('restore replaces another store only if that is asked for, and one without orders', async (t) => {
  const { backup, database, cli } = await withBackup(t);
  const other = `sqlite:${join(temporaryFolder(t), 'other.db')}`;
  const on = ['--database', other];
  await run(['migrate', ...on]);
  assert.equal((await run(['restore', backup, ...on])).code, 0);
  const third = join(temporaryFolder(t), 'third.db');
  await run(['import', '-', '--database', `sqlite:${third}`], { input: '{"id":1}\n' });
  const refused = await run(['restore', backup, '--database', `sqlite:${third}`]);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /it is another store \([0-9a-f]{16}\) than that of the backup \([0-9a-f]{16}\).* use --another-store/,
  );
  const asked = ['restore', backup, '--another-store', '--database', `sqlite:${third}`];
  assert.equal((await run(asked)).code, 0);
  const identityOf = async (url: string) =>
    JSON.parse((await run(['check', '--json', '--database', url])).stdout).identity;
  const { identity } = JSON.parse((await cli('check', '--json')).stdout);
  assert.deepEqual(
    [await identityOf(other), await identityOf(`sqlite:${third}`)],
    [identity, identity],
  );
  assert.equal(await identityOf(database), identity);
});

test('restore refuses a damaged backup, and replaces a damaged database', async (t) => {
  const { folder, path, backup, database, cli } = await withBackup(t);
  const torn = join(folder, 'torn.db');
  copyFileSync(backup, torn);
  zeroMiddlePages(torn);
  const { code, stderr } = await cli('restore', torn);
  assert.equal(code, 1);
  assert.match(stderr, /torn\.db failed the check; nothing was restored:\n {2}\S/);
  assert.deepEqual(keptDatabases(folder), []);
  zeroMiddlePages(path);
  const found = await cli('check');
  assert.equal(found.code, 1);
  assert.match(found.stderr, /the store failed the check/);
  assert.equal((await cli('restore', backup)).code, 0);
  assert.equal((await cli('check')).code, 0);
  assert.equal((await run(['check', '--database', database, '--json'])).code, 0);
});

/** Zeroes pages three quarters into a file, which have orders; those at its beginning, middle and end have the schema. */
function zeroMiddlePages(path: string): void {
  const file = openSync(path, 'r+');
  const middle = Math.floor((statSync(path).size * 3) / 4 / 4_096) * 4_096;
  writeSync(file, Buffer.alloc(4 * 4_096), 0, 4 * 4_096, middle);
  closeSync(file);
}

test('restore creates a missing database, and sets aside a leftover log', async (t) => {
  const { folder, backup } = await withBackup(t);
  const path = join(folder, 'new', 'store.db');
  const made = await run(['restore', backup, '--database', `sqlite:${path}`]);
  assert.equal(made.code, 0, made.stderr);
  const stale = join(folder, 'stale.db');
  writeFileSync(`${stale}-wal`, 'of another time');
  assert.equal((await run(['restore', backup, '--database', `sqlite:${stale}`])).code, 0);
  assert.ok(!existsSync(`${stale}-wal`));
});

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: check reports every inconsistency`, async (t) => {
    const database = await newDatabase(t);
    const { stdout: input } = await run(['sample', '50']);
    await run(['import', '-', '--database', database], { input });
    const check = (...args: string[]) => run(['check', '--database', database, ...args]);
    const { code, stdout } = await check();
    assert.equal(code, 0);
    assert.match(stdout, /^environment +production$/m);
    assert.match(stdout, /^problems +none$/m);
    await changeRows(database, 'UPDATE store SET pending = pending + 1');
    assert.match((await check()).stderr, /failed the check: 1 problem$/m);
    await changeRows(database, 'DELETE FROM order_events');
    const found = await check('--json');
    assert.equal(found.code, 1);
    const { problems } = JSON.parse(found.stdout) as { problems: string[] };
    assert.equal(problems.length, 4);
    assert.match(problems[0]!, /there are \d+ pending orders, but the counter of the store is \d+/);
    assert.match(problems[1]!, /the last event has revision 0, but the store is at revision 1/);
    assert.match(problems[2]!, /50 orders lack the event of their last change/);
    assert.match(problems[3]!, /the head of the store is not that of its last revision/);
    const wrong = await run(['check', '--database', database], { env: { ENVIRONMENT: 'staging' } });
    assert.match(wrong.stderr, /is for production, but ENVIRONMENT is staging/);
  });
}

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: check --at verifies a head that was kept, also in a copy on the other engine`, async (t) => {
    const database = await newDatabase(t);
    const on = (...args: string[]) => run([...args, '--database', database]);
    await run(['import', '-', '--database', database], { input: '{"id":1}\n{"id":2}\n' });
    const { revision, head } = JSON.parse((await on('check', '--json')).stdout);
    assert.equal((await on('cancel', '2')).code, 0);
    const kept = `${revision}-${head}`;
    const { code, stdout } = await on('check', '--at', kept);
    assert.equal(code, 0);
    assert.match(stdout, new RegExp(`^at +${kept} is in the history$`, 'm'));
    const to = await otherEngine({ name, newDatabase }).newDatabase(t);
    const copied = await run(['copy', '--from', database, '--to', to]);
    assert.match(copied.stderr, /\nBoth stores have the head 2-[0-9a-f]{64}\.\n/);
    assert.equal((await run(['check', '--at', kept, '--database', to])).code, 0);
    await changeRows(to, 'UPDATE orders SET quantity = 7 WHERE id = 2');
    const altered = await run(['check', '--at', kept, '--database', to]);
    assert.equal(altered.code, 1);
    assert.match(altered.stdout, /revision 1 is not what its head proves: it was altered/);
    assert.match(altered.stdout, new RegExp(`the history does not contain ${kept}`));
    assert.equal((await on('check', '--at', '1-abc')).code, 2);
  });

  test(`${name}: export --at writes the orders as they were at a revision or a time`, async (t) => {
    const database = await newDatabase(t);
    const on = (...args: string[]) => run([...args, '--database', database]);
    await run(['import', '-', '--database', database], { input: '{"id":1}\n{"id":2}\n' });
    const { at } = JSON.parse((await on('show', '1', '--json')).stdout).history[0];
    await eventually(async () => assert.ok(new Date().toISOString() > at));
    assert.equal((await on('ship', '1')).code, 0);
    assert.equal((await on('cancel', '2')).code, 0);
    const then = '{"id":1,"status":"pending"}\n{"id":2,"status":"pending"}\n';
    assert.equal((await on('export', '--at', '1')).stdout, then);
    const { stdout, stderr } = await on('export', '--at', at);
    assert.equal(stdout, then);
    assert.equal(stderr, 'These are the orders at revision 1.\n');
    const before = new Date(Date.parse(at) - 1).toISOString();
    assert.equal((await on('export', '--at', before)).stdout, '');
    assert.equal((await on('export', '--at', '0')).stdout, '');
    assert.match((await on('export', '--at', '4')).stderr, /the store is at revision 3/);
    assert.equal((await on('export', '--at', 'yesterday')).code, 2);
  });
}

test('a backup can be copied any number of times', async (t) => {
  const { backup } = await withBackup(t);
  for (const to of [await newPostgresDatabase(t), await newPostgresDatabase(t)]) {
    const { code, stderr } = await run(['copy', '--from', `sqlite:${backup}`, '--to', to]);
    assert.equal(code, 0, stderr);
  }
});

/** Changes rows directly in the database. */
async function changeRows(database: string, sql: string): Promise<void> {
  if (database.startsWith('postgres:')) {
    await query(database, sql);
    return;
  }
  const db = new DatabaseSync(database.slice('sqlite:'.length));
  db.exec(sql);
  db.close();
}

test('restore follows a symbolic link, and replaces an empty file', async (t) => {
  const { folder, path, backup } = await withBackup(t);
  const link = join(folder, 'link.db');
  symlinkSync(path, link);
  assert.equal((await run(['restore', backup, '--database', `sqlite:${link}`])).code, 0);
  assert.ok(lstatSync(link).isSymbolicLink());
  const empty = join(folder, 'empty.db');
  writeFileSync(empty, '');
  const { code, stderr } = await run(['restore', backup, '--database', `sqlite:${empty}`]);
  assert.equal(code, 0, stderr);
});

test('copying a restored store marks it as moved, unlike a backup', async (t) => {
  const { backup, database, cli } = await withBackup(t);
  assert.equal((await cli('restore', backup)).code, 0);
  assert.equal(
    (await run(['copy', '--from', database, '--to', await newPostgresDatabase(t)])).code,
    0,
  );
  assert.match((await cli('ship', '1')).stderr, /was moved to/);
});
