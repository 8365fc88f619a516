import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { positionText } from '../../protocol/history.ts';
import { backupStore } from '../../src/store/copy.ts';
import { databaseAt } from '../../src/store/database.ts';
import type { DatabaseWarning } from '../../src/store/open-options.ts';
import { eventually, query } from '../postgres.ts';
import { run } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';
import { cancel, newPostgresDatabase, place, restoreStore } from './engines.ts';

/** A served store with a backup, and a cancel after it. Returns the positions of both. */
async function withLaterCancel(t: TestContext) {
  const path = join(temporaryFolder(t), 'store.db');
  const backup = join(temporaryFolder(t), 'backup.db');
  const url = `sqlite:${path}`;
  const before = await served(url, async (store) => {
    await store.apply([place({ id: 1n, status: 'pending' })]);
    await backupStore(databaseAt(url), backup);
    return store.status();
  });
  const after = await served(url, async (store) => {
    await store.apply([cancel(1n)]);
    return store.status();
  });
  const text = ({ revision, head }: typeof before.result) =>
    positionText({ revision, head: head! });
  return { url, path, backup, kept: text(before.result), lost: text(after.result) };
}

/** Opens the store as a service does. Returns the result of `use`, and what was reported. */
async function served<T>(
  url: string,
  use: (store: Awaited<ReturnType<ReturnType<typeof databaseAt>['open']>>) => Promise<T>,
) {
  const [lost, warnings]: [string[], DatabaseWarning[]] = [[], []];
  const store = await databaseAt(url).open({
    ...({ create: true, purpose: 'service' } as const),
    onLost: (record) => lost.push(record),
    onWarning: (warning) => warnings.push(warning),
  });
  try {
    return { result: await use(store), lost, warnings };
  } finally {
    await store.close();
  }
}

function putInPlace(path: string, copy: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  copyFileSync(copy, path);
}

test('SQLite: an older copy that is put in place by hand is reported once, and until an operator acknowledges it', async (t) => {
  const { url, path, backup, kept, lost } = await withLaterCancel(t);
  putInPlace(path, backup);
  const first = await served(url, (store) => store.history.losses());
  assert.equal(first.lost.length, 1);
  assert.ok(
    first.lost[0]!.startsWith(
      `${lost} was acknowledged and is not in ${path}, which was at ${kept} (of `,
    ),
    String(first.lost),
  );
  assert.deepEqual(
    first.result.map(({ command, what }) => [command, what]),
    [['lost changes', first.lost[0]]],
  );
  const second = await served(url, (store) => store.history.losses());
  assert.deepEqual([second.lost, second.result.length], [[], 1]);
  const on = ['--database', url];
  const found = async () =>
    (await run(['doctor', '--json', ...on])).stdout.includes('changes are lost');
  assert.ok(await found());
  const { code, stderr } = await run(['audit', '--acknowledge', ...on]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^Acknowledged: 2-[0-9a-f]{64} was acknowledged and is not in /);
  assert.ok(!(await found()));
  assert.equal((await run(['audit', '--acknowledge', ...on])).code, 1);
  assert.deepEqual((await served(url, (store) => store.history.losses())).result, []);
});

test('SQLite: neither a restore nor another store in its place is a loss; the other store is named', async (t) => {
  const { url, path, backup } = await withLaterCancel(t);
  await restoreStore(url, backup);
  assert.deepEqual((await served(url, (store) => store.apply([cancel(1n)]))).lost, []);
  const other = join(temporaryFolder(t), 'other.db');
  await served(`sqlite:${other}`, (store) => store.apply([place({ id: 1n, status: 'pending' })]));
  putInPlace(path, other);
  const { result, warnings } = await served(url, (store) => store.history.losses());
  assert.deepEqual(result, []);
  assert.match(warnings[0]!.message, /^the store [0-9a-f]{16} was at this path before; /);
});

test('SQLite: a file beside the database that is damaged, or a folder, is logged, and named by doctor', async (t) => {
  const { url, path } = await withLaterCancel(t);
  const doctor = async () =>
    (await databaseAt(url).diagnose()).filter(({ found }) => found.includes('-ids'));
  assert.deepEqual(await doctor(), []);
  writeFileSync(`${path}-ids`, '1 some other text');
  assert.deepEqual(
    (await doctor()).map(({ level }) => level),
    ['warning'],
  );
  const damaged = await served(url, async () => {});
  assert.deepEqual(damaged.warnings, [{ source: `${path}-ids`, message: 'it is damaged' }]);
  rmSync(`${path}-ids`);
  mkdirSync(`${path}-ids`, { mode: 0o700 });
  assert.match((await doctor())[0]!.found, /-ids: EISDIR/);
  assert.match((await served(url, async () => {})).warnings[0]!.message, /EISDIR/);
});

test('SQLite: a database that was cut to nothing is not taken for a new store, and its log is kept', async (t) => {
  const { url, path } = await withLaterCancel(t);
  const log = `${path}-wal`;
  for (const left of [log, `${path}-ids`]) {
    writeFileSync(path, '');
    writeFileSync(log, left === log ? 'changes' : '');
    const refusal = new RegExp(`it is empty, and had a store before, .*${left}.*restore a backup`);
    await assert.rejects(
      served(url, async () => {}),
      refusal,
    );
    assert.equal((await run(['check', '--database', url])).code, 1);
    assert.equal(readFileSync(log, 'utf8'), left === log ? 'changes' : '');
  }
  rmSync(`${path}-ids`);
  const { result } = await served(url, (store) => store.status());
  assert.equal(result.revision, 0n);
});

