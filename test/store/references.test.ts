import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlaceOrderCommand } from '../../src/domain/placement.ts';
import { databaseAt } from '../../src/store/database.ts';
import type { Store } from '../../src/store/store.ts';
import { ENGINES, open, queryDatabase } from './engines.ts';

const ORDER = {
  ...({ status: 'pending', petId: 1n, quantity: 2n, shipDate: 5, complete: false } as const),
};

/** A placement with an idempotency key of its own. */
function placement(
  reference: string,
  changes: Partial<PlaceOrderCommand['draft']> = {},
  by = 'key_a',
): PlaceOrderCommand {
  const idempotencyKey = crypto.randomUUID();
  const draft = { ...ORDER, reference, ...changes };
  return { type: 'placeOrder', draft, by, idempotencyKey, digest: idempotencyKey };
}

/** The ids that placements return, and the refusals. */
async function placed(store: Store, ...commands: readonly PlaceOrderCommand[]) {
  const outcomes = await store.apply(commands);
  return outcomes.map((outcome) => outcome.refusal ?? [outcome.id, outcome.isReplay]);
}

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: an API key places one order under a reference, also within a batch`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    assert.deepEqual(
      await placed(
        store,
        placement('PO 1'),
        placement('PO 1'),
        placement('PO 1', {}, 'key_b'),
        placement('PO 1', { quantity: 3n }),
        placement('Ü "\\ 😀'),
      ),
      [[1n, false], [1n, true], [2n, false], 'reference_taken', [3n, false]],
    );
    // Also after the order has changed.
    await store.apply([
      { type: 'ship', id: 1n, at: 99 },
      { type: 'cancel', id: 3n },
    ]);
    const { revision } = await store.status();
    assert.deepEqual(
      await placed(
        store,
        placement('PO 1'),
        placement('PO 1', { shipDate: 99 }),
        placement('PO 1', { petId: 7n }, 'key_b'),
        placement('Ü "\\ 😀'),
      ),
      [[1n, true], 'reference_taken', 'reference_taken', [3n, true]],
    );
    assert.equal((await store.status()).revision, revision);
    const [order] = await store.orders([3n]);
    assert.partialDeepStrictEqual(order, {
      ...ORDER,
      id: 3n,
      status: 'cancelled',
      reference: 'Ü "\\ 😀',
    });
    const page = await store.page({
      filter: { reference: 'PO 1' },
      isDescending: true,
      limit: 9,
    });
    assert.deepEqual(
      page.orders.map(({ id, reference }) => [id, reference]),
      [
        [2n, 'PO 1'],
        [1n, 'PO 1'],
      ],
    );
    const feed = await store.feed('start', 9);
    assert.deepEqual(new Set(feed!.changes.map(({ order: { reference } }) => reference)).size, 2);
    const { problems, heads } = await databaseAt(url).check();
    assert.deepEqual([...problems, ...heads!.problems], []);
  });

  test(`${name}: the ids of references are found together, of each reference the latest ten`, async (t) => {
    const store = await open(t, await newDatabase(t));
    await placed(store, placement('A'), placement('a'), placement('Ü "\\ 😀'));
    for (let key = 0; key < 12; key += 1) await placed(store, placement('same', {}, `key_${key}`));
    const found = await store.idsOf(['a', 'none', 'Ü "\\ 😀', 'same', 'sam']);
    const latest = Array.from({ length: 10 }, (_, index) => BigInt(index) + 6n);
    assert.deepEqual(
      found.toSorted((one, other) => Number(one - other)),
      [2n, 3n, ...latest],
    );
    assert.deepEqual(await store.idsOf([]), []);
  });

  test(`${name}: references of several nodes at once are one order each`, async (t) => {
    const url = await newDatabase(t);
    const nodes = [await open(t, url), await open(t, url), await open(t, url)];
    const references = Array.from({ length: 100 }, (_, index) => `ref ${index}`);
    const results = await Promise.all(
      nodes.map(async (node, which) => {
        const order = which === 1 ? references.toReversed() : references;
        const found: [string, bigint][] = [];
        for (let from = 0; from < order.length; from += 10) {
          const part = order.slice(from, from + 10);
          const outcomes = await node.apply(part.map((each) => placement(each)));
          for (const [index, outcome] of outcomes.entries()) {
            assert.ok(outcome.refusal === undefined);
            found.push([part[index]!, outcome.id]);
          }
        }
        return new Map(found);
      }),
    );
    assert.equal((await nodes[0]!.status()).orders.pending, 100n);
    for (const each of references) {
      assert.equal(new Set(results.map((found) => found.get(each))).size, 1, each);
    }
  });

  test(`${name}: a command with another reference changes nothing, whatever the status of the order`, async (t) => {
    const store = await open(t, await newDatabase(t));
    await store.apply([placement('mine')]);
    const cancel = (ifReference: string) => ({ type: 'cancel', id: 1n, ifReference }) as const;
    assert.deepEqual(
      await store.apply([
        cancel('other'),
        { type: 'ship', id: 1n, ifReference: 'Mine' },
        cancel('mine'),
        cancel('other'),
        cancel('mine'),
        { ...cancel('mine'), id: 2n },
      ]),
      [
        ...['reference_differs', 'reference_differs', 'cancelled'],
        ...['reference_differs', 'order_already_cancelled', 'order_not_found'],
      ],
    );
  });

  test(`${name}: imported orders may share a reference, and an import compares it`, async (t) => {
    const store = await open(t, await newDatabase(t));
    const insert = (id: bigint, reference?: string) =>
      ({ type: 'insertOrder', order: { ...ORDER, id, reference } }) as const;
    assert.deepEqual(
      await store.apply([
        insert(1n, 'a'),
        insert(2n, 'a'),
        insert(1n, 'a'),
        insert(1n, 'b'),
        insert(2n),
        placement('a'),
      ]),
      [
        ...['placed', 'placed', 'unchanged', 'order_differs', 'order_differs'],
        {
          id: 3n,
          revision: 1n,
          at: (await store.feed('start', 9))!.changes[0]!.order.placedAt,
          isReplay: false,
        },
      ],
    );
  });
}

test('PostgreSQL: a node that does not know references, and leaves them out of the heads, cannot write', async (t) => {
  const url = await ENGINES[1]!.newDatabase(t);
  const store = await open(t, url);
  await store.apply([placement('a')]);
  const write = 'UPDATE store SET revision = revision + 1, head = sha256(head || head)';
  await assert.rejects(queryDatabase(url, write), /a newer release has migrated the schema/);
  await store.apply([placement('b')]);
  const { problems, heads } = await databaseAt(url).check();
  assert.deepEqual([...problems, ...heads!.problems], []);
});
