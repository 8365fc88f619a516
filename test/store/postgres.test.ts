import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { newApiKey, newSecret } from '../../src/keys/api-key.ts';
import { openStore } from '../../src/store/open.ts';
import { Cluster, eventually, query } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';
import { newPostgresDatabase, open } from './engines.ts';

test('stores opened concurrently on an empty database share one store id', async (t) => {
  for (let round = 0; round < 10; round += 1) {
    const url = await newPostgresDatabase(t);
    const stores = await Promise.all(Array.from({ length: 5 }, () => open(t, url)));
    const ids = await Promise.all(stores.map(async (store) => (await store.status()).storeId));
    assert.equal(new Set(ids).size, 1);
    for (const store of stores) await store.close();
  }
});

test('three nodes that cancel the same orders concurrently cancel each order once, without errors', async (t) => {
  const url = await newPostgresDatabase(t);
  const stores = await Promise.all([open(t, url), open(t, url), open(t, url)]);
  const ids = Array.from({ length: 2_000 }, (_, index) => BigInt(index));
  await stores[0]!.apply(ids.map((id) => ({ type: 'place', order: { id, status: 'pending' } })));
  const outcomes = await Promise.all(
    stores.map(async (store, which) => {
      const seen: unknown[] = [];
      for (let from = 0; from < ids.length; ) {
        const to = from + 1 + ((from * 7 + which * 31) % 50);
        const batch = ids.slice(from, to).map((id) => ({ type: 'cancel', id }) as const);
        seen.push(...(await store.apply(which === 1 ? batch.reverse() : batch)));
        from = to;
      }
      return seen;
    }),
  );
  assert.equal(outcomes.flat().filter((outcome) => outcome === 'cancelled').length, 2_000);
  assert.equal((await stores[0]!.status()).orders.cancelled, 2_000n);
});

test('settings of the database do not affect the store', async (t) => {
  const url = await newPostgresDatabase(t);
  const name = new URL(url).pathname.slice(1);
  for (const [setting, value] of [
    ['bytea_output', 'escape'],
    ['array_nulls', 'off'],
    ['default_transaction_isolation', 'serializable'],
    ['client_min_messages', 'error'],
    ['synchronous_commit', 'off'],
    ['datestyle', 'German'],
    ['timezone', 'Asia/Kathmandu'],
    ['standard_conforming_strings', 'on'],
    ['bytea_output', 'escape'],
  ]) {
    await query(url, `ALTER DATABASE ${name} SET ${setting} = '${value}'`);
  }
  const store = await open(t, url);
  const details = { name: 'a "b" \\ {c}', environment: 'production', now: 1 } as const;
  const key = newApiKey(newSecret('production'), details);
  await store.apply([{ type: 'createKey', key }]);
  const [found] = await store.keys([key.digest]);
  assert.deepEqual(Buffer.from(found!.digest), Buffer.from(key.digest));
  assert.equal(found!.name, details.name);
  const order = { id: 1n, status: 'pending', petId: undefined, quantity: 0n } as const;
  await store.apply([
    { type: 'place', order },
    { type: 'cancel', id: 1n, by: 'NULL' },
    { type: 'place', order: { ...order, id: 2n } },
    { type: 'cancel', id: 2n },
  ]);
  assert.equal((await store.find([1n]))[0]!.petId, undefined);
  assert.deepEqual(
    (await store.history(1n)).map(({ by }) => by),
    [undefined, 'NULL'],
  );
  assert.deepEqual(
    (await store.history(2n)).map(({ by }) => by),
    [undefined, undefined],
  );
});

test('after tables are replaced, a running node fails one read and then recovers', async (t) => {
  const url = await newPostgresDatabase(t);
  const store = await open(t, url);
  await store.apply([place(1n)]);
  await query(url, 'CREATE TABLE other AS SELECT * FROM store');
  for (const replace of [
    'TRUNCATE store; INSERT INTO store SELECT * FROM other',
    'ALTER TABLE store RENAME TO gone; ALTER TABLE other RENAME TO store',
  ]) {
    const known = await store.changes(undefined, () => {});
    for (const sql of replace.split(';')) await query(url, sql);
    await assert.rejects(
      store.changes(known, () => {}),
      /the tables were replaced/,
    );
    assert.equal(await store.changes(known, () => {}), known, 'the contents are the same');
  }
});

