import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BEGINNING, isSamePosition, type Position } from '../../protocol/history.ts';
import { positionAfterChanges } from '../../src/domain/heads.ts';
import type { Order } from '../../src/domain/order.ts';
import { actionOf } from '../../src/store/audit.ts';
import type { StoreCommand } from '../../src/store/commands.ts';
import { databaseAt } from '../../src/store/database.ts';
import type { ChangePage } from '../../src/store/feed.ts';
import type { Store } from '../../src/store/store.ts';
import { editDetails } from '../store/edit-details.ts';
import { ENGINES, open, positionAt, queryDatabase } from '../store/engines.ts';

const ORDER: Omit<Order, 'id'> = {
  ...{ status: 'pending', petId: 1n, quantity: 2n, shipDate: 5, complete: false },
};

/**
 * Revisions: 1 places order 7, 2 places 8 and 9, 3 ships 7 with a tracking number, 4 cancels 8 with a reason, 5 places and cancels 10, 6 imports 11 as shipped, 7 places 12
 * without fields.
 */
async function fill(store: Store): Promise<void> {
  const insert = (id: bigint, order: Omit<Order, 'id'> = ORDER) =>
    ({ type: 'insertOrder', order: { ...order, id } }) as const;
  await store.apply([insert(7n)]);
  await store.apply([insert(8n), insert(9n)]);
  await store.apply([{ type: 'ship', id: 7n, by: 'key_a', at: 9, trackingNumber: 'T7' }]);
  await store.apply([{ type: 'cancel', id: 8n, by: 'key_a', reason: 'other' }]);
  await store.apply([insert(10n), { type: 'cancel', id: 10n }]);
  await store.apply([insert(11n, { ...ORDER, status: 'shipped' })]);
  // By a command, so that the last revision is an operator's.
  await recorded(store, insert(12n, { status: 'pending' }));
}

const TABLES = ['order_events', 'orders', 'store', 'operator_revisions'];

/** An edit of the tables, and the revisions that it alters; none if the row of the table store or the links differ. */
type Edit = readonly [sql: string, altered: readonly number[]];

const orders = (set: string, id: number, ...altered: number[]): Edit => [
  `UPDATE orders SET ${set} WHERE id = ${id}`,
  altered,
];
const events = (set: string, where: string, ...altered: number[]): Edit => [
  `UPDATE order_events SET ${set} WHERE ${where}`,
  altered,
];

/** Edits that the feed shows, in both dialects. */
const EDITS: readonly Edit[] = [
  orders('quantity = 3', 7, 1, 3),
  orders('quantity = NULL', 7, 1, 3),
  orders('quantity = quantity + 1', 9, 2),
  orders('quantity = 0', 12, 7),
  orders('pet_id = 2', 8, 2, 4),
  orders('pet_id = NULL', 10, 5),
  orders('pet_id = 9223372036854775807', 11, 6),
  orders('pet_id = quantity, quantity = pet_id', 9, 2),
  orders('ship_date = 8', 7, 3),
  orders('ship_date = NULL', 9, 2),
  orders('ship_date = ship_date + 1', 11, 6),
  orders('ship_date = 0', 12, 7),
  orders('complete = NULL', 7, 3),
  orders("status = 'shipped'", 8, 4),
  orders("status = 'cancelled'", 11, 6),
  orders("status = 'shipped'", 12, 7),
  orders("tracking_number = 'T8'", 7, 3),
  orders('tracking_number = NULL', 7, 3),
  orders("reason = tracking_number, tracking_number = 'T8'", 7, 3),
  orders('reason = tracking_number, tracking_number = NULL', 7, 3),
  orders("tracking_number = reason, reason = 'duplicate'", 8, 4),
  orders("reason = 'duplicate'", 8, 4),
  orders("reason = 'other'", 7),
  orders("tracking_number = 'T8'", 8),
  orders("reason = 'other'", 9),
  orders("tracking_number = 'T11'", 11, 6),
  orders('id = 13', 12),
  ['DELETE FROM orders WHERE id = 9', [2]],
  ['DELETE FROM order_events WHERE order_id = 9', [2]],
  ['DELETE FROM order_events WHERE revision = 4', [5]],
  ['DELETE FROM order_events WHERE revision = 7', []],
  ["DELETE FROM order_events WHERE revision = 5 AND type = 'cancelled'", [5]],
  events('at = at + 1', 'revision = 2', 2),
  events('at = at - 86400000', 'revision = 1', 1),
  events('at = 0', "revision = 5 AND type = 'placed'", 5),
  events("by = 'key_b'", 'revision = 3', 3),
  events('by = NULL', 'revision = 4', 4),
  events("by = 'key_a'", 'revision = 7', 7),
  events("type = 'shipped'", 'revision = 4', 4),
  events("type = 'cancelled'", 'revision = 3', 3),
  events("type = 'cancelled'", 'revision = 7', 7),
  events('order_id = 12', 'revision = 6', 6),
  events('order_id = 10', 'revision = 2 AND order_id = 9', 2),
  events('revision = 8', 'revision = 7'),
  events('ship_date_before = 6', 'revision = 3', 1),
  events('ship_date_before = NULL', 'revision = 3', 1),
  events('ship_date_before = 0', 'revision = 3', 1),
  events(`head = (SELECT head FROM order_events WHERE revision = 1)`, 'revision = 3', 3, 4),
  events('head = NULL', 'revision = 4', 4),
  events('head = (SELECT head FROM store)', 'revision = 2 AND order_id = 8', 2),
  ['DELETE FROM orders WHERE id = 12', [7]],
  ['UPDATE store SET revision = 3', []],
  ['UPDATE store SET head = NULL', []],
  ['UPDATE store SET revision = 6', []],
  ['UPDATE store SET head = (SELECT head FROM order_events WHERE revision = 1)', []],
];

