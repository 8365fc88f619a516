import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { eventually, query } from '../postgres.ts';
import { DATABASE, ORDERS, scene, surviveRestart, underLoad } from '../process/database-scene.ts';
import { started } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

for (const mode of ['immediate', 'kill'] as const) {
  test(`a database that is stopped (${mode}) and started again`, { timeout: 60_000 }, (t) =>
    surviveRestart(t, mode),
  );
}

test('backends that are terminated at any moment', { timeout: 60_000 }, async (t) => {
  const all = await scene(t);
  await underLoad(t, all, async () => {
    for (let round = 0; round < 60; round += 1) {
      await all.cluster.admin(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name LIKE 'store-orders %' AND pid <> pg_backend_pid()`,
      );
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  });
});

test('a database that stands still', { timeout: 60_000 }, async (t) => {
  const all = await scene(t);
  await underLoad(t, all, async () => {
    const { pid } = all.cluster;
    const family = await all.cluster.admin('SELECT pid FROM pg_stat_activity');
    const pids = [pid, ...family.map(([child]) => Number(child))];
    const signal = (name: NodeJS.Signals) => {
      for (const each of pids) {
        try {
          process.kill(each, name);
        } catch {
          // The backend that listed the others has ended.
        }
      }
    };
    signal('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    signal('SIGCONT');
  });
});

test('a network that swallows everything for a while', { timeout: 60_000 }, async (t) => {
  let swallow = (_isOn: boolean) => {};
  const all = await scene(t, {}, async (url) => {
    const relay = await relayTo(t, Number(new URL(url).port));
    swallow = relay.swallow;
    const through = new URL(url);
    through.port = String(relay.port);
    return through.href;
  });
  await underLoad(t, all, async () => {
    swallow(true);
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    swallow(false);
  });
});

/** A relay that can stop passing anything on without closing a connection. */
async function relayTo(t: TestContext, port: number) {
  const sockets = new Set<Socket>();
  let isSwallowing = false;
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => isSwallowing || to.write(chunk));
      from.on('close', () => isSwallowing || to.destroy());
      from.on('error', () => {});
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const swallow = (isOn: boolean) => {
    isSwallowing = isOn;
  };
  return { port: (server.address() as { port: number }).port, swallow };
}

test('a table that somebody keeps locked', { timeout: 60_000 }, async (t) => {
  const all = await scene(t);
  const locker = new Client({ connectionString: all.cluster.url(DATABASE) });
  await locker.connect();
  for (const table of ['orders', 'store', 'api_keys']) {
    await underLoad(t, all, async () => {
      await locker.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      await locker.query('ROLLBACK');
    });
  }
  await locker.end();
});

test('an import that stops in the middle of sending holds nobody up', {
  timeout: 60_000,
}, async (t) => {
  const { cluster, call } = await scene(t);
  const locker = new Client({ connectionString: cluster.url(DATABASE) });
  await locker.connect();
  // Rows so long that a batch does not fit into the buffers of a socket.
  const long = 10n ** 18n;
  const row = (index: number) =>
    `{"id":${long + BigInt(index)},"petId":${long},"quantity":${long},"shipDate":"2026-12-01T09:30:00Z"}`;
  const path = join(temporaryFolder(t), 'a.ndjson');
  writeFileSync(path, Array.from({ length: 12_000 }, (_, index) => row(index)).join('\n'));
  const importing = started(t, ['import', path, '--database', cluster.socketUrl(DATABASE)]);
  // Between its beginning and its first batch.
  await eventually(async () => {
    assert.equal((await locker.query('SELECT FROM imports')).rowCount, 1);
  });
  await locker.query('BEGIN; SELECT FROM store FOR UPDATE');
  await eventually(async () => {
    const [waiting] = await cluster.admin(
      `SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'store-orders %'
        AND client_addr IS NULL AND wait_event_type = 'Lock'`,
    );
    assert.equal(waiting![0], '1');
  });
  importing.kill('SIGSTOP');
  await locker.query('ROLLBACK');
  await eventually(
    async () => assert.equal((await call('DELETE', `${ORDERS}/1`)).status, 204),
    () => 'a cancel still waits for the import',
    5_000,
  );
  await locker.end();
});

test('a database that is out of connections', { timeout: 60_000 }, async (t) => {
  const all = await scene(t, {}, async (url) => {
    await query(url, 'CREATE ROLE app LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO app');
    return url.replace('postgres@', 'app@');
  });
  const statuses = await underLoad(t, all, async () => {
    await all.cluster.admin('ALTER ROLE app CONNECTION LIMIT 0');
    await all.cluster.admin(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'`,
    );
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await all.cluster.admin('ALTER ROLE app CONNECTION LIMIT -1');
  });
  assert.ok(statuses.get('DELETE 503')! > 0);
});

test('a commit that no standby confirms is not acknowledged', { timeout: 60_000 }, async (t) => {
  const { cluster, call } = await scene(t);
  const set = async (standbys: string) => {
    await cluster.admin(`ALTER SYSTEM SET synchronous_standby_names = '${standbys}'`);
    await cluster.admin('SELECT pg_reload_conf()');
    await new Promise((resolve) => setTimeout(resolve, 300));
  };
  await set('nobody');
  const answer = call('DELETE', `${ORDERS}/1`);
  // PostgreSQL reports success to whoever stops waiting, with a warning.
  await eventually(async () => {
    const cancelled = await cluster.admin(
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`,
    );
    assert.equal(cancelled.length, 1);
  });
  assert.equal((await answer).status, 503);
  assert.equal((await call('DELETE', `${ORDERS}/2`)).status, 503);
  await set('');
  await eventually(async () => assert.equal((await call('DELETE', `${ORDERS}/3`)).status, 204));
  assert.equal((await call('DELETE', `${ORDERS}/1`)).status, 404);
});
