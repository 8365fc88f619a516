import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addSamples } from '../../src/cli/orders/sample.ts';
import { run } from '../process/program.ts';
import { ENGINES, open } from '../store/engines.ts';

for (const engine of ENGINES) {
  test(`a store on ${engine.name} cannot be copied onto itself: exit 2`, async (t) => {
    const url = await engine.newDatabase(t);
    await (await open(t, url)).close();
    const { code, stderr } = await run(['copy', '--from', url, '--to', url]);
    assert.equal(code, 2);
    assert.match(stderr, /source and target are the same database/);
  });
}

test('if one of several orders cannot be changed, the exit code is 1', async (t) => {
  const database = await ENGINES[0]!.newDatabase(t);
  await run(['import', '-', '--database', database], { input: '{"id":1}\n{"id":2}\n{"id":3}\n' });
  for (const command of ['cancel', 'ship']) {
    const known = command === 'cancel' ? ['1', '2'] : ['3'];
    const { code, stderr } = await run([command, ...known, '99', '--database', database]);
    assert.equal(code, 1);
    assert.match(stderr, /99 does not exist\n.*1 of \d /);
  }
});

test('list reports further orders even if a page ends with the last order shown', async (t) => {
  const database = await ENGINES[0]!.newDatabase(t);
  const { stdout: input } = await run(['sample', '1100']);
  await run(['import', '-', '--database', database], { input });
  for (const limit of [511, 512, 513, 1024]) {
    const { stderr } = await run(['list', '--limit', String(limit), '--database', database]);
    assert.match(stderr, new RegExp(`Use --from ${limit + 1},`));
  }
});

test('an expiry in the past is a usage error: exit 2', async (t) => {
  const database = await ENGINES[0]!.newDatabase(t);
  const args = ['keys', 'create', '--name', 'x', '--expires', '2020-01-01'];
  const { code, stdout, stderr } = await run([...args, '--database', database]);
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /--expires must be in the future/);
});

test('samples are not added to a store with orders, in any status', async (t) => {
  const store = await open(t, await ENGINES[0]!.newDatabase(t));
  await store.apply([{ type: 'insertOrder', order: { id: 1n, status: 'cancelled' } }]);
  await addSamples(store, 5);
  assert.deepEqual((await store.status()).orders, { pending: 0n, shipped: 0n, cancelled: 1n });
});
