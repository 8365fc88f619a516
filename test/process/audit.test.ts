import assert from 'node:assert/strict';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ENGINES, open } from '../store/engines.ts';
import { temporaryFolder } from '../temporary.ts';
import { run } from './program.ts';

for (const { name, newDatabase } of ENGINES) {
  test(`audit shows the commands of operators, and show reports the operator of each change (${name})`, async (t) => {
    const database = await newDatabase(t);
    const cli = async (...args: string[]) => {
      const result = await run([...args, '--database', database], {
        input: '{"id":1}\n{"id":2}\n',
      });
      assert.equal(result.code, 0, result.stderr);
      return result;
    };
    const { stderr } = await cli('keys', 'create', '--name', 'web shop');
    const id = /key_\w+/.exec(stderr)![0];
    await cli('keys', 'revoke', id);
    await cli('import', '-');
    await cli('cancel', '2');
    await cli('ship', '1');
    await cli('ids', '--last', '5000');
    const { stdout } = await cli('audit', '--ndjson');
    const records = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      records.map(({ command, what }) => `${command}: ${what.replace(/[0-9a-f]{12}$/, 'DIGEST')}`),
      [
        `keys create: ${id} "web shop"`,
        `keys revoke: ${id} "web shop"`,
        'import: standard input, 2 rows, DIGEST',
        'cancel: 2',
        'ship: 1',
        'ids: --last 5000',
      ],
    );
    const by = `${records[0].user}@${hostname()}`;
    assert.ok(records[0].user.endsWith(userInfo().username));
    assert.ok(!stdout.includes('so_live_'));
    const shown = (await cli('show', '2')).stdout;
    assert.match(
      shown,
      new RegExp(`placed +revision 1  by ${by}\\n.*cancelled +revision 2  by ${by}\\n`),
    );
    const { history } = JSON.parse((await cli('show', '2', '--json')).stdout);
    assert.deepEqual([history[1].by, history[1].operator], ['operator', by]);
    assert.match(
      (await cli('audit', '--limit', '1')).stdout,
      /^TIME.*\n\S+Z +\S+@\S+ +ids +--last 5000\n$/,
    );
    const store = await open(t, database);
    const action = { command: 'x', user: 'kim', host: 'desk', what: '' };
    await store.apply(Array.from({ length: 100 }, () => ({ type: 'audit', action }) as const));
    const latest = (await cli('audit')).stdout.trim().split('\n');
    assert.deepEqual([latest.length, latest.filter((line) => / x$/.test(line)).length], [101, 100]);
    if (name === 'PostgreSQL') return;
    const backup = join(temporaryFolder(t), 'b.db');
    await cli('backup', backup);
    assert.match(
      (await run(['audit', '--limit', '1000', '--database', `sqlite:${backup}`])).stdout,
      /keys revoke/,
    );
  });
}
