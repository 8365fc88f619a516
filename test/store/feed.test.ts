import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { PlaceOrderCommand } from '../../src/domain/placement.ts';
import { backupStore, copyStore } from '../../src/store/copy.ts';
import { databaseAt } from '../../src/store/database.ts';
import { newSession } from '../../src/store/postgres/database/connection.ts';
import type { Session } from '../../src/store/postgres/database/session.ts';
import { COMMAND } from '../../src/store/postgres/database/session-settings.ts';
import { readFeed } from '../../src/store/postgres/feed.ts';
import type { Store } from '../../src/store/store.ts';
import { query } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';
import { ENGINES, newPostgresDatabase, open, restoreStore } from './engines.ts';

const place = (id: bigint) => ({ type: 'insertOrder', order: { id, status: 'pending' } }) as const;

async function idsBehind(store: Store, after: Parameters<Store['feed']>[0]): Promise<bigint[]> {
  const page = await store.feed(after, 500);
  assert.ok(page !== undefined);
  return page.changes.map(({ order }) => order.id);
}

for (const [from, to] of [ENGINES, ENGINES.toReversed()] as const) {
  test(`the feed continues at its position when a store moves from ${from!.name} to ${to!.name}`, async (t) => {
    const [source, target] = [await from!.newDatabase(t), await to!.newDatabase(t)];
    const before = await open(t, source, 'service');
    await before.apply([place(1n), place(2n)]);
    await before.apply([{ type: 'ship', id: 1n, at: 5 }]);
    const position = (await before.feed('start', 500))!.position;
    const all = (await before.feed('start', 500))!.changes;
    await before.close();
    await copyStore(databaseAt(source), databaseAt(target), { isMove: true, onProgress: () => {} });
    const after = await open(t, target, 'service');
    await after.apply([place(3n)]);
    assert.deepEqual(await idsBehind(after, position), [3n]);
    assert.deepEqual((await after.feed('start', 500))!.changes.slice(0, all.length), all);
  });

  test(`placements and cancels that count are copied from ${from!.name} to ${to!.name}`, async (t) => {
    const [source, target] = [await from!.newDatabase(t), await to!.newDatabase(t)];
    const before = await open(t, source, 'service');
    const placeOrder: PlaceOrderCommand = {
      type: 'placeOrder',
      ...{ by: 'key_a', idempotencyKey: 'k', digest: 'd' },
      draft: { status: 'pending', petId: 1n },
    };
    const cancel = (id: bigint) =>
      ({ type: 'cancel', id, by: 'key_a', cancelsPerHour: 1 }) as const;
    const [placed] = await before.apply([placeOrder]);
    assert.ok(placed?.refusal === undefined);
    await before.apply([cancel(1n)]);
    await before.apply([place(7n)]);
    await before.close();
    await copyStore(databaseAt(source), databaseAt(target), { isMove: true, onProgress: () => {} });
    const after = await open(t, target, 'service');
    assert.deepEqual(await after.apply([placeOrder]), [{ ...placed, isReplay: true }]);
    const [refused] = await after.apply([cancel(7n)]);
    assert.equal(typeof refused === 'object' && refused.refusal, 'cancel_limit_reached');
  });
}

test('after a restore, a position that the backup has continues, and a later one is gone', async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  const backup = join(temporaryFolder(t), 'backup.db');
  const before = await open(t, `sqlite:${path}`, 'service');
  await before.apply([place(1n)]);
  const early = (await before.feed('now', 1))!.position;
  await backupStore(databaseAt(`sqlite:${path}`), backup);
  await before.apply([place(2n)]);
  const late = (await before.feed('now', 1))!.position;
  await before.close();
  await restoreStore(`sqlite:${path}`, backup);
  const after = await open(t, `sqlite:${path}`, 'service');
  await after.apply([place(3n)]);
  assert.equal(await after.feed(late, 1), undefined);
  assert.deepEqual(await idsBehind(after, early), [3n]);
  assert.deepEqual(await idsBehind(after, 'start'), [1n, 3n]);
});

test('a position after an event that PostgreSQL has lost is gone, whatever replaced the event', async (t) => {
  const url = await newPostgresDatabase(t);
  const store = await open(t, url, 'service');
  await store.apply([place(1n)]);
  const kept = (await store.feed('now', 1))!.position;
  await store.apply([place(2n)]);
  const lost = (await store.feed('now', 1))!.position;
  // As after a failover to a server that did not have the last transaction.
  await query(url, 'DELETE FROM order_events WHERE revision = 2');
  await query(url, 'DELETE FROM orders WHERE revision = 2');
  await query(url, 'UPDATE store SET revision = 1, pending = 1');
  assert.equal(await store.feed(lost, 1), undefined);
  await store.apply([place(2n)]);
  assert.equal(await store.feed(lost, 1), undefined);
  assert.deepEqual(await idsBehind(store, kept), [2n]);
});

test('PostgreSQL: a page of changes does not depend on changes made while it is read', async (t) => {
  const url = await newPostgresDatabase(t);
  const store = await open(t, url);
  await store.apply([place(1n)]);
  await store.apply([place(2n)]);
  const session = await newSession(url, COMMAND);
  t.after(() => session.end());
  const made = Promise.withResolvers<void>();
  const query: Session['query'] = async (sql, values) => {
    const isPosition = sql.startsWith('SELECT store.revision');
    if (!isPosition) await made.promise;
    const rows = await session.query(sql, values);
    if (isPosition) {
      await store.apply([place(3n)]);
      made.resolve();
    }
    return rows;
  };
  const page = await readFeed({ query } as Session, 'start', 2);
  assert.equal(page!.now.revision, 2n);
  assert.deepEqual(
    page!.changes.map(({ order }) => order.id),
    [1n, 2n],
  );
  assert.equal(page!.isMore, false);
});
