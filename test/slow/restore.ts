import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually, freePort } from '../postgres.ts';
import { Cancels } from '../process/cancels.ts';
import { run, serve, spawnProgram } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

const ORDERS = '/v1/store/orders';

test('restore fails, and changes nothing, if a service creates the database meanwhile', async (t) => {
  const folder = temporaryFolder(t);
  const backup = join(folder, 'backup.db');
  const { stdout: input } = await run(['sample', '200000']);
  await run(['import', '-', '--database', `sqlite:${backup}`], { input });
  const path = join(folder, 'store.db');
  const restoring = spawnProgram(t, ['restore', backup, '--database', `sqlite:${path}`]);
  const exited = once(restoring, 'exit');
  await eventually(async () =>
    assert.ok(readdirSync(folder).some((name) => /partial$/.test(name))),
  );
  restoring.kill('SIGSTOP');
  const service = await serve(t, ['--sample', '10'], { database: `sqlite:${path}` });
  assert.equal((await service.call('DELETE', `${ORDERS}/1`)).status, 204);
  restoring.kill('SIGCONT');
  assert.deepEqual(await exited, [1, null]);
  await service.stop();
  assert.match((await run(['show', '1', '--database', `sqlite:${path}`])).stdout, /cancelled/);
});

test('after a restore, no data of the lost period is served as current, and the lost database is kept', {
  timeout: 90_000,
}, async (t) => {
  const folder = temporaryFolder(t);
  const database = `sqlite:${join(folder, 'store.db')}`;
  const rows = Array.from({ length: 20_000 }, (_, index) => `{"id":${index + 1}}\n`);
  await run(['import', '-', '--database', database], { input: rows.join('') });
  const flags = ['--port', String(await freePort())];
  const before = await serve(t, flags, { database });
  const cancels = new Cancels(t, [before.origin], before.secret);
  await cancels.more(200);
  // 1. A backup is made while the service runs.
  const backup = join(folder, 'backup.db');
  assert.equal((await run(['backup', backup, '--database', database])).code, 0);
  await cancels.more(200);
  await cancels.stop();
  const lost = await before.call('GET', ORDERS);
  const { next } = JSON.parse((await before.call('GET', '/v2/store/changes?after=now')).body);
  // 2. The service stops, the backup is restored, and the service starts.
  assert.equal(await before.stop(), 0);
  const restored = await run(['restore', backup, '--database', database]);
  assert.equal(restored.code, 0, restored.stderr);
  const after = await serve(t, flags, { database, expectsKey: false });
  const call = async (path: string, headers = {}) =>
    after.call('GET', path, { authorization: `Bearer ${before.secret}`, ...headers });
  // 3. Keys are those of the backup; ETags and cursors of the lost period are not valid.
  const list = await call(ORDERS, { 'if-none-match': lost.headers.etag! });
  assert.equal(list.status, 200);
  assert.ok(list.body.length > lost.body.length, 'the cancels after the backup are lost');
  assert.equal((await call(`/v2/store/changes?after=${next}`)).status, 410);
  assert.equal(await after.stop(), 0);
  assert.equal((await run(['check', '--database', database])).code, 0);
  // 4. The database before the restore is beside the new one, with every acknowledged cancel.
  const kept = readdirSync(folder).find((name) => name.startsWith('store.db.before-'));
  const { stdout } = await run(['export', '--database', `sqlite:${join(folder, kept!)}`]);
  const cancelled = stdout.split('\n').filter((line) => line.includes('"cancelled"'));
  assert.equal(cancelled.length, cancels.acknowledged.length);
});
