import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newApiKey, newSecret } from '../../src/domain/api-key.ts';
import { databaseAt } from '../../src/store/database.ts';
import type { Store } from '../../src/store/store.ts';
import { query } from '../postgres.ts';
import { newPostgresDatabase, olderPostgresStore, open } from './engines.ts';

const COUNT = 60;

/** As a newer ICU does: the databases of the tests ignore punctuation, and this one does not. */
async function changeCollation(url: string): Promise<void> {
  // Of PostgreSQL 17 and newer.
  await query(
    url,
    "UPDATE pg_database SET datlocale = 'und-u-ka-noignore' WHERE datname = current_database()",
  );
}

/** Makes planners use indexes, as they do in a store with many rows. */
async function preferIndexes(url: string): Promise<void> {
  const [[name] = []] = await query(url, 'SELECT current_database()');
  await query(url, `ALTER DATABASE ${name} SET enable_seqscan = off`);
  await query(url, `ALTER DATABASE ${name} SET enable_bitmapscan = off`);
}

const nameOf = (index: number) =>
  `${index % 3 === 0 ? 'order-' : 'order'}${index % 2 === 0 ? '-' : '_'}${index}`;

async function placeAll(store: Store): Promise<{ id: bigint; isReplay: boolean }[]> {
  const placed: { id: bigint; isReplay: boolean }[] = [];
  for (let index = 0; index < COUNT; index += 1) {
    const draft = { status: 'pending', reference: nameOf(index) } as const;
    const names = { by: 'key', idempotencyKey: nameOf(index), digest: 'd' };
    const [outcome] = await store.apply([{ type: 'placeOrder', draft, ...names }]);
    assert.ok(outcome?.refusal === undefined);
    placed.push({ id: outcome!.id, isReplay: outcome!.isReplay });
  }
  return placed;
}

test('PostgreSQL: after its collation has changed, placements are found that are repeated, and orders by reference', async (t) => {
  const url = await newPostgresDatabase(t);
  const placed = await open(t, url).then(async (store) => {
    const outcomes = await placeAll(store);
    await store.close();
    return outcomes;
  });
  // Text in the collation of the database shows that this change hides rows.
  await query(url, 'CREATE TABLE control (name text PRIMARY KEY)');
  for (let index = 0; index < COUNT; index += 1) {
    await query(url, `INSERT INTO control VALUES ('${nameOf(index)}')`);
  }
  await preferIndexes(url);
  await changeCollation(url);
  let found = 0;
  for (let index = 0; index < COUNT; index += 1) {
    found += (await query(url, `SELECT 1 FROM control WHERE name = '${nameOf(index)}'`)).length;
  }
  assert.ok(found < COUNT, 'the change of the collation hides no row');
  const store = await open(t, url);
  const again = await placeAll(store);
  assert.deepEqual(
    again,
    placed.map(({ id }) => ({ id, isReplay: true })),
  );
  for (let index = 0; index < COUNT; index += 1) {
    const query = { filter: { reference: nameOf(index) }, isDescending: false, limit: 10 };
    const { orders } = await store.page(query);
    assert.deepEqual(
      orders.map(({ id }) => id),
      [placed[index]!.id],
    );
  }
});

test('PostgreSQL: no index has the collation of the database, except of the types of events and the names of migrations', async (t) => {
  const url = await newPostgresDatabase(t);
  await open(t, url);
  const rows = await query(
    url,
    `SELECT DISTINCT indexrelid::regclass, attname FROM pg_index
       CROSS JOIN unnest(indcollation, indkey) AS part (collation_id, number)
       LEFT JOIN pg_attribute ON attrelid = indrelid AND attnum = number
     WHERE collation_id <> 0 AND collation_id <> 'pg_catalog."C"'::regcollation AND indrelid::regclass::text !~ '^pg_'`,
  );
  assert.deepEqual(rows.sort(), [
    ['order_events_pkey', 'type'],
    ['store_orders_migrations_pkey', 'name'],
  ]);
});

test('PostgreSQL: a publication of all tables refuses no change of a table, with or without a primary key', async (t) => {
  const url = await newPostgresDatabase(t);
  const store = await open(t, url);
  await query(url, 'CREATE PUBLICATION warehouse FOR ALL TABLES');
  const key = newApiKey(newSecret('production'), {
    ...({ name: 'shop', environment: 'production', now: 1, cancelsPerHour: 1 } as const),
  });
  await store.apply([{ type: 'createKey', key }]);
  await placeAll(store);
  await store.apply([{ type: 'cancel', id: 1n, by: key.id, cancelsPerHour: 1 }]);
  await store.apply([{ type: 'revokeKey', id: key.id }]);
  assert.notEqual((await store.keys())[0]!.revokedAt, undefined);
  const unidentified = await query(
    url,
    `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relreplident = 'd'
       AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary)`,
  );
  assert.deepEqual(unidentified, []);
});

/** The schema before the migration of the text keys. */
const BEFORE = 25;

test('PostgreSQL: a store whose indexes may be in a former order is not served, and doctor names what to do', async (t) => {
  const url = await olderPostgresStore(t, BEFORE);
  await query(
    url,
    "UPDATE pg_database SET datcollversion = '1' WHERE datname = current_database()",
  );
  const database = databaseAt(url);
  const serve = () => database.open({ create: false, purpose: 'service' });
  const advice =
    /had version 1 when .* stop all nodes, then run REINDEX DATABASE "test_\w+" and, as a second command, ALTER DATABASE "test_\w+" REFRESH COLLATION VERSION/;
  await assert.rejects(serve(), advice);
  const findings = (await database.diagnose()).filter(({ subject }) => subject === 'collation');
  assert.deepEqual(
    findings.map(({ level }) => level),
    ['problem'],
  );
  const [[name] = []] = await query(url, 'SELECT current_database()');
  await query(url, `REINDEX DATABASE ${name}`);
  await query(url, `ALTER DATABASE ${name} REFRESH COLLATION VERSION`);
  await (await serve()).close();
  assert.ok((await database.diagnose()).every(({ subject }) => subject !== 'collation'));
  // From then on nothing depends on it.
  await query(
    url,
    "UPDATE pg_database SET datcollversion = '1' WHERE datname = current_database()",
  );
  await (await serve()).close();
});

test('PostgreSQL: a statement that was prepared before a migration changed its columns fails once', async (t) => {
  const url = await newPostgresDatabase(t);
  const store = await open(t, url);
  const keys = () => store.keys();
  await keys();
  await query(url, 'ALTER TABLE api_keys ALTER COLUMN name TYPE text COLLATE "C"');
  await assert.rejects(keys(), /cached plan must not change result type/);
  assert.deepEqual(await keys(), []);
});
