import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { backupStore, copyStore } from '../../src/store/copy.ts';
import { databaseAt } from '../../src/store/database.ts';
import { makeDurable, openForWriting } from '../../src/store/sqlite/database/connection.ts';
import { checkSqlite } from '../../src/store/sqlite/maintenance/check.ts';
import { StoreNotUsable, StoreUnavailable } from '../../src/store/store.ts';
import { temporaryFolder } from '../temporary.ts';
import { positionAt, restoreStore } from './engines.ts';

const OPTIONS = { create: true, purpose: 'service' } as const;

test('the writer syncs every commit to disk', (t) => {
  const { db } = openForWriting(join(temporaryFolder(t), 'a.db'), true);
  makeDurable(db);
  assert.equal(db.prepare('PRAGMA journal_mode').get()!.journal_mode, 'wal');
  assert.equal(db.prepare('PRAGMA synchronous').get()!.synchronous, 2n);
  db.close();
});

test('a database of another program is refused and not modified', async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  const db = new DatabaseSync(path);
  db.exec('CREATE TABLE theirs (id INTEGER)');
  db.close();
  const digest = () => createHash('sha256').update(readFileSync(path)).digest('hex');
  const before = digest();
  await assert.rejects(databaseAt(`sqlite:${path}`).open(OPTIONS), StoreNotUsable);
  assert.equal(digest(), before);
});

test('a store without its store row is refused, and the process can exit', async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  await (await databaseAt(`sqlite:${path}`).open(OPTIONS)).close();
  const db = new DatabaseSync(path);
  db.exec('DELETE FROM store');
  db.close();
  await assert.rejects(
    databaseAt(`sqlite:${path}`).open(OPTIONS),
    /a copy into this database is incomplete/,
  );
});

test('databases, backups and the folders created for them are accessible to their owner only', async (t) => {
  const umask = process.umask(0);
  t.after(() => process.umask(umask));
  const folder = join(temporaryFolder(t), 'made');
  const url = `sqlite:${join(folder, 'a.db')}`;
  const store = await databaseAt(url).open(OPTIONS);
  await store.apply([{ type: 'insertOrder', order: { id: 1n, status: 'pending' } }]);
  await backupStore(databaseAt(url), join(folder, 'b.db'));
  const modes = ['.', 'a.db', 'a.db-wal', 'a.db-shm', 'b.db'].map((name) =>
    (statSync(join(folder, name)).mode & 0o777).toString(8),
  );
  assert.deepEqual(modes, ['700', '600', '600', '600', '600']);
  await store.close();
});

test('an existing database keeps its file mode', async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  await (await databaseAt(`sqlite:${path}`).open(OPTIONS)).close();
  chmodSync(path, 0o640);
  await (await databaseAt(`sqlite:${path}`).open(OPTIONS)).close();
  assert.equal(statSync(path).mode & 0o777, 0o640);
});

