import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openInput } from '../../src/cli/files/input.ts';
import { MAX_BATCH } from '../../src/domain/batch.ts';
import { open, queryDatabase } from '../store/engines.ts';
import { temporaryFolder } from '../temporary.ts';
import { PROGRAM, type RunOptions, run, serve } from './program.ts';

/** The command line on a new database, and a function that writes files next to it. */
function commandLine(t: TestContext) {
  const folder = temporaryFolder(t);
  const database = `sqlite:${join(folder, 'store.db')}`;
  return {
    folder,
    database,
    cli: (args: readonly string[], options?: RunOptions) =>
      run([...args, '--database', database], options),
    file: (name: string, content: string | Buffer) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    },
  };
}

test('export returns what import read, in every format', async (t) => {
  const { cli, file } = commandLine(t);
  const orders =
    '{"id":-9223372036854775808,"status":"cancelled"}\n' +
    '{"id":5,"petId":9007199254740993,"quantity":0,"shipDate":"2026-11-20T05:18:56.789Z","complete":true,"status":"shipped"}\n' +
    '{"id":9223372036854775807,"complete":false,"status":"pending"}\n';
  assert.equal((await cli(['import', '--allow-last-ids', file('a.ndjson', orders)])).code, 0);
  assert.equal((await cli(['export'])).stdout, orders);
  for (const format of ['csv', 'json', 'ndjson']) {
    const { stdout } = await cli(['export', '--format', format]);
    const other = commandLine(t);
    const imported = await other.cli(['import', '--allow-last-ids', other.file('x', stdout)]);
    assert.equal(imported.code, 0, format);
    assert.equal((await other.cli(['export'])).stdout, orders);
  }
});

test('an import that would exhaust the int64 ids places nothing, and a dry run reports it', async (t) => {
  const { cli, file } = commandLine(t);
  const rows = Array.from({ length: 5_000 }, (_, index) => `{"petId":${index}}`);
  const highest = '{"id":9223372036854775805}';
  const path = file('a.ndjson', [highest, ...rows].join('\n'));
  for (const args of [
    ['import', '--dry-run', path],
    ['import', path],
    ['import', '--dry-run', path],
  ]) {
    const { code, stderr } = await cli([...args, '--allow-last-ids']);
    assert.equal(code, 1);
    assert.match(stderr, /line 5001: has no id; .* the store has 2 left above 9223372036854775805/);
  }
  assert.equal((await cli(['export'])).stdout, '');
  const enough = file('b.ndjson', [highest, rows[0], rows[1]].join('\n'));
  assert.equal((await cli(['import', '--dry-run', '--allow-last-ids', enough])).code, 0);
  assert.equal((await cli(['import', '--allow-last-ids', enough])).code, 0);
  // Ids taken by now count too.
  const { code, stderr } = await cli(['import', '--dry-run', file('c.ndjson', rows[2]!)]);
  assert.equal(code, 1);
  assert.match(stderr, /the store has 0 left/);
});

test('an input without rows is refused', async (t) => {
  const { cli } = commandLine(t);
  for (const [command, input] of [
    [['import', '-'], ''],
    [['import', '-'], '[]'],
    [['import', '--dry-run', '-'], 'id,petId\n'],
    [['pets', 'import', '-'], '\n'],
  ] as const) {
    const { code, stderr } = await cli(command, { input });
    assert.equal(code, 1, input);
    assert.match(stderr, /standard input has no rows; nothing was imported/);
  }
});

test('a list from the service can be imported into another store unchanged', async (t) => {
  const { call } = await serve(t, ['--sample', '50']);
  const { body } = await call('GET', '/v1/store/orders');
  const { cli } = commandLine(t);
  assert.equal((await cli(['import', '-'], { input: body })).code, 0);
  const { stdout } = await cli(['export', '--format', 'json']);
  assert.deepEqual(
    JSON.parse(stdout).map(({ status, ...order }: { status: string }) => order),
    JSON.parse(body),
  );
});

test('invalid rows are reported by line, and nothing is imported', async (t) => {
  const { cli, file } = commandLine(t);
  const lines = [
    '{"id":1}',
    '{"id":1}',
    '{"id":9223372036854775808}',
    '{"shipDate":"2026-11-20T05:18:56"}',
    '{"quantity":1.5}',
  ];
  const { code, stderr, stdout } = await cli(['import', file('a.ndjson', lines.join('\n'))]);
  assert.equal(code, 1);
  assert.equal(stdout, '');
  assert.match(stderr, /4 bad rows; nothing was imported/);
  assert.match(stderr, /line 2: repeats the id 1 of line 1/);
  for (const line of ['3: id', '4: shipDate', '5: quantity'])
    assert.ok(stderr.includes(`line ${line}`));
  assert.equal((await cli(['export'])).stdout, '');
});

