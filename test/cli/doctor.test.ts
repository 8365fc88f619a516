import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { backupStore } from '../../src/store/copy.ts';
import { databaseAt } from '../../src/store/database.ts';
import { query } from '../postgres.ts';
import { run, serve } from '../process/program.ts';
import { ENGINES, newPostgresDatabase, open, queryDatabase } from '../store/engines.ts';
import { temporaryFolder } from '../temporary.ts';

interface Finding {
  readonly subject: string;
  readonly level: string;
  readonly found: string;
  readonly advice?: string;
}

/** Ports that are free, as a rule: doctor looks at those that the service would use. */
const PORTS = { PORT: '0', OPERATIONS_PORT: '0' };

async function doctor(database: string, env: Record<string, string> = {}) {
  const result = await run(['doctor', '--json', '--database', database], {
    env: { ...PORTS, ...env },
  });
  const { findings, problems, warnings } = JSON.parse(result.stdout);
  assert.equal(result.code, problems > 0 ? 1 : 0);
  assert.equal(findings.filter(({ level }: Finding) => level === 'warning').length, warnings);
  const of = (subject: string): Finding[] =>
    findings.filter((finding: Finding) => finding.subject === subject);
  return { of, problems, findings: findings as Finding[] };
}

const newFile = (t: TestContext) => join(temporaryFolder(t), 'store.db');

/** What is wrong; but the PostgreSQL of the tests is fast because it does not sync, as doctor says. */
function problemsIn(findings: readonly Finding[]): string[] {
  const found = findings.filter(({ level }) => level === 'problem').map((each) => each.found);
  return found.filter((each) => !each.startsWith('fsync, full_page_writes: off'));
}

for (const { name, newDatabase } of ENGINES) {
  test(`doctor finds no problem in a sound store, nor before there is one (${name})`, async (t) => {
    const database = await newDatabase(t);
    const before = await doctor(database);
    assert.deepEqual(problemsIn(before.findings), []);
    assert.match(before.of('store')[0]!.found, /does not exist yet/);
    const store = await open(t, database, 'service');
    await store.apply([{ type: 'insertOrder', order: { id: 1n, status: 'pending' } }]);
    const after = await doctor(database);
    assert.deepEqual(problemsIn(after.findings), []);
    assert.match(after.of('store')[0]!.found, /^1 pending, 0 shipped, 0 cancelled; revision 1,/);
    assert.match(after.of('durability').at(-1)!.found, /takes [\d.]+ ms$/);
    assert.match(after.of('schema')[0]!.found, /the schema of this release$/);
    assert.match(after.of('keys')[0]!.advice!, /keys create/);
  });

  test(`doctor finds that a store was moved (${name})`, async (t) => {
    const database = await newDatabase(t);
    const store = await open(t, database, 'service');
    await store.apply([{ type: 'insertOrder', order: { id: 1n, status: 'pending' } }]);
    const moved = await store.apply([{ type: 'moveAway', to: 'elsewhere', revision: 1n }]);
    assert.deepEqual(moved, ['moved']);
    const { findings } = await doctor(database);
    assert.deepEqual(problemsIn(findings), ['it was moved to elsewhere']);
  });
}

test('doctor reports every invalid setting, and checks nothing else', async () => {
  const { findings, problems } = await doctor('nonsense', { PORT: 'x', LOG_LEVEL: 'loud' });
  assert.equal(problems, 3);
  assert.deepEqual(
    findings.map(({ subject }) => subject),
    ['versions', 'configuration', 'configuration', 'configuration'],
  );
});

test('doctor finds damage, files that others may read, and a database that cannot be written', async (t) => {
  const path = newFile(t);
  const store = await open(t, `sqlite:${path}`, 'service');
  await store.apply([{ type: 'insertOrder', order: { id: 1n, status: 'pending' } }]);
  await store.close();
  const database = new DatabaseSync(path);
  database.exec('UPDATE store SET pending = 5');
  database.close();
  chmodSync(path, 0o644);
  const { of } = await doctor(`sqlite:${path}`);
  assert.match(of('store')[0]!.found, /1 pending orders, but the counter of the store is 5/);
  assert.equal(of('files')[0]!.advice, `chmod 600 ${path}`);
});

