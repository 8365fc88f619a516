import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openStore } from '../../src/store/open.ts';
import { makeDurable, openForWriting } from '../../src/store/sqlite/connection.ts';
import { StoreNotUsable } from '../../src/store/store.ts';
import { temporaryFolder } from '../temporary.ts';

const OPTIONS = { create: true, isPatient: false };

test('the writer syncs every commit to disk', (t) => {
  const db = openForWriting(join(temporaryFolder(t), 'a.db'), true);
  makeDurable(db);
  assert.equal(db.prepare('PRAGMA journal_mode').get()!.journal_mode, 'wal');
  assert.equal(db.prepare('PRAGMA synchronous').get()!.synchronous, 2n);
  db.close();
});

test('a database of another program stays as it is, to the byte', async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  const db = new DatabaseSync(path);
  db.exec('CREATE TABLE theirs (id INTEGER)');
  db.close();
  const digest = () => createHash('sha256').update(readFileSync(path)).digest('hex');
  const before = digest();
  await assert.rejects(openStore(`sqlite:${path}`, OPTIONS), StoreNotUsable);
  assert.equal(digest(), before);
});

test('a store whose tables are damaged is refused, and the program can end', async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  await (await openStore(`sqlite:${path}`, OPTIONS)).close();
  const db = new DatabaseSync(path);
  db.exec('DELETE FROM store');
  db.close();
  await assert.rejects(openStore(`sqlite:${path}`, OPTIONS), /a copy into it has not ended/);
});
