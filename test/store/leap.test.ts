import assert from 'node:assert/strict';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FEW_IDS, leapAbove } from '../../src/domain/ids.ts';
import { INT64_MAX } from '../../src/domain/order.ts';
import { backupStore, copyStore } from '../../src/store/copy.ts';
import { databaseAt } from '../../src/store/database.ts';
import { sqlitePath } from '../../src/store/sqlite/database/connection.ts';
import type { Store } from '../../src/store/store.ts';
import { query } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';
import { ENGINES, newPostgresDatabase, open, queryDatabase, restoreStore } from './engines.ts';

const BILLION = 1_000_000_000n;
let keys = 0;

/** Places an order and returns its id. */
async function place(store: Store): Promise<bigint> {
  keys += 1;
  const names = { by: 'key', idempotencyKey: String(keys), digest: 'd' };
  const command = { type: 'placeOrder', draft: { status: 'pending' }, ...names } as const;
  const outcome = (await store.apply([command]))[0]!;
  assert.ok(outcome.refusal === undefined);
  return outcome.id;
}

/** Serves the store at `url` for a moment; returns the ids of `count` orders that are placed then. */
async function placed(url: string, count = 1): Promise<bigint[]> {
  const store = await databaseAt(url).open({ create: true, purpose: 'service' });
  try {
    const ids: bigint[] = [];
    for (let each = 0; each < count; each += 1) ids.push(await place(store));
    return ids;
  } finally {
    await store.close();
  }
}

/** Imports an order with an id. */
async function importOne(url: string, id: bigint): Promise<void> {
  const store = await databaseAt(url).open({ create: true, purpose: 'write' });
  await store.apply([{ type: 'insertOrder', order: { id, status: 'pending' } }]);
  await store.close();
}

/** Returns the path of a new backup of the store at `url`. */
async function backupOf(t: TestContext, url: string): Promise<string> {
  const file = join(temporaryFolder(t), 'backup.db');
  await backupStore(databaseAt(url), file);
  return file;
}

