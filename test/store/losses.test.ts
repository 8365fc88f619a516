import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { positionText } from '../../protocol/history.ts';
import { backupStore } from '../../src/store/copy.ts';
import { databaseAt } from '../../src/store/database.ts';
import type { DatabaseWarning } from '../../src/store/open-options.ts';
import { run } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';
import { cancel, place, restoreStore } from './engines.ts';

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

test('SQLite: neither a restore nor another store in its place is a loss', async (t) => {
  const { url, path, backup } = await withLaterCancel(t);
  await restoreStore(url, backup);
  assert.deepEqual((await served(url, (store) => store.apply([cancel(1n)]))).lost, []);
  const other = join(temporaryFolder(t), 'other.db');
  await served(`sqlite:${other}`, (store) => store.apply([place({ id: 1n, status: 'pending' })]));
  putInPlace(path, other);
  assert.deepEqual((await served(url, (store) => store.history.losses())).result, []);
});

test('SQLite: a file beside the database that is damaged, or a folder, is logged, and named by doctor', async (t) => {
  const { url, path } = await withLaterCancel(t);
  const doctor = async () =>
    (await databaseAt(url).diagnose()).filter(({ found }) => found.includes('-ids'));
  assert.deepEqual(await doctor(), []);
  writeFileSync(`${path}-ids`, 'no id');
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
