import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { COMMIT } from '../../src/version.ts';
import { freePort } from '../postgres.ts';
import { buildImage, command, type Image } from './build-image.ts';
import { Container, makeVolume } from './running.ts';

const ORDERS = '/v1/store/orders';
/** A stop without requests waits for nothing. */
const STOP_LIMIT_MS = 2_000;

let folder: string;
let image: Image;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'store-orders-container-'));
  image = buildImage(folder);
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** Starts the image on free ports; the container is removed after the test. */
async function start(t: TestContext, volume: string) {
  const [port, operationsPort] = [await freePort(), await freePort()];
  const env = { PORT: String(port), OPERATIONS_PORT: String(operationsPort) };
  const container = new Container(image, volume, env);
  t.after(() => container.remove());
  await container.printed(/(Server listening)/);
  // Not 127.0.0.1: the service must be reachable from outside of the container, and the admin listener not.
  const call = (key: string, method: string, path: string) =>
    fetch(`http://127.0.0.2:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, connection: 'close' },
    });
  const operations = (address: string, path: string) =>
    fetch(`http://${address}:${operationsPort}${path}`, { headers: { connection: 'close' } });
  return { container, call, operations };
}

test('the image has the program without its source, and no package manager', (t) => {
  const inImage = (path: string) => join(image.root, path);
  assert.deepEqual(readdirSync(inImage('app')).sort(), [
    ...['LICENSE', 'README.md', 'bin', 'dist', 'health.mjs', 'node_modules', 'package.json'],
  ]);
  for (const name of ['npm', 'npx', 'corepack', 'yarn', 'yarnpkg']) {
    for (const bin of ['usr/local/bin', 'usr/bin', 'bin', 'opt']) {
      assert.ok(!existsSync(inImage(`${bin}/${name}`)), `${bin}/${name}`);
    }
  }
  assert.ok(!existsSync(inImage('usr/local/lib/node_modules')));
  assert.ok(!existsSync(inImage('app/node_modules/typescript')));
  assert.deepEqual(Object.keys(image.config.Volumes), ['/data']);
  const written = command('find', [inImage('app'), '!', '-user', 'root', '-o', '-perm', '/022']);
  assert.equal(
    written
      .split('\n')
      .filter((path) => !path.includes('/.bin/'))
      .join(),
    '',
  );
  t.diagnostic(`size: ${command('du', ['--summarize', '--human-readable', image.root])}`);
});

test('it serves as process 1 of an ordinary user, on a read-only file system, and stops at once', async (t) => {
  const volume = makeVolume(image, join(folder, 'volume'));
  const { container, call, operations } = await start(t, volume);
  assert.match(container.status('NSpid'), /\s1$/);
  assert.equal(container.status('Uid'), '10001\t10001\t10001\t10001');
  assert.match(container.status('CapBnd'), /^0+$/);
  const touched = container.exec(['touch', '/app/x', '/tmp/x', '/x']);
  assert.equal(touched.stderr.match(/Read-only file system/g)?.length, 3, touched.stderr);
  const key = await container.printed(/(so_live_\w{49})\s/);

  // Not /readyz: the stop would drain.
  assert.equal((await operations('127.0.0.1', '/livez')).status, 200);
  await assert.rejects(operations('127.0.0.2', '/livez'));
  const metrics = await (await operations('127.0.0.1', '/metrics')).text();
  assert.match(metrics, new RegExp(`commit="${COMMIT}"`));

  const sample = container.exec(['store-orders', 'sample', '1000']);
  const imported = container.exec(['store-orders', 'import', '-'], sample.stdout);
  assert.equal(imported.code, 0, imported.stderr);
  assert.equal((await call(key, 'DELETE', `${ORDERS}/1`)).status, 204);
  assert.equal((await call('wrong', 'DELETE', `${ORDERS}/2`)).status, 401);

  const { code, ms } = await container.stop();
  assert.equal(code, 0, container.stdout);
  assert.ok(ms < STOP_LIMIT_MS, `${ms} ms`);
  t.diagnostic(`stopped within ${Math.round(ms)} ms`);

  const next = await start(t, volume);
  const list = await (await next.call(key, 'GET', ORDERS)).json();
  assert.ok(Array.isArray(list) && list.length > 100);
  assert.equal((await next.call(key, 'DELETE', `${ORDERS}/1`)).status, 404);
  assert.equal(next.container.stderr, '', 'no second key');
  const backup = next.container.exec(['store-orders', 'backup', '/data/backup.db']);
  assert.equal(backup.code, 0, backup.stderr);
  assert.equal((await next.container.stop()).code, 0);

  const restored = new Container(image, volume, {}, ['restore', '/data/backup.db']);
  assert.equal(await restored.ended(), 0, restored.stderr);
  const checked = new Container(image, volume, {}, ['check']);
  assert.equal(await checked.ended(), 0, checked.stderr);
  assert.match(checked.stdout, /cancelled +1\n/);
  assert.deepEqual(
    readdirSync(volume).filter((name) => !/^(backup|store-orders)\.db/.test(name)),
    [],
    'no temporary files',
  );
});

test('the health check reports liveness or, with /readyz, readiness', async (t) => {
  const volume = makeVolume(image, join(folder, 'health'));
  const { container } = await start(t, volume);
  const [how, ...check] = image.config.Healthcheck.Test;
  assert.equal(how, 'CMD');
  assert.deepEqual(container.exec(check), { code: 0, stdout: '', stderr: '' });
  assert.equal(container.exec([...check, '/readyz']).code, 0);
  assert.equal(container.exec([...check, '/none']).code, 1);

  process.kill(container.pid, 'SIGTERM');
  // It drains, since it was asked whether it is ready.
  const stopping = container.exec([...check, '/readyz']);
  assert.equal(stopping.code, 1);
  assert.match(stopping.stderr, /^\/readyz: 503 /);
  assert.equal(container.exec(check).code, 0);
  process.kill(container.pid, 'SIGSTOP');
  const hanging = container.exec(check);
  process.kill(container.pid, 'SIGCONT');
  assert.deepEqual([hanging.code, hanging.stderr], [1, '/livez: no response\n']);
  assert.equal(await container.ended(), 0);
  assert.ok(existsSync(join(volume, 'store-orders.db')));
});
