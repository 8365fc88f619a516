import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../postgres.ts';
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
