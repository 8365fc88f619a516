import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseAt } from '../../src/store/database.ts';
import { parseAddress } from '../../src/store/postgres/database/address.ts';
import { Connection } from '../../src/store/postgres/database/connection.ts';
import { unavailable } from '../../src/store/postgres/database/errors.ts';
import { expectOwnBackendBehindProxy } from '../../src/store/postgres/database/own-backend.ts';
import { SERVICE } from '../../src/store/postgres/database/time-limits.ts';
import { StoreNotUsable, StoreUnavailable } from '../../src/store/store.ts';
import { Cluster, freePort, query } from '../postgres.ts';
import { startPooler, startReadSplitter } from '../postgres-proxy.ts';
import { cancel, newPostgresDatabase, open, place } from './engines.ts';

const ADVICE = /connect to PostgreSQL directly/;

for (const passesKey of [true, false]) {
  const what = passesKey ? 'names processes of the server' : 'names processes of its own';
  test(`a pooler that switches connections between transactions, and ${what}, is refused`, async (t) => {
    const url = await newPostgresDatabase(t);
    const store = await open(t, url);
    await store.apply([place({ id: 1n, status: 'pending' })]);
    const pooled = await startPooler(t, url, passesKey);
    for (const purpose of ['service', 'write', 'read'] as const) {
      const opened = databaseAt(pooled).open({ create: false, purpose });
      await assert.rejects(opened, (error) => {
        assert.ok(error instanceof StoreNotUsable);
        assert.match(error.message, ADVICE);
        return true;
      });
    }
    const [finding] = await databaseAt(pooled).diagnose();
    assert.equal(finding!.level, 'problem');
    assert.match(finding!.found, ADVICE);
  });
}

test('a pooler that appears while a node runs is refused by its next connection', async (t) => {
  const pooled = await startPooler(t, await newPostgresDatabase(t), false);
  const connection = new Connection(() => parseAddress(pooled), SERVICE, {
    welcome: expectOwnBackendBehindProxy,
  });
  await assert.rejects(connection.session(), (error) => {
    assert.ok(error instanceof StoreUnavailable);
    assert.match(error.message, ADVICE);
    return true;
  });
});

test('errors of prepared statements, which poolers cause, lead to the same advice', () => {
  for (const code of ['42P05', '26000']) {
    const error = Object.assign(new Error('prepared statement "s0" already exists'), { code });
    assert.match(unavailable(error).message, ADVICE);
  }
});

test('reads that a proxy sends to a standby are refused, and never stale', async (t) => {
  const primary = await Cluster.start();
  t.after(() => primary.remove());
  const standby = await primary.makeStandby('127.0.0.1', await freePort());
  t.after(() => standby.remove());
  const url = primary.url();
  const store = await open(t, url);
  await store.apply([place({ id: 1n, status: 'pending' })]);
  const [[last] = []] = await primary.admin('SELECT pg_current_wal_lsn()');
  await standby.admin(`DO $$ BEGIN
      WHILE pg_last_wal_replay_lsn() < '${last}' LOOP PERFORM pg_sleep(0.01); END LOOP;
    END $$`);
  await standby.admin('SELECT pg_wal_replay_pause()');
  await store.apply([cancel(1n)]);

  let isSplitting = false;
  const split = await startReadSplitter(t, url, {
    standby: standby.port,
    isSplitting: () => isSplitting,
  });
  const node = await open(t, split);
  const before = await node.changedOrders(undefined, () => {});
  isSplitting = true;
  const everyRead: Record<string, () => Promise<unknown>> = {
    changes: () => node.changedOrders(before, () => {}),
    orders: () => node.orders([1n]),
    page: () => node.page({ filter: {}, isDescending: false, limit: 10 }),
    count: () => node.count({}),
    'count of a pet': () => node.count({ petId: 1n }),
    status: () => node.status(),
    feed: () => node.feed('start', 10),
    activity: () => node.activity({ boundaries: [0, 1], after: undefined }),
    keys: () => node.keys([new Uint8Array(32)]),
    pet: () => node.pet(1n),
    webhooks: () => node.webhooks(),
    'a refusal': () => node.apply([cancel(1n)]),
    'another node': () => databaseAt(split).open({ create: false, purpose: 'service' }),
  };
  for (const [what, read] of Object.entries(everyRead)) {
    await assert.rejects(read(), isFromStandby, what);
  }
  isSplitting = false;
  assert.equal((await node.orders([1n]))[0]?.status, 'cancelled');
  assert.deepEqual(await query(standby.url(), 'SELECT status FROM orders'), [['pending']]);
});

function isFromStandby(error: unknown): boolean {
  assert.ok(error instanceof StoreUnavailable, String(error));
  assert.equal(error.fault, 'unreachable');
  assert.match(error.message, /a standby has answered a read/);
  return true;
}
