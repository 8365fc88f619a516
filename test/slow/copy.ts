import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { eventually, query } from '../postgres.ts';
import { contentsOf, fill, otherEngine } from '../process/copy-contents.ts';
import { run, spawnProgram } from '../process/program.ts';
import { ENGINES, open } from '../store/engines.ts';

/** So many that a copy can be met under way. */
const MANY = 60_000;

for (const engine of ENGINES) {
  const into = otherEngine(engine);

  test(`an interrupted copy to ${into.name} cannot be used, and can be run again`, async (t) => {
    const [from, to] = [await engine.newDatabase(t), await into.newDatabase(t)];
    await fill(from, MANY);
    const contents = await contentsOf(from);
    const copying = spawnProgram(t, ['copy', '--from', from, '--to', to]);
    await eventually(async () => assert.ok(await isUnderWay(to)));
    assert.equal(copying.exitCode, null);
    copying.kill('SIGKILL');
    const refused = await run(['serve', '--port', '0', '--operations-port', '0', '--database', to]);
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /a copy into this database is incomplete; run "store-orders copy" again/,
    );
    assert.equal((await run(['export', '--database', to])).code, 1);
    const back = await run(['copy', '--from', to, '--to', await engine.newDatabase(t)]);
    assert.equal(back.code, 1);
    assert.match(back.stderr, /a copy into this database is incomplete/);
    assert.equal((await run(['copy', '--from', from, '--to', to])).code, 0);
    assert.deepEqual(await contentsOf(to), contents);
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
}

/** Whether some rows have been copied, but not all. */
async function isUnderWay(to: string): Promise<boolean> {
  if (to.startsWith('sqlite:')) {
    return statSync(`${to.slice('sqlite:'.length)}-wal`).size > 500_000;
  }
  const [row] = await query(to, 'SELECT EXISTS (SELECT FROM orders), EXISTS (SELECT FROM pets)');
  return row![0] === 't' && row![1] === 'f';
}