test('the first twenty invalid rows are described, and all are counted', async (t) => {
  const { cli } = commandLine(t);
  const { stderr } = await cli(['import', '-'], { input: '{"quantity":-1}\n'.repeat(1_234) });
  assert.match(stderr, /1,234 bad rows/);
  assert.equal(stderr.match(/ {2}line/g)!.length, 20);
  assert.match(stderr, /and 1,214 more/);
});

test('orders without an id get ids above all ids in the store and in the file', async (t) => {
  const { cli } = commandLine(t);
  await cli(['import', '-'], { input: '{"id":10}\n' });
  await cli(['import', '-'], { input: '{"quantity":1}\n{"id":20}\n{"quantity":2}\n' });
  await cli(['import', '-'], { input: '{"quantity":3}\n' });
  await cli(['import', '--again', '-'], { input: '{"quantity":3}\n' });
  const { stdout } = await cli(['export', '--format', 'csv']);
  assert.deepEqual(stdout.trim().split('\n').slice(1), [
    '10,,,,,pending,,,',
    '20,,,,,pending,,,',
    '21,,1,,,pending,,,',
    '22,,2,,,pending,,,',
    '23,,3,,,pending,,,',
    '24,,3,,,pending,,,',
  ]);
});

test('an identical existing order is skipped; a different one makes the import fail', async (t) => {
  const { cli } = commandLine(t);
  const first = '{"id":1,"quantity":1}\n{"id":2,"shipDate":"2026-11-20T01:00:00+01:00"}\n';
  await cli(['import', '-'], { input: first });
  const again = await cli(['import', '-', '--json'], {
    input: `${first.replace('01:00:00+01:00', '00:00:00Z')}{"id":3}\n`,
  });
  assert.equal(again.code, 0, again.stderr);
  assert.deepEqual(JSON.parse(again.stdout), { imported: 1, skipped: 2, dryRun: false });

  const other = await cli(['import', '-'], { input: '{"id":4}\n{"id":1,"quantity":2}\n' });
  assert.equal(other.code, 1);
  assert.match(other.stderr, /line 2: order 1 exists in the store with a different quantity/);
  await cli(['ship', '3']);
  const moved = await cli(['import', '-'], { input: '{"id":3}\n' });
  assert.match(moved.stderr, /a different shipDate, complete, status/);
  assert.equal((await cli(['export'])).stdout.trim().split('\n').length, 3);
});

test('a dry run checks everything and writes nothing', async (t) => {
  const { cli, folder } = commandLine(t);
  const ok = await cli(['import', '-', '--dry-run'], { input: '{"id":1}\n{"quantity":1}\n' });
  assert.equal(ok.code, 0);
  assert.match(ok.stderr, /Would import 2 orders/);
  assert.ok(!existsSync(join(folder, 'store.db')));
  assert.equal((await cli(['import', '-', '--dry-run'], { input: '{"id":"x"}' })).code, 1);
  await cli(['import', '-'], { input: '{"id":1}\n' });
  const again = await cli(['import', '-', '--dry-run'], { input: '{"id":1}\n{"id":2}\n' });
  assert.match(again.stderr, /Would import 1 order; 1 order already existed/);
  assert.equal((await cli(['export'])).stdout.split('\n').length, 2);
});

test('an import killed after it placed its last row places nothing when it is run again', async (t) => {
  const { cli, file, database } = commandLine(t);
  const path = file('a.ndjson', '{"quantity":1}\n'.repeat(30));
  using input = await openInput(path, process.stdin);
  const store = await open(t, database);
  const [source, run] = [input.digest, 'killed'];
  const orders = Array.from({ length: 30 }, () => ({ status: 'pending', quantity: 1n }) as const);
  const begin = { source, run, from: 0, highestId: 0n, name: 'a', total: 30, isAgain: false };
  await store.apply([{ type: 'beginImport', ...begin }]);
  await store.apply([{ type: 'importOrders', source, run, orders, auditId: 1n }]);
  const again = await cli(['import', path, '--json']);
  assert.deepEqual(JSON.parse(again.stdout), { imported: 0, skipped: 30, dryRun: false });
  const { orders: counts } = await store.status();
  assert.equal(counts.pending, 30n);
});

test('an import whose last full batch fails is reported as failed, and continues when it is run again', async (t) => {
  const { cli, file, database } = commandLine(t);
  await cli(['pets', 'import', file('pets.ndjson', '{"id":1}\n')]);
  const refuse = `CREATE TRIGGER refused BEFORE INSERT ON orders WHEN new.id = 1
    BEGIN SELECT raise(ABORT, 'refused'); END`;
  await queryDatabase(database, refuse);
  const rows = Array.from({ length: MAX_BATCH + 1 }, (_, index) => `{"id":${index + 1}}\n`);
  const path = file('a.ndjson', rows.join(''));
  const { code, stderr } = await cli(['import', path]);
  assert.equal(code, 1, stderr);
  await queryDatabase(database, 'DROP TRIGGER refused');
  assert.equal((await cli(['import', path])).code, 0);
  const store = await open(t, database);
  assert.equal((await store.status()).orders.pending, BigInt(rows.length));
});

