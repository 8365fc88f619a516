import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openStore } from '../../src/store/open.ts';
import { eventually, query } from '../postgres.ts';
import { ENGINES, type Engine, newPostgresDatabase, open } from '../store/engines.ts';
import { temporaryFolder } from '../temporary.ts';
import { run, serve, spawnProgram } from './program.ts';

const ORDERS = '/v1/store/orders';
const MANY = 60_000;

/** Fills a store with records of every kind. */
async function fill(database: string, count: number): Promise<void> {
  const sample = await run(['sample', String(count)]);
  const env = { DATABASE_URL: database };
  await run(['import', '-'], { env, input: sample.stdout });
  await run(['ship', '1', '2', '3'], { env });
  const pets =
    '{"id":9007199254740993,"name":"Zoë \\"Z\\" O\'Hara\\\\","tag":"cat, grey"}\n{"id":-1}\n';
  await run(['pets', 'import', '-'], { env, input: pets });
  await run(['keys', 'create', '--name', 'Käse {"}', '--expires', '2099-01-01'], { env });
  const { stdout } = await run(['keys', 'create', '--name', 'old'], { env });
  assert.match(stdout, /^so_live_/);
  const list = JSON.parse((await run(['keys', 'list', '--json'], { env })).stdout);
  await run(['keys', 'revoke', list[1].id], { env });
  const store = await openStore(database, { create: false, purpose: 'service' });
  await store.apply([
    { type: 'place', order: { id: -(2n ** 63n), status: 'pending' } },
    {
      type: 'place',
      order: { id: 2n ** 63n - 1n, status: 'cancelled', petId: 0n, complete: true },
    },
    { type: 'cancel', id: 4n, by: 'key_x' },
  ]);
  await store.close();
}

/** Everything observable of a store. */
async function contentsOf(database: string) {
  const env = { DATABASE_URL: database };
  const store = await openStore(database, { create: false, purpose: 'write' });
  // A store and its copy differ in movedTo.
  const { movedTo: _, ...status } = await store.status();
  const pets = [await store.pet(2n ** 53n + 1n), await store.pet(-1n)];
  const histories = [
    await store.history(1n),
    await store.history(4n),
    await store.history(-(2n ** 63n)),
  ];
  await store.close();
  return {
    status,
    pets,
    histories,
    orders: (await run(['export'], { env })).stdout,
    keys: (await run(['keys', 'list', '--json'], { env })).stdout,
  };
}

const otherEngine = (engine: Engine) => ENGINES.find(({ name }) => name !== engine.name)!;

