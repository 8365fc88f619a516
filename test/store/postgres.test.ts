import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { isSamePosition } from '../../protocol/history.ts';
import { newApiKey, newSecret } from '../../src/domain/api-key.ts';
import { readConfig } from '../../src/service/settings/config.ts';
import { databaseAt } from '../../src/store/database.ts';
import { newSession } from '../../src/store/postgres/database/connection.ts';
import { COMMAND, SESSION_SETTINGS } from '../../src/store/postgres/database/session-settings.ts';
import { MAX_HELD_BACK } from '../../src/store/store.ts';
import { eventually, query } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';
import { newPostgresDatabase, open } from './engines.ts';

test('stores opened concurrently on an empty database are one store', async (t) => {
  for (let round = 0; round < 2; round += 1) {
    const url = await newPostgresDatabase(t);
    const stores = await Promise.all(Array.from({ length: 5 }, () => open(t, url)));
    for (const [index, store] of stores.entries()) {
      await store.apply([place(BigInt(index))]);
    }
    const heads = await Promise.all(stores.map(async (store) => (await store.status()).head));
    assert.equal(new Set(heads).size, 1);
    for (const store of stores) await store.close();
  }
});

test('three nodes that cancel the same orders concurrently cancel each order once, without errors', async (t) => {
  const url = await newPostgresDatabase(t);
  const stores = await Promise.all([open(t, url), open(t, url), open(t, url)]);
  const ids = Array.from({ length: 2_000 }, (_, index) => BigInt(index));
  await stores[0]!.apply(
    ids.map((id) => ({ type: 'insertOrder', order: { id, status: 'pending' } })),
  );
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

test('rows that row-level security hides are an error, and never missing orders', async (t) => {
  const url = await newPostgresDatabase(t);
  const store = await open(t, url);
  await store.apply([place(1n)]);
  const { url: roleUrl, role } = await newRole(t, url);
  await query(url, `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
  const limited = await open(t, roleUrl, 'read');
  await query(url, 'ALTER TABLE orders ENABLE ROW LEVEL SECURITY');
  const reads = [
    () => limited.orders([1n]),
    () => limited.changedOrders(undefined, () => {}),
    () => limited.history.scan(async () => undefined),
    () => limited.apply([{ type: 'cancel', id: 1n } as const]),
    () => databaseAt(roleUrl).check(),
    () => databaseAt(roleUrl).open({ create: false, purpose: 'read' }),
  ];
  for (const read of reads)
    await assert.rejects(read(), /row-level security hides rows from this role: .* BYPASSRLS/);
  const findings = await databaseAt(roleUrl).diagnose();
  const { found, advice } = findings.find(({ subject }) => subject === 'rights')!;
  assert.equal(found, 'row-level security hides rows from this role in orders');
  assert.match(advice!, /owns the tables.*FORCE ROW LEVEL SECURITY/);
  await query(url, `ALTER ROLE ${role} BYPASSRLS`);
  assert.equal((await (await open(t, roleUrl, 'read')).orders([1n])).length, 1);
});

for (const [what, change] of [
  [
    'a foreign table',
    'CREATE EXTENSION postgres_fdw; CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw; ALTER TABLE pets RENAME TO gone; CREATE FOREIGN TABLE pets (id bigint NOT NULL, name text, tag text) SERVER other',
  ],
  ['a view', 'ALTER TABLE pets RENAME TO gone; CREATE VIEW pets AS SELECT * FROM gone'],
  ['an unlogged table, which a crash empties', 'ALTER TABLE pets SET UNLOGGED'],
] as const) {
  test(`a store is not served if one of its tables is ${what}`, async (t) => {
    const url = await newPostgresDatabase(t);
    await (await open(t, url)).close();
    for (const sql of change.split(';')) await query(url, sql);
    const opened = databaseAt(url).open({ create: false, purpose: 'service' });
    await assert.rejects(opened, /the schema lacks: table pets|tables are UNLOGGED/);
    const { schemaDifferences } = await databaseAt(url).check();
    assert.ok(schemaDifferences.some((each) => /^the schema has instead: .* pets$/.test(each)));
  });
}

test('a search path without an existing schema is named as such', async (t) => {
  const url = `${await newPostgresDatabase(t)}?options=-c%20search_path%3Dnowhere`;
  const opened = databaseAt(url).open({ create: true, purpose: 'service' });
  await assert.rejects(opened, /no schema of the search path exists/);
  const findings = await databaseAt(url).diagnose();
  const rights = findings.find(({ subject }) => subject === 'rights')!;
  assert.equal(rights.found, 'no schema of the search path exists: nowhere');
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
    ['quote_all_identifiers', 'on'],
    ['idle_session_timeout', '200ms'],
    ['transform_null_equals', 'on'],
    ['session_replication_role', 'replica'],
    ['row_security', 'on'],
    ['exit_on_error', 'on'],
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
    { type: 'insertOrder', order },
    { type: 'cancel', id: 1n, by: 'NULL' },
    { type: 'insertOrder', order: { ...order, id: 2n } },
    { type: 'cancel', id: 2n },
  ]);
  assert.equal((await store.orders([1n]))[0]!.petId, undefined);
  assert.deepEqual(
    (await store.events(1n)).map(({ by }) => by),
    [undefined, 'NULL'],
  );
  assert.deepEqual(
    (await store.events(2n)).map(({ by }) => by),
    [undefined, undefined],
  );
  const { schemaDifferences } = await databaseAt(url).check();
  assert.deepEqual(schemaDifferences, []);
  const session = await newSession(url, COMMAND);
  t.after(() => session.destroy());
  const settings = await session.query(
    'SELECT name, setting FROM pg_settings WHERE name = ANY ($1::text[])',
    [`{${Object.keys(SESSION_SETTINGS).join()}}`],
  );
  const actual = Object.fromEntries(settings);
  for (const [setting, value] of Object.entries(SESSION_SETTINGS)) {
    if (/^[$C]/.test(value)) continue;
    assert.equal(actual[setting], value, setting);
  }
  assert.equal(actual.synchronous_commit, 'on');
  const documented = readFileSync(new URL('../../docs/postgresql.md', import.meta.url), 'utf8');
  for (const setting of Object.keys(SESSION_SETTINGS)) {
    assert.match(documented, new RegExp(`^\\|.*\`${setting}\`.* \\|`, 'm'));
  }
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
    const known = await store.changedOrders(undefined, () => {});
    for (const sql of replace.split(';')) await query(url, sql);
    assert.equal(await store.changedOrders(known, () => {}), known, 'the history is the same');
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
    const known = await node.changedOrders(undefined, () => {});
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
      node.changedOrders(known, (orders) => visited.push(...orders.map(({ id }) => id))),
    );
    assert.deepEqual(visited, isKnown ? [11n, 12n, 13n].slice(0, laterChanges) : []);
    assert.equal(now?.revision, isKnown ? 3n + BigInt(laterChanges) : undefined);
    const anew = await node.changedOrders(undefined, () => {});
    assert.equal(isSamePosition(anew!, known!), laterChanges === 0 && isKnown);
  });
}

