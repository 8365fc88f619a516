import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { backupStore, copyStore } from '../../src/store/copy.ts';
import { databaseAt } from '../../src/store/database.ts';
import { sqlitePath } from '../../src/store/sqlite/database/connection.ts';
import { rotateBackups } from '../../src/store/sqlite/maintenance/backup-rotation.ts';
import { checkSqlite } from '../../src/store/sqlite/maintenance/check.ts';
import { temporaryFolder } from '../temporary.ts';
import { ENGINES, open, queryDatabase, restoreStore } from './engines.ts';

test('backups and restored databases are synced to disk, with their folders', async (t) => {
  const url = await ENGINES[0]!.newDatabase(t);
  await open(t, url, 'service');
  const synced = new Set<number>();
  const { fsyncSync } = fs;
  fs.fsyncSync = (file) => {
    synced.add(fs.fstatSync(file).ino);
    fsyncSync(file);
  };
  syncBuiltinESMExports();
  t.after(() => {
    fs.fsyncSync = fsyncSync;
    syncBuiltinESMExports();
  });
  const backup = join(temporaryFolder(t), 'backup.db');
  const restored = join(temporaryFolder(t), 'restored.db');
  await backupStore(databaseAt(url), backup);
  await restoreStore(`sqlite:${restored}`, backup);
  for (const path of [backup, dirname(backup), restored, dirname(restored)]) {
    assert.ok(synced.has(fs.statSync(path).ino), path);
  }
});

test('of two backups to one file at the same time, one is made and the other refused', async (t) => {
  const file = join(temporaryFolder(t), 'backup.db');
  const urls = [await ENGINES[0]!.newDatabase(t), await ENGINES[0]!.newDatabase(t)];
  for (const url of urls) await open(t, url, 'service');
  const made = await Promise.allSettled(urls.map((url) => backupStore(databaseAt(url), file)));
  const refused = made.filter((each) => each.status === 'rejected');
  assert.deepEqual(
    refused.map(({ reason }) => reason.message),
    [`${file} already exists`],
  );
  assert.deepEqual(fs.readdirSync(dirname(file)), ['backup.db']);
});

/** Takes the lock of a process that opens or closes a database, and gives it back 200 ms after the promise is resolved. */
async function lockForAMoment(path: string): Promise<void> {
  const holder = `
    const { parentPort, workerData } = require('node:worker_threads');
    const db = new (require('node:sqlite').DatabaseSync)(workerData);
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    parentPort.postMessage('locked');
    setTimeout(() => db.close(), 200);`;
  await once(new Worker(holder, { eval: true, workerData: path }), 'message');
}

test('reading waits while another process opens or closes the database', async (t) => {
  const url = await ENGINES[0]!.newDatabase(t);
  await (await databaseAt(url).open({ create: true, purpose: 'service' })).close();
  const backup = join(temporaryFolder(t), 'backup.db');
  const reads: readonly (() => Promise<unknown>)[] = [
    () => backupStore(databaseAt(url), backup),
    () => checkSqlite(sqlitePath(url)),
    () => open(t, url, 'read'),
  ];
  for (const read of reads) {
    await lockForAMoment(sqlitePath(url));
    await read();
  }
});

test('a failed backup leaves no file', async (t) => {
  const folder = temporaryFolder(t);
  const missing = `sqlite:${join(temporaryFolder(t), 'none.db')}`;
  await assert.rejects(
    backupStore(databaseAt(missing), join(folder, 'backup.db')),
    /does not exist/,
  );
  assert.deepEqual(fs.readdirSync(folder), []);
});

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: a store that fails the check is neither backed up nor copied`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url, 'service');
    await store.apply([{ type: 'insertOrder', order: { id: 1n, status: 'pending' } }]);
    await queryDatabase(url, 'UPDATE store SET pending = 7');
    const folder = temporaryFolder(t);
    const problem = /failed the check.*\n.*1 pending orders, but the counter of the store is 7/;
    await assert.rejects(backupStore(databaseAt(url), join(folder, 'backup.db')), problem);
    assert.deepEqual(fs.readdirSync(folder), []);
    const target = `sqlite:${join(folder, 'copy.db')}`;
    const copying = copyStore(databaseAt(url), databaseAt(target), {
      isMove: true,
      onProgress: () => {},
    });
    await assert.rejects(copying, problem);
    assert.equal((await store.status()).movedTo, undefined);
  });
}

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: a backup is a single file`, async (t) => {
    const url = await newDatabase(t);
    await open(t, url, 'service');
    const folder = temporaryFolder(t);
    await backupStore(databaseAt(url), join(folder, 'backup.db'));
    assert.deepEqual(fs.readdirSync(folder), ['backup.db']);
  });
}