for (const engine of ENGINES) {
  const into = otherEngine(engine);
  test(`copying from ${engine.name} to ${into.name} and back preserves everything`, async (t) => {
    const urls = [
      await engine.newDatabase(t),
      await into.newDatabase(t),
      await engine.newDatabase(t),
    ];
    await fill(urls[0]!, 2_000);
    const expected = await contentsOf(urls[0]!);
    for (const [index, to] of urls.slice(1).entries()) {
      const { code, stderr } = await run(['copy', '--from', urls[index]!, '--to', to]);
      assert.equal(code, 0, stderr);
      assert.match(stderr, /Copied 2,002 orders .* and verified them/);
      assert.deepEqual(await contentsOf(to), expected);
    }
  });

  test(`after a move from ${engine.name}, lists keep their ETag, and revisions and ids continue`, async (t) => {
    const [from, to] = [await engine.newDatabase(t), await into.newDatabase(t)];
    const first = await serve(t, ['--sample', '50'], { database: from });
    const before = await first.call('GET', ORDERS);
    await first.stop();
    assert.equal((await run(['copy', '--from', from, '--to', to])).code, 0);
    const second = await serve(t, [], { database: to, expectsKey: false });
    const headers = { authorization: `Bearer ${first.secret}` };
    const unchanged = { ...headers, 'if-none-match': String(before.headers.etag) };
    assert.equal((await second.call('GET', ORDERS, unchanged)).status, 304);
    assert.equal((await second.call('DELETE', `${ORDERS}/1`, headers)).status, 204);
    const after = await second.call('GET', ORDERS, headers);
    const revision = (answer: typeof after) =>
      BigInt(String(answer.headers.etag).split(/[-"]/)[2]!);
    assert.equal(revision(after), revision(before) + 1n);
    await run(['import', '-', '--database', to], { input: '{"petId":5}\n' });
    const list = JSON.parse((await second.call('GET', ORDERS, headers)).body);
    assert.deepEqual(list.at(-1), { id: 51, petId: 5 });
  });

  test(`an interrupted copy to ${into.name} cannot be used, and can be run again`, async (t) => {
    const [from, to] = [await engine.newDatabase(t), await into.newDatabase(t)];
    await fill(from, MANY);
    const copying = spawnProgram(t, ['copy', '--from', from, '--to', to]);
    await eventually(async () => assert.ok(await isUnderWay(to)));
    assert.equal(copying.exitCode, null);
    copying.kill('SIGKILL');
    const refused = await run(['serve', '--port', '0', '--operations-port', '0', '--database', to]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /a copy into it has not ended; run "store-orders copy" again/);
    assert.equal((await run(['export', '--database', to])).code, 1);
    const back = await run(['copy', '--from', to, '--to', await engine.newDatabase(t)]);
    assert.equal(back.code, 1);
    assert.match(back.stderr, /a copy into it has not ended/);
    assert.equal((await run(['copy', '--from', from, '--to', to])).code, 0);
    assert.deepEqual(await contentsOf(to), await contentsOf(from));
  });

  test(`copying from ${engine.name} fails if a key is revoked meanwhile`, async (t) => {
    const [from, to] = [await engine.newDatabase(t), await into.newDatabase(t)];
    await fill(from, MANY);
    const copying = run(['copy', '--from', from, '--to', to]);
    await eventually(async () => assert.ok(await isUnderWay(to)));
    const store = await open(t, from);
    const [key] = await store.keys();
    assert.deepEqual(await store.apply([{ type: 'revokeKey', id: key!.id }]), ['revoked']);
    const { code, stderr } = await copying;
    assert.equal(code, 1);
    assert.match(stderr, /the store changed while it was copied/);
  });

  test(`copying from ${engine.name} fails if an order changes meanwhile`, async (t) => {
    const [from, to] = [await engine.newDatabase(t), await into.newDatabase(t)];
    await fill(from, MANY);
    const store = await open(t, from);
    const copying = run(['copy', '--from', from, '--to', to]);
    await eventually(async () => assert.ok(await isUnderWay(to)));
    await store.apply([{ type: 'cancel', id: -(2n ** 63n) }]);
    const { code, stderr } = await copying;
    assert.equal(code, 1);
    assert.match(stderr, /the store changed while it was copied/);
    assert.equal((await run(['export', '--database', to])).code, 1);
  });

  test(`a copy does not overwrite a store on ${into.name}`, async (t) => {
    const [from, to] = [await engine.newDatabase(t), await into.newDatabase(t)];
    await fill(from, 10);
    await run(['import', '-', '--database', to], { input: '{"id":7}\n' });
    const { code, stderr } = await run(['copy', '--from', from, '--to', to]);
    assert.equal(code, 1);
    assert.match(stderr, /it already contains a store/);
    assert.equal((await run(['export', '--database', to])).stdout, '{"id":7,"status":"pending"}\n');
  });
}

/** Whether some rows have been copied, but not all. */
async function isUnderWay(to: string): Promise<boolean> {
  if (to.startsWith('sqlite:')) {
    return statSync(`${to.slice('sqlite:'.length)}-wal`).size > 500_000;
  }
  const [row] = await query(to, 'SELECT EXISTS (SELECT FROM orders), EXISTS (SELECT FROM pets)');
  return row![0] === 't' && row![1] === 'f';
}

test('a backup of a PostgreSQL store is an SQLite store with the same contents', async (t: TestContext) => {
  const database = await newPostgresDatabase(t);
  await fill(database, 2_000);
  const path = join(temporaryFolder(t), 'backups', 'today.db');
  const { code, stderr } = await run(['backup', path, '--database', database]);
  assert.equal(code, 0, stderr);
  const [original, backup] = [await contentsOf(database), await contentsOf(`sqlite:${path}`)];
  assert.notEqual(backup.status.storeId, original.status.storeId);
  const status = { ...backup.status, storeId: original.status.storeId };
  assert.deepEqual({ ...backup, status }, original);
});
