import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { databaseAt } from '../../src/store/database.ts';
import { newSession } from '../../src/store/postgres/database/connection.ts';
import { COMMAND } from '../../src/store/postgres/database/session-settings.ts';
import { Cluster } from '../postgres.ts';
import { type Running, run, serve } from '../process/program.ts';
import { serveNodes } from '../process/serve-nodes.ts';
import { newPostgresDatabase, open } from '../store/engines.ts';

const ORDERS = '/v1/store/orders';
const CERTIFICATE = fileURLToPath(new URL('../tls/server.crt', import.meta.url));

test('importing pets does not block the cancels of a node', async (t) => {
  const url = await newPostgresDatabase(t);
  const { call } = await serve(t, ['--sample', '200'], { database: url });
  const ids: number[] = JSON.parse((await call('GET', ORDERS)).body)
    .filter(({ complete }: { complete: boolean }) => !complete)
    .map(({ id }: { id: number }) => id);
  const pets = Array.from({ length: 30_000 }, (_, id) => `{"id":${id},"name":"pet ${id}"}\n`);
  let isOver = false;
  const importing = run(['pets', 'import', '-', '--database', url], { input: pets.join('') });
  const imported = importing.finally(() => {
    isOver = true;
  });
  while (!isOver && ids.length > 0) {
    assert.equal((await call('DELETE', `${ORDERS}/${ids.pop()}`)).status, 204);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.match((await imported).stderr, /Stored 30,000 pets/);
  assert.equal((await call('GET', '/v1/pets/29999')).status, 200);
});

test('sslmode has the meaning that libpq gives it', async (t) => {
  const secured = await Cluster.start({ ssl: 'on' });
  t.after(() => secured.remove());
  const plain = process.env.TEST_DATABASE_URL!;
  const attempt = async (url: string) => {
    const { stderr } = await run(['export', '--database', url]);
    return /it contains no store/.test(stderr) ? 'connected' : stderr;
  };
  const local = secured.url().replace('127.0.0.1', 'localhost');
  const trusted = `&sslrootcert=${encodeURIComponent(CERTIFICATE)}`;
  for (const mode of ['disable', 'prefer', 'require']) {
    assert.equal(await attempt(`${secured.url()}?sslmode=${mode}`), 'connected', mode);
  }
  assert.equal(await attempt(`${local}?sslmode=verify-full${trusted}`), 'connected');
  assert.equal(await attempt(`${secured.url()}?sslmode=verify-ca${trusted}`), 'connected');
  assert.match(await attempt(`${secured.url()}?sslmode=verify-full${trusted}`), /127\.0\.0\.1/);
  assert.match(await attempt(`${local}?sslmode=verify-full`), /self-signed certificate/);
  assert.equal(await attempt(`${plain}?sslmode=prefer`), 'connected');
  assert.match(await attempt(`${plain}?sslmode=require`), /does not support SSL/);
});

test('a frozen node does not block the others', async (t) => {
  const database = await newPostgresDatabase(t);
  const { nodes, call } = await serveNodes(t, 3, database);
  const store = await open(t, database);
  const ids = Array.from({ length: 3_000 }, (_, index) => BigInt(index + 1));
  await store.apply(
    ids.map((id) => ({ type: 'insertOrder', order: { id, status: 'pending' } }) as const),
  );
  const [frozen] = nodes as [Running];
  let longest = 0;
  for (let round = 0; round < 10; round += 1) {
    const mine = ids.slice(round * 300, (round + 1) * 300);
    // Its clients are not awaited while it is frozen.
    const onFrozen = mine.slice(0, 100).map((id) => call(0, 'DELETE', `${ORDERS}/${id}`));
    await new Promise((resolve) => setTimeout(resolve, 3 * round));
    frozen.child.kill('SIGSTOP');
    await Promise.all(
      mine.slice(100).map(async (id, index) => {
        const from = performance.now();
        assert.equal((await call(1 + (index % 2), 'DELETE', `${ORDERS}/${id}`)).status, 204);
        longest = Math.max(longest, performance.now() - from);
      }),
    );
    frozen.child.kill('SIGCONT');
    for (const { status } of await Promise.all(onFrozen)) assert.ok([204, 503].includes(status));
  }
  t.diagnostic(`the slowest cancel while a node is frozen took ${Math.round(longest)} ms`);
});

test('a store can be closed while PostgreSQL does not respond', async (t) => {
  // On a server of its own: a stopped backend also blocks other backends.
  const cluster = await Cluster.start();
  t.after(() => cluster.remove());
  const store = await databaseAt(cluster.url()).open({ create: true, purpose: 'write' });
  await store.status();
  const [row] = await cluster.admin(
    `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'store-orders %'`,
  );
  process.kill(Number(row![0]), 'SIGSTOP');
  const answer = assert.rejects(store.status(), /PostgreSQL/);
  await store.close();
  await answer;
  process.kill(Number(row![0]), 'SIGCONT');
});

test('a standby is not used', async (t) => {
  const cluster = await Cluster.start();
  t.after(() => cluster.remove());
  await (await databaseAt(cluster.url()).open({ create: true, purpose: 'write' })).close();
  await cluster.stop();
  writeFileSync(join(cluster.data, 'standby.signal'), '');
  await cluster.run();
  assert.deepEqual(await cluster.admin('SELECT count(*) FROM orders'), [['0']]);
  for (const purpose of ['read', 'write', 'service'] as const) {
    const opening = databaseAt(cluster.url()).open({ create: false, purpose });
    await assert.rejects(opening, /this server is a standby/, purpose);
  }
});

test('a connection without answers is closed, and its queries fail', async (t) => {
  const url = new URL(await newPostgresDatabase(t));
  const { port, hostname } = url;
  const relay = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) socket.on('error', () => {});
    near.pipe(far);
    far.pipe(near);
    relay.once('swallow', () => far.unpipe(near).pause());
    t.after(() => [near, far].map((socket) => socket.destroy()));
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  t.after(() => relay.close());
  url.port = String((relay.address() as AddressInfo).port);
  const session = await newSession(url.href, COMMAND);
  relay.emit('swallow');
  const answer = assert.rejects(session.query('SELECT 1'), /PostgreSQL/);
  await session.end();
  await answer;
});
