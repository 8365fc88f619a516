import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Position } from '../../protocol/history.ts';
import { Listing } from '../../src/listing/listing.ts';
import { storeEtags } from '../../src/records/etags.ts';
import { backupStore } from '../../src/store/copy.ts';
import { databaseAt } from '../../src/store/database.ts';
import { sqlitePath } from '../../src/store/sqlite/database/connection.ts';
import type { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../temporary.ts';
import {
  cancel,
  ENGINES,
  open,
  place,
  positionAt,
  queryDatabase,
  restoreStore,
} from './engines.ts';

const pending = (id: bigint) => place({ id, status: 'pending' });

/** A list as a node serves it. */
async function listOf(listing: Listing): Promise<{ etag: string; body: string }> {
  const { position, chunks } = await listing.current();
  return { etag: storeEtags(position).identity, body: Buffer.concat(chunks).toString() };
}

/** Verifies that cursors up to a revision go on, and that later ones are gone. */
async function assertCommonUpTo(store: Store, kept: readonly Position[], revision: bigint) {
  for (const position of kept) {
    const page = await store.feed(position, 100);
    assert.equal(
      page !== undefined,
      position.revision <= revision,
      `revision ${position.revision}`,
    );
  }
}

/** Loads what `save` has kept, in place of the tables. */
const TABLES = ['store', 'orders', 'order_events'];
const SAVE = TABLES.map((name) => `CREATE TABLE kept_${name} AS SELECT * FROM ${name}`);
const LOAD = [
  ...['order_events', 'orders', 'store'].map((name) => `DELETE FROM ${name}`),
  ...TABLES.map((name) => `INSERT INTO ${name} SELECT * FROM kept_${name}`),
];

/** A server that lacks the last transaction, as after a failover. */
const LOSE = [
  'DELETE FROM order_events WHERE revision = 4',
  'DELETE FROM orders WHERE id = 4',
  'UPDATE store SET revision = 3, pending = 3, head = (SELECT head FROM order_events WHERE revision = 3 AND head IS NOT NULL)',
];

const FAULTS: readonly {
  readonly fault: string;
  readonly sql: readonly string[];
  readonly common: bigint;
  /** What happens afterwards. */
  readonly later: readonly bigint[];
}[] = [
  { fault: 'the last revision is lost', sql: LOSE, common: 3n, later: [] },
  { fault: 'it is reached again by another way', sql: LOSE, common: 3n, later: [14n] },
  { fault: 'a later one is reached', sql: LOSE, common: 3n, later: [14n, 15n] },
  { fault: 'tables are loaded again', sql: LOAD, common: 2n, later: [] },
  {
    fault: 'tables are loaded, and the same revision is reached',
    sql: LOAD,
    common: 2n,
    later: [13n, 14n],
  },
  {
    fault: 'tables are loaded, and a later revision is reached',
    sql: LOAD,
    common: 2n,
    later: [13n, 14n, 15n],
  },
];

for (const { name, newDatabase } of ENGINES) {
  for (const { fault, sql, common, later } of FAULTS) {
    test(`${name}: on a running node, ${fault}: lost cursors are gone, others go on, and no ETag names two lists`, async (t) => {
      const url = await newDatabase(t);
      const [node, other] = [await open(t, url, 'service'), await open(t, url)];
      for (const id of [1n, 2n]) await node.apply([pending(id)]);
      for (const each of SAVE) await queryDatabase(url, each);
      for (const id of [3n, 4n]) await node.apply([pending(id)]);
      const kept = await Promise.all(
        [1n, 2n, 3n, 4n].map((revision) => positionAt(node, revision)),
      );
      const listing = new Listing(node);
      const before = await listOf(listing);
      for (const each of sql) await queryDatabase(url, each);
      for (const id of later) await other.apply([pending(id)]);
      const after = await listOf(listing);
      const ids = [...after.body.matchAll(/"id":(\d+)/g)].map(([, id]) => BigInt(id!));
      assert.deepEqual(ids, [1n, 2n, 3n, 4n].slice(0, Number(common)).concat(later));
      assert.notEqual(after.etag, before.etag);
      assert.deepEqual(await listOf(new Listing(other)), after);
      for (const store of [node, other]) await assertCommonUpTo(store, kept, common);
    });
  }
}

/** A store of four revisions, with a backup of the second one; and all of its positions. */
async function withBackup(t: TestContext) {
  const folder = temporaryFolder(t);
  const [url, backup] = [`sqlite:${join(folder, 'store.db')}`, join(folder, 'backup.db')];
  const store = await open(t, url, 'service');
  for (const id of [1n, 2n]) await store.apply([pending(id)]);
  await backupStore(databaseAt(url), backup);
  for (const id of [3n, 4n]) await store.apply([pending(id)]);
  const kept = await Promise.all([1n, 2n, 3n, 4n].map((revision) => positionAt(store, revision)));
  const before = await listOf(new Listing(store));
  await store.close();
  return { url, backup, kept, before };
}

for (const { how, put } of [
  {
    how: 'restored',
    put: (url: string, backup: string) => restoreStore(url, backup),
  },
  {
    how: 'put in place by hand',
    put: async (url: string, backup: string) => copyFileSync(backup, sqlitePath(url)),
  },
]) {
  for (const changes of [0, 2, 3]) {
    test(`SQLite: a backup that is ${how}, with ${changes} changes since: cursors up to it go on, later ones are gone`, async (t) => {
      const { url, backup, kept, before } = await withBackup(t);
      await put(url, backup);
      const store = await open(t, url, 'service');
      const others = [cancel(1n), cancel(2n), pending(20n)];
      for (const change of others.slice(0, changes)) await store.apply([change]);
      await assertCommonUpTo(store, kept, 2n);
      assert.notEqual((await listOf(new Listing(store))).etag, before.etag);
    });
  }
}
