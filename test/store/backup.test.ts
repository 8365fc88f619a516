import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { backupStore, restoreStore } from '../../src/store/backup.ts';
import { temporaryFolder } from '../temporary.ts';
import { ENGINES, open } from './engines.ts';

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
  await backupStore(url, backup);
  await restoreStore(`sqlite:${restored}`, backup, () => {});
  for (const path of [backup, dirname(backup), restored, dirname(restored)]) {
    assert.ok(synced.has(fs.statSync(path).ino), path);
  }
});

test('a failed backup leaves no file', async (t) => {
  const folder = temporaryFolder(t);
  const missing = `sqlite:${join(temporaryFolder(t), 'none.db')}`;
  await assert.rejects(backupStore(missing, join(folder, 'backup.db')), /does not exist/);
  assert.deepEqual(fs.readdirSync(folder), []);
});

test('a backup that is not accepted is not restored', async (t) => {
  const url = await ENGINES[0]!.newDatabase(t);
  await open(t, url, 'service');
  const [folder, target] = [temporaryFolder(t), temporaryFolder(t)];
  const backup = join(folder, 'backup.db');
  await backupStore(url, backup);
  const refuse = () => {
    throw new Error('not this one');
  };
  const restoring = restoreStore(`sqlite:${join(target, 'a.db')}`, backup, refuse);
  await assert.rejects(restoring, /not this one/);
  assert.deepEqual(fs.readdirSync(target), []);
});

test('a restored database keeps the mode of the old one', async (t) => {
  const url = await ENGINES[0]!.newDatabase(t);
  await (await open(t, url, 'service')).close();
  const backup = join(temporaryFolder(t), 'backup.db');
  await backupStore(url, backup);
  const path = url.slice('sqlite:'.length);
  fs.chmodSync(path, 0o640);
  await restoreStore(url, backup, () => {});
  assert.equal(fs.statSync(path).mode & 0o777, 0o640);
});