test('doctor finds settings that are valid and dangerous', async (t) => {
  const file = join(temporaryFolder(t), 'url');
  writeFileSync(file, `sqlite:${newFile(t)}`, { mode: 0o644 });
  const env = {
    ...{ HOST: '0.0.0.0', OPERATIONS_HOST: '0.0.0.0', CORS_ORIGINS: '*' },
    ...{ DRAIN_SECONDS: '20', STOP_LIMIT_SECONDS: '20', DATABASE_URL_FILE: file, ...PORTS },
  };
  const { stdout, code } = await run(['doctor', '--json'], { env });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  assert.equal(code, 0);
  const warnings = findings.filter(({ level }) => level === 'warning');
  for (const text of [/without TLS/, /need no key/, /any origin/, /other users may read/, /40 s/]) {
    assert.ok(
      warnings.some(({ found }) => text.test(found)),
      `${text}`,
    );
  }
});

test('doctor checks whether the service is running and ready, and whether its ports are free', async (t) => {
  const service = await serve(t);
  const { port } = new URL(service.operations);
  const running = await doctor(service.database, { OPERATIONS_PORT: port });
  assert.match(running.of('ports')[0]!.found, /^a service is running, and ready/);
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await new Promise((resolve) => other.once('listening', resolve));
  const taken = (other.address() as { port: number }).port;
  const { of, problems } = await doctor(`sqlite:${newFile(t)}`, { PORT: String(taken) });
  assert.equal(problems, 1);
  assert.match(of('ports')[0]!.found, new RegExp(`^127.0.0.1:${taken} is used`));
});

test('doctor finds keys that expire soon, and a clock that is behind', async (t) => {
  const path = newFile(t);
  const database = `sqlite:${path}`;
  for (const [name, days] of [
    ['desk', 13.9],
    ['shop', 14.1],
  ] as const) {
    const expires = new Date(Date.now() + days * 86_400_000).toISOString();
    await run(['keys', 'create', '--name', name, '--expires', expires, '--database', database]);
  }
  const store = await open(t, database, 'service');
  await store.apply([{ type: 'insertOrder', order: { id: 1n, status: 'pending' } }]);
  const direct = new DatabaseSync(path);
  direct.exec(
    'UPDATE order_events SET at = at + 3600000, head = NULL; UPDATE store SET head = NULL',
  );
  direct.close();
  rmSync(`${path}-ids`);
  // The heads are computed again, as for a store of an earlier release, which has acknowledged nothing.
  await open(t, database, 'migration');
  const { of, problems } = await doctor(database);
  assert.equal(problems, 0);
  assert.match(of('keys')[0]!.found, /these keys expire within 14 days: desk \(key_\w+\)$/);
  assert.match(of('clock')[0]!.found, /3\d\d\d s behind the latest change/);
});

test('doctor reports why PostgreSQL cannot be reached', async (t) => {
  const url = new URL(await newPostgresDatabase(t));
  url.password = 'wrong';
  url.pathname = '/there_is_none';
  const { of } = await doctor(url.href);
  assert.equal(of('database')[0]!.level, 'problem');
  assert.ok(!of('database')[0]!.found.includes('wrong'));
});

test('doctor prints a line for each finding, followed by the advice', async (t) => {
  const { stdout, stderr, code } = await run(['doctor', '--database', `sqlite:${newFile(t)}`], {
    env: { PORT: '1', HOST: '192.0.2.1', OPERATIONS_PORT: '0' },
  });
  assert.equal(code, 1);
  assert.match(stdout, /^ports +problem +.*192\.0\.2\.1.*\n +-> correct HOST and PORT$/m);
  assert.match(stdout, /\n1 problem, \d warnings?\n$/);
  assert.match(stderr, /the service has 1 problem\n/);
});