/** Simulates a failover to a standby that lacks the last transaction. */
async function loseLastTransaction(url: string): Promise<void> {
  await query(url, 'DELETE FROM orders WHERE id = 3');
  await query(url, 'DELETE FROM order_events WHERE order_id = 3');
  await query(
    url,
    'UPDATE store SET revision = 2, pending = 2, head = (SELECT head FROM order_events WHERE revision = 2)',
  );
}

function place(id: bigint) {
  return { type: 'insertOrder', order: { id, status: 'pending' } } as const;
}

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

/** What a store does on a database that another one changes between the reading and the writing of the store. */
async function overtaken<T>(url: string, act: () => Promise<T>, change: string): Promise<T> {
  const other = new Client({ connectionString: url });
  await other.connect();
  try {
    await other.query('BEGIN; SELECT FROM store FOR UPDATE');
    const acting = act();
    acting.catch(() => {});
    const waiting = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await eventually(async () => assert.equal((await query(url, waiting)).length, 1));
    await other.query(`${change}; COMMIT`);
    return await acting;
  } finally {
    await other.end();
  }
}

test('a store that is moved between read and write is not written, with the reason', async (t) => {
  const url = await newPostgresDatabase(t);
  const store = await open(t, url);
  await store.apply([{ type: 'insertOrder', order: { id: 1n, status: 'pending' } }]);
  const cancel = () => store.apply([{ type: 'cancel', id: 1n }]);
  const moved = overtaken(url, cancel, "UPDATE store SET moved_to = 'sqlite:x'");
  await assert.rejects(moved, /the store was moved/);
  assert.deepEqual(await query(url, 'SELECT status FROM orders'), [['pending']]);
  assert.deepEqual(await query(url, 'SELECT revision, pending FROM store'), [['1', '1']]);
});