test('the same content is imported only once, unless --again is given', async (t) => {
  const { cli, file } = commandLine(t);
  const path = file('a.ndjson', '{"quantity":1}\n'.repeat(3));
  assert.equal((await cli(['import', path])).code, 0);
  for (const args of [
    ['import', path],
    ['import', '--dry-run', path],
  ]) {
    const { code, stderr } = await cli(args);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /this content \(a\.ndjson\) was already imported at \S+Z, 3 rows; .*--again/,
    );
  }
  assert.equal((await cli(['import', '--again', path])).code, 0);
  assert.equal((await cli(['export'])).stdout.trim().split('\n').length, 6);
  const { stdout } = await cli(['imports', '--json']);
  const [{ source, begunAt, finishedAt, ...rest }, ...others] = JSON.parse(stdout);
  assert.deepEqual([rest, others], [{ name: 'a.ndjson', placed: 3, total: 3 }, []]);
  assert.ok(begunAt <= finishedAt && source.length === 64);
  assert.equal((await cli(['imports', 'forget', source.slice(0, 12)])).code, 0);
  assert.equal((await cli(['imports', 'forget', source.slice(0, 12)])).code, 1);
  assert.equal((await cli(['imports', 'forget', 'x'])).code, 2);
  assert.equal((await cli(['import', path])).code, 0);
});

test('an interrupted import is listed, and reported when another file is imported', async (t) => {
  const { cli, file, database } = commandLine(t);
  const store = await open(t, database);
  const begin = { source: 'a'.repeat(64), run: 'r', from: 0, highestId: 0n };
  await store.apply([
    { type: 'beginImport', ...begin, name: 'half.csv', total: 30, isAgain: false },
  ]);
  const words = /half\.csv, started at \S+Z, 0 of 30 rows are placed; import the same file again/;
  assert.match((await cli(['import', file('b.csv', 'id\n1\n')])).stderr, words);
  const { stdout } = await cli(['imports', 'list']);
  assert.match(stdout, /^aaaaaaaaaaaa {2}\S+Z {2}not finished +0 of 30 +half\.csv$/m);
  const { findings } = JSON.parse((await cli(['doctor', '--json'])).stdout);
  const found = findings.find(({ subject }: { subject: string }) => subject === 'imports');
  assert.equal(found.level, 'warning');
  assert.match(found.found, words);
});

test('concurrent imports of one file each import all of it or fail', async (t) => {
  const { cli, file } = commandLine(t);
  const path = file('a.ndjson', '{"petId":1}\n'.repeat(1_500));
  await cli(['import', '-'], { input: '' });
  const results = await Promise.all([1, 2].map(() => cli(['import', path, '--json'])));
  const exported = (await cli(['export'])).stdout.trim().split('\n').length;
  const done = results.filter(({ code }) => code === 0);
  assert.ok(done.length > 0, results.map(({ stderr }) => stderr).join());
  for (const { stdout } of done) {
    const { imported, skipped } = JSON.parse(stdout);
    assert.equal(imported + skipped, 1_500);
  }
  assert.equal(exported, 1_500);
});

test('a file that changes during its import is refused', async (t) => {
  const { cli, file, database } = commandLine(t);
  const content = '{"petId":1,"quantity":2}\n'.repeat(100_000);
  const path = file('a.ndjson', content);
  const child = spawn(process.execPath, [PROGRAM, 'import', path, '--database', database]);
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = once(child, 'close');
  while (!existsSync(database.slice('sqlite:'.length)) && child.exitCode === null) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  file('a.ndjson', content.replaceAll('2', '3'));
  const [code] = await ended;
  assert.equal(code, 1);
  assert.match(stderr, /was changed while it was read/);
  const { stdout } = await cli(['export']);
  assert.ok(!stdout.includes('"quantity":3'));
});

test('a missing file, a folder and invalid UTF-8 are refused with a clear message', async (t) => {
  const { cli, folder, file } = commandLine(t);
  for (const path of [join(folder, 'none'), folder]) {
    const { code, stderr } = await cli(['import', path]);
    assert.equal(code, 1);
    assert.match(stderr, /^store-orders: cannot read .*\n$/);
  }
  const broken = file('b', Buffer.from([0x7b, 0xff, 0xfe, 0x0a]));
  assert.match((await cli(['import', broken])).stderr, /line 1: is not valid UTF-8/);
});

