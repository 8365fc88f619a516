import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { databaseAt } from '../../src/store/database.ts';
import { newSession } from '../../src/store/postgres/database/connection.ts';
import { COMMAND } from '../../src/store/postgres/database/session-settings.ts';
import { StoreUnavailable } from '../../src/store/store.ts';
import { Cluster, eventually, freePort, query } from '../postgres.ts';
import { startReadSplitter } from '../postgres-proxy.ts';
import { cancel, open, place } from './engines.ts';

/** A primary with a store and its standby, for all tests of this file. */
let started: Promise<{ primary: Cluster; standby: Cluster }> | undefined;

function servers() {
  started ??= (async () => {
    const primary = await Cluster.start();
    return { primary, standby: await primary.makeStandby('127.0.0.1', await freePort()) };
  })();
  return started;
}

after(async () => {
  const both = await started;
  await both?.standby.remove();
  await both?.primary.remove();
});

test('reads that a proxy sends to a standby are refused, and never stale', async (t) => {
  const { primary, standby } = await servers();
  const url = primary.url();
  const store = await open(t, url);
  await store.apply([place({ id: 1n, status: 'pending' })]);
  const [[last] = []] = await primary.admin('SELECT pg_current_wal_lsn()');
  // In statements of their own: the snapshot of a longer one can hold up the replay that it waits for.
  const replayed = `SELECT pg_last_wal_replay_lsn() >= '${last}'`;
  await eventually(async () => assert.deepEqual(await standby.admin(replayed), [['t']]));
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
  await standby.admin('SELECT pg_wal_replay_resume()');
});

function isFromStandby(error: unknown): boolean {
  assert.ok(error instanceof StoreUnavailable, String(error));
  assert.equal(error.fault, 'unreachable');
  assert.match(error.message, /a standby has answered a read/);
  return true;
}

test('a commit that no standby has confirmed is a failure, and ends the session', async () => {
  const { primary } = await servers();
  const session = await newSession(primary.url(), COMMAND);
  const set = async (standbys: string) => {
    await primary.admin(`ALTER SYSTEM SET synchronous_standby_names = '${standbys}'`);
    await primary.admin('SELECT pg_reload_conf()');
  };
  await set('nobody');
  await eventually(async () =>
    assert.deepEqual(await primary.admin('SHOW synchronous_standby_names'), [['nobody']]),
  );
  const write = session.write('UPDATE store SET listed_at = 1');
  const failed = assert.rejects(write, /no standby has confirmed the commit/);
  // PostgreSQL reports success, with a warning, to a client that stops waiting.
  await eventually(async () => {
    const ended = await primary.admin(
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`,
    );
    assert.equal(ended.length, 1);
  });
  await failed;
  assert.ok(session.isLost, 'its next statements would read that commit');
  await set('');
});

test('of two primaries in a URL, the one that was promoted last is used, and doctor names both', async (t) => {
  const { primary, standby } = await servers();
  const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`);
  const url = `postgres://postgres@${hosts.join(',')}/postgres`;
  const hostsOf = async () =>
    (await databaseAt(url).diagnose()).find(({ subject }) => subject === 'hosts');
  await eventually(async () => {
    const both = `${hosts[0]}: primary, timeline 1; ${hosts[1]}: standby, timeline 1, 0 s behind`;
    assert.deepEqual(await hostsOf(), { subject: 'hosts', level: 'ok', found: both });
  });
  const lost: string[] = [];
  const node = await databaseAt(url).open({
    ...({ create: false, purpose: 'service' } as const),
    onLost: (record) => lost.push(record),
  });
  t.after(() => node.close());
  await node.apply([place({ id: 7n, status: 'pending' })]);
  await eventually(async () =>
    assert.equal((await query(standby.url(), 'SELECT FROM orders WHERE id = 7')).length, 1),
  );
  await standby.admin("ALTER SYSTEM SET primary_conninfo = ''");
  await standby.admin('SELECT pg_reload_conf()');
  await eventually(async () =>
    assert.deepEqual(await standby.admin('SELECT FROM pg_stat_wal_receiver'), []),
  );
  const kept = await node.status();
  await node.apply([cancel(7n)]);
  const last = await node.status();
  await standby.admin('SELECT pg_promote()');
  const found = await hostsOf();
  assert.equal(found?.level, 'problem');
  assert.equal(
    found!.found,
    `several servers claim to be the primary: ${hosts[0]}: primary, timeline 1; ${hosts[1]}: primary, timeline 2`,
  );
  for (let round = 0; round < 5; round += 1) {
    const session = await newSession(url, COMMAND);
    assert.deepEqual([session.server!.address, session.server!.timeline], [hosts[1], 2]);
    await session.end();
  }
  // The node looks for a later primary by itself, and reads from it although the old one still runs.
  await eventually(async () => assert.equal((await node.status()).head, kept.head));
  // It records what the new one lacks.
  await eventually(() => node.apply([cancel(7n)]));
  assert.equal(lost.length, 1);
  assert.ok(
    lost[0]!.startsWith(
      `${last.revision}-${last.head} was acknowledged and is not in ${hosts[1]}, timeline 2, which was at ${kept.revision}-${kept.head} (of `,
    ),
    String(lost),
  );
  assert.equal((await node.history.losses()).length, 1);
});
