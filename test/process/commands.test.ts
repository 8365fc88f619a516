import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { eventually } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';
import { NEEDS_NAMESPACES } from './needs.ts';
import { PROGRAM, run, runInOwnProcess, serve } from './program.ts';

const ORDERS = '/v1/store/orders';

const COMMANDS = [
  ['serve'],
  ['keys', 'create'],
  ['keys', 'list'],
  ['keys', 'rotate'],
  ['keys', 'revoke'],
  ['import'],
  ['export'],
  ['list'],
  ['show'],
  ['changes'],
  ['cancel'],
  ['ship'],
  ['pets', 'import'],
  ['backup'],
  ['restore'],
  ['check'],
  ['reactivate'],
  ['rechain'],
  ...['create', 'list', 'show', 'pause', 'rewind', 'rotate', 'test', 'delete', 'listen'].map(
    (name) => ['webhooks', name],
  ),
  ['migrate'],
  ['sample'],
];

for (const command of COMMANDS) {
  test(`${command.join(' ')} --help has examples`, async () => {
    const { code, stdout, stderr } = await run([...command, '--help']);
    assert.equal(code, 0);
    assert.equal(stderr, '');
    assert.match(stdout, /Examples:\n {2}\S*/);
    if (command[0] !== 'sample') assert.match(stdout, /--database <url>/);
  });
}

test('invalid usage exits with 2 and a message on stderr', async (t) => {
  const database = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  const wrong = [
    ['nonsense'],
    ['serve', '--nonsense'],
    ['show'],
    ['show', '05'],
    ['show', '9223372036854775808'],
    ['ship', '1', '--at', 'yesterday'],
    ['keys', 'create'],
    ['keys', 'create', '--nmae', 'x'],
    ['keys', 'create', '--name', ''],
    ['keys', 'create', '--name', 'two\nlines'],
    ['keys', 'create', '--name', '\x1b[31mred'],
    ['keys', 'create', '--name', 'x', '--expires', '2020-01-01'],
    ['keys', 'create', '--name', 'x', '--scope', 'orders:reed'],
    ['keys', 'create', '--name', 'x', '--cancels-per-hour', '-1'],
    ['changes', '--after', 'yesterday'],
    ['export', '--format', 'xml'],
    ['sample', 'many'],
    ['sample', '5', '--seed', '-1'],
    ['export', '--database', 'mysql://localhost/x'],
    ['export', '--database', 'postgres://localhost/x?sslmode=maybe'],
    ['export', '--database', 'sqlite:'],
  ];
  for (const args of wrong) {
    const needsDatabase = !args.includes('--database') && args[0] !== 'sample';
    const { code, stdout, stderr } = await run(
      needsDatabase ? [...args, '--database', database] : args,
    );
    assert.equal(code, 2, args.join(' '));
    assert.equal(stdout, '', args.join(' '));
    assert.match(stderr, /^(error|store-orders): /, args.join(' '));
  }
});

test('an unknown flag is named, and copying a database onto itself is refused', async () => {
  const mistyped = await run(['keys', 'create', '--nmae', 'x']);
  assert.match(mistyped.stderr, /unknown option '--nmae'/);
  const same = await run(['copy', '--from', 'sqlite:a.db', '--to', 'sqlite:./a.db']);
  assert.equal(same.code, 2);
  assert.match(same.stderr, /are the same database/);
});

test('commands that need an existing store do not create a database', async (t) => {
  const path = join(temporaryFolder(t), 'store.db');
  for (const args of [
    ['export'],
    ['show', '1'],
    ['ship', '1'],
    ['keys', 'list'],
    ['backup', 'x'],
  ]) {
    const { code, stderr } = await run([...args, '--database', `sqlite:${path}`]);
    assert.equal(code, 1);
    assert.match(stderr, /the database does not exist/);
    assert.ok(!existsSync(path));
  }
});

test('DATABASE_URL names the database, and --database overrides it', async (t) => {
  const folder = temporaryFolder(t);
  const url = (name: string) => `sqlite:${join(folder, name)}`;
  const input = '{"id":1}\n';
  await run(['import', '-'], { input, env: { DATABASE_URL: url('a.db') } });
  assert.ok(existsSync(join(folder, 'a.db')));
  await run(['import', '-', '--database', url('b.db')], { input, env: { DATABASE_URL: 'nope' } });
  assert.ok(existsSync(join(folder, 'b.db')));
});

