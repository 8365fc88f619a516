// "Litestream" in docs/backup.md, with a program of the tests that replicates as Litestream does.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../temporary.ts';
import { LogReplica } from './log-replica.ts';
import { type Running, run, serve } from './program.ts';

const BILLION = 1_000_000_000n;
/** Requests at the same time. */
const CLIENTS = 20;
const ROUNDS = 30;
const IMPORTED = 40_000;
/** In rounds. */
const CHECKPOINT_EVERY = 5;

function replicaOf(t: TestContext, { database }: Running): LogReplica {
  const replica = new LogReplica(database.slice('sqlite:'.length));
  t.after(() => replica.close());
  return replica;
}

async function place({ call }: Pick<Running, 'call'>): Promise<bigint> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
  const { status, body } = await call(
    'POST',
    '/v2/store/orders',
    headers,
    '{"petId":1,"quantity":1}',
  );
  assert.equal(status, 201, body);
  return BigInt(/"id":(\d+)/.exec(body)![1]!);
}

async function placeSome(service: Pick<Running, 'call'>): Promise<bigint[]> {
  return Promise.all(Array.from({ length: CLIENTS }, () => place(service)));
}

async function position({ call }: Pick<Running, 'call'>): Promise<string> {
  const { body } = await call('GET', '/v2/store');
  return JSON.parse(body).changesAfter;
}

test('SQLite: a replica of the log has every change up to its last reading, and no request fails beside it', async (t) => {
  const service = await serve(t);
  const replica = replicaOf(t, service);
  // The log becomes so long that each commit writes it into the database.
  const rows = Array.from({ length: IMPORTED }, (_, index) => `{"id":${index + 1}}\n`);
  const imported = await run(['import', '-', '--database', service.database], {
    input: rows.join(''),
  });
  assert.equal(imported.code, 0, imported.stderr);
  const kept: bigint[] = [1n, BigInt(IMPORTED)];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const placing = placeSome(service);
    replica.sync();
    if (round % CHECKPOINT_EVERY === 0) replica.checkpoint();
    kept.push(...(await placing));
  }
  replica.sync();
  assert.ok(replica.restarts > 0);
  // Else the log would have begun anew before the replica had read its end.
  assert.equal(replica.copies, 1);
  const keptPosition = await position(service);
  const lost = await placeSome(service);
  const lostPosition = await position(service);
  service.child.kill('SIGKILL');
  await once(service.child, 'close');

  // Another machine.
  const path = join(temporaryFolder(t), 'store.db');
  replica.restore(path);
  const database = `sqlite:${path}`;
  const skipped = await run(['ids', '--skip', '--database', database]);
  assert.equal(skipped.code, 0, skipped.stderr);
  const checked = await run(['check', '--database', database]);
  assert.equal(checked.code, 0, checked.stdout);
  const restored = await serve(t, [], { database, expectsKey: false });
  const { secret } = service;
  const call: Running['call'] = (method, target, headers, body) =>
    restored.call(method, target, { authorization: `Bearer ${secret}`, ...headers }, body);
  const statusOf = async (target: string) => (await call('GET', target)).status;
  for (const id of kept) assert.equal(await statusOf(`/v2/store/orders/${id}`), 200);
  for (const id of lost) assert.equal(await statusOf(`/v2/store/orders/${id}`), 404);
  assert.equal(await statusOf(`/v2/store/changes?after=${keptPosition}`), 200);
  assert.equal(await statusOf(`/v2/store/changes?after=${lostPosition}`), 410);
  assert.ok((await place({ call })) >= BILLION);
});

test('SQLite: two restores of one replica assign no id twice, if ids were skipped and replicated before the first order', async (t) => {
  const service = await serve(t);
  const first = replicaOf(t, service);
  await place(service);
  first.sync();
  const given: bigint[] = [];
  let replica = first;
  for (let restores = 0; restores < 2; restores += 1) {
    const path = join(temporaryFolder(t), 'store.db');
    replica.restore(path);
    const database = `sqlite:${path}`;
    assert.equal((await run(['ids', '--skip', '--database', database])).code, 0);
    const restored = await serve(t, [], { database, expectsKey: false });
    // Nothing is replicated after this.
    replica = replicaOf(t, restored);
    const { secret } = service;
    const call: Running['call'] = (method, target, headers, body) =>
      restored.call(method, target, { authorization: `Bearer ${secret}`, ...headers }, body);
    given.push(await place({ call }));
    assert.equal(await restored.stop(), 0);
  }
  assert.equal(new Set(given).size, 2, given.join());
});