test('ids reserved by another import between read and write are not assigned', async (t) => {
  const url = await newPostgresDatabase(t);
  const store = await open(t, url);
  const begin = {
    ...({ type: 'beginImport', source: 'a', run: 'r', from: 0, highestId: 0n } as const),
    ...{ name: 'a', total: 2, isAgain: false },
  };
  await store.apply([begin]);
  const place = () =>
    store.apply([
      {
        ...{ type: 'importOrders', source: 'a', run: 'r', auditId: 1n },
        orders: [{ status: 'pending' }],
      },
    ]);
  const taken = "INSERT INTO imports (source, run, placed, highest_id) VALUES ('b', 's', 0, 100)";
  assert.deepEqual(await overtaken(url, place, taken), [{ placed: 1 }]);
  assert.deepEqual(await query(url, 'SELECT id FROM orders'), [['101']]);
});

test('ids reserved by an import between read and write are not given to a placement', async (t) => {
  const url = await newPostgresDatabase(t);
  const store = await open(t, url);
  const place = () =>
    store.apply([
      {
        type: 'placeOrder',
        ...{ by: 'key_a', idempotencyKey: 'k', digest: 'd' },
        draft: { status: 'pending' },
      },
    ]);
  const taken = "INSERT INTO imports (source, run, placed, highest_id) VALUES ('b', 's', 0, 100)";
  const [outcome] = await overtaken(url, place, taken);
  assert.equal(outcome?.refusal === undefined && outcome?.id, 101n);
  assert.deepEqual(await query(url, 'SELECT id FROM orders'), [['101']]);
});

