import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { eventually } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';
import { NEEDS_CURL } from './needs.ts';
import { run, serve } from './program.ts';

const ORDERS = '/v1/store/orders';

test('a store without keys gets a first key, and the printed curl commands work', {
  skip: NEEDS_CURL,
}, async (t) => {
  const { stderr, stdout, secret } = await serve(t, ['--sample', '20']);
  const linesNow = () => stderr().match(/^ +curl .*\n/gm) ?? [];
  // The key is read as soon as it is printed; the lines below it follow.
  await eventually(async () => assert.equal(linesNow().length, 2));
  const lines = linesNow();
  const shell = async (line: string) =>
    (await promisify(execFile)('bash', ['-c', line.replace('curl ', 'curl -sS ')])).stdout;
  assert.equal(JSON.parse(await shell(lines[0]!)).length, 20);
  assert.match(await shell(lines[1]!), /^HTTP\/1\.1 204 /);
  assert.equal(JSON.parse(await shell(lines[0]!)).length, 19);
  assert.ok(!stdout().includes(secret));
});

test('the first key is printed once, and not at all with --no-first-key', async (t) => {
  const database = `sqlite:${join(temporaryFolder(t), 'a.db')}`;
  const quiet = await serve(t, ['--no-first-key'], { database });
  await quiet.stop();
  assert.equal(quiet.stderr(), `Created the store ${database}.\n`);
  const started = quiet
    .stdout()
    .split('\n')
    .find((line) => line.includes('"starting"'));
  assert.equal(JSON.parse(started!).database, database);
  const first = await serve(t, [], { database });
  await first.stop();
  const second = await serve(t, [], { database, expectsKey: false });
  await second.stop();
  assert.equal(second.stderr(), '');
});

test('a store belongs to the environment of the service or command that created it', async (t) => {
  const folder = temporaryFolder(t);
  const staging = { env: { ENVIRONMENT: 'staging' } };
  const served = `sqlite:${join(folder, 'served.db')}`;
  await (await serve(t, [], { database: served })).stop();
  const keyed = `sqlite:${join(folder, 'keyed.db')}`;
  assert.equal((await run(['keys', 'create', '--name', 'a', '--database', keyed])).code, 0);
  for (const database of [served, keyed]) {
    for (const args of [
      ['serve', '--port', '0', '--operations-port', '0'],
      ['keys', 'create', '--name', 'b'],
      ['export'],
      ['ship', '1'],
    ]) {
      const { code, stdout, stderr } = await run([...args, '--database', database], staging);
      assert.equal(code, 1, args.join(' '));
      assert.equal(stdout.includes('so_test_'), false);
      assert.match(stderr, /is for production, but ENVIRONMENT is staging/);
    }
  }
  const other = `sqlite:${join(folder, 'staging.db')}`;
  const { secret, stop } = await serve(t, [], { database: other, ...staging });
  assert.match(secret, /^so_test_/);
  await stop();
  // A command without ENVIRONMENT uses the environment of the store.
  const key = await run(['keys', 'create', '--name', 'c', '--database', other]);
  assert.match(key.stdout, /^so_test_/);
  const refused = await run([
    'serve',
    '--port',
    '0',
    '--operations-port',
    '0',
    '--database',
    other,
  ]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /is for staging, but ENVIRONMENT is production/);
});

