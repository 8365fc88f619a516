import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Store } from '../../src/store/store.ts';
import type { Answer } from '../http/contract-check.ts';
import { eventually, query } from '../postgres.ts';
import { newPostgresDatabase, open } from '../store/engines.ts';
import { run, serve } from './program.ts';
import { serveNodes } from './serve-nodes.ts';

const ORDERS = '/v1/store/orders';
/** Total number of cancels, each followed by a list on another node; test/slow/nodes.ts runs more. */
const ROUNDS = Number(process.env.ROUNDS ?? 60);
/** Concurrent clients. */
const CLIENTS = 12;
/** Pending orders per client; few, so that lists stay short. */
const STOCK = 10;

for (const count of [2, 3]) {
  test(`${count} nodes started concurrently on an empty database create one store and one first key`, async (t) => {
    const database = await newPostgresDatabase(t);
    const { nodes } = await serveNodes(t, count, database);
    const firstKeys = nodes.filter(({ stderr }) => /so_live_/.test(stderr()));
    assert.equal(firstKeys.length, 1);
    const { stdout } = await run(['keys', 'list', '--json', '--database', database]);
    assert.deepEqual(
      JSON.parse(stdout)
        .map(({ name }: { name: string }) => name)
        .sort(),
      ['first key', 'test'],
    );
  });
}

test('a node whose list is in use accepts requests once the list is in memory', async (t) => {
  const database = await newPostgresDatabase(t);
  const rows = Array.from({ length: 60_000 }, (_, index) => `{"id":${index + 1}}\n`);
  const imported = await run(['import', '-', '--database', database], { input: rows.join('') });
  assert.equal(imported.code, 0, imported.stderr);
  const first = await serve(t, [], { database });
  assert.equal((await first.call('GET', '/v1/store/orders')).status, 200);
  await eventually(async () => {
    const recorded = 'SELECT listed_at FROM store WHERE listed_at IS NOT NULL';
    assert.equal((await query(database, recorded)).length, 1);
  });
  const second = await serve(t, [], { database, expectsKey: false });
  const ready = await (await fetch(`${second.operations}/readyz`)).text();
  assert.match(ready, /^list of v1: in memory$/m);
});

test('a change acknowledged by one node is in the next list of any other, and an ETag identifies one list', {
  timeout: 300_000,
}, async (t) => {
  const database = await newPostgresDatabase(t);
  const { call } = await serveNodes(t, 3, database);
  const store = await open(t, database);
  const lists = new Lists();
  let isOver = false;
  const pairs = shipPairs(store, () => isOver);
  const imports = importAndShip(database, () => isOver);
  let rounds = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      while (rounds < ROUNDS) {
        const ids = newIds();
        await store.apply(ids.map((id) => placing(id)));
        for (const [index, id] of ids.entries()) {
          rounds += 1;
          const node = client + index;
          const before = await call(node + 1, 'GET', ORDERS);
          assert.ok(lists.check(before).has(id), `${id} was placed before the list`);
          assert.equal((await call(node, 'DELETE', `${ORDERS}/${id}`)).status, 204);
          const after = await call(node + 1, 'GET', ORDERS);
          assert.ok(!lists.check(after).has(id), `${id} was cancelled before the list`);
        }
      }
    }),
  );
  isOver = true;
  t.diagnostic(`${rounds} cancels, ${lists.seen.size} different lists`);
  t.diagnostic(`${await pairs} pairs shipped, ${await imports} imports meanwhile`);
});

let lastId = 0n;

function newIds(): bigint[] {
  return Array.from({ length: STOCK }, () => ++lastId);
}

function placing(id: bigint) {
  return { type: 'insertOrder', order: { id, status: 'pending', complete: false } } as const;
}

/** Checks that an ETag identifies one list on all nodes, and that the orders of a pair change together. */
class Lists {
  readonly seen = new Map<string, string>();

  /** Checks a list. @returns the ids in it */
  check({ status, headers, body }: Answer): Set<bigint> {
    assert.equal(status, 200);
    const etag = String(headers.etag);
    const digest = createHash('sha256').update(body).digest('hex');
    const same = this.seen.get(etag);
    assert.ok(same === undefined || same === digest, `two lists have the ETag ${etag}`);
    this.seen.set(etag, digest);
    const orders = new Map<bigint, boolean>();
    for (const { id, complete } of JSON.parse(body)) orders.set(BigInt(id), complete);
    for (const [id, complete] of orders) {
      if (id < 0n) assert.equal(orders.get(id % 2n === 0n ? id - 1n : id + 1n), complete, `${id}`);
    }
    return new Set(orders.keys());
  }
}

/** Places pairs of orders with the ids -2 and -3 and so on, and ships or cancels both together. @returns their number */
async function shipPairs(store: Store, isOver: () => boolean): Promise<number> {
  let count = 0;
  while (!isOver()) {
    count += 1;
    const even = BigInt(-2 * count);
    const both = [even, even - 1n];
    await store.apply(both.map(placing));
    const change = count % 2 === 0 ? ('ship' as const) : ('cancel' as const);
    await store.apply(both.map((id) => ({ type: change, id })));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return count;
}

/** Imports orders and ships some of them from the command line. @returns the number of imports */
async function importAndShip(database: string, isOver: () => boolean): Promise<number> {
  let count = 0;
  while (!isOver()) {
    const first = 1_000_000 + 100 * count;
    count += 1;
    const rows = Array.from({ length: 20 }, (_, index) => `{"id":${first + index}}\n`);
    const imported = await run(['import', '-', '--database', database], { input: rows.join('') });
    assert.equal(imported.code, 0, imported.stderr);
    const shipped = await run(['ship', String(first), '--database', database]);
    assert.equal(shipped.code, 0, shipped.stderr);
  }
  return count;
}