test('commits are durable and isolation is read committed, whatever the settings of the database', async (t) => {
  const url = await newPostgresDatabase(t);
  const store = await open(t, url);
  const name = new URL(url).pathname.slice(1);
  await query(url, `ALTER DATABASE ${name} SET synchronous_commit = off`);
  await query(url, `ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
  await query(
    url,
    `CREATE TABLE seen (commits text, isolation text);
    CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO seen VALUES (current_setting('synchronous_commit'), current_setting('transaction_isolation'));
      RETURN NEW; END $$;
    CREATE TRIGGER look AFTER UPDATE ON store FOR EACH ROW EXECUTE FUNCTION look()`,
  );
  await store.apply([{ type: 'insertOrder', order: { id: 1n, status: 'pending' } }]);
  assert.deepEqual(await query(url, 'SELECT DISTINCT * FROM seen'), [['on', 'read committed']]);
});

test('a commit that was rolled back is a failure', async (t) => {
  const session = await newSession(await newPostgresDatabase(t), COMMAND);
  t.after(() => session.end());
  await session.run('BEGIN');
  await assert.rejects(session.query('SELECT 1 / 0'), /division by zero/);
  await assert.rejects(session.commit(), /the transaction had failed/);
});

test('a warning of a trigger, or about ids of transactions, is passed on, and no failure of a change', async (t) => {
  const url = await newPostgresDatabase(t);
  await open(t, url);
  await query(
    url,
    `CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'seen'; RETURN NEW; END $$;
    CREATE TRIGGER warn BEFORE UPDATE ON store FOR EACH ROW EXECUTE FUNCTION warn()`,
  );
  const warnings: string[] = [];
  const store = await databaseAt(url).open({
    ...({ create: false, purpose: 'service' } as const),
    onWarning: ({ source, message }) => warnings.push(`${source}: ${message}`),
  });
  t.after(() => store.close());
  const [outcome] = await store.apply([place(1n)]);
  assert.equal(outcome, 'placed');
  assert.deepEqual(new Set(warnings), new Set(['exec_stmt_raise: seen']));
});

test('a database with another encoding than UTF-8 is refused', async (t) => {
  const url = await newPostgresDatabase(t);
  const name = `${new URL(url).pathname.slice(1)}_latin1`;
  await query(url, `CREATE DATABASE ${name} ENCODING 'LATIN1' TEMPLATE template0`);
  t.after(() => query(process.env.TEST_DATABASE_URL!, `DROP DATABASE ${name}`));
  const other = new URL(url);
  other.pathname = name;
  await assert.rejects(newSession(other.href, COMMAND), /its encoding is LATIN1/);
});

test('if two nodes create a first key at the same time, one is stored', async (t) => {
  const url = await newPostgresDatabase(t);
  const store = await open(t, url);
  const details = { name: 'first key', environment: 'production', now: 0 } as const;
  const key = newApiKey(newSecret('production'), details);
  const others = `INSERT INTO api_keys (id, name, environment, digest, created_at)
    VALUES ('key_other', 'x', 'production', sha256('x'), 0)`;
  const create = () => store.apply([{ type: 'createFirstKey', key }]);
  assert.deepEqual(await overtaken(url, create, others), ['unchanged']);
});

test('commands do not migrate an older schema, and name the command that does', async (t) => {
  const url = await newPostgresDatabase(t);
  await open(t, url);
  const last = 'SELECT max(name) FROM store_orders_migrations';
  await query(url, `DELETE FROM store_orders_migrations WHERE name = (${last})`);
  for (const purpose of ['read', 'write'] as const) {
    await assert.rejects(
      databaseAt(url).open({ create: false, purpose }),
      /earlier release/,
      purpose,
    );
  }
});

test('after a failed transaction the next one succeeds', async (t) => {
  const store = await open(t, await newPostgresDatabase(t));
  const details = { name: 'x', environment: 'production', now: 0 } as const;
  const key = newApiKey(newSecret('production'), details);
  const twice = store.apply([
    { type: 'createKey', key },
    { type: 'createKey', key },
  ]);
  await assert.rejects(twice, /duplicate key/);
  assert.deepEqual(await store.apply([{ type: 'createKey', key }]), ['created']);
  assert.equal((await store.keys()).length, 1);
});

test('doctor names what holds back the removal of old rows, and a metric counts it', async (t) => {
  const url = await newPostgresDatabase(t);
  const store = await open(t, url);
  const forgotten = new Client({ connectionString: url, application_name: 'forgotten' });
  await forgotten.connect();
  await forgotten.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
  await query(url, 'CREATE TABLE t (x integer)');
  // An exception's block is a transaction of its own, with an id once it has written.
  await query(
    url,
    `DO $$ BEGIN FOR i IN 1..${MAX_HELD_BACK + 100} LOOP
      BEGIN INSERT INTO t VALUES (i); EXCEPTION WHEN division_by_zero THEN NULL; END;
    END LOOP; END $$`,
  );
  const { heldBack } = await store.sizes();
  assert.ok(heldBack!.session > MAX_HELD_BACK);
  assert.equal(heldBack!.replication_slot, 0);
  const named = async () =>
    (await databaseAt(url).diagnose()).find(({ subject }) => subject === 'snapshots')!;
  assert.match(
    (await named()).found,
    /session \d+ \(forgotten, role postgres\) since 2\d{4} transactions/,
  );
  await forgotten.end();
  await eventually(async () => assert.equal((await named()).level, 'ok'));
});

test('doctor names what holds the locks that every change needs: a session, or a prepared transaction', async (t) => {
  const url = await newPostgresDatabase(t);
  await open(t, url);
  const locks = async () =>
    (await databaseAt(url).diagnose()).find(({ subject }) => subject === 'locks')!;
  assert.equal((await locks()).level, 'ok');
  const forgotten = new Client({ connectionString: url, application_name: 'forgotten' });
  await forgotten.connect();
  for (const statement of ['UPDATE store SET revision = revision', 'LOCK TABLE orders']) {
    await forgotten.query(`BEGIN; ${statement}`);
    // A change that waits as well is not what others wait for.
    const waiting = query(url, 'BEGIN; SELECT FROM store FOR UPDATE; LOCK TABLE orders; ROLLBACK');
    const { level, found } = await locks();
    assert.equal(level, 'problem');
    assert.match(
      found,
      /^every change fails: its locks are held by process \d+ \(forgotten, role postgres\), in a transaction for \d+ s$/,
    );
    await forgotten.query('ROLLBACK');
    await waiting;
  }
  await forgotten.query(
    `BEGIN; UPDATE store SET revision = revision; PREPARE TRANSACTION 'orphan'`,
  );
  assert.match(
    (await locks()).found,
    /the prepared transaction orphan \(role postgres\), \d+ s old/,
  );
  await forgotten.query(`ROLLBACK PREPARED 'orphan'`);
  await forgotten.end();
  assert.equal((await locks()).level, 'ok');
});

/** Creates a role that may connect, dropped after the test, and the URL of the database for it. */
async function newRole(t: TestContext, url: string) {
  const own = new URL(url);
  const role = `role_${own.pathname.slice(1)}`;
  await query(url, `CREATE ROLE ${role} LOGIN`);
  // By then the database is dropped, and with it all privileges of the role.
  t.after(() => query(process.env.TEST_DATABASE_URL!, `DROP ROLE ${role}`));
  own.username = role;
  return { role, url: own.href };
}
