import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Client } from 'pg';
import type { Answer } from '../http/contract-check.ts';
import { Cluster, eventually, freePort, query } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';
import { type Running, run, serve, started } from './program.ts';

const ORDERS = '/v1/store/orders';
const DATABASE = 'shop';
/** In this time all must work again when the database is back. */
const RECOVERY_MS = 5_000;

interface Scene {
  readonly cluster: Cluster;
  readonly node: Running;
  readonly call: (method: string, path: string) => Promise<Answer>;
  /** The last order that somebody wanted cancelled. */
  lastId: number;
}

/** A node with 2,000 pending orders on a PostgreSQL server of its own. */
async function scene(
  t: TestContext,
  settings: Readonly<Record<string, string>> = {},
  through: (url: string) => Promise<string> = async (url) => url,
): Promise<Scene> {
  const cluster = await Cluster.start(settings);
  t.after(() => cluster.remove());
  await cluster.admin(`CREATE DATABASE ${DATABASE}`);
  const input = Array.from({ length: 2_000 }, (_, index) => `{"id":${index + 1}}\n`).join('');
  await run(['import', '-', '--database', cluster.url(DATABASE)], { input });
  const database = await through(cluster.url(DATABASE));
  const node = await serve(t, [], { database, expectsKey: false });
  const made = await run(['keys', 'create', '--name', 'test', '--database', cluster.url(DATABASE)]);
  const headers = { authorization: `Bearer ${made.stdout.trim()}` };
  const call: Scene['call'] = (method, path) => node.call(method, path, headers);
  return { cluster, node, call, lastId: 0 };
}

/**
 * Clients who cancel, list and probe while `disturb` runs, and a while longer. What was answered 204
 * must be cancelled in the end, and what was answered at all must be an answer of the contract.
 */
