import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Cluster, eventually, freePort } from '../postgres.ts';
import {
  assertHealthy,
  assertSurvivesRestart,
  DATABASE,
  ORDERS,
  startScenario,
} from '../process/database-scenario.ts';
import { run, runInOwnProcess, serve, spawnProgram } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

test('no acknowledged cancel is lost when the database is restarted', { timeout: 60_000 }, (t) =>
  assertSurvivesRestart(t, 'fast'),
);

test('a node started while the database is down is alive but not ready, and serves once it is up', {
  timeout: 60_000,
}, async (t) => {
  const cluster = await Cluster.start();
  t.after(() => cluster.remove());
  await cluster.stop();
  const operationsPort = await freePort();
  const flags = ['--port', '0', '--operations-port', String(operationsPort)];
  const node = spawnProgram(t, ['serve', ...flags, '--database', cluster.url()]);
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

test('a password changed in DATABASE_URL_FILE is used for new connections', {
  timeout: 60_000,
}, async (t) => {
  const cluster = await Cluster.start();
  t.after(() => cluster.remove());
  await cluster.admin(`CREATE ROLE shop LOGIN SUPERUSER PASSWORD 'first'`);
  await cluster.requirePassword('shop');
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
  assert.match(missing.stderr, /requires a password; set one in the URL, PGPASSWORD or PGPASS/);
  const given = await runInOwnProcess(['export', '--database', url('x').replace(':x@', '@')], {
    env: { PGPASSWORD: 'second' },
  });
  assert.equal(given.code, 0, given.stderr);
  const fromFile = await run(['export', '--database-file', file]);
  assert.equal(fromFile.code, 0, fromFile.stderr);
  const seen = await run(['export', '--database', url('second')]);
  assert.match(seen.stderr, /The password in --database is visible/);
});

test('after the database goes back to an older state, lists are rebuilt with new ETags', {
  timeout: 60_000,
}, async (t) => {
  const { cluster, node, call } = await startScenario(t);
  const disconnected = async (sql: string) => {
    await cluster.admin(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${DATABASE}'`,
    );
    await cluster.admin(sql);
  };
  await eventually(() => disconnected(`CREATE DATABASE past TEMPLATE ${DATABASE}`));
  await eventually(() => assertHealthy(node, call), node.stdout);
  assert.equal((await call('DELETE', `${ORDERS}/1`)).status, 204);
  const lost = await call('GET', ORDERS);
  await eventually(() => disconnected(`ALTER DATABASE ${DATABASE} RENAME TO lost`));
  await cluster.admin(`ALTER DATABASE past RENAME TO ${DATABASE}`);
  await eventually(() => assertHealthy(node, call), node.stdout);
  assert.equal(JSON.parse((await call('GET', ORDERS)).body).length, 2_000);
  // The same revision as in the lost state, but a different change.
  assert.equal((await call('DELETE', `${ORDERS}/2`)).status, 204);
  const now = await call('GET', ORDERS);
  assert.notEqual(now.headers.etag, lost.headers.etag);
  assert.equal(String(now.headers.etag).split('-')[0], String(lost.headers.etag).split('-')[0]);
});
