import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';
import { run, serve } from './program.ts';

const MIGRATIONS = fileURLToPath(new URL('../../src/store/migrations/', import.meta.url));

const backupsIn = (folder: string) =>
  readdirSync(folder).filter((name) => /^store-orders-[0-9a-f]{8}-.*Z\.db$/.test(name));

/** The beginning of the names of a database's backups. */
function prefixOf(database: string): string {
  const path = realpathSync(database.slice('sqlite:'.length));
  const db = new DatabaseSync(path, { readOnly: true });
  const { identity } = db.prepare('SELECT identity FROM store').get()!;
  db.close();
  const digest = createHash('sha256').update(`${path}${identity}`).digest('hex');
  return `store-orders-${digest.slice(0, 8)}-`;
}

/** Makes an empty store, and returns its URL. */
async function newStore(t: TestContext): Promise<string> {
  const database = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  assert.equal((await run(['migrate', '--database', database])).code, 0);
  return database;
}

/** Reads a metric without labels. */
async function metric(operations: string, name: string): Promise<number | undefined> {
  const text = await (await fetch(`${operations}/metrics`)).text();
  const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
  return value === undefined ? undefined : Number(value);
}

/** A file that counts as a database: its header has one page of 512 bytes. */
const PAGE = Buffer.alloc(512);
PAGE.write('SQLite format 3\0', 'latin1');
PAGE.writeUInt16BE(512, 16);
PAGE.writeUInt32BE(1, 28);

const settings = (folder: string, every: string) => ({
  BACKUP_DIR: folder,
  BACKUP_EVERY: every,
  BACKUP_KEEP: '2',
});

test('a service makes backups automatically, checks them, and keeps the latest', async (t) => {
  const [folder, database] = [temporaryFolder(t), await newStore(t)];
  const old = `${prefixOf(database)}2026-01-01T00-00-00-000Z.db`;
  const leftover = `${old}.01234567-89ab-cdef-0123-456789abcdef.partial`;
  // What operators have made of backups, backups of other stores, and one that a wrong clock has dated, stay.
  const others = [`${old}.gz`, `${old}-wal`, 'store-orders-00000000-2026-01-01T00-00-00-000Z.db'];
  for (const name of [leftover, old, ...others]) writeFileSync(join(folder, name), PAGE);
  const env = settings(folder, '1s');
  const { operations, call } = await serve(t, ['--sample', '50'], { database, env });
  const own = () => backupsIn(folder).filter((name) => name.startsWith(prefixOf(database)));
  await eventually(async () => assert.ok(own().length === 2 && !own().includes(old)));
  const first = own()[1]!;
  assert.equal((await call('DELETE', '/v1/store/orders/1')).status, 204);
  await eventually(async () => assert.ok(!own().includes(first)));
  const names = own();
  assert.ok(names.length <= 3);
  const left = readdirSync(folder);
  assert.deepEqual(
    [leftover, ...others].map((name) => left.includes(name)),
    [false, true, true, true],
  );
  const restored = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  const { code, stderr } = await run([
    'restore',
    join(folder, names.at(-1)!),
    '--database',
    restored,
  ]);
  assert.equal(code, 0, stderr);
  assert.ok((await metric(operations, 'store_orders_backup_age_seconds'))! < 60);
  assert.ok((await metric(operations, 'store_orders_backup_bytes'))! > 1_000);
  assert.equal(await metric(operations, 'store_orders_backup_interval_seconds'), 1);
  assert.equal(await metric(operations, 'store_orders_backup_failures_total'), 0);
});

test('a store that was changed by hand is backed up and restored, with a warning', async (t) => {
  const [folder, database] = [temporaryFolder(t), await newStore(t)];
  const on = ['--database', database];
  await run(['import', '-', ...on], { input: '{"id":1,"quantity":1}\n{"id":2}\n' });
  const db = new DatabaseSync(database.slice('sqlite:'.length));
  db.exec('UPDATE orders SET quantity = 7 WHERE id = 1');
  db.close();
  const altered = /^Warning: revision 1 is not what its head proves: it was altered\.$/m;
  const head = /^Its head is 1-[0-9a-f]{64}\.$/m;
  const file = join(folder, 'today.db');
  const backup = await run(['backup', file, ...on]);
  assert.equal(backup.code, 0, backup.stderr);
  assert.match(backup.stderr, altered);
  const restore = await run(['restore', file, ...on]);
  assert.equal(restore.code, 0, restore.stderr);
  assert.match(restore.stderr, altered);
  assert.equal(head.exec(restore.stderr)?.[0], head.exec(backup.stderr)?.[0]);
  const { stdout } = await serve(t, [], { database, env: settings(folder, '1h') });
  await eventually(async () => assert.match(stdout(), /"msg":"the history was altered by hand"/));
});

