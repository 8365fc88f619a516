import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { OrderCommand } from '../../src/domain/lifecycle.ts';
import { ORDER_STATUSES } from '../../src/domain/order.ts';
import {
  type ChangePage,
  type FeedFilter,
  type FeedStart,
  filteredPage,
  matches,
} from '../../src/store/feed.ts';
import { ENGINES, open } from './engines.ts';

const petId = fc.bigInt({ min: 1n, max: 3n });
const by = fc.constantFrom('key_a', 'key_b');
const filter: fc.Arbitrary<FeedFilter> = fc.record(
  {
    petIds: fc.subarray([1n, 2n, 3n], { minLength: 1 }),
    by,
    types: fc.subarray(['placed', 'cancelled', 'shipped'] as const, { minLength: 1 }),
  },
  { requiredKeys: [] },
);
/** Orders with ascending ids, some of which are changed in their revision or a later one. */
const revisions = fc.array(
  fc.array(
    fc.record({ petId, by, becomes: fc.constantFrom(...ORDER_STATUSES), isAtOnce: fc.boolean() }),
    {
      minLength: 1,
      maxLength: 700,
    },
  ),
  { minLength: 1, maxLength: 12, size: 'max' },
);

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: the pages of a filter have each matching change once, whole revisions, and move on`, async (t) => {
    await fc.assert(
      fc.asyncProperty(
        revisions,
        filter,
        fc.integer({ min: 1, max: 500 }),
        async (placed, wanted, limit) => {
          const store = await open(t, await newDatabase(t));
          let id = 0n;
          for (const orders of placed) {
            const now: OrderCommand[] = [];
            const later: OrderCommand[] = [];
            for (const { becomes, isAtOnce, ...order } of orders) {
              id += 1n;
              const own = { id, by: order.by };
              const placing = { id, petId: order.petId, status: 'pending' } as const;
              now.push({ type: 'insertOrder', order: placing });
              if (becomes === 'pending') continue;
              const type = becomes === 'cancelled' ? ('cancel' as const) : ('ship' as const);
              (isAtOnce ? now : later).push({ type, ...own });
            }
            await store.apply(now);
            if (later.length > 0) await store.apply(later);
          }
          const all = [];
          for (let after: FeedStart = 'start'; ; ) {
            const page: ChangePage = (await store.feed(after, 500))!;
            all.push(...page.changes);
            after = page.position;
            if (!page.isMore) break;
          }
          const found = [];
          let revision = -1n;
          for (let after: FeedStart = 'start'; ; ) {
            const asked = { filter: wanted, limit };
            const page: ChangePage = (await filteredPage(store.feed, after, asked))!;
            found.push(...page.changes);
            const last = page.changes.at(-1)?.order.revision;
            // The next page begins with another revision.
            assert.ok(last === undefined || last <= page.position.revision);
            assert.ok(page.position.revision > revision);
            const inPage = new Set(page.changes.map(({ order }) => order.revision));
            assert.ok(page.changes.length <= limit || inPage.size === 1);
            revision = page.position.revision;
            after = page.position;
            if (!page.isMore) break;
          }
          assert.deepEqual(
            found,
            all.filter((change) => matches(wanted, change)),
          );
          await store.close();
        },
      ),
      { numRuns: 6 },
    );
  });
}

test('a page of a filter that nothing matches examines a limited number of changes', async (t) => {
  const store = await open(t, await ENGINES[0]!.newDatabase(t));
  for (let first = 1n; first <= 7_000n; first += 1_000n) {
    await store.apply(
      Array.from({ length: 1_000 }, (_, index) => ({
        type: 'insertOrder' as const,
        order: { id: first + BigInt(index), status: 'pending' as const },
      })),
    );
  }
  const nothing = { filter: { petIds: [1n] }, limit: 10 };
  const first = (await filteredPage(store.feed, 'start', nothing))!;
  assert.deepEqual([first.changes, first.position.revision, first.isMore], [[], 5n, true]);
  const second = (await filteredPage(store.feed, first.position, nothing))!;
  assert.deepEqual([second.changes, second.position.revision, second.isMore], [[], 7n, false]);
  const now = (await filteredPage(store.feed, 'now', nothing))!;
  assert.deepEqual([now.changes, now.position, now.isMore], [[], second.position, false]);
  const other = { revision: 5n, head: 'f'.repeat(64) };
  assert.equal(await filteredPage(store.feed, other, nothing), undefined);
});
