import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newApiKey, newSecret, secretDigest } from '../../src/domain/api-key.ts';
import { actionOf } from '../../src/store/audit.ts';
import { backupStore, copyStore } from '../../src/store/copy.ts';
import { databaseAt } from '../../src/store/database.ts';
import { sqlitePath } from '../../src/store/sqlite/database/connection.ts';
import { run } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';
import { ENGINES, open, queryDatabase, restoreStore } from './engines.ts';

/** What is added by hand, and how check names it; undefined for what can do no harm. */
const ADDED = {
  SQLite: [
    ['CREATE TRIGGER t AFTER UPDATE ON api_keys BEGIN SELECT 1; END', 'trigger t'],
    ['CREATE VIEW v AS SELECT 1', 'view v'],
    ["CREATE INDEX i ON orders (json_extract(reference, '$'))", 'index i'],
    ['CREATE INDEX i ON orders (quantity) WHERE quantity > 1', 'index i'],
    ['CREATE UNIQUE INDEX i ON orders (pet_id)', 'index i'],
    ['CREATE TABLE x (id REFERENCES webhooks)', 'foreign key of x'],
    ['ALTER TABLE pets ADD COLUMN g INTEGER AS (abs(id)) VIRTUAL', 'table pets'],
    ['ALTER TABLE pets ADD COLUMN c INTEGER CHECK (c < 5)', 'table pets'],
    ['CREATE INDEX i ON orders (quantity)', undefined],
    ['CREATE TABLE x (id CHECK (id < 5))', undefined],
  ],
  PostgreSQL: [
    [
      "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'; CREATE TRIGGER leap BEFORE UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION f()",
      'trigger api_keys leap f',
    ],
    ['CREATE RULE r AS ON UPDATE TO api_keys DO INSTEAD NOTHING', 'rule api_keys r'],
    ['CREATE POLICY p ON api_keys USING (false)', 'policy api_keys p'],
    ['ALTER TABLE orders ADD CHECK (quantity < 5)', 'check orders orders_quantity_check'],
    ['CREATE INDEX i ON orders (length(reference))', 'index orders (length(reference))'],
    ['CREATE UNIQUE INDEX i ON orders (pet_id)', 'unique orders (pet_id)'],
    ['CREATE TABLE x (id bigint REFERENCES orders)', 'constraint orders x_id_fkey'],
    [
      'CREATE TABLE x (id bigint PRIMARY KEY); ALTER TABLE orders ADD CONSTRAINT f FOREIGN KEY (pet_id) REFERENCES x NOT VALID',
      'constraint orders f',
    ],
    ['CREATE INDEX i ON orders (quantity)', undefined],
    ['CREATE TABLE x (id int)', undefined],
  ],
} as const;

const PostgreSQL = ENGINES[1]!;

test('PostgreSQL: a store is not served while another table inherits from one of its own, since its rows would be orders', async (t) => {
  const url = await PostgreSQL.newDatabase(t);
  await (await databaseAt(url).open({ create: true, purpose: 'service' })).close();
  await queryDatabase(url, 'CREATE TABLE orders_archive () INHERITS (orders)');
  const { foreign } = await databaseAt(url).check();
  assert.ok(foreign.includes('the schema has what no migration made: child orders orders_archive'));
  await assert.rejects(
    databaseAt(url).open({ create: false, purpose: 'service' }),
    /orders_archive inherits from orders, .*: ALTER TABLE orders_archive NO INHERIT orders, or drop it/,
  );
  await queryDatabase(url, 'ALTER TABLE orders_archive NO INHERIT orders');
  await (await databaseAt(url).open({ create: false, purpose: 'service' })).close();
});