test('a backup names what an interrupted one has left, and needs its folder', async (t) => {
  const url = await ENGINES[0]!.newDatabase(t);
  await open(t, url, 'service');
  const folder = temporaryFolder(t);
  const left = join(folder, 'a.db.01234567-89ab-cdef-0123-456789abcdef.partial');
  fs.writeFileSync(left, '');
  const { leftovers, findings, bytes } = await backupStore(databaseAt(url), join(folder, 'b.db'));
  assert.deepEqual([leftovers, findings.problems], [[left], []]);
  assert.equal(bytes, fs.statSync(join(folder, 'b.db')).size);
  const nowhere = backupStore(databaseAt(url), join(folder, 'unmounted', 'b.db'));
  await assert.rejects(nowhere, /unmounted does not exist; create it, or mount its disk/);
  assert.equal(fs.existsSync(join(folder, 'unmounted')), false);
});

/** Lets the syncs of folders fail, as another file system would; files are synced. */
function failFolderSyncs(t: TestContext, code: string): void {
  const { fsyncSync } = fs;
  fs.fsyncSync = (file) => {
    if (fs.fstatSync(file).isDirectory())
      throw Object.assign(new Error(`${code}: fsync`), { code });
    fsyncSync(file);
  };
  syncBuiltinESMExports();
  t.after(() => {
    fs.fsyncSync = fsyncSync;
    syncBuiltinESMExports();
  });
}

test('backups are made on a file system that cannot sync folders', async (t) => {
  const url = await ENGINES[0]!.newDatabase(t);
  await open(t, url, 'service');
  const folder = temporaryFolder(t);
  failFolderSyncs(t, 'EINVAL');
  await backupStore(databaseAt(url), join(folder, 'backup.db'));
  await restoreStore(`sqlite:${join(folder, 'restored.db')}`, join(folder, 'backup.db'));
});

test('a folder that cannot be synced is reported before a restore replaces anything', async (t) => {
  const url = await ENGINES[0]!.newDatabase(t);
  const store = await open(t, url, 'service');
  const backup = join(temporaryFolder(t), 'backup.db');
  await backupStore(databaseAt(url), backup);
  await store.close();
  const before = fs.readFileSync(sqlitePath(url));
  failFolderSyncs(t, 'EIO');
  await assert.rejects(restoreStore(url, backup), /^StoreNotUsable: cannot write .*: EIO: fsync$/);
  assert.ok(fs.readFileSync(sqlitePath(url)).equals(before));
  assert.deepEqual(
    fs.readdirSync(dirname(sqlitePath(url))).filter((name) => name.includes('before')),
    [],
  );
});

test('as many automatic backups are kept as are asked for, the latest', async (t) => {
  const url = await ENGINES[0]!.newDatabase(t);
  await open(t, url, 'service');
  const folder = temporaryFolder(t);
  const made: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    const rotation = { folder, everyMs: 1, keep: 3 };
    made.push((await databaseAt(url).file!.rotateBackups(rotation)).latest!.file);
  }
  const kept = fs.readdirSync(folder).filter((name) => name.endsWith('.db'));
  assert.deepEqual(kept.map((name) => join(folder, name)).sort(), made.slice(-3));
});

test('a backup that was made counts, although an older one cannot be deleted, and the others are', async (t) => {
  const url = await ENGINES[0]!.newDatabase(t);
  await open(t, url, 'service');
  const path = sqlitePath(url);
  const folder = temporaryFolder(t);
  const first = (await rotateBackups(path, { folder, everyMs: 1, keep: 3 })).latest!;
  await rotateBackups(path, { folder, everyMs: 1, keep: 3 });
  const { rmSync } = fs;
  // As by an immutable file, or a folder that only grows.
  fs.rmSync = (path, options) => {
    if (path === first.file) throw new Error(`EPERM, Operation not permitted: '${path}'`);
    rmSync(path, options);
  };
  syncBuiltinESMExports();
  t.after(() => {
    fs.rmSync = rmSync;
    syncBuiltinESMExports();
  });
  const { made, latest, undeleted } = await rotateBackups(path, { folder, everyMs: 1, keep: 1 });
  assert.notEqual(made, undefined);
  assert.notEqual(latest!.file, first.file);
  assert.deepEqual(undeleted, [`EPERM, Operation not permitted: '${first.file}'`]);
  const kept = fs.readdirSync(folder).filter((name) => name.endsWith('.db'));
  assert.deepEqual(kept.map((name) => join(folder, name)).sort(), [first.file, latest!.file]);
});

