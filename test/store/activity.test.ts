import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { ApiKey } from '../../src/domain/api-key.ts';
import type { OrderId } from '../../src/domain/order.ts';
import { ActivityCount } from '../../src/store/activity.ts';
import { MAX_ROWS_READ } from '../../src/store/pages.ts';
import { sqlitePath } from '../../src/store/sqlite/database/connection.ts';
import type { Store } from '../../src/store/store.ts';
import { query } from '../postgres.ts';
import { ENGINES, open } from './engines.ts';

const HOUR_MS = 3_600_000;
const KEYS = [undefined, 'key_a', 'key_b'];

const place = (id: bigint) => ({ type: 'insertOrder', order: { id, status: 'pending' } }) as const;

/** Changes the times of recorded events, as if they had happened then. */
async function setTimes(url: string, time: string): Promise<void> {
  const sql = `UPDATE order_events SET at = ${time}`;
  if (!url.startsWith('sqlite:')) {
    await query(url, sql);
    return;
  }
  const database = new DatabaseSync(sqlitePath(url)!);
  database.exec(sql);
  database.close();
}

/** A store whose revision N has the time N hours, give or take up to 40 minutes; some clocks were far ahead, or at 1970. */
async function storeOfDays(t: TestContext, url: string): Promise<Store> {
  const store = await open(t, url);
  for (let id = 0n; id < 60n; id += 2n) {
    await store.apply([place(id), place(id + 1n)]);
    const by = KEYS[Number(id) % 3];
    if (id > 10n) await store.apply([{ type: 'cancel', id: id - 10n, by }]);
    if (id > 20n) await store.apply([{ type: 'ship', id: id - 9n, by, at: 1 }]);
  }
  const wrong = `CASE WHEN revision IN (32, 33, 64) THEN 50 WHEN revision = 48 THEN -48 ELSE 0 END`;
  const hours = `(revision + ${wrong}) * ${HOUR_MS}`;
  await setTimes(url, `${hours} + ((revision * 7919) % 81 - 40) * 60000`);
  return store;
}

for (const { name, newDatabase } of ENGINES) {
  test(`each period has exactly the events of its time, even if clocks differ or were wrong (${name})`, async (t) => {
    const store = await storeOfDays(t, await newDatabase(t));
    const { changes } = (await store.feed('start', 500))!;
    assert.equal(changes.length, 103);
    const hours = fc.integer({ min: -5, max: 100 * 4 });
    const boundaries = fc.uniqueArray(hours, { minLength: 2, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(boundaries, async (quarters) => {
        const times = quarters.sort((a, b) => a - b).map((quarter) => (quarter * HOUR_MS) / 4);
        const model = new ActivityCount({ boundaries: times });
        for (const { type, order, by } of changes) model.addEvent(type, order.updatedAt, by);
        const page = await store.activity({ boundaries: times });
        const { periods, byKey, next } = page!;
        assert.deepEqual({ periods, byKey }, model.result(new Map()));
        assert.equal(next, undefined);
      }),
      { numRuns: 30 },
    );
  });

  test(`a page does not depend on events that are written while it is counted (${name})`, async (t) => {
    const store = await open(t, await newDatabase(t));
    const orders = Array.from({ length: MAX_ROWS_READ - 1 }, (_, id) => place(BigInt(id)));
    await store.apply(orders);
    const boundaries = [0, Date.now() + HOUR_MS];
    assert.equal((await store.activity({ boundaries }))!.next, undefined);
    const counting = store.activity({ boundaries });
    const cancels = [1n, 2n, 3n].map((id) => store.apply([{ type: 'cancel', id }]));
    const { next, upTo } = (await counting)!;
    // One more event fills the page.
    assert.equal(next !== undefined, upTo.revision > 1n);
    await Promise.all(cancels);
  });

  test(`more events than one call counts are counted once each, as they were at first (${name})`, async (t) => {
    const store = await open(t, await newDatabase(t));
    const many = Array.from({ length: MAX_ROWS_READ + 10 }, (_, id) => place(BigInt(id)));
    const cancels = many.slice(-5).map(({ order }) => ({ type: 'cancel', id: order.id }) as const);
    await store.apply([...many, ...cancels]);
    const boundaries = [0, Date.now() + HOUR_MS];
    const { next, periods, upTo } = (await store.activity({ boundaries }))!;
    await store.apply([{ type: 'cancel', id: 1n }]);
    const rest = (await store.activity({ boundaries, after: next }))!;
    const eventsIn = ([counts]: typeof periods) => counts!.placed + counts!.cancelled;
    assert.deepEqual([periods, rest.periods].map(eventsIn), [MAX_ROWS_READ, 15]);
    const sum = (type: 'placed' | 'cancelled') => periods[0]![type] + rest.periods[0]![type];
    assert.deepEqual([sum('placed'), sum('cancelled')], [MAX_ROWS_READ + 10, 5]);
    assert.deepEqual([rest.next, rest.upTo, upTo.revision], [undefined, upTo, 1n]);
    // In another history the count cannot be continued.
    for (const other of [{ upTo: 7n }, { head: '0'.repeat(64) }]) {
      const after = { ...next!, ...other };
      assert.equal(await store.activity({ boundaries, after }), undefined);
    }
  });

  test(`events are counted by key, with its name (${name})`, async (t) => {
    const store = await open(t, await newDatabase(t));
    const key: ApiKey = {
      ...{ id: 'key_a', name: '<b>shop</b>', environment: 'production' },
      ...{ digest: new Uint8Array(32), createdAt: 0 },
    };
    await store.apply([{ type: 'createKey', key }]);
    await store.apply([1n, 2n, 3n, 4n].map(place));
    const own = [2n, 3n].map((id) => ({ type: 'cancel', id, by: 'key_a' }) as const);
    await store.apply([{ type: 'cancel', id: 1n }, { type: 'ship', id: 4n, by: 'key_a' }, ...own]);
    const boundaries = [0, Date.now() + HOUR_MS];
    const page = await store.activity({ boundaries });
    const counts = { placed: 0, cancelled: 2, shipped: 1 };
    const ofKey = { by: 'key_a', byName: '<b>shop</b>', ...counts };
    assert.deepEqual(page!.byKey, [
      { by: undefined, byName: undefined, placed: 4, cancelled: 1, shipped: 0 },
      ofKey,
    ]);
    const { periods, byKey } = (await store.activity({ boundaries, by: 'key_a' }))!;
    assert.deepEqual([periods, byKey], [[counts], [ofKey]]);
    assert.deepEqual((await store.activity({ boundaries, by: 'key_b' }))!.byKey, []);
  });

  test(`an empty store has no activity, and a position in another store is refused (${name})`, async (t) => {
    const store = await open(t, await newDatabase(t));
    const page = await store.activity({ boundaries: [0, 1] });
    assert.deepEqual(page!.periods, [{ placed: 0, cancelled: 0, shipped: 0 }]);
    assert.deepEqual([page!.byKey, page!.next], [[], undefined]);
    const orderId = 0n as OrderId;
    const after = { head: 'other', upTo: 0n, at: 0, revision: 0n, orderId };
    assert.equal(await store.activity({ boundaries: [0, 1], after }), undefined);
  });
}