test('PostgreSQL: a replica identity that an index took along is named with the statement that restores it', async (t) => {
  const url = await PostgreSQL.newDatabase(t);
  await (await databaseAt(url).open({ create: true, purpose: 'service' })).close();
  const columns = '(key_id COLLATE "C", idempotency_key COLLATE "C")';
  await queryDatabase(
    url,
    `CREATE UNIQUE INDEX renewed ON placements ${columns}; DROP INDEX placements_by_key; ALTER INDEX renewed RENAME TO placements_by_key`,
  );
  const statement = 'ALTER TABLE placements REPLICA IDENTITY USING INDEX placements_by_key';
  assert.deepEqual((await databaseAt(url).check()).schemaDifferences, [
    `the schema lacks: identity placements: ${statement}`,
  ]);
  await (await databaseAt(url).open({ create: false, purpose: 'service' })).close();
  await queryDatabase(url, statement);
  assert.deepEqual((await databaseAt(url).check()).schemaDifferences, []);
});

test('PostgreSQL: the tables of another program are named before a store is made beside them', async (t) => {
  const url = await PostgreSQL.newDatabase(t);
  await queryDatabase(
    url,
    'CREATE TABLE orders (id serial PRIMARY KEY); CREATE TABLE audit (a int)',
  );
  const expected =
    /has tables of another program \(audit, orders\): use another database, or a schema of its own/;
  const database = databaseAt(url);
  await assert.rejects(database.exists(), expected);
  await assert.rejects(database.planMigrations(), expected);
  await assert.rejects(database.open({ create: true, purpose: 'service' }), expected);
});

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: check names what no migration made, and copies refuse it, which the service ignores`, async (t) => {
    for (const [sql, expected] of ADDED[name as keyof typeof ADDED]) {
      const url = await newDatabase(t);
      await (await databaseAt(url).open({ create: true, purpose: 'service' })).close();
      assert.deepEqual((await databaseAt(url).check()).foreign, []);
      await queryDatabase(url, sql);
      const { foreign, schemaDifferences } = await databaseAt(url).check();
      const found =
        expected === undefined ? [] : [`the schema has what no migration made: ${expected}`];
      assert.deepEqual(foreign, found, sql);
      if (!sql.includes('ADD COLUMN c')) assert.deepEqual(schemaDifferences, [], sql);
      await (await databaseAt(url).open({ create: false, purpose: 'service' })).close();
      const options = { isMove: false, action: actionOf('copy', ''), onProgress: () => {} };
      const copy = copyStore(databaseAt(url), databaseAt(await newDatabase(t)), options);
      if (expected === undefined) await copy;
      else await assert.rejects(copy, new RegExp(`no migration made: ${RegExp.escape(expected)}`));
    }
  });
}

/** A trigger by which rows of a table are left out without an error. */
const LEFT_OUT = {
  SQLite: (table: string, event: string) =>
    `CREATE TRIGGER t BEFORE ${event} ON ${table} BEGIN SELECT RAISE(IGNORE); END`,
  PostgreSQL: (table: string, event: string) =>
    `CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
     CREATE TRIGGER t BEFORE ${event} ON ${table} FOR EACH ROW EXECUTE FUNCTION f()`,
};

for (const { name, newDatabase } of ENGINES) {
  for (const [table, event] of [
    ['orders', 'UPDATE'],
    ['orders', 'INSERT'],
    ['order_events', 'INSERT'],
    ['placements', 'INSERT'],
    ['changed_all', 'INSERT'],
    ['cancel_uses', 'INSERT'],
    ['api_keys', 'INSERT'],
  ] as const) {
    test(`${name}: no change is acknowledged whose ${event} of ${table} a trigger leaves out, and nothing of it stays`, async (t) => {
      const url = await newDatabase(t);
      const store = await open(t, url, 'service');
      const pending = (id: bigint) =>
        ({ type: 'insertOrder', order: { id, status: 'pending' } }) as const;
      await store.apply([pending(1n)]);
      const before = await store.status();
      await queryDatabase(url, LEFT_OUT[name as keyof typeof LEFT_OUT](table, event));
      const details = { name: 'k', environment: 'production', now: 0 } as const;
      const cancel = { type: 'cancel', id: 1n, by: 'key_a' } as const;
      const own = { by: 'key_a', idempotencyKey: 'i', digest: 'd' };
      const commands = {
        orders: event === 'UPDATE' ? cancel : pending(2n),
        order_events: cancel,
        placements: { type: 'placeOrder', ...own, draft: { status: 'pending', petId: 1n } },
        changed_all: { type: 'bulk', changes: [cancel], isAtomic: false, repeatable: own },
        cancel_uses: { ...cancel, cancelsPerHour: 5 },
        api_keys: { type: 'createKey', key: newApiKey(newSecret('production'), details) },
      } as const;
      await assert.rejects(store.apply([commands[table]]));
      assert.deepEqual(await store.status(), before);
      assert.deepEqual(await store.keys(), []);
      assert.equal((await store.orders([1n]))[0]!.status, 'pending');
    });
  }
}

test('SQLite: a view or a virtual table in the place of a table, and a FIFO, are refused, and not read', async (t) => {
  const folder = temporaryFolder(t);
  const url = `sqlite:${join(folder, 'store.db')}`;
  await (await databaseAt(url).open({ create: true, purpose: 'service' })).close();
  await queryDatabase(url, 'ALTER TABLE store RENAME TO former');
  const endless =
    'WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT count(*) AS revision FROM n';
  await queryDatabase(url, `CREATE VIEW store AS ${endless}`);
  const fifo = `sqlite:${join(folder, 'fifo.db')}`;
  execFileSync('mkfifo', [sqlitePath(fifo)]);
  for (const [database, refusal] of [
    [url, /its table "store" is none/],
    [fifo, /it is not a file/],
  ] as const) {
    await assert.rejects(databaseAt(database).check(), refusal);
    await assert.rejects(databaseAt(database).open({ create: false, purpose: 'read' }), refusal);
    const target = `sqlite:${join(folder, 'target.db')}`;
    await assert.rejects(restoreStore(target, sqlitePath(database)), refusal);
  }
});

test('a backup with a trigger is made, and refused by restore before the trigger can run', async (t) => {
  const folder = temporaryFolder(t);
  const url = `sqlite:${join(folder, 'store.db')}`;
  await (await databaseAt(url).open({ create: true, purpose: 'service' })).close();
  await queryDatabase(
    url,
    'CREATE TRIGGER t AFTER UPDATE OF reserved_id ON store BEGIN DELETE FROM audit; END',
  );
  const file = join(folder, 'backup.db');
  await backupStore(databaseAt(url), file);
  const target = `sqlite:${join(folder, 'target.db')}`;
  await assert.rejects(restoreStore(target, file), /no migration made: trigger t/);
  assert.equal(existsSync(sqlitePath(target)), false);
  const made = await run(['backup', join(folder, 'other.db'), '--database', url]);
  assert.match(made.stderr, /Warning: .* trigger t; it is restored only --without-foreign-objects/);
  await queryDatabase(`sqlite:${file}`, 'CREATE TABLE notes (id INTEGER REFERENCES orders)');
  const args = ['restore', file, '--without-foreign-objects', '--database', target];
  assert.equal((await run(args)).code, 0);
  const { foreign, audit } = await databaseAt(target).check();
  assert.deepEqual([foreign, audit], [[], []]);
});

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: a key that the database itself does not let be revoked or rotated is not called so`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    const details = { name: 'shop', environment: 'production', now: 1 } as const;
    const key = newApiKey(newSecret('production'), details);
    await store.apply([{ type: 'createKey', key }]);
    await queryDatabase(
      url,
      name === 'SQLite'
        ? 'CREATE TRIGGER t AFTER UPDATE ON api_keys BEGIN UPDATE api_keys SET revoked_at = NULL, digest = zeroblob(32) WHERE id = new.id; END'
        : 'CREATE RULE r AS ON UPDATE TO api_keys DO INSTEAD NOTHING',
    );
    const undone = /undone by the database itself/;
    await assert.rejects(store.apply([{ type: 'revokeKey', id: key.id }]), undone);
    const rotation = { type: 'rotateKey', id: key.id, digest: secretDigest('other') } as const;
    await assert.rejects(store.apply([{ ...rotation, formerUntil: undefined }]), undone);
    assert.equal((await store.keys())[0]!.revokedAt, undefined);
  });
}