/** Makes a store at `path` with an order, and a backup of it in `folder` as a service does. */
async function servedOnce(path: string, folder: string) {
  const database = databaseAt(`sqlite:${path}`);
  const store = await database.open({ create: true, purpose: 'service' });
  await store.apply([{ type: 'insertOrder', order: { id: 1n, status: 'pending' } }]);
  const { identity } = await store.status();
  await store.close();
  const { made, latest } = await database.file!.rotateBackups({ folder, everyMs: 1, keep: 1 });
  return { identity, wasMade: made !== undefined, file: latest!.file };
}

test('two stores with the same path, as in two containers, do not share their backups', async (t) => {
  const [folder, path] = [temporaryFolder(t), join(temporaryFolder(t), 'store.db')];
  const first = await servedOnce(path, folder);
  for (const end of ['', '-ids']) fs.renameSync(path + end, `${path}-of-the-other${end}`);
  const second = await servedOnce(path, folder);
  assert.ok(first.wasMade && second.wasMade);
  assert.notEqual(first.identity, second.identity);
  assert.ok(fs.existsSync(first.file) && fs.existsSync(second.file));
  const database = databaseAt(`sqlite:${path}`);
  assert.equal(database.file!.latestBackup(folder)?.file, second.file);
  // The newer one of the other store is not "its latest backup".
  fs.rmSync(second.file);
  assert.equal(database.file!.latestBackup(folder), undefined);
});

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: a store keeps its identity over a backup, a restore and a copy`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    await store.apply([{ type: 'insertOrder', order: { id: 1n, status: 'pending' } }]);
    const { identity } = await store.status();
    assert.match(identity, /^[0-9a-f]{16}$/);
    const [backup, restored] = ['backup.db', 'restored.db'].map((file) =>
      join(temporaryFolder(t), file),
    ) as [string, string];
    await backupStore(databaseAt(url), backup);
    await restoreStore(`sqlite:${restored}`, backup);
    const copied = await newDatabase(t);
    await copyStore(databaseAt(url), databaseAt(copied), { isMove: false, onProgress: () => {} });
    for (const each of [`sqlite:${restored}`, copied]) {
      assert.equal((await (await open(t, each, 'service')).status()).identity, identity);
      assert.equal((await databaseAt(each).check()).identity, identity);
    }
  });
}

test('a backup is refused under the name of a file that belongs to a database', async (t) => {
  const path = join(temporaryFolder(t), 'store.db');
  const url = `sqlite:${path}`;
  await (await open(t, url)).close();
  for (const suffix of ['wal', 'shm', 'journal', 'ids']) {
    fs.rmSync(`${path}-${suffix}`, { force: true });
    await assert.rejects(
      backupStore(databaseAt(url), `${path}-${suffix}`),
      /would be deleted as a file of the database .*store\.db; use another name/,
    );
    assert.throws(() => databaseAt(`${url}-${suffix}`), /must not name a file that belongs to/);
  }
});

test('a backup that is not accepted is not restored', async (t) => {
  const url = await ENGINES[0]!.newDatabase(t);
  await open(t, url, 'service');
  const [folder, target] = [temporaryFolder(t), temporaryFolder(t)];
  const backup = join(folder, 'backup.db');
  await backupStore(databaseAt(url), backup);
  const refuse = () => {
    throw new Error('not this one');
  };
  const restoring = restoreStore(`sqlite:${join(target, 'a.db')}`, backup, refuse);
  await assert.rejects(restoring, /not this one/);
  assert.deepEqual(fs.readdirSync(target), []);
});

test('a store that is moved while its backup is copied is not replaced', async (t) => {
  const [url, to] = [await ENGINES[0]!.newDatabase(t), await ENGINES[0]!.newDatabase(t)];
  await (await open(t, url, 'service')).close();
  const folder = temporaryFolder(t);
  await backupStore(databaseAt(url), join(folder, 'backup.db'));
  const { fsyncSync } = fs;
  // The copy of the backup is complete.
  let isMoved = false;
  fs.fsyncSync = (file) => {
    fsyncSync(file);
    if (isMoved) return;
    isMoved = true;
    const db = new DatabaseSync(url.slice('sqlite:'.length));
    db.exec(`UPDATE store SET moved_to = '${to}'`);
    db.close();
  };
  syncBuiltinESMExports();
  t.after(() => {
    fs.fsyncSync = fsyncSync;
    syncBuiltinESMExports();
  });
  const restoring = restoreStore(url, join(folder, 'backup.db'));
  await assert.rejects(restoring, /the store was moved to/);
});

test('a restored database keeps the mode of the old one', async (t) => {
  const url = await ENGINES[0]!.newDatabase(t);
  await (await open(t, url, 'service')).close();
  const backup = join(temporaryFolder(t), 'backup.db');
  await backupStore(databaseAt(url), backup);
  const path = url.slice('sqlite:'.length);
  fs.chmodSync(path, 0o640);
  await restoreStore(url, backup);
  assert.equal(fs.statSync(path).mode & 0o777, 0o640);
});