test('show prints an order and its history', async (t) => {
  const database = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  const cli = (...args: string[]) => run([...args, '--database', database]);
  const input = '{"id":9007199254740993,"petId":4,"quantity":2}\n';
  await run(['import', '-', '--database', database], { input });
  const shipped = await cli('ship', '9007199254740993', '--at', '2026-11-20T01:00:00+01:00');
  assert.equal(shipped.stdout, '9007199254740993 shipped\n');
  const text = (await cli('show', '9007199254740993')).stdout;
  assert.match(text, /^id +9007199254740993\npetId +4\nquantity +2\n/);
  assert.match(text, /shipDate +2026-11-20T00:00:00.000Z\ncomplete +true\nstatus +shipped\n/);
  assert.match(text, /placed +revision 1 +by \S+@\S+\n.* shipped +revision 2 +by \S+@\S+/);
  const { stdout } = await cli('show', '9007199254740993', '--json');
  assert.match(stdout, /"id": 9007199254740993,/);
  assert.deepEqual(
    JSON.parse(stdout).history.map(({ type }: { type: string }) => type),
    ['placed', 'shipped'],
  );
  assert.equal((await cli('show', '1')).code, 1);
});

test('ship ships the orders it can, names the others and exits with 1', async (t) => {
  const { call, database } = await serve(t);
  const input = '{"id":1}\n{"id":2}\n{"id":-3}\n{"id":4,"status":"shipped"}\n';
  await run(['import', '-', '--database', database], { input });
  assert.equal((await call('DELETE', `${ORDERS}/2`)).status, 204);
  const result = await run(['ship', '--database', database, '--', '1', '2', '-3', '4', '99']);
  assert.equal(result.code, 1);
  assert.equal(result.stdout, '1 shipped\n-3 shipped\n');
  assert.match(result.stderr, /2 is cancelled/);
  assert.match(result.stderr, /4 was already shipped/);
  assert.match(result.stderr, /99 does not exist/);
  const again = await run(['ship', '1', '4', '--json', '--database', database]);
  assert.equal(again.code, 0);
  assert.deepEqual(JSON.parse(again.stdout), [
    { id: 1, outcome: 'unchanged' },
    { id: 4, outcome: 'unchanged' },
  ]);
});

test('cancel cancels the orders it can, names the others and exits with 1', async (t) => {
  const { database } = await serve(t);
  const input = '{"id":1}\n{"id":2,"status":"cancelled"}\n{"id":3,"status":"shipped"}\n';
  await run(['import', '-', '--database', database], { input });
  const result = await run(['cancel', '1', '2', '3', '4', '--database', database]);
  assert.equal(result.code, 1);
  assert.equal(result.stdout, '1 cancelled\n');
  assert.match(
    result.stderr,
    /2 was already cancelled\n3 has shipped .*\n4 does not exist\n.*2 of 4/,
  );
  const shown = await run(['show', '1', '--json', '--database', database]);
  const { history } = JSON.parse(shown.stdout);
  assert.deepEqual(
    history.map(({ type, by }: { type: string; by: string }) => `${type} by ${by}`),
    ['placed by operator', 'cancelled by operator'],
  );
});

test('list filters by status and first id, and says if there are more orders', async (t) => {
  const database = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  const input = Array.from({ length: 3_000 }, (_, index) => {
    const status = index % 1_000 === 999 ? 'shipped' : 'pending';
    return `{"id":${index + 1},"status":"${status}"}\n`;
  }).join('');
  await run(['import', '-', '--database', database], { input });
  const list = async (...args: string[]) => {
    const { stdout, stderr } = await run(['list', ...args, '--database', database]);
    return { ids: stdout.match(/^\d+/gm) ?? stdout.match(/(?<="id":)\d+/g), stderr };
  };
  const first = await list();
  assert.equal(first.ids?.length, 20);
  assert.match(first.stderr, /Use --from 21,/);
  const shipped = await list('--status', 'shipped', '--from', '1001', '--format', 'ndjson');
  assert.deepEqual(shipped, { ids: ['2000', '3000'], stderr: '' });
  assert.deepEqual((await list('--from', '2999')).ids, ['2999', '3000']);
});

