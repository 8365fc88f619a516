import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { newApiKey, newSecret } from '../../src/domain/api-key.ts';
import type { StoreCommand } from '../../src/store/commands.ts';
import { backupStore, copyStore } from '../../src/store/copy.ts';
import { databaseAt } from '../../src/store/database.ts';
import { whilePostgresMoved } from '../../src/store/postgres/maintenance/copy.ts';
import { sqlitePath } from '../../src/store/sqlite/database/connection.ts';
import { whileSqliteMoved } from '../../src/store/sqlite/maintenance/copy.ts';
import { temporaryFolder } from '../temporary.ts';
import { ENGINES, open, restoreStore } from './engines.ts';

const place = (id: bigint) => ({ type: 'insertOrder', order: { id, status: 'pending' } }) as const;
const actionOf = (command: string, what = '') => ({ command, user: 'kim', host: 'desk', what });

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: a command is recorded with its action and the revision of its changes`, async (t) => {
    const store = await open(t, await newDatabase(t));
    await store.apply([place(1n), place(2n)]);
    const cancels = [1n, 2n].map((id) => ({ type: 'cancel', id }) as const);
    const [first, ...outcomes] = await store.apply([
      { type: 'audit', action: actionOf('cancel', '1, 2') },
      ...cancels,
    ]);
    assert.deepEqual([first, outcomes], [1n, ['cancelled', 'cancelled']]);
    const [second] = await store.apply([{ type: 'audit', action: actionOf('pets import') }]);
    assert.equal(second, 2n);
    // One transaction, so one revision.
    assert.equal((await store.status()).revision, 2n);
    const operators = await store.history.operators([1n, 2n, 3n]);
    assert.deepEqual([...operators.keys()], [2n]);
    const { at, ...record } = operators.get(2n)!;
    assert.deepEqual(record, { id: 1n, ...actionOf('cancel', '1, 2') });
    assert.ok(Math.abs(at - Date.now()) < 60_000);
    assert.deepEqual(
      (await store.history.audit(10)).map(({ command }) => command),
      ['pets import', 'cancel'],
    );
    assert.equal((await store.history.audit(1)).length, 1);
  });

  test(`${name}: a first key is stored with its record; if there is a key, neither is stored`, async (t) => {
    const store = await open(t, await newDatabase(t));
    for (const outcome of ['created', 'unchanged']) {
      const details = { name: 'first key', environment: 'production', now: 0 } as const;
      const key = newApiKey(newSecret('production'), details);
      const [, found] = await store.apply([
        { type: 'audit', action: actionOf('serve') },
        { type: 'createFirstKey', key },
      ]);
      assert.equal(found, outcome);
      assert.deepEqual(
        [(await store.keys()).length, (await store.history.audit(9)).length],
        [1, 1],
      );
    }
  });

  test(`${name}: a command that was refused is not recorded`, async (t) => {
    const store = await open(t, await newDatabase(t));
    await store.apply([place(1n), { type: 'cancel', id: 1n }]);
    const refused: StoreCommand[] = [
      ...([
        { type: 'cancel', id: 1n },
        { type: 'ship', id: 1n, at: 1 },
        { type: 'cancel', id: 2n },
      ] as const),
      ...([{ type: 'revokeKey', id: 'key_none' }, { type: 'reactivate' }] as const),
      ...([{ type: 'moveAway', to: 'there', revision: 0n }] as const),
      ...([{ type: 'forgetImport', source: 'none' }] as const),
      ...([{ type: 'deleteWebhook', id: 'wh_none' }] as const),
    ];
    for (const command of refused) {
      const [id] = await store.apply([{ type: 'audit', action: actionOf(command.type) }, command]);
      assert.equal(id, undefined, command.type);
    }
    assert.deepEqual(await store.history.audit(10), []);
    // One of two has changed something.
    const [id] = await store.apply([
      { type: 'audit', action: actionOf('ship') },
      { type: 'ship', id: 1n, at: 1 },
      place(3n),
    ]);
    assert.equal(id, 1n);
  });

  test(`${name}: records are kept over copies and backups, which are recorded too`, async (t) => {
    const [url, copy] = [await newDatabase(t), await newDatabase(t)];
    const before = await open(t, url);
    await before.apply([{ type: 'audit', action: actionOf('import', 'a.csv') }, place(1n)]);
    await before.close();
    const options = { isMove: true, action: actionOf('copy'), onProgress: () => {} };
    await copyStore(databaseAt(url), databaseAt(copy), options);
    const commandsIn = async (at: string) => {
      const store = await open(t, at, 'read');
      const records = (await store.history.audit(10)).map(({ command }) => command);
      assert.equal((await store.history.operators([1n])).get(1n)?.what, 'a.csv');
      await store.close();
      return records;
    };
    assert.deepEqual(await commandsIn(url), ['copy', 'import']);
    assert.deepEqual(await commandsIn(copy), ['copy', 'import']);
    const file = join(temporaryFolder(t), 'backup.db');
    await backupStore(databaseAt(copy), file);
    const restored = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
    await restoreStore(restored, file);
    assert.deepEqual(await commandsIn(restored), ['restore', 'copy', 'import']);
    assert.deepEqual((await databaseAt(restored).check()).problems, []);
  });

  test(`${name}: a copy does not become a store if the source was reactivated meanwhile`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    await store.apply([{ type: 'moveAway', to: 'there', revision: 0n }]);
    const whileMoved = (complete: () => Promise<void>) =>
      name === 'SQLite'
        ? whileSqliteMoved(sqlitePath(url), 'there', complete)
        : whilePostgresMoved(url, 'there', complete);
    let isTakenBack = false;
    let taking: Promise<unknown> | undefined;
    await whileMoved(async () => {
      taking = store.apply([{ type: 'reactivate' }]).then(() => {
        isTakenBack = true;
      });
      // Waits for the lock until the copy is complete.
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.equal(isTakenBack, false);
    });
    await taking;
    await assert.rejects(
      whileMoved(async () => assert.fail('it must not be completed')),
      /was reactivated while it was copied/,
    );
  });
}