test('services that share the folder make one backup, when it is due', async (t) => {
  const folder = temporaryFolder(t);
  const database = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  const env = settings(folder, '1h');
  await serve(t, [], { database, env });
  const second = await serve(t, [], { database, env, expectsKey: false });
  await eventually(async () => assert.equal(backupsIn(folder).length, 1));
  await eventually(async () =>
    assert.ok((await metric(second.operations, 'store_orders_backup_age_seconds'))! < 60),
  );
  assert.equal(backupsIn(folder).length, 1);
});

test('a failed backup is logged and counted, and retried until it succeeds', async (t) => {
  const folder = join(temporaryFolder(t), 'unmounted');
  const { operations, stdout } = await serve(t, [], { env: settings(folder, '1s') });
  await eventually(async () =>
    assert.ok((await metric(operations, 'store_orders_backup_failures_total'))! > 0),
  );
  await eventually(async () =>
    assert.match(stdout(), /"level":50.*unmounted does not exist.*the backup failed/),
  );
  assert.equal(await metric(operations, 'store_orders_backup_age_seconds'), undefined);
  mkdirSync(folder);
  await eventually(async () => assert.ok(backupsIn(folder).length > 0));
});

test('backups that a clock ahead has dated do not take the places of others', async (t) => {
  const [folder, database] = [temporaryFolder(t), await newStore(t)];
  const later = [1, 2, 3].map((hour) => `${prefixOf(database)}2999-01-01T0${hour}-00-00-000Z.db`);
  for (const name of later) writeFileSync(join(folder, name), PAGE);
  const env = settings(folder, '1s');
  const { operations } = await serve(t, [], { database, env });
  await eventually(async () => assert.equal(backupsIn(folder).length, later.length + 2));
  assert.ok((await metric(operations, 'store_orders_backup_age_seconds'))! < 60);
  assert.ok(later.every((name) => readdirSync(folder).includes(name)));
});

/** Makes a store of an earlier release. */
function olderStore(t: TestContext, count: number): string {
  const path = join(temporaryFolder(t), 'store.db');
  const db = new DatabaseSync(path);
  for (const name of globSync('*.sqlite.sql', { cwd: MIGRATIONS }).sort().slice(0, count)) {
    db.exec(readFileSync(join(MIGRATIONS, name), 'utf8'));
  }
  db.exec(`PRAGMA application_id = ${0x53544f52}; PRAGMA user_version = ${count}`);
  db.close();
  return path;
}

test('a backup that cannot lock its folder is a failure', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, '.store-orders-backup-lock'), 'no database at all'.repeat(100));
  const { operations } = await serve(t, [], { env: settings(folder, '1h') });
  await eventually(async () =>
    assert.equal(await metric(operations, 'store_orders_backup_failures_total'), 1),
  );
});

test('a service makes a backup before it migrates, and logs its path', async (t) => {
  const path = olderStore(t, 9);
  const { stdout } = await serve(t, [], { database: `sqlite:${path}` });
  const line = stdout()
    .split('\n')
    .find((each) => each.includes('made a backup before the migration'));
  const { file } = JSON.parse(line!);
  assert.match(file, /store\.db\.schema-9-\d{4}-.*Z-[0-9a-f]{4}\.db$/);
  const { stdout: checked, code } = await run(['check', '--json', '--database', `sqlite:${file}`]);
  assert.equal(code, 0);
  assert.equal(JSON.parse(checked).schema.has, 9);
});

test('services that start together keep a backup of the schema before, and none of the one after', async (t) => {
  const path = olderStore(t, 9);
  const start = () => serve(t, ['--no-first-key'], { database: `sqlite:${path}` });
  await Promise.all([start(), start(), start()]);
  const backups = readdirSync(dirname(path)).filter((name) => name.includes('.schema-'));
  const schemas = backups.map((name) => {
    const backup = new DatabaseSync(join(dirname(path), name), { readOnly: true });
    const { user_version: schema } = backup.prepare('PRAGMA user_version').get()!;
    backup.close();
    return schema;
  });
  assert.ok(schemas.length > 0);
  assert.ok(
    schemas.every((schema) => schema === 9),
    String(schemas),
  );
});

