import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { actionOf } from '../../src/store/audit.ts';
import { databaseAt } from '../../src/store/database.ts';
import { expectedSchema, schemaDifferences } from '../../src/store/expected-schema.ts';
import { describeSchema as describePostgres } from '../../src/store/postgres/database/catalog.ts';
import { newSession } from '../../src/store/postgres/database/connection.ts';
import { COMMAND } from '../../src/store/postgres/database/session-settings.ts';
import { describeSchema as describeSqlite } from '../../src/store/sqlite/database/catalog.ts';
import { sqlitePath } from '../../src/store/sqlite/database/connection.ts';
import { StoreNotUsable } from '../../src/store/store.ts';
import { temporaryFolder } from '../temporary.ts';
import { ENGINES, newPostgresDatabase, open, queryDatabase } from './engines.ts';

const MIGRATIONS = fileURLToPath(new URL('../../src/store/migrations/', import.meta.url));

/**
 * The beginnings of the SHA-256 digests of all migrations. One that has landed is never changed, since stores have it already:
 * add another one. 001-initial.sqlite.sql was changed after 1.0.0, and stores of 1.0.0 were broken after their upgrade.
 */
const DIGESTS: Readonly<Record<string, string>> = {
  '001-initial.postgres.sql': 'cad9689c946dd414',
  '001-initial.sqlite.sql': 'dd2a93320672f81b',
  '002-environment.postgres.sql': '97122ccaf930813e',
  '002-events-by-revision.sqlite.sql': 'ca0550b5fb4f7e04',
  '003-ids-when-served.sqlite.sql': '067bfe7472cac68b',
  '003-moved.postgres.sql': 'dcb7ecbc4f8f3077',
  '004-environment.sqlite.sql': 'b68d37a21898bb86',
  '004-marks.postgres.sql': 'e3557f23f5522d2d',
  '005-key-use.postgres.sql': 'ab5c5e8b760031c1',
  '005-moved.sqlite.sql': 'a413d7cb5cd0219d',
  '006-expect-unchanged.postgres.sql': '4b8a7e857ebdcbc0',
  '006-marks.sqlite.sql': '3509acf1bbccd20b',
  '007-claim-import.postgres.sql': '53e69101481a0040',
  '007-key-use.sqlite.sql': '46c1681b5d1fb78c',
  '008-v2.postgres.sql': 'e947c90c072bef68',
  '008-v2.sqlite.sql': 'c0cd08f86fd69bf9',
  '009-events-by-time.postgres.sql': 'dcef187562d3b64c',
  '009-events-by-time.sqlite.sql': 'dcef187562d3b64c',
  '010-ids.postgres.sql': '1d7590d46ad1036a',
  '010-ids.sqlite.sql': '67d4093b9742a639',
  '011-imports.postgres.sql': '3030eb6449b42fe6',
  '011-imports.sqlite.sql': '53d5538fd003ca95',
  '012-audit.postgres.sql': '94d8552d8c749ddc',
  '012-audit.sqlite.sql': 'dd607960e522f022',
  '013-heads.postgres.sql': '5f732a4166f3c4a0',
  '013-heads.sqlite.sql': '81be0fbc950a237d',
  '014-references.postgres.sql': '258a26a05e2a5763',
  '014-references.sqlite.sql': '1e9071225b66a924',
  '015-reference-index.postgres.sql': '6d6dfe1417af57e4',
  '015-reference-index.sqlite.sql': '6d6dfe1417af57e4',
  '016-changed-all.postgres.sql': '12136b1c0f276fc7',
  '016-changed-all.sqlite.sql': 'b5b26912cd5c292e',
  '017-webhooks.postgres.sql': 'f9b72d5a3d7aba51',
  '017-webhooks.sqlite.sql': '90d4eb4fafa66488',
  '018-sorted.postgres.sql': '62d962efbf80bb10',
  '018-sorted.sqlite.sql': '62d962efbf80bb10',
  '019-times.postgres.sql': '7d288ded8e5b4faa',
  '019-times.sqlite.sql': '8d7255ddaa62da11',
  '020-reasons.postgres.sql': '0752ff171119c731',
  '020-reasons.sqlite.sql': 'b00ad4481862c80b',
  '021-rotated-keys.postgres.sql': 'b2ff35513cce0ac8',
  '021-rotated-keys.sqlite.sql': '15770628fc956d2e',
  '022-former-secret-index.postgres.sql': '6f5118d32c567244',
  '022-former-secret-index.sqlite.sql': '6f5118d32c567244',
  '023-reference-prefixes.postgres.sql': '4d729240d9cce361',
  '023-reference-prefixes.sqlite.sql': 'bd6ece3aad9ba064',
  '024-former-columns.postgres.sql': '058cd539ea04e020',
  '024-former-columns.sqlite.sql': 'a4e551c99a7b631f',
  '025-details.postgres.sql': '66223d25a211bb5f',
  '025-details.sqlite.sql': '32630c016119a55d',
  '026-text-keys.postgres.sql': '28e57f616be4c8a8',
  '026-text-keys.sqlite.sql': '86e1277c7876a345',
  '027-identity.postgres.sql': '4b01914b742a833d',
  '027-identity.sqlite.sql': 'a2692d78e60c000c',
  '028-replica-identity.postgres.sql': '8b84490c7b366228',
  '028-replica-identity.sqlite.sql': '77e9ba0cd2b2b3e0',
  '029-shares.postgres.sql': '437cb6aacb2bc5c6',
  '029-shares.sqlite.sql': '5b225185198331f6',
  '030-managed-keys.postgres.sql': '0227a7a6bcfcc5e4',
  '030-managed-keys.sqlite.sql': 'b8cac6c7d6ce43c0',
  '031-tickets.postgres.sql': '68fffc45323dfc51',
  '031-tickets.sqlite.sql': '68fffc45323dfc51',
};