async function underLoad(t: TestContext, all: Scene, disturb: () => Promise<void>) {
  const { cluster, node, call } = all;
  let isOver = false;
  const cancelled = new Set<string>();
  const statuses = new Map<string, number>();
  let longest = 0;
  const count = async (what: string, ask: () => Promise<{ status: number }>) => {
    const from = performance.now();
    const { status } = await ask();
    longest = Math.max(longest, performance.now() - from);
    const name = `${what} ${status}`;
    statuses.set(name, (statuses.get(name) ?? 0) + 1);
    return status;
  };
  const loop = async (round: () => Promise<void>) => {
    while (!isOver) {
      await round();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const clients = [
    ...Array.from({ length: 4 }, () =>
      loop(async () => {
        const id = String(++all.lastId);
        const status = await count('DELETE', () => call('DELETE', `${ORDERS}/${id}`));
        assert.ok([204, 503].includes(status), `${status}`);
        if (status === 204) cancelled.add(id);
      }),
    ),
    loop(async () => {
      const status = await count('GET', () => call('GET', ORDERS));
      assert.ok([200, 503].includes(status), `${status}`);
    }),
    loop(async () => {
      await count('readyz', () => fetch(`${node.operations}/readyz`));
      assert.equal(await count('livez', () => fetch(`${node.operations}/livez`)), 200);
    }),
  ];
  await new Promise((resolve) => setTimeout(resolve, 500));
  await disturb();
  await eventually(() => allIsWell(node, call), node.stdout, RECOVERY_MS);
  await new Promise((resolve) => setTimeout(resolve, 500));
  isOver = true;
  await Promise.all(clients);
  t.diagnostic(
    [...statuses]
      .map(([name, times]) => `${name}: ${times}`)
      .sort()
      .join(', '),
  );
  t.diagnostic(`the longest answer took ${Math.round(longest)} ms`);
  const rows = await cluster.admin(`SELECT id FROM orders WHERE status = 'cancelled'`, DATABASE);
  const inStore = new Set(rows.map(([id]) => id));
  for (const id of cancelled) assert.ok(inStore.has(id), `${id} was acknowledged`);
  const list = JSON.parse((await call('GET', ORDERS)).body) as { id: number }[];
  assert.equal(list.length, 2_000 - inStore.size);
  for (const { id } of list) assert.ok(!inStore.has(String(id)));
  assert.equal(node.child.exitCode, null, 'the service goes on');
  return statuses;
}

async function allIsWell(node: Running, call: Scene['call']): Promise<void> {
  assert.equal((await fetch(`${node.operations}/readyz`)).status, 200);
  assert.equal((await call('GET', ORDERS)).status, 200);
  assert.equal((await call('DELETE', `${ORDERS}/999999999`)).status, 404);
}

for (const mode of ['fast', 'immediate', 'kill'] as const) {
  test(`a database that is stopped (${mode}) and started again`, { timeout: 60_000 }, async (t) => {
    const all = await scene(t);
    const statuses = await underLoad(t, all, async () => {
      await all.cluster.stop(mode);
      await eventually(async () => {
        assert.equal((await fetch(`${all.node.operations}/readyz`)).status, 503);
      });
      assert.equal((await all.call('GET', ORDERS)).status, 503);
      assert.equal((await all.call('DELETE', `${ORDERS}/1999`)).status, 503);
      await all.cluster.run();
    });
    assert.ok(statuses.get('DELETE 503')! > 0);
  });
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

test('a node that is started while the database is down waits, not ready, and serves when it is up', {
  timeout: 60_000,
}, async (t) => {
  const cluster = await Cluster.start();
  t.after(() => cluster.remove());
  await cluster.stop();
  const operationsPort = await freePort();
  const flags = ['--port', '0', '--operations-port', String(operationsPort)];
  const node = started(t, ['serve', ...flags, '--database', cluster.url()]);
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${operationsPort}${path}`);
    return { status: response.status, text: await response.text() };
  };
  await eventually(async () => {
    const { status, text } = await ask('/readyz');
    assert.equal(status, 503);
    assert.match(text, /^not ready: waiting for the database: .*ECONNREFUSED/);
  });
  assert.equal((await ask('/livez')).status, 200);
  assert.match((await ask('/metrics')).text, /^store_orders_ready 0$/m);
  await cluster.run();
  await eventually(async () => assert.equal((await ask('/readyz')).status, 200));
  assert.match((await ask('/metrics')).text, /^store_orders_ready 1$/m);
  node.kill('SIGTERM');
  assert.deepEqual(await once(node, 'exit'), [0, null]);
});

test('a password that is changed in the file is used for the next connection', {
  timeout: 60_000,
}, async (t) => {
  const cluster = await Cluster.start();
  t.after(() => cluster.remove());
  await cluster.admin(`CREATE ROLE shop LOGIN SUPERUSER PASSWORD 'first'`);
  await cluster.askForPassword('shop');
  const file = join(temporaryFolder(t), 'url');
  const url = (password: string) => cluster.url().replace('postgres@', `shop:${password}@`);
  writeFileSync(file, url('first'));
  const node = await serve(t, ['--sample', '5'], { env: { DATABASE_URL_FILE: file } });
  await cluster.admin(`ALTER ROLE shop PASSWORD 'second'`);
  writeFileSync(file, `${url('second')}\n`);
  await cluster.admin(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'shop'`,
  );
  await eventually(async () => assert.equal((await node.call('GET', ORDERS)).status, 200));
  assert.equal((await node.call('DELETE', `${ORDERS}/1`)).status, 204);

  const missing = await run(['export', '--database', url('x').replace(':x@', '@')]);
  assert.equal(missing.code, 1);
  assert.match(
    missing.stderr,
    /asks for a password, and neither the URL nor PGPASSWORD nor PGPASS/,
  );
  const given = await run(['export', '--database', url('x').replace(':x@', '@')], {
    env: { PGPASSWORD: 'second' },
  });
  assert.equal(given.code, 0, given.stderr);
  const fromFile = await run(['export', '--database-file', file]);
  assert.equal(fromFile.code, 0, fromFile.stderr);
  const seen = await run(['export', '--database', url('second')]);
  assert.match(seen.stderr, /The password in --database can be seen/);
});

test('an older state in the place of the database is listed anew, under other ETags', {
  timeout: 60_000,
}, async (t) => {
  const { cluster, node, call } = await scene(t);
  const disconnected = async (sql: string) => {
    await cluster.admin(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${DATABASE}'`,
    );
    await cluster.admin(sql);
  };
  await eventually(() => disconnected(`CREATE DATABASE past TEMPLATE ${DATABASE}`));
  await eventually(() => allIsWell(node, call), node.stdout);
  assert.equal((await call('DELETE', `${ORDERS}/1`)).status, 204);
  const lost = await call('GET', ORDERS);
  await eventually(() => disconnected(`ALTER DATABASE ${DATABASE} RENAME TO lost`));
  await cluster.admin(`ALTER DATABASE past RENAME TO ${DATABASE}`);
  await eventually(() => allIsWell(node, call), node.stdout);
  assert.equal(JSON.parse((await call('GET', ORDERS)).body).length, 2_000);
  // At the same revision as the state that was lost, with another change.
  assert.equal((await call('DELETE', `${ORDERS}/2`)).status, 204);
  const now = await call('GET', ORDERS);
  assert.notEqual(now.headers.etag, lost.headers.etag);
  assert.equal(String(now.headers.etag).split('-')[1], String(lost.headers.etag).split('-')[1]);
});
