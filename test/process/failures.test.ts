import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { eventually } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';
import { NEEDS_NAMESPACES } from './needs.ts';
import { run, serve } from './program.ts';

const ORDERS = '/v1/store/orders';
const SERVE = ['serve', '--port', '0', '--operations-port', '0', '--database'];

async function refusal(t: TestContext, path: string): Promise<string> {
  const { code, stderr } = await run([...SERVE, `sqlite:${path}`]);
  assert.equal(code, 1, stderr);
  assert.doesNotMatch(stderr, /\n +at /, 'no stack');
  t.diagnostic(stderr.trim());
  return stderr;
}

test('a file that is not a database is refused', async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  writeFileSync(path, 'This is a letter, not a database.'.repeat(50));
  assert.match(await refusal(t, path), /not an SQLite database/);
});

test('a database of another program is refused', async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  const db = new DatabaseSync(path);
  db.exec('CREATE TABLE orders (id INTEGER)');
  db.close();
  assert.match(await refusal(t, path), /belongs to another program/);
});

test('a database of a newer release is refused', async (t) => {
  const path = join(temporaryFolder(t), 'a.db');
  await (await serve(t, [], { database: `sqlite:${path}` })).stop();
  const db = new DatabaseSync(path);
  db.exec('PRAGMA user_version = 99');
  db.close();
  assert.match(await refusal(t, path), /version 99.*newer release/);
});

test('a folder and a path below a file are refused', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'a.db'));
  assert.match(await refusal(t, join(folder, 'a.db')), /not a file/);
  writeFileSync(join(folder, 'file'), '');
  assert.match(await refusal(t, join(folder, 'file', 'a.db')), /cannot create its folder/);
});

test('if the clock is behind the last change, the service warns and keys expire by the later time', async (t) => {
  const first = await serve(t, ['--sample', '10']);
  const { database } = first;
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  const flags = ['--name', 'x', '--expires', inAnHour, '--database', database];
  const secret = (await run(['keys', 'create', ...flags])).stdout.trim();
  const headers = { authorization: `Bearer ${secret}` };
  assert.equal((await first.call('DELETE', `${ORDERS}/1`, headers)).status, 204);
  await first.stop();
  const db = new DatabaseSync(database.slice('sqlite:'.length));
  db.exec(`UPDATE order_events SET at = at + 86400000`);
  db.close();
  const { call, stdout } = await serve(t, [], { database, expectsKey: false });
  const refused = await call('GET', ORDERS, headers);
  assert.equal(JSON.parse(refused.body).code, 'api_key_expired');
  assert.match(stdout(), /"level":40.*"seconds":86\d{3}.*the clock is behind the last change/);
});

test('while another process holds the write lock, lists succeed and cancels are 503', async (t) => {
  const { call, database } = await serve(t, ['--sample', '100']);
  const other = new DatabaseSync(database.slice('sqlite:'.length));
  other.exec('BEGIN IMMEDIATE');
  for (let round = 0; round < 3; round += 1) {
    const from = performance.now();
    const cancels = Array.from({ length: 10 }, (_, index) =>
      call('DELETE', `${ORDERS}/${index + 1}`).then(({ status }) => ({
        status,
        ms: performance.now() - from,
      })),
    );
    // A later request also waits for the batch before its own.
    const later = new Promise((resolve) => setTimeout(resolve, 100)).then(async () => {
      const started = performance.now();
      const { status } = await call('DELETE', `${ORDERS}/50`);
      return { status, ms: performance.now() - started };
    });
    for (let index = 0; index < 10; index += 1) {
      const { status, body } = await call('GET', ORDERS);
      assert.equal(status, 200);
      assert.equal(JSON.parse(body).length, 100);
    }
    for (const { status, ms } of await Promise.all([...cancels, later])) {
      assert.equal(status, 503);
      t.diagnostic(`503 after ${Math.round(ms)} ms`);
    }
  }
  other.exec('ROLLBACK');
  other.close();
  assert.equal((await call('DELETE', `${ORDERS}/1`)).status, 204);
});