test('no migration that has landed is changed', () => {
  const found = globSync('*.sql', { cwd: MIGRATIONS }).sort();
  const digests = found.map((name) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(MIGRATIONS, name)))
      .digest('hex');
    return [basename(name), digest.slice(0, 16)];
  });
  assert.deepEqual(Object.fromEntries(digests), DIGESTS);
  // The numbers of the two engines agree from here on.
  const later = (engine: string) =>
    Object.keys(DIGESTS)
      .filter((name) => name > '013' && name.endsWith(`.${engine}.sql`))
      .map((name) => name.split('.')[0]);
  assert.deepEqual(later('sqlite'), later('postgres'));
});

// PostgreSQL makes the indexes of a migration first, so that they lock nobody out, and its columns afterwards.
test('no migration of PostgreSQL indexes a column that it adds to a table', () => {
  for (const name of globSync('*.postgres.sql', { cwd: MIGRATIONS })) {
    const text = readFileSync(join(MIGRATIONS, name), 'utf8');
    const added = [...text.matchAll(/ALTER TABLE (\w+) ADD COLUMN (\w+)/g)];
    const indexes = [...text.matchAll(/^CREATE (?:UNIQUE )?INDEX \w+ ON (\w+) ([^;]*);/gm)];
    for (const [, table, column] of added) {
      const found = indexes.filter(([, on, parts]) => on === table && parts!.includes(column!));
      assert.deepEqual(found, [], `${name}: ${table}.${column}`);
    }
  }
});

test('SQLite: migrations make the schema of migrations/schema.sqlite.txt', async (t) => {
  const path = join(temporaryFolder(t), 'store.db');
  await open(t, `sqlite:${path}`, 'migration');
  const db = new DatabaseSync(path, { readOnly: true });
  t.after(() => db.close());
  assert.deepEqual(describeSqlite(db), expectedSchema('sqlite'));
});

test('PostgreSQL: migrations make the schema of migrations/schema.postgresql.txt', async (t) => {
  const url = await newPostgresDatabase(t);
  await open(t, url, 'migration');
  const session = await newSession(url, COMMAND);
  t.after(() => session.end());
  const found = await describePostgres(session);
  const own = found.filter((line) => !line.includes('store_orders_migrations'));
  assert.deepEqual(own, expectedSchema('postgresql'));
});

