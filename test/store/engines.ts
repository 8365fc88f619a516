import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { openStore } from '../../src/store/open.ts';
import type { Purpose } from '../../src/store/open-options.ts';
import { sqlitePath } from '../../src/store/sqlite/database/connection.ts';
import type { Store } from '../../src/store/store.ts';
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
  { name: 'PostgreSQL', newDatabase: newPostgresDatabase },
];

/** Creates a database on the server shared by all tests; see global-setup.ts. */
export async function newPostgresDatabase(t: TestContext): Promise<string> {
  const server = process.env.TEST_DATABASE_URL ?? '';
  if (server === '') {
    throw new Error(
      'no PostgreSQL server to test on: run the tests with "npm run test:files -- FILE…"',
    );
  }
  const name = `test_${randomBytes(8).toString('hex')}`;
  await query(server, `CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  t.after(() => query(server, `DROP DATABASE ${name} WITH (FORCE)`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Creates a schema in the database of the server; much faster than a database, for tests that do not copy stores. */
export async function newPostgresSchema(t: TestContext): Promise<string> {
  const server = process.env.TEST_DATABASE_URL ?? '';
  const name = `test_${randomBytes(8).toString('hex')}`;
  await query(server, `CREATE SCHEMA ${name}`);
  t.after(() => query(server, `DROP SCHEMA ${name} CASCADE`));
  const url = new URL(server);
  url.searchParams.set('options', `-c search_path=${name}`);
  return url.href;
}

/** Opens a store on `url`, closed after the test. */
export async function open(
  t: TestContext,
  url: string,
  purpose: Purpose = 'write',
): Promise<Store> {
  const store = await openStore(url, { create: true, purpose });
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