test('a service started by npm stops when npm is stopped', async (t) => {
  // npm runs the program in a shell, which does not forward SIGTERM.
  const wrapper = ['sh', '-c', '"$@"; true', 'sh'];
  const env = { npm_lifecycle_event: 'start' };
  const { child, origin, stdout } = await serve(t, [], { wrapper, env });
  child.kill('SIGTERM');
  for (let tries = 0; tries < 100 && !stdout().includes('"stopped"'); tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.match(stdout(), /npm was stopped.*\n.*"stopped"/);
  await assert.rejects(fetch(origin));
});

test('an unknown host, a folder that was deleted, and a name that is too long are messages, without a stack', async (t) => {
  const folder = temporaryFolder(t);
  const database = ['--database', `sqlite:${join(folder, 'a.db')}`];
  const host = await run(['serve', '--port', '0', '--operations-port', '0', ...database], {
    env: { HOST: 'x86_64-conda-linux-gnu.invalid' },
  });
  assert.match(
    host.stderr,
    /getaddrinfo .*\nHOST \(--host\) and OPERATIONS_HOST .* must be addresses/,
  );
  const deleted = ['sh', '-c', 'cd "$(mktemp -d)" && rmdir "$PWD" && exec "$0" "$@"'];
  const list = await run(['list', '--database', 'sqlite:a.db'], { wrapper: deleted });
  assert.match(list.stderr, /^store-orders: the current folder does not exist any more; /);
  const backup = await run(['backup', join(folder, 'b'.repeat(253)), ...database]);
  assert.match(backup.stderr, /ENAMETOOLONG/);
  for (const { code, stderr } of [host, list, backup]) {
    assert.equal(code, 1);
    assert.doesNotMatch(stderr, /\n +at /);
  }
});

test('--sample adds orders to an empty store only', async (t) => {
  const database = `sqlite:${join(temporaryFolder(t), 'a.db')}`;
  const first = await serve(t, ['--sample', '5'], { database });
  const { body } = await first.call('GET', ORDERS);
  await first.stop();
  const again = await serve(t, ['--sample', '9', '--no-first-key'], { database });
  await again.stop();
  assert.match(again.stderr(), /already has orders/);
  const exported = await run(['export', '--database', database]);
  assert.equal(exported.stdout.trim().split('\n').length, JSON.parse(body).length);
});

test('the list is read at its first request, and from the start on if it was in use before', async (t) => {
  const database = `sqlite:${join(temporaryFolder(t), 'a.db')}`;
  const first = await serve(t, ['--sample', '5'], { database });
  const listState = async ({ operations }: typeof first) =>
    /^list of v1: (.*)$/m.exec(await (await fetch(`${operations}/readyz`)).text())?.[1];
  assert.equal(await listState(first), 'read at the first request');
  assert.equal((await first.call('GET', ORDERS)).status, 200);
  assert.equal(await listState(first), 'in memory');
  await first.stop();
  const second = await serve(t, [], { database, expectsKey: false });
  await eventually(async () => assert.equal(await listState(second), 'in memory'));
});

test('the admin listener serves liveness, readiness and metrics', async (t) => {
  const { operations, call } = await serve(t, ['--sample', '5']);
  const get = async (path: string) => {
    const response = await fetch(operations + path, { headers: { 'x-request-id': 'me' } });
    assert.equal(response.headers.get('x-request-id'), 'me');
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    return { status: response.status, body: await response.text() };
  };
  assert.equal((await get('/livez')).status, 200);
  assert.equal((await get('/readyz')).status, 200);
  await call('GET', ORDERS);
  await call('DELETE', `${ORDERS}/1`);
  assert.match((await get('/head')).body, /^2-[0-9a-f]{64}\n$/);
  const { body } = await get('/metrics');
  for (const line of [
    'store_orders_http_requests_total{operation="listOrders",version="v1",status="200"} 1',
    'store_orders_http_requests_total{operation="cancelOrder",version="v1",status="204"} 1',
    'store_orders_orders{status="cancelled"} 1',
    'store_orders_command_batch_size_count 1',
    'store_orders_build_info{version="',
    'store_orders_http_response_body_bytes_total{operation="listOrders"}',
    'store_orders_list_refreshes_total{changed="yes"}',
    'nodejs_eventloop_lag_seconds',
  ]) {
    assert.ok(body.includes(line), line);
  }
  assert.equal((await get('/nope')).status, 404);
});

test('a log reader that closes its pipe does not block the service', async (t) => {
  const { child, call, stop } = await serve(t);
  child.stdout!.destroy();
  for (let index = 0; index < 50; index += 1) {
    assert.equal((await call('GET', ORDERS)).status, 200);
  }
  assert.equal(await stop(), 0);
});

test('a log reader that stops reading does not block the service', async (t) => {
  const { child, call, stop } = await serve(t);
  child.stdout!.pause();
  for (let index = 0; index < 700; index += 1) {
    assert.equal((await call('GET', ORDERS)).status, 200);
  }
  const code = stop();
  await once(child, 'exit');
  child.stdout!.resume();
  assert.equal(await code, 0);
});

test('the log is JSON lines on stdout, one per request, and is flushed at shutdown', async (t) => {
  const { call, stop, stdout } = await serve(t);
  for (let index = 0; index < 20; index += 1) await call('GET', ORDERS);
  await stop();
  const lines = stdout()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(lines.filter(({ msg }) => msg === 'request').length, 20);
  assert.equal(lines.at(-1).msg, 'stopped');
});

test('all invalid settings are reported at once, with exit code 2', async () => {
  const { code, stderr, stdout } = await run(['serve', '--port', '99999'], {
    env: {
      DATABASE_URL: 'mysql://x',
      BASE_URL: 'https://x.example/v2',
      ENVIRONMENT: 'prod',
      PET_LOOKUP_SUNSET_AT: 'soon',
      LOG_LEVEL: 'loud',
    },
  });
  assert.equal(code, 2);
  assert.equal(stdout, '');
  const named = ['--port', 'DATABASE_URL', 'BASE_URL', 'ENVIRONMENT', 'PET_LOOKUP_SUNSET_AT'];
  for (const name of [...named, 'LOG_LEVEL']) assert.match(stderr, new RegExp(`${name} must be`));
  assert.ok(!existsSync('mysql:'));
});

test('a port in use is a failure with a clear message', async (t) => {
  const { port } = await serve(t);
  const database = `sqlite:${join(temporaryFolder(t), 'a.db')}`;
  const flags = ['--port', String(port), '--operations-port', '0', '--database', database];
  const { code, stderr } = await run(['serve', ...flags]);
  assert.equal(code, 1);
  assert.match(stderr, /EADDRINUSE/);
  assert.doesNotMatch(stderr, /\n +at /, 'no stack');
});

test('revoking a key on the command line takes effect in a running service within a second', async (t) => {
  const { call, database } = await serve(t);
  const made = await run(['keys', 'create', '--name', 'ci', '--database', database]);
  assert.match(made.stdout, /^so_live_\w+\n$/);
  const headers = { authorization: `Bearer ${made.stdout.trim()}` };
  assert.equal((await call('GET', ORDERS, headers)).status, 200);
  const id = /key_\w+/.exec(made.stderr)![0];
  assert.equal((await run(['keys', 'revoke', id, '--database', database])).code, 0);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  assert.equal((await call('GET', ORDERS, headers)).status, 401);
});

test('a change made on the command line takes effect in a running service at once', async (t) => {
  const { call, database } = await serve(t, ['--sample', '10']);
  const flags = ['--database', database];
  const listed = async () => JSON.parse((await call('GET', ORDERS)).body);
  assert.equal((await listed()).length, 10);
  const order = '{"id":9007199254740993,"quantity":1}\n';
  assert.equal((await run(['import', '-', ...flags], { input: order })).code, 0);
  assert.equal((await listed()).length, 11);
  assert.equal((await run(['ship', '9007199254740993', ...flags])).code, 0);
  const { status, body } = await call('DELETE', `${ORDERS}/9007199254740993`);
  assert.equal(status, 409, body);
});

test('no acknowledged cancel is lost when the process is killed', async (t) => {
  const database = `sqlite:${join(temporaryFolder(t), 'a.db')}`;
  const count = 400;
  const first = await serve(t, ['--sample', String(count)], { database });
  const acknowledged = new Set<number>();
  const cancelling = Array.from({ length: 8 }, async (_, lane) => {
    for (let id = 1 + lane; id <= count; id += 8) {
      const answer = await first.call('DELETE', `${ORDERS}/${id}`).catch(() => undefined);
      if (answer === undefined) return;
      if (answer.status === 204) acknowledged.add(id);
    }
  });
  await new Promise((resolve) => setTimeout(resolve, 150));
  first.child.kill('SIGKILL');
  await Promise.all(cancelling);
  const second = await serve(t, ['--no-first-key'], { database });
  const headers = { authorization: `Bearer ${first.secret}` };
  const { body } = await second.call('GET', ORDERS, headers);
  const listed = JSON.parse(body).map(({ id }: { id: number }) => id);
  assert.ok(acknowledged.size > 0, 'some were acknowledged');
  for (const id of listed) assert.ok(!acknowledged.has(id), `${id} was acknowledged as cancelled`);
});