/** Changes by hand, and the beginning of what is found. */
const CHANGES = [
  ['ALTER TABLE imports DROP COLUMN run', 'the schema lacks: column imports.run '],
  [
    'ALTER TABLE imports ADD COLUMN x integer',
    'the schema has an unknown column: column imports.x ',
  ],
  ['DROP TABLE pets', 'the schema lacks: column pets.id '],
  ['DROP INDEX orders_by_pet', 'the schema lacks: index orders (pet_id'],
] as const;

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: check finds each difference of the schema, and a store that lacks something is not served`, async (t) => {
    for (const [sql, expected] of CHANGES) {
      const url = await newDatabase(t);
      await (await databaseAt(url).open({ create: true, purpose: 'service' })).close();
      assert.deepEqual((await databaseAt(url).check()).schemaDifferences, []);
      await queryDatabase(url, sql);
      const [found] = (await databaseAt(url).check()).schemaDifferences;
      assert.ok(found?.startsWith(expected), `${sql}: ${found}`);
      for (const purpose of ['service', 'migration'] as const) {
        const opened = databaseAt(url).open({ create: true, purpose });
        // A column that was added does not keep the store from use.
        if (expected.includes('unknown column')) await (await opened).close();
        else {
          await assert.rejects(opened, (error: Error) => {
            return error instanceof StoreNotUsable && error.message.includes(expected);
          });
        }
      }
    }
  });
}

test('PostgreSQL: a trigger that is disabled, or fires on replicas only, is missing', async (t) => {
  for (const state of ['DISABLE', 'ENABLE REPLICA']) {
    const url = await newPostgresDatabase(t);
    await (await databaseAt(url).open({ create: true, purpose: 'service' })).close();
    await queryDatabase(url, `ALTER TABLE store ${state} TRIGGER leap`);
    const { schemaDifferences: found } = await databaseAt(url).check();
    assert.deepEqual(found, ['the schema lacks: trigger store leap store_orders_leap'], state);
  }
});

test('a difference of the type of a column is a line for each type', () => {
  const found = expectedSchema('sqlite').map((line) =>
    line.replace('orders.quantity INTEGER', 'orders.quantity TEXT'),
  );
  assert.deepEqual(schemaDifferences('sqlite', found), [
    'the schema lacks: column orders.quantity INTEGER',
    'the schema has an unknown column: column orders.quantity TEXT',
  ]);
});

const FILE = { name: 'half.csv', total: 2, isAgain: false };

/** What 1.0.0 made of the table imports. */
const IMPORTS_OF_1_0_0 = `DROP TABLE imports;
  CREATE TABLE imports (source TEXT PRIMARY KEY, placed INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO imports VALUES ('half', 1);`;

test('a store of 1.0.0 places and imports orders and resumes its unfinished import after the upgrade', async (t) => {
  for (const version of [1, 2, 9]) {
    const url = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
    const db = new DatabaseSync(sqlitePath(url));
    for (const name of globSync('*.sqlite.sql', { cwd: MIGRATIONS }).sort().slice(0, version)) {
      db.exec(readFileSync(join(MIGRATIONS, name), 'utf8'));
      if (name.startsWith('001')) db.exec(IMPORTS_OF_1_0_0);
    }
    db.exec(`PRAGMA application_id = ${0x53544f52}; PRAGMA user_version = ${version}`);
    db.close();
    const store = await open(t, url, 'service');
    const placeOrder = {
      type: 'placeOrder',
      draft: { status: 'pending' },
      by: 'k',
      idempotencyKey: 'a',
      digest: 'd',
    } as const;
    const [placed] = await store.apply([placeOrder]);
    assert.equal(placed!.refusal, undefined);
    assert.equal((await store.history.importProgress('half')).placed, 1);
    const run = { source: 'half', run: 'r' };
    await store.apply([{ type: 'beginImport', ...run, from: 1, highestId: 5n, ...FILE }]);
    const orders = [{ id: 5n, status: 'pending' as const }];
    const [id] = await store.apply([{ type: 'audit', action: actionOf('import', 'half.csv') }]);
    const [imported] = await store.apply([{ type: 'importOrders', ...run, orders, auditId: id! }]);
    assert.deepEqual(imported, { placed: 1 });
    const { schemaDifferences: differences, problems } = await databaseAt(url).check();
    assert.deepEqual([differences, problems], [[], []]);
  }
});

test('an unfinished import of a later release keeps its run and its ids', async (t) => {
  const url = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  const db = new DatabaseSync(sqlitePath(url));
  for (const name of globSync('*.sqlite.sql', { cwd: MIGRATIONS }).sort().slice(0, 9)) {
    db.exec(readFileSync(join(MIGRATIONS, name), 'utf8'));
  }
  db.exec(`PRAGMA application_id = ${0x53544f52}; PRAGMA user_version = 9;
    INSERT INTO imports VALUES ('half', 'r', 1, 70)`);
  db.close();
  const store = await open(t, url, 'service');
  assert.equal((await store.status()).freeIds.highest, 70n);
  assert.deepEqual(await queryDatabase(url, 'SELECT source, run, placed FROM imports'), [
    ['half', 'r', '1'],
  ]);
});
