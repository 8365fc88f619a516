import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { databaseAt } from '../../src/store/database.ts';
import { query } from '../postgres.ts';
import { newPostgresDatabase, open, place } from './engines.ts';

const END_SESSIONS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;

/**
 * Serves a store, makes a change by hand, and ends the sessions of the node, as a crash of the server does: the node refuses the store, a start is
 * refused, and doctor has a problem, until the change is undone.
 */
async function expectRefused(
  t: TestContext,
  {
    change,
    undo,
    found,
  }: { readonly change: string; readonly undo: string; readonly found: RegExp },
): Promise<void> {
  const url = await newPostgresDatabase(t);
  const store = await open(t, url, 'service');
  await store.apply([place({ id: 1n, status: 'pending' })]);
  await query(url, change.replace('DATABASE', `DATABASE ${new URL(url).pathname.slice(1)}`));
  await query(url, END_SESSIONS);
  await assert.rejects(async () => {
    // The first use of each connection finds that it was ended.
    for (let use = 0; use < 3; use += 1) await store.status().catch(String);
    await store.status();
  }, found);
  await assert.rejects(open(t, url, 'service'), found);
  const problems = (await databaseAt(url).diagnose()).filter(({ level }) => level === 'problem');
  assert.ok(problems.some((each) => found.test(each.found)));
  await query(url, undo.replace('DATABASE', `DATABASE ${new URL(url).pathname.slice(1)}`));
  await (await open(t, url, 'service')).close();
}

test('PostgreSQL: a store with an UNLOGGED table, which a crash empties, is not served', async (t) => {
  await expectRefused(t, {
    change: 'ALTER TABLE orders SET UNLOGGED',
    undo: 'ALTER TABLE orders SET LOGGED',
    found: /UNLOGGED.*: orders/,
  });
});

for (const name of ['zero_damaged_pages', 'ignore_checksum_failure']) {
  test(`PostgreSQL: a store is not served while ${name} hides damage`, async (t) => {
    await expectRefused(t, {
      change: `ALTER DATABASE SET ${name} TO on`,
      undo: `ALTER DATABASE RESET ${name}`,
      found: new RegExp(`${name} is on`),
    });
  });
}

test('PostgreSQL: a store into which a subscription writes is not served', async (t) => {
  const subscription = `s${process.pid}`;
  await expectRefused(t, {
    change: `CREATE SUBSCRIPTION ${subscription} CONNECTION 'host=localhost' PUBLICATION p
        WITH (connect = false, slot_name = NONE, enabled = false);
      INSERT INTO pg_subscription_rel VALUES
        ((SELECT oid FROM pg_subscription WHERE subname = '${subscription}'), 'orders'::regclass, 'r', NULL)`,
    undo: `DROP SUBSCRIPTION ${subscription}`,
    found: /a subscription of logical replication/,
  });
});