test('SQLite: no new store is made where the database of another is missing, and a restore gives no id twice', async (t) => {
  const { url, path, backup } = await withLaterCancel(t);
  await restoreStore(url, backup);
  const given = async () => {
    const names = { by: 'key', idempotencyKey: randomUUID(), digest: 'digest' };
    const command = { type: 'placeOrder', draft: { status: 'pending' }, ...names } as const;
    const { result } = await served(url, (store) => store.apply([command]));
    return (result[0] as { id: bigint }).id;
  };
  const first = await given();
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
  const refusal = /it does not exist, and had a store before, of which .*-ids is left: restore a/;
  await assert.rejects(
    served(url, async () => {}),
    refusal,
  );
  const { nextId } = await restoreStore(url, backup);
  assert.ok(nextId > first);
  assert.equal(await given(), nextId);
  for (const end of ['', '-wal', '-shm', '-ids']) rmSync(path + end, { force: true });
  assert.equal((await served(url, (store) => store.status())).result.revision, 0n);
});

/** A node on a new store, and what it has reported. */
async function postgresNode(t: TestContext) {
  const url = await newPostgresDatabase(t);
  const lost: string[] = [];
  const node = await databaseAt(url).open({
    ...({ create: true, purpose: 'service' } as const),
    onLost: (record) => lost.push(record),
  });
  t.after(() => node.close());
  return { url, node, lost };
}

test('PostgreSQL: a store that is set back beneath a node that has acknowledged more is reported', async (t) => {
  const { url, node, lost } = await postgresNode(t);
  await node.apply([place({ id: 1n, status: 'pending' })]);
  await node.apply([place({ id: 2n, status: 'pending' })]);
  const { revision, head } = await node.status();
  for (const id of [3n, 4n, 5n]) await node.apply([place({ id, status: 'pending' })]);
  // As a dump of that time.
  await query(
    url,
    `DELETE FROM orders WHERE revision > ${revision}; DELETE FROM order_events WHERE revision > ${revision};
    UPDATE store SET revision = ${revision}, chained_revision = ${revision}, pending = 2, head = '\\x${head}'`,
  );
  await node.apply([cancel(1n)]);
  await node.apply([cancel(2n)]);
  assert.equal(lost.length, 1);
  assert.match(lost[0]!, /^5-[0-9a-f]{64} was acknowledged and is not in .*, which was at 3-/);
  assert.equal((await node.history.losses()).length, 1);
});

test('PostgreSQL: a store that is set back beneath a node gives no id twice, also if nothing has read it since', async (t) => {
  const { url, node, lost } = await postgresNode(t);
  const placed = async (key: string) => {
    const draft = { petId: 1n, quantity: 1n, complete: false, status: 'pending' } as const;
    const names = { by: 'key_a', idempotencyKey: key, digest: key };
    const [outcome] = await node.apply([{ type: 'placeOrder', draft, ...names }]);
    return 'id' in outcome! ? outcome.id : undefined;
  };
  assert.equal(await placed('a'), 1n);
  const { revision, head } = await node.status();
  assert.equal(await placed('b'), 2n);
  await query(
    url,
    `DELETE FROM placements WHERE revision > ${revision}; DELETE FROM orders WHERE revision > ${revision};
    DELETE FROM order_events WHERE revision > ${revision};
    UPDATE store SET revision = ${revision}, chained_revision = ${revision}, pending = 1, head = '\\x${head}'`,
  );
  await assert.rejects(placed('c'), { fault: 'replaced' });
  assert.equal(await placed('c'), 1_000_000_000n);
  assert.equal(lost.length, 1);
});

test('PostgreSQL: heads that an operator computes anew are no loss', async (t) => {
  const { url, node, lost } = await postgresNode(t);
  await node.apply([place({ id: 1n, status: 'pending', quantity: 1n })]);
  await query(url, 'UPDATE orders SET quantity = 2');
  assert.equal((await run(['rechain', '--database', url])).code, 0);
  await query(
    url,
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await eventually(() => node.apply([cancel(1n)]));
  assert.deepEqual(lost, []);
});

test('PostgreSQL: a node does not go over to a store that was put in the place of its own', async (t) => {
  const { url, node } = await postgresNode(t);
  await node.apply([place({ id: 1n, status: 'pending' })]);
  await query(url, "UPDATE store SET identity = 'another'");
  const end =
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
  await query(url, end);
  await eventually(() =>
    assert.rejects(
      node.keys([new Uint8Array(32)]),
      /was replaced by the store another; if that was on purpose, restart/,
    ),
  );
  await assert.rejects(node.apply([cancel(1n)]), { fault: 'replaced' });
  const restarted = await databaseAt(url).open({ create: false, purpose: 'service' });
  assert.deepEqual(await restarted.apply([cancel(1n)]), ['cancelled']);
  await restarted.close();
});

test('PostgreSQL: a new store names one in another schema of its database', async (t) => {
  const url = await newPostgresDatabase(t);
  const inSchema = new URL(url);
  await query(url, 'CREATE SCHEMA shop');
  inSchema.searchParams.set('options', '-c search_path=shop');
  const warnings: DatabaseWarning[] = [];
  for (const each of [inSchema.href, url]) {
    const onWarning = (warning: DatabaseWarning) => warnings.push(warning);
    await (await databaseAt(each).open({ create: true, purpose: 'service', onWarning })).close();
  }
  assert.deepEqual(
    warnings.map(({ source }) => source),
    ['search_path'],
  );
  assert.match(
    warnings[0]!.message,
    /made in the schema public; the database has one in shop, too/,
  );
});
