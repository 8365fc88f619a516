import assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { positionText } from '../../protocol/history.ts';
import { backupStore, copyStore } from '../../src/store/copy.ts';
import { databaseAt } from '../../src/store/database.ts';
import { temporaryFolder } from '../temporary.ts';
import { ENGINES, open } from './engines.ts';

/** Makes a backup of a store with two orders, and returns its path. */
async function backupOf(t: TestContext, url: string): Promise<string> {
  const store = await open(t, url, 'service');
  const order = (id: bigint) =>
    ({ type: 'insertOrder', order: { id, status: 'pending' } }) as const;
  await store.apply([order(1n), order(2n)]);
  const file = join(temporaryFolder(t), 'backup.db');
  await backupStore(databaseAt(url), file);
  return file;
}

/** Opens a store as a service, cancels an order, and returns what identifies the next list. */
async function listIdAfterCancel(url: string, id: bigint): Promise<string> {
  const store = await databaseAt(url).open({ create: false, purpose: 'service' });
  await store.apply([{ type: 'cancel', id }]);
  const position = (await store.changedOrders(undefined, () => {}))!;
  await store.close();
  return positionText(position);
}

for (const { name, newDatabase } of ENGINES) {
  test(`restoring a ${name} backup twice makes two stores with different ids`, async (t) => {
    const backup = await backupOf(t, await newDatabase(t));
    const path = join(temporaryFolder(t), 'restored.db');
    const restored = async (id: bigint) => {
      copyFileSync(backup, path);
      // A command that opens the store must not assign its id; only a service does.
      await (await databaseAt(`sqlite:${path}`).open({ create: false, purpose: 'write' })).close();
      return listIdAfterCancel(`sqlite:${path}`, id);
    };
    assert.notEqual(await restored(1n), await restored(2n));
  });

  test(`copying a backup to ${name} twice makes two stores with different ids`, async (t) => {
    const backup = await backupOf(t, `sqlite:${join(temporaryFolder(t), 'a.db')}`);
    const copied = async (id: bigint) => {
      const url = await newDatabase(t);
      await copyStore(databaseAt(`sqlite:${backup}`), databaseAt(url), {
        isMove: true,
        onProgress: () => {},
      });
      return listIdAfterCancel(url, id);
    };
    assert.notEqual(await copied(1n), await copied(2n));
  });
}

test('restoring a backup of an earlier release twice makes two stores with different ids', async (t) => {
  const folder = temporaryFolder(t);
  const [backup, path] = [join(folder, 'backup.db'), join(folder, 'restored.db')];
  const db = new DatabaseSync(backup);
  for (const name of ['001-initial', '002-events-by-revision']) {
    const migration = new URL(`../../src/store/migrations/${name}.sqlite.sql`, import.meta.url);
    db.exec(readFileSync(migration, 'utf8'));
  }
  db.exec(`PRAGMA application_id = ${0x53544f52}; PRAGMA user_version = 2;
    UPDATE store SET revision = 1, pending = 2;
    INSERT INTO orders (id, status, revision) VALUES (1, 'pending', 1), (2, 'pending', 1);
    INSERT INTO order_events (revision, order_id, type, at, previous) VALUES (1, 1, 'placed', 1, 0), (1, 2, 'placed', 1, 0)`);
  db.close();
  const restored = (id: bigint) => {
    copyFileSync(backup, path);
    return listIdAfterCancel(`sqlite:${path}`, id);
  };
  assert.notEqual(await restored(1n), await restored(2n));
});
