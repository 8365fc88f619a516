import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { databaseAt } from '../../src/store/database.ts';
import { planMigration } from '../../src/store/postgres/database/migration-plan.ts';
import { eventually, query } from '../postgres.ts';
import { run } from '../process/program.ts';
import { olderPostgresStore } from './engines.ts';

/** Begins a transaction that has read every table, as pg_dump does. Returns what ends it. */
async function longRead(t: TestContext, url: string): Promise<() => Promise<unknown>> {
  const client = new Client({ connectionString: url, application_name: 'pg_dump' });
  client.on('error', () => {});
  await client.connect();
  t.after(() => client.end());
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await client.query('SELECT count(*) FROM store, orders, order_events, api_keys');
  return () => client.query('COMMIT');
}

/** Starts a migration and waits until it has named a session that it waits for. */
async function waitingMigration(url: string) {
  const reasons: string[] = [];
  const migrated = databaseAt(url).open({
    ...({ create: false, purpose: 'migration' } as const),
    onWaiting: (reason) => reasons.push(reason),
  });
  migrated.catch(() => {});
  await eventually(async () => assert.ok(reasons.length > 0));
  return { reasons, migrated };
}

/** As a node of the release before: it reads, and writes, and is refused nothing for long. */
async function useAsNode(url: string, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const limited = new URL(url);
    limited.searchParams.set('options', '-c statement_timeout=2000');
    await query(limited.href, 'SELECT * FROM store, orders');
    await query(limited.href, 'UPDATE store SET revision = revision');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('PostgreSQL: a migration that waits for a long read does not block nodes, and reports what it waits for', async (t) => {
  const url = await olderPostgresStore(t, 9);
  const end = await longRead(t, url);
  const { reasons, migrated } = await waitingMigration(url);
  assert.match(
    reasons[0]!,
    /^the migration 010-\S+ waits for process \d+ \(pg_dump, role \w+\), in a transaction for \d+ s$/,
  );
  await useAsNode(url, 40);
  await end();
  await (await migrated).close();
  const { schema, schemaDifferences: differences } = await databaseAt(url).check();
  assert.deepEqual([schema.has, differences], [schema.knows, []]);
});

test('PostgreSQL: indexes are built while changes are made, and an interrupted one is built again', async (t) => {
  const url = await olderPostgresStore(t, 7);
  const end = await longRead(t, url);
  const { reasons, migrated } = await waitingMigration(url);
  assert.match(reasons[0]!, /^the migration 008-\S+ waits for process \d+ \(pg_dump/);
  await query(url, "INSERT INTO order_events VALUES (1, 1, 'placed', 1)");
  await query(
    url,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX CONCURRENTLY%' AND datname = current_database()",
  );
  await assert.rejects(migrated);
  assert.deepEqual(await query(url, 'SELECT count(*) FROM pg_index WHERE NOT indisvalid'), [['1']]);
  await end();
  await query(url, 'DELETE FROM order_events');
  await (await databaseAt(url).open({ create: false, purpose: 'migration' })).close();
  const { schemaDifferences: differences, problems } = await databaseAt(url).check();
  assert.deepEqual([differences, problems], [[], []]);
});

test('PostgreSQL: a migration that a view prevents names it, and runs once that is dropped', async (t) => {
  const url = await olderPostgresStore(t, 23);
  await query(url, 'CREATE VIEW bi AS SELECT id FROM store');
  const migrated = () => databaseAt(url).open({ create: false, purpose: 'migration' });
  await assert.rejects(
    migrated(),
    /the migration 024-\S+ cannot run: view bi depends on column id of table store; drop/,
  );
  await query(url, 'DROP VIEW bi');
  await (await migrated()).close();
});

test('PostgreSQL: of two processes that migrate at the same time, one reports the migrations', async (t) => {
  const url = await olderPostgresStore(t, 25);
  const holder = new Client({ connectionString: url });
  await holder.connect();
  await holder.query('SELECT pg_advisory_lock($1)', [0x53544f52]);
  const reported: number[] = [];
  const waiting: string[] = [];
  const migrations = [1, 2].map(() =>
    databaseAt(url).open({
      ...({ create: false, purpose: 'migration' } as const),
      onMigrated: (from) => reported.push(from),
      onWaiting: (reason) => waiting.push(reason),
    }),
  );
  await eventually(async () => assert.equal(waiting.length, 2));
  await holder.end();
  for (const store of await Promise.all(migrations)) await store.close();
  assert.deepEqual(reported, [25]);
});

test('PostgreSQL: migrate --plan shows what would run, its locks and what holds them, and writes nothing', async (t) => {
  const url = await olderPostgresStore(t, 8);
  await longRead(t, url);
  const plan = async () => (await run(['migrate', '--plan', '--json', '--database', url])).stdout;
  await eventually(async () => assert.match(await plan(), /pg_dump/));
  const { steps, heldBy } = JSON.parse(await plan());
  const [events, ids] = steps;
  assert.match(
    events.effects[0],
    /^builds the index order_events_by_time on order_events, concurrently/,
  );
  assert.match(ids.effects[0], /^locks store \(ACCESS EXCLUSIVE\)/);
  assert.match(heldBy[0], /^process \d+ \(pg_dump, role \w+\), in a transaction for \d+ s$/);
  const { has } = (await databaseAt(url).check()).schema;
  assert.equal(has, 8);
  const { stdout } = await run(['migrate', '--plan', '--database', url]);
  assert.match(
    stdout,
    /^009-events-by-time\.postgres\.sql\n {2}builds .*\nSessions that hold these locks now:\n {2}process /s,
  );
});

test('a plan builds only those indexes concurrently whose tables exist', () => {
  const sql =
    'CREATE INDEX a ON orders (pet_id, id);\nCREATE TABLE n (id bigint);\nCREATE INDEX b ON n (id);\n';
  const { indexes, transaction, locks } = planMigration(sql, (name) => name === 'orders');
  assert.deepEqual(indexes, [
    { name: 'a', table: 'orders', sql: 'CREATE INDEX CONCURRENTLY a ON orders (pet_id, id);' },
  ]);
  assert.equal(transaction, '\nCREATE TABLE n (id bigint);\nCREATE INDEX b ON n (id);\n');
  assert.deepEqual(locks, []);
});
