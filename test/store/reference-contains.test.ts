import assert from 'node:assert/strict';
import fc from 'fast-check';
import { caseless, containsPart } from '../../protocol/caseless.ts';
import type { OrderStatus } from '../../src/domain/order.ts';
import type { OrderFilter } from '../../src/store/order-filter.ts';
import { MAX_ROWS_READ, type PagePlace } from '../../src/store/pages.ts';
import type { Store } from '../../src/store/store.ts';
import { place, testStore } from './engines.ts';

/** What differs by case, by composition, by a rule of a language, in SQL's patterns, or in its length. */
const PIECES = [
  ...['a', 'A', 'ss', 'S', 'ß', 'ẞ', 'ſ', 'i', 'I', 'İ', 'ı', 'i\u0307', 'é', 'e\u0301', 'E'],
  ...['σ', 'ς', 'Σ', 'ᾳ', '\u0345', 'ﬁ', 'ǅ', '\u{10400}', '\u{10428}', '한', '\u1112\u1161'],
  ...['%', '_', '\\', "'", '"', ' ', '{', ',', '\ue000', '\u{10ffff}'],
];
const text = (lengths: { minLength: number; maxLength: number }) =>
  fc.array(fc.constantFrom(...PIECES), lengths).map((pieces) => pieces.join(''));

/** All pages of a walk. */
async function walk(
  store: Store,
  query: { filter: OrderFilter; isDescending: boolean; limit: number },
) {
  const ids: bigint[] = [];
  let after: PagePlace | undefined;
  do {
    const page = await store.page({ ...query, after });
    assert.ok(page.orders.length <= query.limit);
    ids.push(...page.orders.map(({ id }) => id));
    after = page.next;
  } while (after !== undefined);
  return ids;
}

testStore('parts of references are found as in the model, on all pages', async (_t, store) => {
  let runs = 0n;
  const property = async (
    references: (string | undefined)[],
    part: string,
    query: { isDescending: boolean; limit: number; ofPet: boolean },
  ) => {
    runs += 1n;
    const pet = runs;
    const orders = references.map((reference, index) => {
      const id = runs * 100n + BigInt(index);
      const status: OrderStatus = index % 3 === 0 ? 'shipped' : 'pending';
      return { id, status, reference, petId: query.ofPet || index % 2 === 0 ? pet : undefined };
    });
    await store.apply(orders.map(place));
    const filter = { referenceContains: part, petId: pet };
    const expected = orders.filter(
      ({ reference, petId }) => petId === pet && containsPart(reference, caseless(part)),
    );
    const ids = expected.map(({ id }) => id);
    const { isDescending, limit } = query;
    const found = await walk(store, { filter, isDescending, limit });
    assert.deepEqual(found, isDescending ? ids.reverse() : ids);
    const { orders: counts, isExact } = await store.count(filter);
    const countOf = (status: OrderStatus) =>
      BigInt(expected.filter((each) => each.status === status).length);
    assert.deepEqual(
      [counts, isExact],
      [{ pending: countOf('pending'), shipped: countOf('shipped'), cancelled: 0n }, true],
    );
  };
  const references = fc.array(fc.option(text({ minLength: 1, maxLength: 9 }), { nil: undefined }), {
    minLength: 1,
    maxLength: 20,
  });
  const query = fc.record({
    ...{ isDescending: fc.boolean(), ofPet: fc.boolean() },
    limit: fc.integer({ min: 1, max: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(references, text({ minLength: 1, maxLength: 3 }), query, property),
    { numRuns: 100 },
  );
});

testStore(
  'a page and a count end after 50,000 orders, and the next page goes on there',
  async (_t, store) => {
    for (const id of [1n, 2n])
      await store.apply([place({ id, status: 'pending', reference: `Größe-${id}` })]);
    for (let from = 3; from < MAX_ROWS_READ + 2; from += 2_000) {
      const count = Math.min(2_000, MAX_ROWS_READ + 2 - from);
      const ids = Array.from({ length: count }, (_, index) => BigInt(from + index));
      await store.apply(ids.map((id) => place({ id, status: 'pending', reference: `PO-${id}` })));
    }
    const filter = { referenceContains: 'GRÖSSE' };
    const query = { filter, isDescending: true, limit: 9 };
    // Orders from 50,001 to 2.
    const first = await store.page(query);
    assert.deepEqual(
      first.orders.map(({ id }) => id),
      [2n],
    );
    assert.deepEqual(first.next, { sortKey: [], id: 2n });
    const second = await store.page({ ...query, after: first.next });
    assert.deepEqual(
      second.orders.map(({ id }) => id),
      [1n],
    );
    assert.equal(second.next, undefined);
    const { isExact } = await store.count(filter);
    assert.equal(isExact, false);
    // A page that is full ends at its last order.
    const { orders, next } = await store.page({ ...query, filter: { referenceContains: 'o-5' } });
    assert.deepEqual([orders.length, next?.id], [9, orders[8]?.id]);
  },
);

testStore('a page of a part is one snapshot while orders are placed', async (_t, store) => {
  const last = 300n;
  let isDone = false;
  const writing = (async () => {
    // The revision is the id.
    for (let id = 1n; id <= last; id += 1n)
      await store.apply([place({ id, status: 'pending', reference: `größe-${id}` })]);
    isDone = true;
  })();
  while (!isDone) {
    const query = { filter: { referenceContains: 'GRÖ' }, isDescending: true, limit: 500 };
    const { orders, position, next } = await store.page(query);
    assert.deepEqual([orders.length, next], [Number(position.revision), undefined]);
    assert.equal(orders[0]?.id ?? 0n, position.revision);
  }
  await writing;
});
