import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addSamples } from '../../src/cli/orders/sample.ts';
import { rowsText } from '../../src/cli/terminal/terminal.ts';
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
  assert.equal((await run(['list', '--limit', '1100', '--database', database])).stderr, '');
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

test('the audit names up to 20 orders, and counts more', async (t) => {
  const database = await ENGINES[0]!.newDatabase(t);
  const { stdout: input } = await run(['sample', '21']);
  await run(['import', '-', '--database', database], { input });
  const ids = Array.from({ length: 21 }, (_, index) => String(index + 1));
  await run(['cancel', ...ids.slice(0, 20), '--database', database]);
  await run(['cancel', ...ids, '--database', database]);
  const { stdout } = await run(['audit', '--database', database]);
  assert.match(stdout, / {2}1, 2, .*, 19, 20$/m);
  assert.match(stdout, / {2}1, 2, .*, 19, 20, … \(21 orders\)$/m);
});

test('a table can have more rows than a call has arguments', () => {
  const rows = Array.from({ length: 300_000 }, (_, index) => ({ index }));
  const text = rowsText(rows, { ROW: ({ index }) => String(index), X: () => 'x' });
  assert.equal(text.split('\n').length, 300_002);
});

test('an exported CSV is imported without loss; one for spreadsheets is refused with what to do', async (t) => {
  const [database, copy] = [await ENGINES[0]!.newDatabase(t), await ENGINES[0]!.newDatabase(t)];
  const texts = [
    '=1+1',
    "'=1",
    'a,"b"',
    '+x',
    '-1',
    '@x',
    ' 7 ',
    'Ü😀',
    '0034',
    '1-2',
    '1E5',
    '.5',
    '5%',
    'TRUE',
    '12345',
  ];
  const rows = texts.map((reference, index) => ({
    ...{ petId: 412, quantity: 1, reference, status: 'shipped', trackingNumber: reference },
    id: index + 1,
  }));
  const input = `${rows.map((each) => JSON.stringify(each)).join('\n')}\n{"id":9223372036854775807}\n`;
  const cli = (args: string[], text?: string) =>
    run(args, text === undefined ? {} : { input: text });
  const on = (url: string) => ['--database', url];
  assert.equal((await cli(['import', '-', '--allow-last-ids', ...on(database)], input)).code, 0);
  const exact = await cli(['export', '--format', 'csv', ...on(database)]);
  const imported = await cli(['import', '-', '--allow-last-ids', ...on(copy)], exact.stdout);
  assert.equal(imported.code, 0, imported.stderr);
  assert.equal((await cli(['export', '--format', 'csv', ...on(copy)])).stdout, exact.stdout);

  const guarded = await cli(['export', '--format', 'spreadsheet', ...on(database)]);
  assert.match(guarded.stdout, /^\ufefforderId,petId,/);
  assert.match(guarded.stdout, /^1,412,1,,,shipped,'=1\+1,,'=1\+1\r$/m);
  assert.match(guarded.stdout, /^"=""9223372036854775807""",/m);
  for (const text of ['0034', '1-2', '1E5', '.5', '5%', 'TRUE']) {
    assert.ok(guarded.stdout.includes(`,shipped,"=""${text}""",`), text);
  }
  assert.ok(guarded.stdout.includes(',shipped,12345,'));
  const refused = await cli(['import', '-', ...on(copy)], guarded.stdout);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /exported for a spreadsheet.*export --format csv/);
});

test('list shows the orders of a status by pages, from an id on', async (t) => {
  const database = await ENGINES[0]!.newDatabase(t);
  const input = Array.from({ length: 1_200 }, (_, id) => {
    return `{"id":${id - 5},"status":"${id % 3 === 0 ? 'shipped' : 'pending'}"}\n`;
  });
  await run(['import', '-', '--database', database], { input: input.join('') });
  const flags = ['--status', 'shipped', '--limit', '390', '--format', 'ndjson'];
  const { stdout, stderr } = await run(['list', ...flags, '--from', '-2', '--database', database]);
  const ids = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id);
  assert.deepEqual(ids.slice(0, 2), [-2, 1]);
  assert.equal(ids.length, 390);
  assert.match(stderr, /Use --from 1168/);
});
