import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { StoreOrders } from '../../client/src/client.ts';
import { eventually, freePort } from '../postgres.ts';
import { Cancels } from '../process/cancels.ts';
import { run, serve } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

const PROGRAM = fileURLToPath(new URL('../client/replica-program.ts', import.meta.url));
const KILLS = 15;
const ORDERS = 80_000;

test('a replica in a database is exact after its process was killed, after outages and after a restore of the store', {
  timeout: 100_000,
}, async (t) => {
  const folder = temporaryFolder(t);
  const database = `sqlite:${join(folder, 'store.db')}`;
  const rows = Array.from({ length: ORDERS }, (_, index) => `{"id":${index + 1}}\n`);
  await run(['import', '-', '--database', database], { input: rows.join('') });
  const flags = ['--port', String(await freePort())];
  let service = await serve(t, flags, { database });
  const { origin, secret } = service;
  const replica = join(folder, 'replica.db');
  const env = { ...process.env, STORE_ORDERS_URL: origin, STORE_ORDERS_KEY: secret };
  let child: ChildProcess | undefined;
  const start = () => {
    child = spawn(process.execPath, [PROGRAM, replica], { env, stdio: 'inherit' });
  };
  const kill = async () => {
    const ended = once(child!, 'close');
    child!.kill('SIGKILL');
    await ended;
  };
  t.after(() => child?.kill('SIGKILL'));

  /** Kills the process again and again, while it copies and while it follows, and lets it go on. */
  const killOften = async () => {
    for (let kills = 0; kills < KILLS; kills += 1) {
      start();
      await pause(200 + Math.random() * 500);
      await kill();
    }
  };
  /** Waits until the replica has what the service has, and compares the two. */
  const assertExact = async () => {
    const client = new StoreOrders({ baseUrl: origin, apiKey: secret });
    const { revision } = await client.getStore();
    const reader = new DatabaseSync(replica);
    await eventually(async () => {
      const found = reader.prepare('SELECT revision FROM replica').get();
      assert.equal(found!.revision, Number(revision));
    });
    const wanted = await Array.fromAsync(client.orders(), ({ id, status, revision: changedIn }) =>
      [id, status, changedIn].join(' '),
    );
    const kept = reader.prepare('SELECT id, status, revision FROM orders ORDER BY id').all();
    const found = kept.map(({ id, status, revision: changedIn }) =>
      [id, status, changedIn].join(' '),
    );
    // A comparison of the whole lists would take minutes to describe their difference.
    const differing = wanted.findIndex((each, index) => each !== found[index]);
    assert.equal(found[differing], wanted[differing]);
    assert.equal(found.length, wanted.length);
    reader.close();
  };

  const cancels = new Cancels(t, [origin], secret);
  await killOften();
  start();
  const backup = join(folder, 'backup.db');
  assert.equal((await run(['backup', backup, '--database', database])).code, 0);
  await cancels.more(200);
  await cancels.stop();
  await assertExact();

  // The replica has changes that the restored store does not have.
  assert.equal(await service.stop(), 0);
  assert.equal((await run(['restore', backup, '--database', database])).code, 0);
  await kill();
  start();
  await pause(500);
  await kill();
  service = await serve(t, flags, { database, expectsKey: false });
  const client = new StoreOrders({ baseUrl: origin, apiKey: secret });
  let isOver = false;
  const shipping = (async () => {
    for (let id = BigInt(ORDERS); !isOver; id -= 1n) await client.shipOrder(id);
  })();
  await killOften();
  start();
  isOver = true;
  await shipping;
  await assertExact();
});
