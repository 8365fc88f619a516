import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Batch,
  type Change,
  HistoryMismatchError,
  StoreOrders,
  StoreOrdersError,
  stringify,
} from '../../client/src/client.ts';
import { SqliteReplica } from '../../examples/sqlite-replica.js';
import { VECTORS } from '../domain/head-vectors.ts';
import { pending, place, startService } from '../http/harness.ts';

const LAST = VECTORS.revisions.at(-1)!;
const ALL = VECTORS.revisions.flatMap(({ changes }) => changes);
const LAST_CURSOR = `${LAST.revision}-${LAST.head}`;

/** Follows a feed of one page. */
function following(
  changes: readonly Change[],
  next = LAST_CURSOR,
  verify?: boolean,
  after?: string,
) {
  const revision = LAST.revision;
  const page = stringify({ changes, next, more: false, revision, head: LAST.head });
  const client = new StoreOrders({
    ...{ baseUrl: 'http://x.example', apiKey: 'x', retries: 0 },
    fetch: async () => new Response(page, { headers: { 'content-type': 'application/json' } }),
  });
  return client.changes({ verify, after });
}

/** The first batch. */
async function firstOf(batches: AsyncGenerator<Batch, void>): Promise<Batch> {
  const { value } = await batches.next();
  await batches.return();
  return value!;
}

test('the changes of the golden vectors are verified, by node:crypto and by WebCrypto', async (t) => {
  assert.deepEqual((await firstOf(following(ALL))).changes, ALL);
  t.mock.method(process, 'getBuiltinModule', () => undefined);
  assert.deepEqual((await firstOf(following(ALL))).changes, ALL);
  await assert.rejects(firstOf(following(ALL.slice(1))), HistoryMismatchError);
});

for (const { why, after, changes, next } of VECTORS.refused) {
  test(`a change is not proven whose order is ${why}`, async () => {
    await assert.rejects(firstOf(following(changes, next, true, after)), HistoryMismatchError);
  });
}

/** A value of the same type that differs, or none. */
function otherThan(value: unknown): unknown {
  if (typeof value === 'bigint') return value === 2n ** 63n - 1n ? value - 1n : value + 1n;
  if (typeof value === 'boolean') return !value;
  return value === undefined ? 'new' : `${value}0`;
}

const CHANGE_FIELDS = ['revision', 'type', 'at', 'by'] as const;
const ORDER_FIELDS = [
  ...(['id', 'petId', 'quantity', 'shipDate', 'complete', 'status', 'reference'] as const),
  ...(['updatedAt', 'revision', 'reason', 'trackingNumber'] as const),
];

/** Alters a change in one field, which is changed or removed. */
const alteration = fc
  .tuple(fc.constantFrom(...CHANGE_FIELDS, ...ORDER_FIELDS), fc.boolean(), fc.boolean())
  .map(([field, inOrder, isRemoved]) => (change: Change): Change => {
    const isOrders = inOrder && (ORDER_FIELDS as readonly string[]).includes(field);
    const record = { ...(isOrders ? change.order : change) } as Record<string, unknown>;
    const isOptional = [
      ...['by', 'petId', 'quantity', 'shipDate', 'complete'],
      ...['reference', 'reason', 'trackingNumber'],
    ].includes(field);
    if (isRemoved && isOptional) delete record[field];
    else if (isOrders || field in change || field === 'by')
      record[field] = otherThan(record[field]);
    return (isOrders ? { ...change, order: record } : record) as unknown as Change;
  });

const index = fc.nat(ALL.length - 1);

type Edit = (changes: readonly Change[]) => Change[];

const edit = fc
  .tuple(fc.constantFrom('alter', 'drop', 'repeat', 'swap'), index, index, alteration)
  .map(([kind, one, other, altered]): Edit => {
    if (kind === 'alter') return (all) => all.with(one, altered(all[one]!));
    if (kind === 'drop') return (all) => all.toSpliced(one, 1);
    if (kind === 'repeat') return (all) => all.toSpliced(one, 0, all[one]!);
    return (all) => all.with(one, all[other]!).with(other, all[one]!);
  });

test('no alteration of a page of changes is accepted', async () => {
  await fc.assert(
    fc.asyncProperty(edit, async (altered) => {
      const changes = altered(ALL);
      fc.pre(stringify(changes) !== stringify(ALL));
      await assert.rejects(firstOf(following(changes)), HistoryMismatchError);
    }),
    { numRuns: 300 },
  );
});

test('a cursor with another head or revision is not accepted', async () => {
  const { head, revision } = LAST;
  const cursors = [
    `${revision}-${'0'.repeat(64)}`,
    `${revision + 1n}-${head}`,
    `${revision}-${head}0`,
    `${revision}-${head.slice(0, -1)}`,
    'c5',
  ];
  for (const cursor of cursors) {
    await assert.rejects(firstOf(following(ALL, cursor)), { after: 'start', cursor });
  }
});

test('revisions that were renumbered are not accepted, although their lines and heads are the same', async () => {
  const [first, second, third] = VECTORS.revisions;
  const after = `${first!.revision}-${first!.head}`;
  const renumbered = (revision: bigint) => {
    const changes = second!.changes.map((change) => ({
      ...{ ...change, revision, order: { ...change.order, revision } },
    }));
    const next = `${third!.revision}-${third!.head}`;
    return firstOf(following([...changes, ...third!.changes], next, true, after));
  };
  assert.ok(await renumbered(second!.revision));
  for (const wrong of [-1n, 0n, first!.revision, third!.revision + 1n, 2n ** 63n - 1n]) {
    await assert.rejects(renumbered(wrong), HistoryMismatchError, String(wrong));
  }
});

test('changes are not verified with verify: false, and by default not without SHA-256', async (t) => {
  const altered = ALL.slice(1);
  assert.equal((await firstOf(following(altered, 'c5', false))).cursor, 'c5');
  t.mock.method(process, 'getBuiltinModule', () => undefined);
  t.mock.getter(crypto, 'subtle', () => undefined);
  assert.equal((await firstOf(following(altered, 'c5'))).cursor, 'c5');
  await assert.rejects(firstOf(following(altered, 'c5', true)), (error) => {
    return error instanceof StoreOrdersError && /no SHA-256/.test(error.message);
  });
});

test('a replica ends when a change was altered, and its database stays as it was before', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  let isAltering = false;
  const client = new StoreOrders({
    ...{ baseUrl: `http://127.0.0.1:${service.port}`, apiKey: service.secret },
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (!isAltering || !String(input).includes('/changes?')) return response;
      return new Response((await response.text()).replace('"cancelled"', '"shipped"'), response);
    },
  });
  const database = new DatabaseSync(':memory:');
  const keep = () => client.replica({ store: new SqliteReplica(database) });
  const first = keep();
  await first.next();
  await first.return();
  const rows = () => database.prepare('SELECT * FROM orders, replica ORDER BY id').all();
  const { run: _, ...before } = rows()[0]!;
  assert.equal(before.cursor, (await client.listChanges({ after: 'now' })).next);

  await service.store.apply([{ type: 'cancel', id: 1n }]);
  isAltering = true;
  const second = keep();
  await second.next();
  await assert.rejects(second.next(), { name: 'HistoryMismatchError', after: before.cursor });
  const { run: __, ...after } = rows()[0]!;
  assert.deepEqual(after, before);

  isAltering = false;
  const third = keep();
  await third.next();
  assert.equal((await third.next()).value!.changes?.length, 1);
  await third.return();
});
