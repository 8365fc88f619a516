import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually, freePort, query } from '../postgres.ts';
import { newPostgresDatabase } from '../store/engines.ts';
import { temporaryFolder } from '../temporary.ts';
import { run, serve } from './program.ts';

const ORDERS = '/v1/store/orders';

/** Creates a role with the privileges in `grants`. @returns the URL of the database for that role */
async function urlForRole(t: TestContext, url: string, grants: (role: string) => string) {
  const role = `role_${new URL(url).pathname.slice(1)}`;
  await query(url, `CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  // By then the database is dropped, and with it all privileges of the role.
  t.after(() => query(process.env.TEST_DATABASE_URL!, `DROP ROLE ${role}`));
  for (const grant of grants(role).split(';')) await query(url, grant);
  const own = new URL(url);
  own.username = role;
  own.password = 'secret';
  return own.href;
}

const SERVE = ['serve', '--port', '0', '--operations-port', '0', '--database'];

// The statements of docs/postgresql.md.
const GRANTS = (role: string) =>
  `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`;

test('a role with privileges on the tables only can do everything but migrate', async (t) => {
  const url = await newPostgresDatabase(t);
  // Before PostgreSQL 15 every role could create tables there.
  await query(url, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  const roleUrl = await urlForRole(t, url, () => 'SELECT 1');
  const refused = await run([...SERVE, roleUrl]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /needs the migration 001-initial.*run "store-orders migrate"/);
  assert.doesNotMatch(refused.stderr, /secret|\n +at /);

  assert.equal((await run(['migrate', '--database', url])).code, 0);
  const role = new URL(roleUrl).username;
  await query(url, GRANTS(role));
  const { call, stop, operations } = await serve(t, ['--sample', '20'], { database: roleUrl });
  // No request can be answered without the keys.
  await query(url, `REVOKE SELECT ON api_keys FROM ${role}`);
  await eventually(async () => {
    const ready = await fetch(`${operations}/readyz`);
    assert.equal(ready.status, 503);
    assert.match(await ready.text(), /permission denied for table api_keys/);
  });
  await query(url, GRANTS(role));
  assert.equal((await call('DELETE', `${ORDERS}/1`)).status, 204);
  assert.equal(JSON.parse((await call('GET', ORDERS)).body).length, 19);
  assert.equal((await call('GET', '/v1/pets/1')).status, 404);
  const env = { DATABASE_URL: roleUrl };
  for (const [args, input] of [
    [['import', '-'], '{"petId":1}\n'],
    [['pets', 'import', '-'], '{"id":1}\n'],
    [['ship', '21'], ''],
    [['show', '21'], ''],
    [['export'], ''],
    [['keys', 'list'], ''],
    [['migrate'], ''],
    [['backup', join(temporaryFolder(t), 'b.db')], ''],
  ] as const) {
    const { code, stderr } = await run(args, { env, input });
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    assert.doesNotMatch(stderr, /secret/);
  }
  assert.equal(await stop(), 0);
});

test('a node logs its server once, with its timeline, and the warnings of PostgreSQL', async (t) => {
  const database = await newPostgresDatabase(t);
  const { call, stdout } = await serve(t, ['--sample', '5'], { database });
  const lines = (msg: string) =>
    stdout()
      .split('\n')
      .filter((line) => line.includes(`"msg":"${msg}"`))
      .map((line) => JSON.parse(line));
  const [connected, ...others] = lines('connected to PostgreSQL');
  assert.deepEqual(others, []);
  const { level, address, timeline, system } = connected;
  assert.equal(level, 30);
  assert.match(address, /^127\.0\.0\.1:\d+$/);
  assert.match(`${timeline} ${system}`, /^[1-9]\d* \d+$/);
  await query(
    database,
    `CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'seen'; RETURN NEW; END $$;
    CREATE TRIGGER warn BEFORE UPDATE OF revision ON store FOR EACH ROW EXECUTE FUNCTION warn()`,
  );
  for (const id of [1, 2]) assert.equal((await call('DELETE', `${ORDERS}/${id}`)).status, 204);
  await eventually(async () =>
    assert.deepEqual(
      lines('a warning of the database').map(({ source, warning }) => [source, warning]),
      [['exec_stmt_raise', 'seen']],
    ),
  );
});

test('a node that is older than the schema refuses to start', async (t) => {
  const url = await newPostgresDatabase(t);
  await run(['migrate', '--database', url]);
  await query(url, `INSERT INTO store_orders_migrations VALUES ('999-future.postgres.sql')`);
  const { code, stderr } = await run([...SERVE, url]);
  assert.equal(code, 1);
  assert.match(stderr, /newer than this release.*999-future.*newer release that created it/);
});

test('the message about an unusable database states the reason, without the password', async (t) => {
  const url = await newPostgresDatabase(t);
  await query(url, 'CREATE TABLE orders (id integer)');
  const elsewhere = `postgres://u:secret@127.0.0.1:${await freePort()}/x`;
  for (const [database, words] of [
    [url, /has tables of another program \(orders\)/],
    [elsewhere, /postgres:\/\/u@127\.0\.0\.1:\d+\/x: PostgreSQL: connect ECONNREFUSED/],
    [`${url}_none`, /database "\w+_none" does not exist/],
    [`${url}?sslmode=verify-ca`, /sslrootcert/],
    [`${url}?sslmode=verify-full&sslrootcert=/no/such/file`, /no such file/],
  ] as const) {
    const { code, stderr } = await run(['export', '--database', database]);
    assert.equal(code, 1, stderr);
    assert.doesNotMatch(stderr, /secret|\n +at /);
    if (database !== url) assert.match(stderr, words);
    if (database === elsewhere) continue;
    const served = await run([...SERVE, database]);
    assert.equal(served.code, 1);
    assert.match(served.stderr, words);
  }
});