test('doctor finds what a role of PostgreSQL may not do', async (t) => {
  const url = await newPostgresDatabase(t);
  const role = `role_${new URL(url).pathname.slice(1)}`;
  await query(url, `CREATE ROLE ${role} LOGIN CONNECTION LIMIT 2`);
  t.after(() => query(process.env.TEST_DATABASE_URL!, `DROP ROLE ${role}`));
  const own = new URL(url);
  own.username = role;
  const found = async (subject: string) => {
    const { of } = await doctor(own.href);
    return of(subject).map(({ level, found }) => `${level}: ${found}`);
  };
  assert.deepEqual(await found('rights'), [
    `problem: the role ${role} lacks permission to create tables in public`,
  ]);
  assert.match((await found('connections'))[0]!, /^warning: 1 connections are free/);
  // The limit is that of the role that has logged in, whichever role it takes.
  const taken = `taken_${role}`;
  await query(url, `CREATE ROLE ${taken}; GRANT ${taken} TO ${role}`);
  t.after(() => query(process.env.TEST_DATABASE_URL!, `DROP ROLE ${taken}`));
  own.searchParams.set('options', `-c role=${taken}`);
  assert.match((await found('connections'))[0]!, /^warning: 1 connections are free/);
  own.search = '';
  await (await open(t, url, 'service')).close();
  await query(url, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`);
  assert.match(
    (await found('rights'))[0]!,
    /^problem: the role role_\w+ lacks permission to read and write api_keys, audit, /,
  );
  // Placements delete those whose keys have expired.
  await query(url, `GRANT INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO ${role}`);
  assert.equal((await found('rights'))[0]!.split(':')[0], 'problem');
  await query(url, `GRANT DELETE ON ALL TABLES IN SCHEMA public TO ${role}`);
  // As after an upgrade that has added a table.
  await query(url, `REVOKE ALL ON webhook_lease FROM ${role}`);
  assert.match((await found('rights'))[0]!, /read and write webhook_lease$/);
  await query(url, `GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_lease TO ${role}`);
  assert.deepEqual(await found('rights'), ['ok: the role has the permissions that it needs']);
  // Without these, an old primary is not recognised, and ids are given again after a failover.
  for (const name of ['pg_control_system()', 'pg_current_wal_lsn()', 'pg_walfile_name(pg_lsn)']) {
    await query(url, `REVOKE EXECUTE ON FUNCTION ${name} FROM PUBLIC`);
    assert.match((await found('rights'))[0]!, /^problem: the role may not call pg_current_wal_lsn/);
    const warnings: string[] = [];
    const onWarning = ({ message }: { readonly message: string }) => warnings.push(message);
    const opening = { create: false, purpose: 'write', onWarning } as const;
    const store = await databaseAt(own.href).open(opening);
    await store.status();
    await store.close();
    assert.match(warnings[0]!, /ids are given again; GRANT EXECUTE ON FUNCTION/);
    await query(url, `GRANT EXECUTE ON FUNCTION ${name} TO PUBLIC`);
  }
  await query(url, `ALTER ROLE ${role} SET default_transaction_read_only = on`);
  assert.deepEqual(await found('rights'), ['problem: the database is read-only']);
});

test('doctor names what an interrupted backup or restore has left', async (t) => {
  const path = newFile(t);
  await (await open(t, `sqlite:${path}`, 'service')).close();
  const left = `${path}.01234567-89ab-cdef-0123-456789abcdef.partial`;
  writeFileSync(left, '');
  const { of } = await doctor(`sqlite:${path}`);
  assert.ok(of('files').some(({ level, found }) => level === 'warning' && found.includes(left)));
});

test('doctor finds that Litestream, whose tables are in the store, does not read its changes', async (t) => {
  const path = newFile(t);
  await (await open(t, `sqlite:${path}`, 'service')).close();
  const replication = async () => {
    const { of } = await doctor(`sqlite:${path}`);
    return of('replication').map(({ level, found }) => `${level}: ${found}`);
  };
  assert.deepEqual(await replication(), []);
  await queryDatabase(
    `sqlite:${path}`,
    'CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)',
  );
  assert.match((await replication()).join(), /^warning: .*does not run, or has another meta-path$/);
  const folder = join(dirname(path), `.${basename(path)}-litestream/ltx/0`);
  mkdirSync(folder, { recursive: true });
  const read = join(folder, '0000000000000001-0000000000000001.ltx');
  writeFileSync(read, 'x');
  const date = (minutesAgo: number, ...paths: readonly string[]) => {
    const at = new Date(Date.now() - minutesAgo * 60_000);
    for (const each of paths.filter(existsSync)) utimesSync(each, at, at);
  };
  for (const [changed, readAt, expected] of [
    [0, 0, /^ok: Litestream has read changes up to 20/],
    // Everything was read, and nothing has run since.
    [90, 89, /^ok: /],
    // The last change is seconds old, and so were others since Litestream has stopped.
    [0.15, 60, /^warning: /],
    [2, 60, /^warning: Litestream has read no changes since 20\S+; the last one, of 20\S+, is on/],
    [90, 91, /^warning: /],
  ] as const) {
    date(changed, path, `${path}-wal`);
    date(readAt, read);
    assert.match((await replication()).join(), expected, `${changed}, ${readAt}`);
  }
  // A change of this moment is read in the next one.
  date(0, path, `${path}-wal`);
  const found = replication();
  setTimeout(() => writeFileSync(read, 'xy'), 500);
  assert.match((await found).join(), /^ok: /);
});

test('doctor detects that the running service has another store', async (t) => {
  const { operations, database } = await serve(t);
  const store = await open(t, database);
  const change = (id: bigint, of = store) =>
    of.apply([{ type: 'insertOrder', order: { id, status: 'pending' } }]);
  const portsOf = async (url: string) => {
    const PORTS = { PORT: '0', OPERATIONS_PORT: new URL(operations).port };
    return (await doctor(url, PORTS)).of('ports').map(({ level, found }) => `${level}: ${found}`);
  };
  const same = [`ok: a service is running, and ready (${operations}/readyz)`];
  const { identity } = await store.status();
  const another = [
    `problem: the service at ${operations} serves another store, ${database} (${identity})`,
  ];
  await change(1n);
  const backup = newFile(t);
  await backupStore(databaseAt(database), backup);
  await change(2n);
  const link = newFile(t);
  symlinkSync(database.slice('sqlite:'.length), link);
  assert.deepEqual(await portsOf(database), same);
  assert.deepEqual(await portsOf(`sqlite:${link}`), same);
  assert.deepEqual(await portsOf(`sqlite:${newFile(t)}`), another);
  // The history of the service goes on after that of the backup.
  assert.deepEqual(await portsOf(`sqlite:${backup}`), another);
  // That of another store goes on after that of the service.
  const ahead = await open(t, `sqlite:${backup}`);
  for (const id of [8n, 9n]) await change(id, ahead);
  assert.deepEqual(await portsOf(`sqlite:${backup}`), another);
});

test('doctor finds a path that cannot be a database', async (t) => {
  const folder = temporaryFolder(t);
  const [file, link] = [join(folder, 'file'), join(folder, 'link')];
  writeFileSync(file, '');
  symlinkSync(join(folder, 'nowhere'), link);
  for (const [path, expected] of [
    [folder, /is not a file$/],
    [link, /is a link to a file that does not exist$/],
    [join(file, 'store.db'), /not a directory/],
  ] as const) {
    const { of, problems } = await doctor(`sqlite:${path}`);
    assert.ok(problems > 0);
    assert.match(of('files')[0]!.found, expected);
  }
});