test('backups before migrations of several stores in one folder are all kept', async (t) => {
  const folder = temporaryFolder(t);
  for (const path of [olderStore(t, 9), olderStore(t, 9)]) {
    const env = { BACKUP_DIR: folder, BACKUP_EVERY: '1d' };
    await serve(t, [], { database: `sqlite:${path}`, env });
  }
  const kept = readdirSync(folder).filter((name) =>
    /^store\.db-[0-9a-f]{8}\.schema-9-.*Z-[0-9a-f]{4}\.db$/.test(name),
  );
  assert.equal(kept.length, 2);
});

test('a service does not migrate without a backup; the command does', async (t) => {
  const path = olderStore(t, 9);
  const folder = join(temporaryFolder(t), 'unmounted');
  const database = ['--database', `sqlite:${path}`];
  const flags = ['--port', '0', '--operations-port', '0'];
  const { code, stderr } = await run(['serve', ...flags, ...database], {
    env: { BACKUP_DIR: folder },
  });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /the backup before the migration failed: .*unmounted does not exist.*store-orders migrate/,
  );
  assert.equal((await run(['migrate', ...database])).code, 0);
  rmSync(folder, { force: true });
});

test('doctor finds a backup that is overdue, and a folder that is missing', async (t) => {
  const [folder, database] = [temporaryFolder(t), await newStore(t)];
  const found = async (dir: string) => {
    const env = { PORT: '0', OPERATIONS_PORT: '0', BACKUP_DIR: dir, BACKUP_EVERY: '1h' };
    const { stdout } = await run(['doctor', '--json', '--database', database], { env });
    const { findings } = JSON.parse(stdout);
    const { level, found: text } = findings.find(
      ({ subject }: { subject: string }) => subject === 'backups',
    );
    return `${level}: ${text}`;
  };
  assert.match(await found(join(folder, 'none')), /^problem: .*none does not exist/);
  assert.match(await found(folder), /^warning: there is no backup in/);
  const old = join(folder, `${prefixOf(database)}2026-01-01T00-00-00-000Z.db`);
  writeFileSync(old, '');
  assert.match(await found(folder), /^warning: there is no backup in/, 'an empty file is none');
  rmSync(old);
  assert.equal((await run(['backup', old, '--database', database])).code, 0);
  // A wrong clock has dated this one.
  copyFileSync(old, old.replace('2026', '2099'));
  assert.match(await found(folder), /^warning: the latest backup is of 2026-01-01T00:00:00\.000Z/);
  let latest = old;
  // Overdue after two hours.
  for (const [hours, expected] of [
    [2.1, /^warning: the latest backup is of /],
    [1.9, /^ok: the latest backup is of /],
  ] as const) {
    const at = new Date(Date.now() - hours * 3_600_000).toISOString().replaceAll(/[:.]/g, '-');
    latest = join(folder, `${prefixOf(database)}${at}.db`);
    copyFileSync(old, latest);
    assert.match(await found(folder), expected);
  }
  const bytes = readFileSync(latest);
  truncateSync(latest, bytes.length / 2);
  assert.match(await found(folder), /^warning: the latest backup is of 2026/, 'cut short');
  writeFileSync(latest, bytes.fill(0, bytes.length / 2));
  assert.match(await found(folder), /^(?:problem|warning): .*(?:damaged|malformed)/);
  // What cannot be read neither counts nor prevents a backup.
  rmSync(latest);
  mkdirSync(latest);
  assert.match(await found(folder), /^warning: the latest backup is of 2026/, 'a folder');
  rmSync(latest, { recursive: true });
  symlinkSync('nowhere', latest);
  assert.match(await found(folder), /^warning: the latest backup is of 2026/, 'a broken link');
});

test('BACKUP_DIR is refused on PostgreSQL, and so are invalid intervals and numbers', async () => {
  const env = { BACKUP_DIR: '/backup', BACKUP_EVERY: 'daily', BACKUP_KEEP: '0' };
  const { code, stderr } = await run(['serve', '--database', 'postgres://a@b/c'], { env });
  assert.equal(code, 2);
  assert.match(stderr, /BACKUP_DIR is only for SQLite/);
  assert.match(
    stderr,
    /BACKUP_EVERY must be a time such as 30m, 6h or 1d, up to 365d, not "daily"/,
  );
  assert.match(stderr, /BACKUP_KEEP must be a number from 1 to 1000, not "0"/);
});
