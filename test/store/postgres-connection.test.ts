import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { parseAddress } from '../../src/store/postgres/database/address.ts';
import { Connection, newSession } from '../../src/store/postgres/database/connection.ts';
import { COMMAND, SERVICE } from '../../src/store/postgres/database/session-settings.ts';
import { StoreUnavailable } from '../../src/store/store.ts';
import { eventually, query } from '../postgres.ts';
import { newPostgresDatabase } from './engines.ts';

/** A server that closes every connection at once, as PostgreSQL does while it starts or has none left. */
async function closingServer(t: TestContext) {
  let accepted = 0;
  const server = createServer((socket) => {
    accepted += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `postgres://u@127.0.0.1:${port}/d`, accepted: () => accepted };
}

test('while connecting fails, requests do not each open a connection', async (t) => {
  const { url, accepted } = await closingServer(t);
  const connection = new Connection(() => parseAddress(url), SERVICE);
  for (let round = 0; round < 100; round += 1) {
    await Promise.all(
      Array.from({ length: 10 }, () => assert.rejects(connection.session(), StoreUnavailable)),
    );
  }
  assert.ok(accepted() < 20, `${accepted()} connections for 1,000 requests`);
});

test('a closed connection does not connect', async (t) => {
  const { url, accepted } = await closingServer(t);
  const connection = new Connection(() => parseAddress(url), SERVICE);
  await connection.close();
  await assert.rejects(connection.session(), { message: 'the store is closed' });
  assert.equal(accepted(), 0);
});

test('if several hosts are the primary, one connection stays open', async (t) => {
  const url = await newPostgresDatabase(t);
  const { host, pathname } = new URL(url);
  const hosts = parseAddress(url.replace(host, [host, host, host].join()));
  assert.equal(hosts.hosts.length, 3);
  const connection = new Connection(() => hosts, SERVICE);
  const session = await connection.session();
  assert.deepEqual(await session.query('SELECT 1'), [[1n]]);
  const server = url.replace(pathname, '/postgres');
  const count = `SELECT count(*) FROM pg_stat_activity WHERE datname = '${pathname.slice(1)}'`;
  await eventually(async () => assert.deepEqual(await query(server, count), [['1']]));
  assert.deepEqual(await session.query('SELECT 2'), [[2n]]);
  await connection.close();
});

test('a role that may have one connection only can run commands', async (t) => {
  const url = new URL(await newPostgresDatabase(t));
  const role = `${url.pathname.slice(1)}_role`;
  await query(process.env.TEST_DATABASE_URL!, `CREATE ROLE ${role} LOGIN CONNECTION LIMIT 1`);
  t.after(() => query(process.env.TEST_DATABASE_URL!, `DROP ROLE ${role}`));
  url.username = role;
  const session = await newSession(url.href, COMMAND);
  assert.deepEqual(await session.query('SELECT 1'), [[1n]]);
  await session.end();
});