test('on a full disk lists succeed and cancels are 503, until there is space again', {
  skip: NEEDS_NAMESPACES,
}, async (t) => {
  const folder = temporaryFolder(t);
  const { call, child } = await serveOnSmallDisk(t, folder);
  // The folder as seen from outside the namespace: below the root of the process inside.
  const filler = join('/proc', String(child.pid), 'root', folder, 'filler');
  let block = 64 * 1024;
  const fillers: string[] = [];
  while (block >= 512) {
    try {
      const name = `${filler}-${fillers.length}`;
      fillers.push(name);
      writeFileSync(name, Buffer.alloc(block, 1));
    } catch {
      block /= 2;
    }
  }
  const { body } = await call('GET', ORDERS);
  const orders: { id: number; complete: boolean }[] = JSON.parse(body);
  const pending = orders.filter(({ complete }) => !complete).map(({ id }) => id);
  const statuses = new Map<number, number>();
  for (const id of pending.slice(0, 40)) {
    statuses.set(id, (await call('DELETE', `${ORDERS}/${id}`)).status);
    assert.equal((await call('GET', ORDERS)).status, 200);
  }
  assert.ok(
    [...statuses.values()].every((status) => status === 503 || status === 204),
    [...statuses.values()].join(),
  );
  const refused = [...statuses].filter(([, status]) => status === 503);
  assert.ok(refused.length > 0, 'the disk was full');
  for (const name of fillers) rmSync(name, { force: true });
  for (const [id] of refused) assert.equal((await call('DELETE', `${ORDERS}/${id}`)).status, 204);
  const left = JSON.parse((await call('GET', ORDERS)).body);
  assert.deepEqual(
    left,
    orders.filter(({ id }) => !statuses.has(id)),
  );
});

test('at the limit of the size of a file, as at a quota, the cause is a full disk, until the limit is raised', async (t) => {
  const { call, child, database, stdout } = await serve(t, ['--sample', '500']);
  const limit = (bytes: string) =>
    spawnSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`]);
  if (limit('unlimited').status !== 0) return t.skip('prlimit is missing, or has no permission');
  const pending = JSON.parse((await call('GET', ORDERS)).body)
    .filter(({ complete }: { complete: boolean }) => !complete)
    .map(({ id }: { id: number }) => id);
  const log = statSync(`${database.slice('sqlite:'.length)}-wal`).size;
  limit(String(log + 4_096));
  const statuses: number[] = [];
  for (const id of pending.slice(0, 20)) {
    statuses.push((await call('DELETE', `${ORDERS}/${id}`)).status);
  }
  assert.equal(statuses.at(-1), 503);
  assert.equal((await call('GET', ORDERS)).status, 200);
  await eventually(async () => assert.match(stdout(), /"cause":"full"/));
  assert.doesNotMatch(stdout(), /"cause":"failed"/);
  limit('unlimited');
  assert.equal((await call('DELETE', `${ORDERS}/${pending[19]}`)).status, 204);
});

/** Starts the service with its database on a 2 MiB disk in a mount namespace of its own. */
async function serveOnSmallDisk(t: TestContext, folder: string) {
  const seed = `sqlite:${join(folder, 'store.db')}`;
  const holder = spawn(
    'unshare',
    [
      '--user',
      '--map-root-user',
      '--mount',
      'sh',
      '-c',
      `mount -t tmpfs -o size=2m tmpfs ${folder} && exec sleep 600`,
    ],
    { stdio: 'ignore' },
  );
  const ended = once(holder, 'close');
  t.after(async () => {
    holder.kill('SIGKILL');
    await ended;
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal(holder.exitCode, null, 'the disk is mounted');
  return serve(t, ['--sample', '500'], {
    database: seed,
    wrapper: [
      'nsenter',
      '--user',
      '--preserve-credentials',
      '--mount',
      '--target',
      String(holder.pid),
    ],
  });
}
