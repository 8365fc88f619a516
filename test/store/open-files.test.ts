import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { databaseAt } from '../../src/store/database.ts';
import { type Store, StoreUnavailable } from '../../src/store/store.ts';
import { eventually } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';
import { open } from './engines.ts';

const place = (id: bigint) => ({ type: 'insertOrder', order: { id, status: 'pending' } }) as const;

/** Opens a new store with orders 1 to 3. */
async function stored(t: TestContext): Promise<{ path: string; store: Store }> {
  const path = join(temporaryFolder(t), 'store.db');
  const store = await open(t, `sqlite:${path}`, 'service');
  for (const id of [1n, 2n, 3n]) await store.apply([place(id)]);
  return { path, store };
}

const isReplaced = (error: unknown) =>
  error instanceof StoreUnavailable && error.fault === 'replaced';

/** What can happen to the files, and how the message begins. */
const LOSSES: readonly [string, (path: string) => void][] = [
  ['.db was deleted', (path) => rmSync(path)],
  [
    '.db was replaced',
    (path) => {
      copyFileSync(path, `${path}.other`);
      renameSync(`${path}.other`, path);
    },
  ],
  [
    '.db was deleted',
    (path) => {
      for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix);
    },
  ],
  ['-wal was deleted', (path) => rmSync(`${path}-wal`)],
  ['-shm was deleted', (path) => rmSync(`${path}-shm`)],
  [
    '-wal was replaced',
    (path) => {
      copyFileSync(`${path}-wal`, `${path}-x`);
      renameSync(`${path}-x`, `${path}-wal`);
    },
  ],
];

for (const [words, lose] of LOSSES) {
  test(`SQLite: after a file of the database (${words}), no change is acknowledged and nothing is read`, async (t) => {
    const { path, store } = await stored(t);
    lose(path);
    await assert.rejects(store.apply([{ type: 'cancel', id: 1n }]), (error: Error) => {
      return isReplaced(error) && error.message.includes(words);
    });
    await assert.rejects(store.apply([{ type: 'cancel', id: 2n }]), isReplaced);
    await assert.rejects(
      store.changedOrders(undefined, () => {}),
      isReplaced,
    );
  });
}

test('SQLite: files beside the file that a link leads to are compared', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'real'));
  const real = join(folder, 'real', 'store.db');
  await (await open(t, `sqlite:${real}`, 'service')).close();
  symlinkSync(real, join(folder, 'link.db'));
  const store = await open(t, `sqlite:${join(folder, 'link.db')}`, 'service');
  await store.apply([place(1n)]);
  rmSync(`${real}-wal`);
  await assert.rejects(store.apply([place(2n)]), isReplaced);
  await store.close();
  const again = await open(t, `sqlite:${real}`, 'service');
  assert.equal((await again.orders([1n])).length, 1);
});

test('SQLite: deleted files are detected without any request', async (t) => {
  const { path, store } = await stored(t);
  rmSync(path);
  await eventually(() => assert.rejects(store.status(), isReplaced));
});

for (const suffixes of [['-wal'], ['-shm'], ['-wal', '-shm']]) {
  test(`SQLite: changes acknowledged before ${suffixes} was deleted exist after a restart`, async (t) => {
    const { path, store } = await stored(t);
    for (const suffix of suffixes) rmSync(path + suffix);
    await assert.rejects(
      store.apply([{ type: 'cancel', id: 1n }]),
      /all changes are in the database file/,
    );
    await store.close();
    const again = await open(t, `sqlite:${path}`, 'service');
    assert.equal((await again.orders([1n, 2n, 3n])).length, 3);
    assert.deepEqual((await databaseAt(`sqlite:${path}`).check()).problems, []);
  });
}

test('SQLite: while a reader keeps the log from being written, the service tries again', async (t) => {
  const { path, store } = await stored(t);
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM orders').get();
  await store.apply([place(4n)]);
  rmSync(`${path}-wal`);
  await assert.rejects(store.apply([{ type: 'cancel', id: 1n }]), /do not kill the service/);
  reader.close();
  await eventually(() => assert.rejects(store.status(), /all changes are in the database file/));
  const found = new DatabaseSync(path, { readOnly: true });
  t.after(() => found.close());
  // From the database file itself, as after a kill.
  assert.deepEqual(Object.values(found.prepare('SELECT count(*) FROM orders').get()!), [4]);
});

test('SQLite: beside a database that another process has made in its place, nothing is written', async (t) => {
  const { path, store } = await stored(t);
  for (const suffix of ['', '-wal', '-shm', '-ids']) rmSync(path + suffix);
  const other = await open(t, `sqlite:${path}`, 'service');
  await other.apply([place(8n)]);
  await assert.rejects(store.apply([place(4n)]), isReplaced);
  await store.close();
  await other.apply([place(9n)]);
  assert.equal((await other.orders([1n, 8n, 9n])).length, 2);
  await other.close();
  assert.deepEqual((await databaseAt(`sqlite:${path}`).check()).problems, []);
});