const restored = (url: string, file: string) => restoreStore(url, file);

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: ids ascend over restarts and migrations, without a leap`, async (t) => {
    const url = await newDatabase(t);
    await importOne(url, 5n);
    assert.deepEqual(await placed(url, 2), [6n, 7n]);
    await (await databaseAt(url).open({ create: false, purpose: 'migration' })).close();
    assert.deepEqual(await placed(url), [8n]);
  });

  test(`${name}: a store that is reactivated after a move leaps`, async (t) => {
    const [url, target] = [await newDatabase(t), await newDatabase(t)];
    await placed(url, 2);
    await copyStore(databaseAt(url), databaseAt(target), { isMove: true, onProgress: () => {} });
    assert.deepEqual(await placed(target), [3n]);
    const store = await open(t, url);
    await store.apply([{ type: 'reactivate' }]);
    assert.equal(await place(store), BILLION);
    assert.equal(await place(store), BILLION + 1n);
  });

  test(`${name}: a move that is repeated, since its target was lost, leaps`, async (t) => {
    const url = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
    await placed(url);
    const to = await (name === 'PostgreSQL' ? newPostgresDatabase(t) : newDatabase(t));
    const move = { isMove: true, onProgress: () => {} };
    await copyStore(databaseAt(url), databaseAt(to), move);
    assert.deepEqual(await placed(to), [2n]);
    if (to.startsWith('sqlite:')) {
      for (const suffix of ['', '-ids', '-wal', '-shm'])
        rmSync(sqlitePath(to) + suffix, { force: true });
    } else await query(to, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await copyStore(databaseAt(url), databaseAt(to), move);
    assert.deepEqual(await placed(to), [BILLION]);
  });

  test(`${name}: a backup that is copied into the database leaps`, async (t) => {
    const source = `sqlite:${join(temporaryFolder(t), 'source.db')}`;
    await placed(source, 2);
    const backup = await backupOf(t, source);
    const target = await newDatabase(t);
    await copyStore(databaseAt(`sqlite:${backup}`), databaseAt(target), {
      isMove: true,
      onProgress: () => {},
    });
    assert.deepEqual(await placed(target, 2), [BILLION, BILLION + 1n]);
  });

  test(`${name}: ids that are skipped are not given, also while the store is served`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url, 'service');
    assert.equal(await place(store), 1n);
    const other = await open(t, url);
    assert.deepEqual(await other.apply([{ type: 'skipIds' }]), [
      { highest: BILLION - 1n, last: INT64_MAX },
    ]);
    assert.equal(await place(store), BILLION);
    // The history between the two leaps may have given ids.
    await other.apply([{ type: 'skipIds' }]);
    await other.apply([{ type: 'skipIds' }]);
    assert.equal(await place(store), 3n * BILLION);
  });

  test(`${name}: a leap follows the rule of leapAbove at every height`, async (t) => {
    const heights = [1n, 8n * (BILLION / 10n), BILLION - 1n, BILLION, 2n ** 53n].concat(
      [5n * BILLION, BILLION, BILLION / 10n, 1n].map((below) => INT64_MAX - below),
    );
    for (const highest of heights) {
      const url = await newDatabase(t);
      await importOne(url, highest);
      const store = await open(t, url, 'service');
      await queryDatabase(url, "UPDATE store SET origin = 'another'");
      const { freeIds } = await store.status();
      assert.equal(freeIds.highest, leapAbove({ highest, last: INT64_MAX }));
      assert.ok(freeIds.highest >= highest + BILLION / 10n || freeIds.highest === INT64_MAX);
    }
  });

  test(`${name}: with a last id, orders above it are disregarded`, async (t) => {
    const url = await newDatabase(t);
    await importOne(url, 7n);
    await importOne(url, INT64_MAX);
    const store = await open(t, url, 'service');
    await assert.rejects(place(store));
    assert.deepEqual(await store.apply([{ type: 'limitIds', last: FEW_IDS }]), [
      { highest: 7n, last: FEW_IDS },
    ]);
    assert.equal(await place(store), 8n);
    // Beyond the last one there is none.
    await store.apply([{ type: 'limitIds', last: 9n }]);
    assert.equal(await place(store), 9n);
    await assert.rejects(place(store));
    // What a leap has reserved above the last id stays reserved, by another leap.
    await store.apply([{ type: 'limitIds', last: INT64_MAX - 1n }]);
    await store.apply([{ type: 'skipIds' }]);
    assert.equal(await place(store), BILLION);
  });
}

test('SQLite: a restored store leaps above its own ids and those of the database that it replaces', async (t) => {
  const url = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  await placed(url, 2);
  const backup = await backupOf(t, url);
  await placed(url, 2);
  assert.equal((await restored(url, backup)).nextId, BILLION);
  assert.deepEqual(await placed(url, 2), [BILLION, BILLION + 1n]);
  // The same backup again: the database that it replaces has given ids above the first leap.
  assert.equal((await restored(url, backup)).nextId, 2n * BILLION);
  assert.deepEqual(await placed(url), [2n * BILLION]);
});

test('SQLite: a backup that was made after a restore, before any placement, leaps again', async (t) => {
  const url = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  await placed(url, 2);
  await restored(url, await backupOf(t, url));
  const second = await backupOf(t, url);
  assert.deepEqual(await placed(url, 2), [BILLION, BILLION + 1n]);
  const elsewhere = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  assert.equal((await restored(elsewhere, second)).nextId, 2n * BILLION);
  assert.deepEqual(await placed(elsewhere), [2n * BILLION]);
});

test('SQLite: a database file that is restored leaps once', async (t) => {
  const folder = temporaryFolder(t);
  const [url, kept] = [`sqlite:${join(folder, 'store.db')}`, join(folder, 'kept.db')];
  await placed(url, 2);
  copyFileSync(sqlitePath(url), kept);
  assert.equal((await restored(url, kept)).nextId, BILLION);
  assert.deepEqual(await placed(url), [BILLION]);
});

test('SQLite: a copy of the file that is moved at once to another database leaps there', async (t) => {
  const folder = temporaryFolder(t);
  const [path, kept] = [join(folder, 'store.db'), join(folder, 'kept.db')];
  await placed(`sqlite:${path}`, 2);
  copyFileSync(path, kept);
  await placed(`sqlite:${path}`);
  const to = `sqlite:${join(folder, 'to.db')}`;
  await copyStore(databaseAt(`sqlite:${kept}`), databaseAt(to), {
    isMove: true,
    onProgress: () => {},
  });
  assert.deepEqual(await placed(to), [BILLION]);
});

test('SQLite: a backup of an earlier release leaps when it is restored, migrated and served', async (t) => {
  const folder = temporaryFolder(t);
  const [url, backup] = [`sqlite:${join(folder, 'store.db')}`, join(folder, 'backup.db')];
  await placed(url, 2);
  await backupStore(databaseAt(url), backup);
  // As the release before has it.
  for (const sql of [
    ...['leap', 'details_of_new', 'details_of_changed'].map((name) => `DROP TRIGGER ${name}`),
    'DROP VIEW highest_id',
    'DROP INDEX api_keys_by_former_digest',
    'DROP INDEX api_keys_by_ticket',
    ...['former_digest', 'former_until', 'former_used_at', 'places_per_hour'].map(
      (column) => `ALTER TABLE api_keys DROP COLUMN ${column}`,
    ),
    ...['created_by', 'secret_by', 'ticket_digest', 'ticket_until'].map(
      (column) => `ALTER TABLE api_keys DROP COLUMN ${column}`,
    ),
    ...['reserved_id', 'last_id', 'origin', 'listed_at', 'identity', 'audit_head'].map(
      (column) => `ALTER TABLE store DROP COLUMN ${column}`,
    ),
    ...[
      'audit',
      'operator_revisions',
      'changed_all',
      'webhooks',
      'webhook_lease',
      'place_uses',
    ].map((table) => `DROP TABLE ${table}`),
    ...[
      'orders_by_reference',
      'orders_by_key_and_reference',
      'orders_by_ship_date',
      'order_events_placed',
      'revisions_by_time',
    ].map((name) => `DROP INDEX ${name}`),
    ...['reference', 'reference_key', 'reason', 'tracking_number'].map(
      (column) => `ALTER TABLE orders DROP COLUMN ${column}`,
    ),
    ...['store', 'order_events'].map((table) => `ALTER TABLE ${table} DROP COLUMN head`),
    'CREATE INDEX order_events_by_time ON order_events (at, revision, order_id)',
    ...['name', 'total', 'begun_at', 'finished_at'].map(
      (column) => `ALTER TABLE imports DROP COLUMN ${column}`,
    ),
    "ALTER TABLE store ADD COLUMN id TEXT NOT NULL DEFAULT ''",
    'ALTER TABLE store ADD COLUMN mark INTEGER NOT NULL DEFAULT 0',
    'PRAGMA user_version = 9',
  ]) {
    await queryDatabase(`sqlite:${backup}`, sql);
  }
  await placed(url, 1);
  await restored(url, backup);
  assert.deepEqual(await queryDatabase(url, 'PRAGMA user_version'), [['9']]);
  assert.deepEqual(await placed(url), [BILLION]);
  const records = await queryDatabase(url, 'SELECT command FROM audit');
  // The second one for the heads that were computed.
  assert.deepEqual(records, [['restore'], ['migrate']]);
});

test('SQLite: a backup that is put in place by hand leaps, once', async (t) => {
  const url = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  await placed(url, 2);
  const backup = await backupOf(t, url);
  await placed(url);
  rmSync(sqlitePath(url));
  copyFileSync(backup, sqlitePath(url));
  await importOne(url, 3n);
  assert.deepEqual(await placed(url, 2), [BILLION, BILLION + 1n]);
  assert.deepEqual(await placed(url), [BILLION + 2n]);
});

test('SQLite: a copy of the file that is put in its place leaps', async (t) => {
  const folder = temporaryFolder(t);
  const [path, kept] = [join(folder, 'store.db'), join(folder, 'kept.db')];
  await placed(`sqlite:${path}`, 2);
  copyFileSync(path, kept);
  await placed(`sqlite:${path}`);
  rmSync(path);
  copyFileSync(kept, path);
  assert.deepEqual(await placed(`sqlite:${path}`), [BILLION]);
});

test('SQLite: a copy that is written over the file leaps, once', async (t) => {
  const folder = temporaryFolder(t);
  const [path, kept] = [join(folder, 'store.db'), join(folder, 'kept.db')];
  await placed(`sqlite:${path}`, 2);
  copyFileSync(path, kept);
  await placed(`sqlite:${path}`);
  copyFileSync(kept, path);
  assert.deepEqual(await placed(`sqlite:${path}`), [BILLION]);
  assert.deepEqual(await placed(`sqlite:${path}`), [BILLION + 1n]);
  // Nothing was lost.
  copyFileSync(path, kept);
  copyFileSync(kept, path);
  assert.deepEqual(await placed(`sqlite:${path}`), [BILLION + 2n]);
});

test('SQLite: a new store begins at 1, also where another one was deleted with its last id', async (t) => {
  const path = join(temporaryFolder(t), 'store.db');
  await placed(`sqlite:${path}`, 2);
  for (const end of ['', '-ids']) rmSync(path + end);
  assert.deepEqual(await placed(`sqlite:${path}`), [1n]);
});

test('SQLite: a last id below an order stays, whatever was given above it', async (t) => {
  const url = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  await importOne(url, 7n);
  await importOne(url, INT64_MAX);
  const store = await databaseAt(url).open({ create: false, purpose: 'write' });
  await store.apply([{ type: 'limitIds', last: FEW_IDS }]);
  await store.close();
  assert.deepEqual(await placed(url), [8n]);
});

test('PostgreSQL: an older copy in the place of the database leaps', async (t) => {
  const url = await newPostgresDatabase(t);
  await placed(url, 2);
  const server = process.env.TEST_DATABASE_URL!;
  const name = new URL(url).pathname.slice(1);
  await query(server, `CREATE DATABASE ${name}_copy TEMPLATE ${name}`);
  await placed(url);
  await query(server, `DROP DATABASE ${name}`);
  await query(server, `ALTER DATABASE ${name}_copy RENAME TO ${name}`);
  assert.deepEqual(await placed(url, 2), [BILLION, BILLION + 1n]);
});

test('PostgreSQL: tables that are emptied and filled with older rows leap', async (t) => {
  const url = await newPostgresDatabase(t);
  await placed(url, 2);
  for (const table of ['store', 'orders', 'order_events']) {
    await query(url, `CREATE TABLE kept_${table} AS SELECT * FROM ${table}`);
  }
  await placed(url);
  for (const table of ['store', 'orders', 'order_events']) {
    await query(url, `TRUNCATE ${table}`);
    await query(url, `INSERT INTO ${table} SELECT * FROM kept_${table}`);
  }
  assert.deepEqual(await placed(url), [BILLION]);
});

test('PostgreSQL: a node whose server has lost an order that it placed leaps', async (t) => {
  const url = await newPostgresDatabase(t);
  const store = await open(t, url, 'service');
  assert.deepEqual([await place(store), await place(store)], [1n, 2n]);
  for (const sql of [
    'DELETE FROM orders WHERE id = 2',
    'DELETE FROM order_events WHERE order_id = 2',
    'UPDATE store SET revision = 1, pending = 1',
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()',
  ]) {
    await query(url, sql);
  }
  let id: bigint | undefined;
  // The first attempt finds the connection lost.
  for (let attempt = 0; attempt < 100 && id === undefined; attempt += 1) {
    id = await place(store).catch(() => undefined);
  }
  assert.equal(id, BILLION);
});

test('PostgreSQL: roles that may read less of the server than others do not leap in turns', async (t) => {
  const url = await newPostgresDatabase(t);
  const role = `role_${new URL(url).pathname.slice(1)}`;
  await placed(url);
  for (const sql of [
    `CREATE ROLE ${role} LOGIN`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`,
    'REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC',
  ]) {
    await query(url, sql);
  }
  t.after(() => query(process.env.TEST_DATABASE_URL!, `DROP ROLE ${role}`));
  const own = new URL(url);
  own.username = role;
  assert.deepEqual([await placed(own.href), await placed(url)], [[2n], [3n]]);
  await query(url, "UPDATE store SET origin = ''");
  assert.deepEqual([await placed(own.href), await placed(url)], [[4n], [5n]]);
  assert.deepEqual(await placed(own.href), [6n]);
});
