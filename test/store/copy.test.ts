import assert from 'node:assert/strict';
import { closeSync, copyFileSync, openSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { newApiKey, newSecret } from '../../src/domain/api-key.ts';
import { copyStore } from '../../src/store/copy.ts';
import { databaseAt } from '../../src/store/database.ts';
import { query } from '../postgres.ts';
import { ENGINES, newPostgresDatabase, open } from './engines.ts';

/** A store on SQLite with a few rows, and its file. */
async function source(t: TestContext) {
  const url = await ENGINES[0]!.newDatabase(t);
  const store = await open(t, url, 'service');
  const details = { name: 'k', environment: 'production', now: 0 } as const;
  await store.apply([{ type: 'createKey', key: newApiKey(newSecret('production'), details) }]);
  await store.apply([{ type: 'insertOrder', order: { id: 1n, status: 'pending' } }]);
  await store.apply([{ type: 'putPets', pets: [{ id: 1n, name: 'Zoe', tag: undefined }] }]);
  return { url, store, file: url.slice('sqlite:'.length) };
}

/** A move in whose middle, when all has been read, another process writes. */
function moving(file: string, sql: string): Parameters<typeof copyStore>[2] {
  let isDone = false;
  return {
    isMove: true,
    onProgress: (what) => {
      if (what !== 'Verifying' || isDone) return;
      isDone = true;
      const db = new DatabaseSync(file);
      db.exec(sql);
      db.close();
    },
  };
}

test('if a key is revoked during a move, nothing is moved and the store stays in use', async (t) => {
  const { url, store, file } = await source(t);
  const to = await ENGINES[0]!.newDatabase(t);
  const revoking = moving(file, 'UPDATE api_keys SET revoked_at = 1');
  await assert.rejects(
    copyStore(databaseAt(url), databaseAt(to), revoking),
    /the store changed while it was copied/,
  );
  assert.equal((await store.status()).movedTo, undefined);
  assert.deepEqual(await store.apply([{ type: 'cancel', id: 1n }]), ['cancelled']);
});

test('the use of a key during a move does not prevent it', async (t) => {
  const { url, store, file } = await source(t);
  const to = await ENGINES[0]!.newDatabase(t);
  await copyStore(
    databaseAt(url),
    databaseAt(to),
    moving(file, 'UPDATE api_keys SET last_used_at = 1'),
  );
  assert.equal((await store.status({ evenIfMoved: true })).movedTo, to);
});

test('a source with a damaged table is refused, and the message names the database', async (t) => {
  const { store, file } = await source(t);
  await store.close();
  for (const { name, page } of rootPages(file)) {
    const damaged = `${file}-${name}`;
    copyFileSync(file, damaged);
    const pages = openSync(damaged, 'r+');
    writeSync(pages, Buffer.alloc(4_096, 0xff), 0, 4_096, (page - 1) * 4_096);
    closeSync(pages);
    const to = await ENGINES[0]!.newDatabase(t);
    const copying = copyStore(databaseAt(`sqlite:${damaged}`), databaseAt(to), {
      isMove: false,
      onProgress: () => {},
    });
    const message = new RegExp(`store\\.db-${name}: it is damaged .*"store-orders check"`);
    await assert.rejects(copying, { name: 'StoreNotUsable', message }, name);
  }
});

/** The first page of each table that is copied: a copy has a lease of its own. */
function rootPages(file: string): { name: string; page: number }[] {
  const db = new DatabaseSync(file);
  const sql = `SELECT name, rootpage AS page FROM sqlite_schema WHERE type = 'table' AND name <> 'webhook_lease'`;
  const tables = db.prepare(sql).all() as { name: string; page: number }[];
  db.close();
  return tables;
}

test('a copy that differs from its source is refused, and nothing is moved', async (t) => {
  const { url, store } = await source(t);
  const to = await newPostgresDatabase(t);
  await (await open(t, to, 'service')).close();
  await query(
    to,
    `CREATE FUNCTION rename() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.name := 'Zoé'; RETURN NEW; END $$;
    CREATE TRIGGER rename BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION rename()`,
  );
  const options = { isMove: true, onProgress: () => {} };
  await assert.rejects(
    copyStore(databaseAt(url), databaseAt(to), options),
    /the copy differs from the source/,
  );
  assert.equal((await store.status()).movedTo, undefined);
});

test('a copy is verified under any collation of the database', async (t) => {
  const url = await newPostgresDatabase(t);
  const name = `${new URL(url).pathname.slice(1)}_icu`;
  await query(
    url,
    `CREATE DATABASE ${name} TEMPLATE template0 LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en'`,
  );
  t.after(() => query(process.env.TEST_DATABASE_URL!, `DROP DATABASE ${name} WITH (FORCE)`));
  const from = Object.assign(new URL(url), { pathname: name }).href;
  const store = await open(t, from, 'service');
  const details = { name: 'k', environment: 'production', now: 0 } as const;
  for (const id of ['key_a', 'key_B', 'key_c']) {
    const key = { ...newApiKey(newSecret('production'), details), id };
    await store.apply([{ type: 'createKey', key }]);
  }
  await store.close();
  const to = await ENGINES[0]!.newDatabase(t);
  await copyStore(databaseAt(from), databaseAt(to), { isMove: false, onProgress: () => {} });
  assert.equal((await (await open(t, to)).keys()).length, 3);
});