test('keys are created, listed without their secrets, and revoked', async (t) => {
  const database = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  const cli = (...args: string[]) => run([...args, '--database', database]);
  const expiring = ['keys', 'create', '--name', 'web shop', '--expires', '2999-01-01'];
  // A day begins at midnight UTC everywhere.
  const made = await runInOwnProcess([...expiring, '--database', database], {
    env: { TZ: 'America/New_York' },
  });
  assert.match(made.stdout, /^so_live_[0-9A-Za-z]{49}\n$/);
  assert.match((await cli('keys', 'create', '--name', 'tests')).stdout, /^so_live_/);
  const list = (await cli('keys', 'list')).stdout;
  assert.match(list, /^ID +NAME +ENVIRONMENT +STATUS/);
  assert.match(list, /key_\w+ +web shop +production +valid .* 2999-01-01T00:00:00.000Z/);
  assert.ok(!list.includes(made.stdout.slice(8, 20)));
  const id = /key_\w+/.exec(made.stderr)![0];
  assert.match((await cli('keys', 'revoke', id)).stderr, /Revoked/);
  assert.match((await cli('keys', 'revoke', id)).stderr, /already revoked/);
  assert.equal((await cli('keys', 'revoke', 'key_none')).code, 1);
  const json = JSON.parse((await cli('keys', 'list', '--json')).stdout);
  assert.deepEqual(json.map(({ status }: { status: string }) => status).sort(), [
    'revoked',
    'valid',
  ]);
});

test('a rotated key has another secret, and the one before for the overlap', async (t) => {
  const database = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  const cli = (...args: string[]) => run([...args, '--database', database]);
  const made = await cli('keys', 'create', '--name', 'web shop');
  const id = /key_\w+/.exec(made.stderr)![0];
  const rotated = await cli('keys', 'rotate', id);
  assert.match(rotated.stdout, /^so_live_[0-9A-Za-z]{49}\n$/);
  assert.notEqual(rotated.stdout, made.stdout);
  const [, until] = /before is valid until (\S+)\.$/m.exec(rotated.stderr)!;
  const hours = (Date.parse(until!) - Date.now()) / 3_600_000;
  assert.ok(hours > 23.9 && hours <= 24, until!);
  const [key, ...others] = JSON.parse((await cli('keys', 'list', '--json')).stdout);
  assert.deepEqual([key.id, key.formerSecretUntil, others], [id, until, []]);
  assert.match((await cli('keys', 'rotate', id, '--overlap', '0')).stderr, /rejects? it within/);
  const told = `keys rotate +${id} "web shop", the former secret is valid until ${until}`;
  assert.match((await cli('audit')).stdout, new RegExp(told));
  const short = (await cli('keys', 'rotate', id, '--overlap', '90m')).stderr;
  const minutes = (Date.parse(/valid until (\S+)\.$/m.exec(short)![1]!) - Date.now()) / 60_000;
  assert.ok(minutes > 80 && minutes <= 90, short);
  for (const overlap of ['-1h', 'soon', '400d', '24']) {
    const { code, stdout, stderr } = await cli('keys', 'rotate', id, '--overlap', overlap);
    assert.deepEqual([code, stdout], [2, ''], stderr);
  }
  const again = await cli('keys', 'rotate', id, '--overlap', '7d');
  assert.match((await cli('keys', 'list')).stdout, /FORMER SECRET\n.* until 20\S+Z\n/);
  assert.match((await cli('doctor')).stdout, /ok +the former secret of web shop .* is valid until/);
  const [before] = JSON.parse((await cli('keys', 'list', '--json')).stdout);
  assert.match((await cli('keys', 'rotate', id, '--end-overlap')).stderr, /former secret .* ended/);
  assert.match((await cli('keys', 'rotate', id, '--end-overlap')).stderr, /has no former secret/);
  assert.match((await cli('keys', 'list')).stdout, /FORMER SECRET\n.* none\n/);
  assert.deepEqual([again.code, before.formerSecretUntil > until!], [0, true]);
  await cli('keys', 'revoke', id);
  const revoked = await cli('keys', 'rotate', id);
  assert.deepEqual([revoked.code, revoked.stdout], [1, '']);
  assert.match(revoked.stderr, /is revoked; create another key/);
});

