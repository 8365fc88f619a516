import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, serve } from '../process/program.ts';
import { ENGINES, newPostgresDatabase } from '../store/engines.ts';

const ORDERS = '/v1/store/orders';

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: a moved store cannot be served, written or copied again until it is reactivated`, async (t) => {
    const [from, to] = [await newDatabase(t), await newPostgresDatabase(t)];
    const { stdout: input } = await run(['sample', '10']);
    await run(['import', '-', '--database', from], { input });
    assert.equal((await run(['copy', '--from', from, '--to', to])).code, 0);
    const ports = ['--port', '0', '--operations-port', '0'];
    for (const args of [
      ['serve', ...ports],
      ['import', '-'],
      ['ship', '1'],
      ['keys', 'create', '--name', 'x'],
    ]) {
      const { code, stderr } = await run([...args, '--database', from], { input: '{"id":99}' });
      assert.equal(code, 1, args.join(' '));
      assert.match(
        stderr,
        /was moved to postgres:.*; use that database.*reactivate/s,
        args.join(' '),
      );
    }
    const shown = await run(['show', '1', '--database', from]);
    assert.equal(shown.code, 0);
    assert.match(shown.stderr, /was moved to postgres:/);
    const again = await run(['copy', '--from', from, '--to', await newPostgresDatabase(t)]);
    assert.match(again.stderr, /was moved to postgres:.*; copy it from there/);
    assert.equal((await run(['reactivate', '--database', from])).code, 0);
    const service = await serve(t, [], { database: from });
    assert.equal((await service.call('GET', ORDERS)).status, 200);
    assert.equal((await run(['check', '--database', to])).code, 0);
  });
}
