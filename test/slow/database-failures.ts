import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { eventually, query } from '../postgres.ts';
import {
  assertSurvivesRestart,
  DATABASE,
  ORDERS,
  startScenario,
  underLoad,
} from '../process/database-scenario.ts';
import { run, serve, spawnProgram } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

for (const mode of ['immediate', 'kill'] as const) {
  test(
    `no acknowledged cancel is lost when the database is stopped (${mode}) and restarted`,
    { timeout: 60_000 },
    (t) => assertSurvivesRestart(t, mode),
  );
}

test('a node recovers after its backends are terminated repeatedly', {
  timeout: 60_000,
}, async (t) => {
  const all = await startScenario(t);
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

test('a node recovers after the database freezes for six seconds', {
  timeout: 60_000,
}, async (t) => {
  const all = await startScenario(t);
  await underLoad(t, all, async () => {
    const { pid } = all.cluster;
    const backends = await all.cluster.admin('SELECT pid FROM pg_stat_activity');
    const pids = [pid, ...backends.map(([child]) => Number(child))];
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

test('a node recovers after the network drops all data for six seconds', {
  timeout: 60_000,
}, async (t) => {
  let drop = (_isOn: boolean) => {};
  const all = await startScenario(t, {}, async (url) => {
    const relay = await relayTo(t, Number(new URL(url).port));
    drop = relay.drop;
    const through = new URL(url);
    through.port = String(relay.port);
    return through.href;
  });
  await underLoad(t, all, async () => {
    drop(true);
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    drop(false);
  });
});

/** A relay that can drop all data without closing a connection. */
async function relayTo(t: TestContext, port: number) {
  const sockets = new Set<Socket>();
  let isDropping = false;
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => isDropping || to.write(chunk));
      from.on('close', () => isDropping || to.destroy());
      from.on('error', () => {});
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const drop = (isOn: boolean) => {
    isDropping = isOn;
  };
  return { port: (server.address() as { port: number }).port, drop };
}

test('a node recovers after a table is locked for three seconds', {
  timeout: 60_000,
}, async (t) => {
  const all = await startScenario(t);
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

test('an import that freezes while it sends a batch does not block cancels', {
  timeout: 60_000,
}, async (t) => {
  const { cluster, call } = await startScenario(t);
  const locker = new Client({ connectionString: cluster.url(DATABASE) });
  await locker.connect();
  // Rows so long that a batch does not fit into the buffers of a socket.
  const long = 10n ** 18n;
  const row = (index: number) =>
    `{"id":${long + BigInt(index)},"petId":${long},"quantity":${long},"shipDate":"2026-12-01T09:30:00Z"}`;
  const path = join(temporaryFolder(t), 'a.ndjson');
  writeFileSync(path, Array.from({ length: 12_000 }, (_, index) => row(index)).join('\n'));
  const importing = spawnProgram(t, ['import', path, '--database', cluster.socketUrl(DATABASE)]);
  // The import has begun, and its first batch is still to come.
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

test('a node recovers after the database refuses its connections', {
  timeout: 60_000,
}, async (t) => {
  const all = await startScenario(t, {}, async (url) => {
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

test('a commit that no standby confirms is not acknowledged, also not to a client that repeats it', {
  timeout: 60_000,
}, async (t) => {
  const { cluster, call } = await startScenario(t);
  const database = cluster.url(DATABASE);
  const other = await serve(t, [], { database, expectsKey: false });
  const key = await run(['keys', 'create', '--name', 'other', '--database', database]);
  const authorization = `Bearer ${key.stdout.trim()}`;
  const cancelAtOther = (id: number) => other.call('DELETE', `${ORDERS}/${id}`, { authorization });
  // That the keys were used is written now, and not when order 1 is cancelled.
  assert.equal((await cancelAtOther(4)).status, 204);
  assert.equal((await call('DELETE', `${ORDERS}/5`)).status, 204);
  const set = async (standbys: string) => {
    await cluster.admin(`ALTER SYSTEM SET synchronous_standby_names = '${standbys}'`);
    await cluster.admin('SELECT pg_reload_conf()');
    await new Promise((resolve) => setTimeout(resolve, 300));
  };
  await set('nobody');
  const answer = call('DELETE', `${ORDERS}/1`);
  // PostgreSQL reports success, with a warning, to a client that stops waiting.
  await eventually(async () => {
    const cancelled = await cluster.admin(
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`,
    );
    assert.equal(cancelled.length, 1);
  });
  assert.equal((await answer).status, 503);
  // Order 1 is cancelled in this server, and only in this one: a 404 would acknowledge that. Nothing has failed at the other node so far.
  assert.equal((await cancelAtOther(1)).status, 503);
  assert.equal((await call('DELETE', `${ORDERS}/1`)).status, 503);
  assert.equal((await call('DELETE', `${ORDERS}/2`)).status, 503);
  await cluster.stop();
  await cluster.run();
  await eventually(async () => assert.equal((await call('GET', ORDERS)).status, 200));
  assert.equal((await call('DELETE', `${ORDERS}/1`)).status, 503);
  await set('');
  await eventually(async () => assert.equal((await call('DELETE', `${ORDERS}/3`)).status, 204));
  assert.equal((await call('DELETE', `${ORDERS}/1`)).status, 404);
});