test('commands give reasons and tracking numbers, which exports keep', async (t) => {
  const database = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  const cli = (...args: string[]) => run([...args, '--database', database]);
  await run(['import', '-', '--database', database], { input: '{"id":1}\n{"id":2}\n{"id":3}\n' });
  await cli('cancel', '1', '2', '--reason', 'too small, "really"');
  await cli('ship', '3', '--tracking-number', '00340434161094042557');
  assert.match((await cli('show', '1')).stdout, /^reason +too small, "really"$/m);
  assert.match((await cli('show', '3')).stdout, /^trackingNumber +00340434161094042557$/m);
  for (const format of ['ndjson', 'json', 'csv']) {
    const exported = (await cli('export', '--format', format)).stdout;
    const other = `sqlite:${join(temporaryFolder(t), 'other.db')}`;
    const imported = await run(['import', '-', '--database', other], { input: exported });
    assert.equal(imported.code, 0, imported.stderr);
    const again = await run(['export', '--format', format, '--database', other]);
    assert.equal(again.stdout, exported);
    assert.match(exported, /really.*\n.*really.*\n.*00340434161094042557/s);
  }
  const both = await cli('ship', '1', '3', '--tracking-number', 'x');
  assert.deepEqual([both.code, /for a single order/.test(both.stderr)], [2, true]);
  assert.equal((await cli('cancel', '1', '--reason', 'x'.repeat(65))).code, 2);
});

test('a backup of a running service holds one consistent state', async (t) => {
  const folder = temporaryFolder(t);
  const { call, database, secret } = await serve(t, ['--sample', '3000']);
  const cancelling = (async () => {
    for (let id = 1; id < 100; id += 1) await call('DELETE', `${ORDERS}/${id}`);
  })();
  const target = join(folder, 'backup.db');
  const { code, stderr } = await run(['backup', target, '--database', database]);
  assert.equal(code, 0, stderr);
  await cancelling;
  const db = new DatabaseSync(target, { readBigInts: true });
  assert.equal(db.prepare('PRAGMA integrity_check').get()!.integrity_check, 'ok');
  const { cancelled, events } = db
    .prepare(
      `SELECT cancelled, (SELECT count(*) FROM order_events WHERE type = 'cancelled') AS events
       FROM store`,
    )
    .get()!;
  assert.equal(cancelled, events);
  db.close();
  const restored = await serve(t, ['--no-first-key'], { database: `sqlite:${target}` });
  const headers = { authorization: `Bearer ${secret}` };
  const { status, headers: restoredHeaders } = await restored.call('GET', ORDERS, headers);
  assert.equal(status, 200);
  const original = (await call('GET', ORDERS)).headers.etag;
  assert.notEqual(restoredHeaders.etag, original, 'the backup is an earlier state');

  const again = await run(['backup', target, '--database', database]);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /already exists/);
  const elsewhere = await run(['backup', join(folder, 'new', 'b.db'), '--database', database]);
  assert.equal(elsewhere.code, 1, 'a missing folder can be a disk that is not mounted');
  assert.match(elsewhere.stderr, /the folder .*new does not exist; create it, or mount its disk/);
  const nowhere = await run(['backup', join(target, 'b.db'), '--database', database]);
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.stderr, /backup\.db does not exist/);
});

test('export, show, keys list and backup work on a read-only disk', {
  skip: NEEDS_NAMESPACES,
}, async (t) => {
  const folder = temporaryFolder(t);
  const database = `sqlite:${join(folder, 'store.db')}`;
  await run(['import', '-', '--database', database], { input: '{"id":1}\n' });
  const remount = `mount --bind ${folder} ${folder} && mount -o remount,ro,bind ${folder} && exec "$@"`;
  const wrapper = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', remount, 'sh'];
  const backup = join(temporaryFolder(t), 'backup.db');
  for (const [args, expected] of [
    [['export'], /^\{"id":1,"status":"pending"\}\n$/],
    [['show', '1'], /^id +1\n/],
    [['keys', 'list', '--json'], /^\[\]\n$/],
    [['backup', backup], /^$/],
  ] as const) {
    const { code, stdout, stderr } = await run([...args, '--database', database], { wrapper });
    assert.equal(code, 0, stderr);
    assert.match(stdout, expected);
  }
  const here = join(folder, 'backup.db');
  const misplaced = await run(['backup', here, '--database', database], { wrapper });
  assert.equal(misplaced.code, 1);
  assert.match(misplaced.stderr, /cannot write .*backup\.db/);
  const { code, stderr } = await run(['ship', '1', '--database', database], { wrapper });
  assert.equal(code, 1);
  assert.match(stderr, /cannot be written|cannot be opened/);
});

test('sample prints the same orders for the same seed', async () => {
  const once = await run(['sample', '50', '--seed', '7']);
  assert.equal(once.stdout.split('\n').length, 51);
  assert.equal((await run(['sample', '50', '--seed', '7'])).stdout, once.stdout);
  assert.notEqual((await run(['sample', '50', '--seed', '8'])).stdout, once.stdout);
});

