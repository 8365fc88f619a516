import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { contentsOf, fill, otherEngine } from '../process/copy-contents.ts';
import { run, serve } from '../process/program.ts';
import { ENGINES, newPostgresDatabase } from '../store/engines.ts';
import { temporaryFolder } from '../temporary.ts';

const ORDERS = '/v1/store/orders';

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
      BigInt(String(answer.headers.etag).split(/[-"]/)[1]!);
    assert.equal(revision(after), revision(before) + 1n);
    await run(['import', '-', '--database', to], { input: '{"petId":5}\n' });
    const list = JSON.parse((await second.call('GET', ORDERS, headers)).body);
    assert.deepEqual(list.at(-1), { id: 51, petId: 5 });
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

test('a backup of a PostgreSQL store is an SQLite store with the same contents', async (t: TestContext) => {
  const database = await newPostgresDatabase(t);
  await fill(database, 2_000);
  const path = join(temporaryFolder(t), 'today.db');
  const { code, stderr } = await run(['backup', path, '--database', database]);
  assert.equal(code, 0, stderr);
  const [original, backup] = [await contentsOf(database), await contentsOf(`sqlite:${path}`)];
  // A backup that is opened for writing has been put to use: its ids have leapt.
  const { reservedId, freeIds } = original.status;
  assert.ok(backup.status.reservedId > reservedId);
  const status = { ...backup.status, reservedId, freeIds };
  assert.deepEqual({ ...backup, status }, original);
});