test('pets are imported, and invalid rows are reported by line', async (t) => {
  const { cli, file } = commandLine(t);
  assert.equal((await cli(['pets', 'import', file('p.csv', 'id,name,tag\n1,Ada,cat\n')])).code, 0);
  const bad = await cli(['pets', 'import', '-'], { input: '{"id":2}\n{"name":"x"}\n{"id":2}\n' });
  assert.equal(bad.code, 1);
  assert.match(bad.stderr, /line 2: id is missing\n {2}line 3: repeats the id 2 of line 1/);
});

test('each transaction of an import of pets has its record', async (t) => {
  const { cli, file } = commandLine(t);
  const lines = Array.from({ length: 2_500 }, (_, index) => `{"id":${index}}\n`).join('');
  assert.equal((await cli(['pets', 'import', file('p.ndjson', lines)])).code, 0);
  const records = (await cli(['audit'])).stdout.match(/p\.ndjson, .*/g);
  assert.deepEqual(records, [
    'p.ndjson, 2,500 pets, from 1 to 1,000',
    'p.ndjson, 2,500 pets, from 1,001 to 2,000',
    'p.ndjson, 2,500 pets, from 2,001 to 2,500',
  ]);
});

test('import --json reports invalid rows as JSON', async (t) => {
  const database = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  const input = 'id,status\n1,Pending\nx,shipped\n';
  const { code, stdout } = await run(['import', '--json', '-', '--database', database], { input });
  assert.equal(code, 1);
  const { problems, ...counts } = JSON.parse(stdout);
  const error = 'standard input has 1 bad row; nothing was imported';
  assert.deepEqual(counts, { imported: 0, skipped: 0, dryRun: false, error, badRows: 1 });
  assert.deepEqual(problems, [
    { at: 'line 3', problem: 'id must be an integer, in digits only; it is "x"' },
  ]);
});

test('ids that leave few for new orders are imported only with a flag, and "ids --last" makes ids available again', async (t) => {
  const database = ['--database', `sqlite:${join(temporaryFolder(t), 'store.db')}`];
  const dryRun = (id: string) =>
    run(['import', '-', '--dry-run', ...database], { input: `{"id":${id}}` });
  assert.equal((await dryRun('9223371036854775807')).code, 0, 'a million million ids are left');
  assert.equal((await dryRun('9223371036854775808')).code, 1);
  const last = '{"id":7}\n{"id":9223372036854775807}\n';
  const refused = await run(['import', '-', ...database], { input: last });
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /line 2: the id 9223372036854775807 leaves 0 ids .*--allow-last-ids/,
  );
  const imported = await run(['import', '-', '--allow-last-ids', ...database], { input: last });
  assert.equal(imported.code, 0, imported.stderr);
  const without = await run(['import', '-', ...database], { input: '{"petId":1}\n' });
  assert.match(
    without.stderr,
    /line 1: has no id; .* the store has 0 left above 9223372036854775807/,
  );
  const { stdout } = await run(['ids', ...database]);
  assert.match(stdout, /^next id {2}none\nlast id {2}9223372036854775807\nleft {5}0\n$/);
  const limited = await run(['ids', '--last', '8999999999999999999', '--json', ...database]);
  assert.deepEqual(JSON.parse(limited.stdout.replaceAll(/\d{10,}/g, '"$&"')), {
    next: 8,
    last: '8999999999999999999',
    left: '8999999999999999992',
  });
  const again = await run(['import', '-', ...database], { input: '{"petId":1}\n' });
  assert.equal(again.code, 0, again.stderr);
  assert.match((await run(['list', ...database])).stdout, /^8 +pending {2}1$/m);
  for (const wrong of ['0', 'x', '-1']) {
    assert.equal((await run(['ids', '--last', wrong, ...database])).code, 2);
  }
  assert.equal((await run(['ids', '--last', '9', '--skip', ...database])).code, 2);
  const skipped = await run(['ids', '--skip', ...database]);
  assert.match(skipped.stdout, /^next id {2}1000000000\n/);
  assert.match((await run(['audit', ...database])).stdout, / ids +--skip/);
});

test('an id above the last one that the store assigns is imported, and uses up no other ids', async (t) => {
  const { cli } = commandLine(t);
  await cli(['import', '-'], { input: '{"id":-5}\n' });
  assert.equal((await cli(['ids', '--last', '5000'])).code, 0);
  const input = '{"petId":1}\n{"id":1}\n{"id":9000}\n';
  const { code, stderr } = await cli(['import', '-'], { input });
  assert.equal(code, 0, stderr);
  const ids = (await cli(['export', '--format', 'csv'])).stdout.match(/^-?\d+/gm);
  assert.deepEqual(ids, ['-5', '1', '2', '9000']);
});