test('a reader that closes its pipe early ends a command without a message, with the status of SIGPIPE', async (t) => {
  const folder = temporaryFolder(t);
  const database = `sqlite:${join(folder, 'store.db')}`;
  const script = `
    set -o pipefail
    "$0" "${PROGRAM}" sample 20000 | head -1 || true
    "$0" "${PROGRAM}" sample 10000 | "$0" "${PROGRAM}" import - --database ${database}
    "$0" "${PROGRAM}" export --database ${database} | head -1
    echo "status \${PIPESTATUS[0]}"
    "$0" "${PROGRAM}" changes --database ${database} | head -1 > /dev/null
    echo "status \${PIPESTATUS[0]}"
  `;
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script, process.execPath]);
  const [one, two, ...statuses] = stdout.trim().split('\n');
  assert.equal(one, two);
  assert.deepEqual(statuses, ['status 141', 'status 141']);
  assert.doesNotMatch(stderr, /EPIPE|Error/);
});

test('a key or webhook whose secret cannot be written, as on a full disk, is taken back', {
  skip: existsSync('/dev/full') ? false : 'there is no /dev/full',
}, async (t) => {
  const folder = temporaryFolder(t);
  const env = { DATABASE_URL: `sqlite:${join(folder, 'store.db')}` };
  const onFullDisk = (...args: string[]) =>
    runInOwnProcess(args, { env, wrapper: ['sh', '-c', 'exec "$@" > /dev/full', 'sh'] });
  const created = await onFullDisk('keys', 'create', '--name', 'shop');
  assert.equal(created.code, 1);
  assert.match(created.stderr, /ENOSPC.*; key_\w+ was revoked$/m);
  const [key] = JSON.parse((await run(['keys', 'list', '--json'], { env })).stdout);
  assert.equal(key.status, 'revoked');

  const url = 'https://shop.example/hook';
  assert.match((await onFullDisk('webhooks', 'create', url)).stderr, /wh_\w+ was deleted$/m);
  await run(['webhooks', 'create', url], { env });
  const webhooks = async () =>
    JSON.parse((await run(['webhooks', 'list', '--json'], { env })).stdout);
  const before = await webhooks();
  assert.equal(before.length, 1);
  assert.equal((await onFullDisk('webhooks', 'rotate', before[0].id)).code, 1);
  assert.deepEqual(await webhooks(), before);

  for (const args of [['export'], ['changes'], ['--help']]) {
    const { code, stderr } = await onFullDisk(...args);
    assert.equal(code, 1);
    assert.match(stderr, /^store-orders: cannot write to standard output: ENOSPC.*\n$/);
  }
});

test('a first key that cannot be written is revoked, which is logged', {
  skip: existsSync('/dev/full') ? false : 'there is no /dev/full',
}, async (t) => {
  const wrapper = ['sh', '-c', 'exec "$@" 2> /dev/full', 'sh'];
  const { stdout, database } = await serve(t, [], { wrapper, expectsKey: false });
  await eventually(async () => assert.match(stdout(), /the first key .* was revoked/));
  const [key] = JSON.parse((await run(['keys', 'list', '--json', '--database', database])).stdout);
  assert.deepEqual([key.name, key.status], ['first key', 'revoked']);
});

test('the file of a backup has a name that can be seen', async (t) => {
  const folder = temporaryFolder(t);
  const database = `sqlite:${join(folder, 'store.db')}`;
  await run(['keys', 'create', '--name', 'x', '--database', database]);
  for (const [name, problem] of [
    ['', /must have a name/],
    ['-', /not written to standard output; name a file/],
    [`${join(folder, 'b.db')}\r`, /U\+000D/],
  ] as const) {
    const { code, stderr } = await run(['backup', name, '--database', database]);
    assert.equal(code, 2);
    assert.match(stderr, problem);
  }
  assert.deepEqual(
    readdirSync(folder).filter((each) => each.startsWith('b')),
    [],
  );
});

