import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { MAX_BATCH } from '../../src/domain/batch.ts';
import { copyStore } from '../../src/store/copy.ts';
import { databaseAt } from '../../src/store/database.ts';
import { query } from '../postgres.ts';
import { editDetails } from './edit-details.ts';
import { ENGINES, type Engine, open, queryDatabase } from './engines.ts';

/** What `check` finds in a store of two orders after somebody has changed its tables. */
async function found(t: TestContext, engine: Engine, sql: string): Promise<readonly string[]> {
  const url = await engine.newDatabase(t);
  const store = await open(t, url, 'service');
  for (const id of [1n, 2n]) {
    await store.apply([{ type: 'insertOrder', order: { id, status: 'pending' } }]);
  }
  await store.close();
  if (engine.name === 'PostgreSQL') await query(url, sql);
  else {
    const db = new DatabaseSync(url.slice('sqlite:'.length));
    db.exec(sql);
    db.close();
  }
  const { problems, heads } = await databaseAt(url).check();
  return [...problems, ...heads!.problems];
}

for (const engine of ENGINES) {
  test(`${engine.name}: check finds each single inconsistent row`, async (t) => {
    assert.deepEqual(await found(t, engine, 'SELECT 1'), []);
    assert.deepEqual(await found(t, engine, 'DELETE FROM order_events WHERE order_id = 1'), [
      '1 orders lack the event of their last change',
      'revision 2 is not what its head proves: it was altered',
    ]);
    assert.deepEqual(
      await found(t, engine, 'UPDATE order_events SET order_id = 3 WHERE order_id = 1'),
      [
        '1 orders lack the event of their last change',
        '1 events belong to no order',
        'revision 1 is not what its head proves: it was altered',
      ],
    );
    assert.deepEqual(
      await found(t, engine, "UPDATE order_events SET type = 'cancelled' WHERE order_id = 1"),
      [
        '1 orders lack the event of their last change',
        'revision 1 is not what its head proves: it was altered',
      ],
    );
    assert.deepEqual(
      await found(t, engine, "INSERT INTO placements VALUES ('k', 'a', 'd', 3, 2, 0)"),
      ['1 idempotency keys belong to no order'],
    );
    for (const pending of [1, 3]) {
      assert.deepEqual(await found(t, engine, `UPDATE store SET pending = ${pending}`), [
        `there are 2 pending orders, but the counter of the store is ${pending}`,
      ]);
    }
    assert.deepEqual(await found(t, engine, 'UPDATE store SET revision = 1'), [
      'the last event has revision 2, but the store is at revision 1',
      'the head of the store is not that of its last revision: it was altered',
    ]);
  });
}

for (const engine of ENGINES) {
  test(`${engine.name}: of a store with more than 100,000 orders, a sample finds what is wrong with most rows`, async (t) => {
    const url = await engine.newDatabase(t);
    const store = await open(t, url, 'service');
    const orders = Array.from({ length: 100_001 }, (_, id) => ({
      type: 'insertOrder' as const,
      order: { id: BigInt(id) * 7n, status: 'pending' as const },
    }));
    for (let from = 0; from < orders.length; from += MAX_BATCH) {
      await store.apply(orders.slice(from, from + MAX_BATCH));
    }
    await store.close();
    const check = async (areRowsSampled: boolean) => {
      const found = await databaseAt(url).check({ isSample: true, areRowsSampled });
      return { isSample: found.isSample, orders: found.orders.pending, found: found.problems };
    };
    const sound = { orders: 100_001n, found: [] };
    assert.deepEqual(await check(true), { isSample: true, ...sound });
    // As a restore checks a backup: a sample of the history, but all rows.
    assert.deepEqual(await check(false), { isSample: false, ...sound });
    await queryDatabase(url, "UPDATE orders SET status = 'shipped', revision = 99 WHERE id > 7");
    const { found } = await check(true);
    assert.equal(found.length, 1);
    assert.match(found[0]!, /^\d+ orders lack the event of their last change$/);
    await queryDatabase(url, 'UPDATE store SET revision = 1');
    assert.match(
      (await check(true)).found[0]!,
      /^the last event has revision 51, but the store is at revision 1/,
    );
  });
}

for (const engine of ENGINES) {
  test(`${engine.name}: a detail that was added by hand is named, not shown, not copied, and gone with the next change`, async (t) => {
    const url = await engine.newDatabase(t);
    const store = await open(t, url, 'service');
    const ids = [1n, 2n, 3n];
    await store.apply(
      ids.map((id) => ({ type: 'insertOrder', order: { id, status: 'pending' } }) as const),
    );
    await store.apply([{ type: 'ship', id: 2n, trackingNumber: 'T2' }]);
    await editDetails(url, "UPDATE orders SET reason = 'by hand' WHERE id < 3");
    const problems = async () => {
      const { problems, heads } = await databaseAt(url).check();
      return [...problems, ...heads!.problems];
    };
    assert.deepEqual(await problems(), [
      'order 1 is pending and has a reason, which was added by hand',
      'order 2 is shipped and has a reason, which was added by hand',
    ]);
    const found = await store.orders(ids);
    const shown = found.toSorted((one, other) => Number(one.id - other.id));
    assert.deepEqual(
      shown.map(({ reason, trackingNumber }) => [reason, trackingNumber]),
      [
        [undefined, undefined],
        [undefined, 'T2'],
        [undefined, undefined],
      ],
    );
    const target = databaseAt(await engine.newDatabase(t));
    await assert.rejects(
      copyStore(databaseAt(url), target, { isMove: false, onProgress: () => {} }),
      /failed the check; nothing was copied:\n {2}order 1 is pending and has a reason/,
    );
    // One of them with further orders in the same transaction.
    await store.apply([
      { type: 'cancel', id: 1n },
      { type: 'cancel', id: 3n },
    ]);
    const [cancelled] = await store.orders([1n]);
    assert.deepEqual([cancelled!.status, cancelled!.reason], ['cancelled', undefined]);
    assert.deepEqual(await problems(), [
      'order 2 is shipped and has a reason, which was added by hand',
    ]);
  });

  test(`${engine.name}: the database refuses a reason of an order that is not cancelled, and a tracking number of one that has not shipped`, async (t) => {
    const url = await engine.newDatabase(t);
    const store = await open(t, url, 'service');
    await store.apply([{ type: 'insertOrder', order: { id: 1n, status: 'pending' } }]);
    await store.apply([{ type: 'insertOrder', order: { id: 2n, status: 'pending' } }]);
    await store.apply([{ type: 'ship', id: 2n, trackingNumber: 'T2' }]);
    for (const edit of [
      "UPDATE orders SET reason = 'x' WHERE id = 1",
      "UPDATE orders SET tracking_number = 'x' WHERE id = 1",
      'UPDATE orders SET reason = tracking_number WHERE id = 2',
      "UPDATE orders SET status = 'cancelled' WHERE id = 2",
      "INSERT INTO orders (id, status, revision, reason) VALUES (3, 'pending', 1, 'x')",
    ]) {
      await assert.rejects(queryDatabase(url, edit), /reason|orders_details/, edit);
    }
  });
}
