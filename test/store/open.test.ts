import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseAt, hasPassword } from '../../src/store/database.ts';
import { ENGINES, newPostgresDatabase, place, queryDatabase } from './engines.ts';

test('a password in a database URL is detected anywhere in it', () => {
  for (const url of [
    'postgres://app:secret@db.example/orders',
    'postgres://app@db.example/orders?password=secret',
    'postgres://app@db.example/orders?sslmode=require&password=secret',
  ]) {
    assert.equal(hasPassword(url), true, url);
  }
  for (const url of [
    'postgres://app@db.example:5432/orders',
    'postgres://db.example/orders?user=app',
    'sqlite:a:b@c.db',
  ]) {
    assert.equal(hasPassword(url), false, url);
  }
});

test('the label of a database has host and user, but no password', () => {
  const label = (rest: string) => databaseAt(`postgres://${rest}`).label;
  assert.equal(label('app:secret@db.example:5433/orders'), 'postgres://app@db.example:5433/orders');
  assert.equal(label('app@one,two:5433/orders'), 'postgres://app@one,two:5433/orders');
  assert.equal(label('db/orders?password=secret'), 'postgres://db/orders');
  assert.equal(label('app@/orders?host=/run/postgresql'), 'postgres://app@/run/postgresql/orders');
});

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: a store of which a table was not restored is not served`, async (t) => {
    for (const table of ['orders', 'order_events', 'webhook_lease']) {
      const url = await newDatabase(t);
      const store = await databaseAt(url).open({ create: true, purpose: 'service' });
      await store.apply([place({ id: 1n, status: 'pending' })]);
      await store.close();
      await queryDatabase(url, `DELETE FROM ${table}`);
      const serve = databaseAt(url).open({ create: false, purpose: 'service' });
      await assert.rejects(
        serve,
        new RegExp(`its table ${table} is empty, but its counters are not`),
      );
    }
  });

  test(`${name}: a store whose counters are those of another one is not served`, async (t) => {
    const url = await newDatabase(t);
    const store = await databaseAt(url).open({ create: true, purpose: 'service' });
    await store.apply([place({ id: 1n, status: 'pending' })]);
    await store.close();
    // As after a dump that was loaded over a store that a node had made.
    await queryDatabase(url, 'UPDATE store SET revision = 0, pending = 0');
    const serve = databaseAt(url).open({ create: false, purpose: 'service' });
    await assert.rejects(serve, /its events are of later revisions than its counters/);
  });
}

test('PostgreSQL: a store whose migrations were not restored is not called one of an earlier release', async (t) => {
  const url = await newPostgresDatabase(t);
  await (await databaseAt(url).open({ create: true, purpose: 'service' })).close();
  await queryDatabase(url, 'DELETE FROM store_orders_migrations');
  const refusal = /its table store_orders_migrations is empty/;
  await assert.rejects(databaseAt(url).open({ create: false, purpose: 'service' }), refusal);
  await assert.rejects(databaseAt(url).check(), refusal);
});