test('a command succeeds although its stderr is closed', async (t) => {
  const folder = temporaryFolder(t);
  const database = `sqlite:${join(folder, 'store.db')}`;
  const child = spawn(process.execPath, [PROGRAM, 'import', '-', '--database', database], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  child.stderr.destroy();
  child.stdin.end('{"id":1}\n');
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  assert.equal((await run(['export', '--database', database])).stdout.trim().length > 0, true);
});

test('an old Node.js is refused with the version that is needed', {
  skip: process.env.STORE_ORDERS_EXECUTABLE !== undefined && 'an executable has its own Node.js',
}, async (t) => {
  const folder = temporaryFolder(t);
  const preload = join(folder, 'old.cjs');
  writeFileSync(
    preload,
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.1.0' } });",
  );
  const { code, stderr } = await run(['serve'], { nodeFlags: ['--require', preload] });
  assert.equal(code, 2);
  assert.match(stderr, /needs Node.js 24.15 or newer; this is 22.1.0/);
});

test('a dry run selects orders, and exactly these are changed, if they are still as they were', async (t) => {
  const folder = temporaryFolder(t);
  const database = ['--database', `sqlite:${join(folder, 'store.db')}`];
  const rows = Array.from({ length: 1_500 }, (_, index) => {
    const shipDate = index < 1_200 ? '2026-11-01T00:00:00Z' : '2026-12-01T00:00:00Z';
    return `{"id":${index + 1},"petId":${(index % 2) + 1},"shipDate":"${shipDate}"}\n`;
  });
  await run(['import', '-', ...database], { input: rows.join('') });
  await run(['ship', '2', ...database]);
  const before = ['--ships-before', '2026-12-01T00:00:00Z'];
  const env = { LC_ALL: 'de_DE.UTF-8' };
  const dry = await runInOwnProcess(['cancel', '--dry-run', ...before, ...database], { env });
  assert.equal(dry.code, 0);
  assert.match(dry.stderr, /^Found 1,199 orders\. .* cancel --orders FILE$/m);
  const lines = dry.stdout.trim().split('\n');
  assert.equal(lines.length, 1_199);
  assert.match(lines[0]!, /^\{"id":1,"petId":1,.*"status":"pending",.*"etag":"[^,]*"\}$/);
  assert.equal(lines[0]!.match(/"etag"/g)!.length, 1);
  const pet = await run(['cancel', '--dry-run', '--pet', '2', '--status', 'shipped', ...database]);
  assert.deepEqual(JSON.parse(pet.stdout).id, 2);

  // Changed since it was selected.
  await run(['ship', '3', ...database]);
  const file = join(folder, 'orders.ndjson');
  writeFileSync(file, dry.stdout);
  const cancelled = await run(['cancel', '--orders', file, '--json', ...database]);
  assert.equal(cancelled.code, 1);
  assert.match(cancelled.stderr, /1 of 1199 were not cancelled/);
  const outcomes = JSON.parse(cancelled.stdout) as { id: number; outcome: string }[];
  const others = outcomes.filter(({ outcome }) => outcome !== 'cancelled');
  assert.deepEqual(others, [{ id: 3, outcome: 'order_already_shipped' }]);
  const another = ['--database', `sqlite:${join(folder, 'another.db')}`];
  await run(['import', '-', ...another], { input: rows.join('') });
  for (const command of ['cancel', 'ship']) {
    const { stdout } = await run([command, '--orders', file, '--json', ...another]);
    const all = JSON.parse(stdout) as typeof outcomes;
    assert.ok(all.length === 1_199 && all.every(({ outcome }) => outcome === 'order_changed'));
  }
  const again = await run(['ship', '--orders', '-', ...database], { input: lines[0]! });
  assert.equal(again.code, 1);
  assert.match(again.stderr, /^1 is cancelled and cannot be shipped$/m);
  const shipped = await run(['ship', '--dry-run', '--pet', '1', ...database]);
  const done = await run(['ship', '--orders', '-', ...database], { input: shipped.stdout });
  assert.equal(done.stdout.trim().split('\n').length, 150);
  const { stdout } = await run(['audit', ...database]);
  assert.equal(stdout.match(/ cancel /g)?.length, 2);
});

test('orders are named by ids, by a dry run or by its file, and nothing else', async (t) => {
  const folder = temporaryFolder(t);
  const database = ['--database', `sqlite:${join(folder, 'store.db')}`];
  await run(['import', '-', ...database], { input: '{"id":1}\n' });
  const file = join(folder, 'orders.ndjson');
  writeFileSync(file, '{"id":1}\n');
  for (const args of [
    [],
    ['1', '--dry-run'],
    ['1', '--orders', file],
    ['--orders', file],
    ['--orders', join(folder, 'none')],
    ['1', '--pet', '1'],
    ['--orders', file, '--ships-before', '2026-01-01T00:00:00Z'],
    ['--dry-run', '--pet', 'x'],
    ['--dry-run', '--ships-before', 'tomorrow'],
    ['--dry-run', '--status', 'lost'],
  ]) {
    const { code, stdout } = await run(['cancel', ...args, ...database]);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
  }
});