/** Edits of what only SQLite has. */
const OF_SQLITE: readonly Edit[] = [
  events('complete_before = 1', 'revision = 3', 1),
  events('previous = 2', 'revision = 3'),
  events('previous = 6', 'revision = 7'),
];

/** Applies a command as one of an operator. */
const recorded = (store: Store, command: StoreCommand) =>
  store.apply([{ type: 'audit', action: actionOf('test', 'by hand') }, command]);

const rechained = (store: Store, from: bigint) => recorded(store, { type: 'rechain', from });

/** Whether a client that reads the changes again, and has kept the last cursor, finds that something was altered. */
async function isFoundByFollower(store: Store, kept: Position): Promise<boolean> {
  try {
    let position = BEGINNING;
    for (let isMore = true; isMore; ) {
      const page: ChangePage | undefined = await store.feed(position, 1);
      if (page === undefined) return true;
      if (!isSamePosition(positionAfterChanges(position, page.changes), page.position)) return true;
      ({ position, isMore } = page);
    }
    return !isSamePosition(position, kept) || (await store.feed(kept, 1)) === undefined;
  } catch {
    // The service answers 500, and logs why.
    return true;
  }
}

for (const engine of ENGINES) {
  const edits = engine.name === 'SQLite' ? [...EDITS, ...OF_SQLITE] : EDITS;
  test(`${engine.name}: check and a follower find each of ${edits.length} edits by hand`, async (t) => {
    const url = await engine.newDatabase(t);
    const store = await open(t, url);
    await fill(store);
    const kept = await positionAt(store, 7n);
    for (const table of TABLES) {
      await queryDatabase(url, `CREATE TABLE kept_${table} AS SELECT * FROM ${table}`);
    }
    for (const [sql, altered] of edits) {
      const isOfDetails = /reason|tracking|status/.test(sql);
      if (isOfDetails) await editDetails(url, sql);
      else await queryDatabase(url, sql);
      const { problems, heads } = await databaseAt(url).check({ asked: kept });
      const found = heads!.problems.join('\n');
      for (const revision of altered)
        assert.match(found, new RegExp(`^revision ${revision} is`, 'm'), sql);
      assert.ok(problems.length + heads!.problems.length > 0, sql);
      if (altered.length > 0) assert.equal(heads!.hasAsked, false, sql);
      // The links, and a head beside that of a revision, are not in what the heads prove.
      const isHidden = isOfDetails && altered.length === 0;
      const isUnseen = isHidden || sql.includes('previous') || sql.includes('order_id = 8');
      assert.equal(await isFoundByFollower(store, kept), !isUnseen, sql);
      if (heads!.firstAltered !== undefined && !heads!.isIncomplete) {
        // A detail that is not of its status is not in the history.
        const left = heads!.problems.filter((each) => each.endsWith('added by hand'));
        await rechained(store, heads!.firstAltered);
        assert.deepEqual((await databaseAt(url).check()).heads!.problems, left, sql);
        // Commands go on, and their revisions are recorded.
        await recorded(store, { type: 'insertOrder', order: { id: 99n, status: 'pending' } });
        assert.deepEqual((await databaseAt(url).check()).heads!.problems, left, sql);
      }
      const undo = TABLES.flatMap((table) => [
        `DELETE FROM ${table}`,
        `INSERT INTO ${table} SELECT * FROM kept_${table}`,
      ]);
      // PostgreSQL takes several statements at once, which saves connections.
      const parts = engine.name === 'SQLite' ? undo : [undo.join(';')];
      for (const part of parts) await queryDatabase(url, part);
    }
    const { problems, heads } = await databaseAt(url).check({ asked: kept });
    assert.deepEqual([...problems, ...heads!.problems], []);
    assert.equal(heads!.hasAsked, true);
    assert.equal(await isFoundByFollower(store, kept), false);
  });
}