/** A database as written by release 1.0.0. */
function oldDatabase(t: TestContext) {
  const path = join(temporaryFolder(t), 'a.db');
  const db = new DatabaseSync(path);
  const initial = '../../src/store/migrations/001-initial.sqlite.sql';
  db.exec(readFileSync(new URL(initial, import.meta.url), 'utf8'));
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA application_id = ${0x53544f52}; PRAGMA user_version = 1;
    UPDATE store SET revision = 4, cancelled = 2, shipped = 1, pending = 1;
    INSERT INTO orders (id, status, revision) VALUES (1, 'cancelled', 3), (2, 'shipped', 4),
      (3, 'pending', 1), (4, 'cancelled', 2);
    INSERT INTO order_events VALUES (1, 1, 'placed', 10, NULL), (1, 3, 'cancelled', 30, 'key_a'),
      (2, 1, 'placed', 10, NULL), (2, 4, 'shipped', 40, NULL), (3, 1, 'placed', 10, NULL),
      (4, 2, 'placed', 20, NULL), (4, 2, 'cancelled', 20, 'key_b')`);
  return { path, db };
}

test('only a service and "migrate" migrate a store; other commands name the command to run', async (t) => {
  const { path, db } = oldDatabase(t);
  db.close();
  const url = `sqlite:${path}`;
  const version = () => {
    const file = new DatabaseSync(path, { readOnly: true });
    const { user_version } = file.prepare('PRAGMA user_version').get()!;
    file.close();
    return user_version;
  };
  for (const purpose of ['read', 'write'] as const) {
    await assert.rejects(
      databaseAt(url).open({ create: false, purpose }),
      /update it with "store-orders migrate"/,
    );
  }
  await assert.rejects(
    copyStore(databaseAt(url), databaseAt(`${url}.copy`), { isMove: true, onProgress: () => {} }),
    /update it with "store-orders migrate"/,
  );
  assert.equal(version(), 1);
  const backup = join(temporaryFolder(t), 'backup.db');
  await backupStore(databaseAt(url), backup);
  assert.equal(version(), 1, 'a backup does not migrate');
  for (const [database, purpose] of [
    [url, 'service'],
    [`sqlite:${backup}`, 'migration'],
  ] as const) {
    const migrated: number[] = [];
    const onMigrated = (...versions: number[]) => migrated.push(...versions);
    await (await databaseAt(database).open({ create: false, purpose, onMigrated })).close();
    assert.equal(migrated[0], 1);
    assert.ok(migrated[1]! > 1);
    migrated.length = 0;
    await (await databaseAt(database).open({ create: false, purpose, onMigrated })).close();
    assert.deepEqual(migrated, [], 'already migrated');
  }
});

test('a store migrated by another release since it was opened is unavailable, with the reason', async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  const store = await databaseAt(`sqlite:${path}`).open(OPTIONS);
  t.after(() => store.close());
  const known = await store.changedOrders(undefined, () => {});
  const db = new DatabaseSync(path);
  db.exec('PRAGMA user_version = 99');
  db.close();
  const reason = /another release has migrated the schema \(99 migrations/;
  await assert.rejects(
    store.changedOrders(known, () => {}),
    reason,
  );
  const cancel = store.apply([{ type: 'cancel', id: 1n }]);
  await assert.rejects(
    cancel,
    (error) => error instanceof StoreUnavailable && reason.test(error.message),
  );
});

test('opening a database waits for another process that migrates it', async (t) => {
  const { path, db } = oldDatabase(t);
  db.exec('BEGIN IMMEDIATE');
  const opening = databaseAt(`sqlite:${path}`).open(OPTIONS);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  db.exec('COMMIT');
  db.close();
  await (await opening).close();
});

test('an existing store gets the environment of its keys, if they share one', async (t) => {
  for (const [environments, expected] of [
    [['staging', 'staging'], 'staging'],
    [['production'], 'production'],
    [['production', 'staging'], undefined],
    [[], undefined],
  ] as const) {
    const { path, db } = oldDatabase(t);
    for (const [index, environment] of environments.entries()) {
      db.exec(`INSERT INTO api_keys (id, name, environment, digest, created_at)
        VALUES ('key_${index}', 'x', '${environment}', randomblob(32), 0)`);
    }
    db.close();
    const store = await databaseAt(`sqlite:${path}`).open(OPTIONS);
    assert.equal((await store.status()).environment, expected);
    await store.close();
  }
});

test('migrating a database of release 1.0.0 keeps the history of every order', async (t) => {
  const { path, db } = oldDatabase(t);
  db.close();
  const store = await databaseAt(`sqlite:${path}`).open(OPTIONS);
  t.after(() => store.close());
  await store.apply([{ type: 'cancel', id: 3n }]);
  const history = async (id: bigint) =>
    (await store.events(id)).map(({ revision, type, at, by }) => [revision, type, at, by]);
  assert.deepEqual(await history(1n), [
    [1n, 'placed', 10, undefined],
    [3n, 'cancelled', 30, 'key_a'],
  ]);
  assert.deepEqual(await history(2n), [
    [1n, 'placed', 10, undefined],
    [4n, 'shipped', 40, undefined],
  ]);
  assert.deepEqual((await history(3n))[0], [1n, 'placed', 10, undefined]);
  assert.deepEqual(await history(4n), [
    [2n, 'placed', 20, undefined],
    [2n, 'cancelled', 20, 'key_b'],
  ]);
  const changed: bigint[] = [];
  await store.changedOrders(await positionAt(store, 2n), (orders) => {
    changed.push(...orders.map(({ id }) => id));
  });
  assert.deepEqual(changed, [1n, 2n, 3n]);
});

test('a database with a second name (a hard link) is not used: the log of the other name is not beside it', async (t) => {
  const folder = temporaryFolder(t);
  const [path, other] = [join(folder, 'a.db'), join(folder, 'b.db')];
  const store = await databaseAt(`sqlite:${path}`).open(OPTIONS);
  await store.apply([{ type: 'insertOrder', order: { id: 1n, status: 'pending' } }]);
  await store.close();
  const backup = join(folder, 'backup.db');
  await backupStore(databaseAt(`sqlite:${path}`), backup);
  linkSync(path, other);
  for (const name of [path, other]) {
    const url = `sqlite:${name}`;
    for (const purpose of ['service', 'migration', 'write'] as const) {
      await assert.rejects(
        databaseAt(url).open({ create: true, purpose }),
        /it has 2 names \(hard links\)/,
      );
    }
    await assert.rejects(restoreStore(url, backup), /it has 2 names/);
    const findings = await databaseAt(url).diagnose();
    assert.match(findings.find(({ subject }) => subject === 'files')!.found, /it has 2 names/);
    await assert.rejects(
      databaseAt(url).open({ create: false, purpose: 'read' }),
      /it has 2 names/,
    );
    await assert.rejects(databaseAt(url).check(), /it has 2 names/);
    await assert.rejects(backupStore(databaseAt(url), join(folder, 'c.db')), /it has 2 names/);
    await assert.rejects(databaseAt(url).openSource(), /it has 2 names/);
  }
  // A backup has no log, so its name does not matter.
  linkSync(backup, join(folder, 'kept.db'));
  assert.deepEqual((await databaseAt(`sqlite:${folder}/kept.db`).check()).problems, []);
  rmSync(other);
  symlinkSync(path, other);
  await (await databaseAt(`sqlite:${other}`).open(OPTIONS)).close();
});

test('doctor finds a process that keeps every change out', async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  const database = databaseAt(`sqlite:${path}`);
  const store = await database.open(OPTIONS);
  const locks = async () => (await database.diagnose()).find(({ subject }) => subject === 'locks')!;
  assert.equal((await locks()).level, 'ok');
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const { level, found } = await locks();
  assert.equal(level, 'problem');
  assert.match(found, /^every change fails: another process has a transaction open/);
  other.close();
  assert.equal((await locks()).level, 'ok');
  await store.close();
});

test('the second name that an interrupted restore leaves does not keep the database from use', async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  await (await databaseAt(`sqlite:${path}`).open(OPTIONS)).close();
  const kept = `${path}.before-2026-11-26T00-00-00-000Z`;
  linkSync(path, kept);
  await (await databaseAt(`sqlite:${path}`).open(OPTIONS)).close();
  await assert.rejects(databaseAt(`sqlite:${kept}`).open(OPTIONS), /it has 2 names/);
});

test('file names that SQLite would read as URIs are names of files, for backups, restores and checks', async (t) => {
  const folder = temporaryFolder(t);
  const before = process.cwd();
  process.chdir(folder);
  t.after(() => process.chdir(before));
  const url = 'sqlite:a.db';
  const store = await databaseAt(url).open(OPTIONS);
  await store.apply([{ type: 'insertOrder', order: { id: 1n, status: 'pending' } }]);
  await store.close();
  const names = ['file:b.db', 'file:///c.db', ':memory:', 'file::memory:', 'file:d.db?mode=memory'];
  for (const name of names) {
    if (name.includes('/')) mkdirSync('file:');
    const { findings, bytes } = await backupStore(databaseAt(url), name);
    assert.equal(findings.orders.pending, 1n, name);
    assert.equal(statSync(join(folder, name)).size, bytes);
    await restoreStore(`sqlite:restored-${names.indexOf(name)}.db`, name);
    assert.equal((await checkSqlite(name)).orders.pending, 1n);
  }
  assert.deepEqual(
    readdirSync(folder).filter((name) => name === 'b.db'),
    [],
  );
});