for (const { what, lose, laterChanges, isKnown } of [
  { what: 'nothing lost', lose: async () => {}, laterChanges: 0, isKnown: true },
  { what: 'nothing lost, 3 changes since', lose: async () => {}, laterChanges: 3, isKnown: true },
  { what: 'last transaction lost', lose: loseLastTransaction, laterChanges: 0, isKnown: false },
  {
    what: 'last transaction lost, same revision reached again',
    lose: loseLastTransaction,
    laterChanges: 1,
    isKnown: false,
  },
  {
    what: 'last transaction lost, higher revision reached',
    lose: loseLastTransaction,
    laterChanges: 3,
    isKnown: false,
  },
]) {
  test(`a node that reconnects detects lost history without reading all orders: ${what}`, async (t) => {
    const url = await newPostgresDatabase(t);
    const [node, other] = [await open(t, url, 'service'), await open(t, url)];
    for (const id of [1n, 2n, 3n]) await other.apply([place(id)]);
    const known = await node.changes(undefined, () => {});
    await lose(url);
    // End all connections, as a restart of the server does.
    await query(
      url,
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    for (let id = 11n; id < 11n + BigInt(laterChanges); id += 1n) {
      await eventually(() => other.apply([place(id)]));
    }
    const visited: bigint[] = [];
    const now = await eventually(() =>
      node.changes(known, (orders) => visited.push(...orders.map(({ id }) => id))),
    );
    assert.deepEqual(visited, isKnown ? [11n, 12n, 13n].slice(0, laterChanges) : []);
    assert.equal(now?.revision, isKnown ? 3n + BigInt(laterChanges) : undefined);
    const anew = await node.changes(undefined, () => {});
    assert.equal(
      `${anew!.revision}/${anew!.mark}` === `${known!.revision}/${known!.mark}`,
      laterChanges === 0 && isKnown,
    );
  });
}

/** Simulates a failover to a standby that lacks the last transaction. */
async function loseLastTransaction(url: string): Promise<void> {
  await query(url, 'DELETE FROM orders WHERE id = 3');
  await query(url, 'DELETE FROM order_events WHERE order_id = 3');
  await query(url, 'UPDATE store SET revision = 2, mark = 2, pending = 2');
}

function place(id: bigint) {
  return { type: 'place', order: { id, status: 'pending' } } as const;
}

test('a store can be closed while PostgreSQL does not respond', async (t) => {
  // On a server of its own: a stopped backend also blocks other backends.
  const cluster = await Cluster.start();
  t.after(() => cluster.remove());
  const store = await openStore(cluster.url(), { create: true, purpose: 'write' });
  await store.status();
  const [row] = await cluster.admin(
    `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'store-orders %'`,
  );
  process.kill(Number(row![0]), 'SIGSTOP');
  const answer = assert.rejects(store.status(), /PostgreSQL/);
  await store.close();
  await answer;
  process.kill(Number(row![0]), 'SIGCONT');
});

test('a changed DATABASE_URL_FILE can change the credentials, but not the database', async (t) => {
  const [url, other] = [await newPostgresDatabase(t), await newPostgresDatabase(t)];
  const file = join(temporaryFolder(t), 'url');
  writeFileSync(file, url);
  const { currentDatabaseUrl } = readConfig({ DATABASE_URL_FILE: file });
  assert.equal(currentDatabaseUrl(), url);
  writeFileSync(file, other);
  assert.equal(currentDatabaseUrl(), url);
  const changed = url.replace('postgres@', 'someone:else@');
  writeFileSync(file, changed);
  assert.equal(currentDatabaseUrl(), changed);
  writeFileSync(file, 'nonsense');
  assert.equal(currentDatabaseUrl(), changed);
});
