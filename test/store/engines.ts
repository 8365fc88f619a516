import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Position } from '../../protocol/history.ts';
import type { OrderCommand } from '../../src/domain/lifecycle.ts';
import type { Order } from '../../src/domain/order.ts';
import { actionOf } from '../../src/store/audit.ts';
import type { Restored } from '../../src/store/backups.ts';
import { databaseAt } from '../../src/store/database.ts';
import { type ChangePage, type FeedStart, positionAfter } from '../../src/store/feed.ts';
import type { OpenOptions } from '../../src/store/open-options.ts';
import { sqlitePath } from '../../src/store/sqlite/database/connection.ts';
import type { Store } from '../../src/store/store.ts';
import type { Findings } from '../../src/store/tables/consistency.ts';
import { query } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';

export interface Engine {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** Creates an empty database, dropped after the test, and returns its URL. */
  readonly newDatabase: (t: TestContext) => Promise<string>;
}

/** The engines that the store tests run on. */
export const ENGINES: readonly Engine[] = [
  {
    name: 'SQLite',
    newDatabase: async (t) => `sqlite:${join(temporaryFolder(t), 'store.db')}`,
  },
  { name: 'PostgreSQL', newDatabase: newPostgresSchema },
];

/** Creates a database on the server shared by all tests; see global-setup.ts. */
export async function newPostgresDatabase(t: TestContext): Promise<string> {
  const { url, drop } = await createDatabase();
  t.after(drop);
  return url;
}

/** The database of this test file; each of its stores is in a schema of its own. */
let ownDatabase: ReturnType<typeof createDatabase> | undefined;
after(async () => (await ownDatabase)?.drop());

/**
 * Creates a schema, which takes a tenth of the time of a database. For tests that do not compare databases, copy one within the
 * server, or hold transactions open that concern the whole database. It is dropped with the database of the file.
 */
export async function newPostgresSchema(): Promise<string> {
  ownDatabase ??= createDatabase();
  const { url: database } = await ownDatabase;
  const name = `test_${randomBytes(8).toString('hex')}`;
  await query(database, `CREATE SCHEMA ${name}`);
  const url = new URL(database);
  url.searchParams.set('options', `-c search_path=${name}`);
  return url.href;
}

async function createDatabase() {
  const server = process.env.TEST_DATABASE_URL ?? '';
  if (server === '') {
    throw new Error('no PostgreSQL server to test on: run the tests with "npm test -- WORD"');
  }
  const name = `test_${randomBytes(8).toString('hex')}`;
  await query(server, `CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => query(server, `DROP DATABASE ${name} WITH (FORCE)`) };
}

const MIGRATIONS = fileURLToPath(new URL('../../src/store/migrations/', import.meta.url));

/** Makes a PostgreSQL store with the first migrations only, without rows. Returns its URL. */
export async function olderPostgresStore(t: TestContext, count: number): Promise<string> {
  const url = await newPostgresDatabase(t);
  await query(
    url,
    'CREATE TABLE store_orders_migrations (name text PRIMARY KEY, applied_at timestamptz DEFAULT now())',
  );
  const names = globSync('*.postgres.sql', { cwd: MIGRATIONS }).sort().slice(0, count);
  for (const name of names) {
    await query(url, readFileSync(join(MIGRATIONS, name), 'utf8'));
    await query(url, `INSERT INTO store_orders_migrations VALUES ('${name}')`);
  }
  return url;
}

/** Defines a test of a new store on every engine. */
export function testStore(
  title: string,
  run: (t: TestContext, store: Store) => Promise<void>,
): void {
  for (const { name, newDatabase } of ENGINES) {
    test(`${name}: ${title}`, async (t) => run(t, await open(t, await newDatabase(t))));
  }
}

/** A command that places an order. */
export function place(order: Order): Extract<OrderCommand, { type: 'insertOrder' }> {
  return { type: 'insertOrder', order };
}

export function cancel(id: bigint): Extract<OrderCommand, { type: 'cancel' }> {
  return { type: 'cancel', id };
}

/** The revision, and the orders that changed after `since`; all listed orders for 0. */
export async function changed(store: Store, since: bigint) {
  const ids: bigint[] = [];
  const from = since === 0n ? undefined : await positionAt(store, since);
  const position = await store.changedOrders(from, (orders) =>
    ids.push(...orders.map(({ id }) => id)),
  );
  assert.equal(position?.head, (await store.status()).head);
  return { revision: position?.revision, ids };
}

/** The position at which the store had a revision. */
export async function positionAt(store: Store, revision: bigint): Promise<Position> {
  for (let after: FeedStart = 'start'; ; ) {
    const page: ChangePage = (await store.feed(after, 500))!;
    const last = page.changes.findLast(({ order }) => order.revision === revision);
    if (last !== undefined) return positionAfter(last);
    assert.ok(page.isMore, `there is no revision ${revision}`);
    after = page.position;
  }
}

/** Opens a store on `url`, closed after the test. */
export async function open(
  t: TestContext,
  url: string,
  purpose: OpenOptions['purpose'] = 'write',
): Promise<Store> {
  const store = await databaseAt(url).open({ create: true, purpose });
  t.after(() => store.close());
  return store;
}

/** Runs one statement on the database of a store, beside the store, and returns its rows, with all values as text. */
export async function queryDatabase(url: string, sql: string): Promise<string[][]> {
  if (!url.startsWith('sqlite:')) return query(url, sql);
  const db = new DatabaseSync(sqlitePath(url), { timeout: 5_000, readBigInts: true });
  try {
    const rows = db.prepare(sql).all();
    return rows.map((row) => Object.values(row).map(String));
  } finally {
    db.close();
  }
}

/** Replaces an SQLite database by a backup. @param accept see RestoreOptions */
export function restoreStore(
  url: string,
  file: string,
  accept: (backup: Findings) => void = () => {},
): Promise<Restored> {
  return databaseAt(url).file!.restore(file, {
    accept,
    action: actionOf('restore', file),
    ...{ mayBeAnother: false, dropsForeign: false },
  });
}