test('commands that need an existing store, and a dry run, create no tables', async (t) => {
  const url = await newPostgresDatabase(t);
  for (const args of [
    ['export'],
    ['show', '1'],
    ['ship', '1'],
    ['keys', 'list'],
    ['backup', 'x'],
  ]) {
    const { code, stderr } = await run([...args, '--database', url]);
    assert.equal(code, 1);
    assert.match(stderr, /it contains no store/);
  }
  const dry = await run(['import', '--dry-run', '-', '--database', url], { input: '{"id":1}\n' });
  assert.equal(dry.code, 0, dry.stderr);
  assert.deepEqual(await query(url, `SELECT FROM pg_tables WHERE schemaname = 'public'`), []);
});

test('the URL can be read from a file, and the tables can be in another schema', async (t) => {
  const url = await newPostgresDatabase(t);
  await query(url, 'CREATE SCHEMA shop');
  const path = join(temporaryFolder(t), 'url');
  writeFileSync(path, `${url}?options=-c%20search_path%3Dshop\n`);
  const env = { DATABASE_URL_FILE: path };
  assert.equal((await run(['import', '-'], { env, input: '{"id":1}\n' })).code, 0);
  assert.deepEqual(await query(url, 'SELECT id FROM shop.orders'), [['1']]);
});

test('an unreachable host in a URL with several hosts is skipped', async (t) => {
  const url = await newPostgresDatabase(t);
  const { host, pathname } = new URL(url);
  const several = `postgres://postgres@127.0.0.1:${await freePort()},${host}${pathname}`;
  const { call } = await serve(t, ['--sample', '5'], { database: several });
  assert.equal((await call('GET', ORDERS)).status, 200);
});

test('a node that cannot connect what requests need is not ready, and /readyz names its database', async (t) => {
  const database = await newPostgresDatabase(t);
  const server = process.env.TEST_DATABASE_URL!;
  const name = new URL(database).pathname.slice(1);
  const { operations, call } = await serve(t, [], { database });
  const ready = async () => {
    const response = await fetch(`${operations}/readyz`);
    return { status: response.status, text: await response.text() };
  };
  const before = await ready();
  assert.equal(before.status, 200);
  assert.match(before.text, /^ready\ndatabase: postgres:\/\/\w+@/);
  // Only the list keeps its connection, and no further one is possible.
  await query(server, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  await query(
    server,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND query NOT LIKE '%FROM store LEFT JOIN LATERAL%'`,
  );
  await eventually(async () => assert.equal((await ready()).status, 503));
  assert.equal((await call('GET', '/v2/store')).status, 503);
  await query(server, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  await eventually(async () => assert.equal((await ready()).status, 200));
});
