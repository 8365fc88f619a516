import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { newApiKey, newSecret, secretDigest } from '../../src/domain/api-key.ts';
import { actionOf } from '../../src/store/audit.ts';
import { databaseAt } from '../../src/store/database.ts';
import { run } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';
import { ENGINES, open, place, queryDatabase } from './engines.ts';

const recorded = (what: string) => ({ type: 'audit', action: actionOf('test', what) }) as const;

/** A store with three records of keys and one of an order. Returns its URL. */
async function withRecords(t: TestContext, newDatabase: (t: TestContext) => Promise<string>) {
  const url = await newDatabase(t);
  const store = await open(t, url);
  const details = { name: 'shop', environment: 'production', now: 1 } as const;
  const key = { ...newApiKey(newSecret('production'), details), scopes: ['orders:read'] } as const;
  const rotation = {
    type: 'rotateKey',
    id: key.id,
    digest: secretDigest('x'),
    formerUntil: 9,
  } as const;
  await store.apply([recorded('create'), { type: 'createKey', key }]);
  await store.apply([recorded('rotate'), rotation]);
  await store.apply([recorded('end'), { type: 'endOverlap', id: key.id }]);
  await store.apply([recorded('place'), place({ id: 1n, status: 'pending' })]);
  await store.close();
  return url;
}

/** Edits by hand, each of a store of its own, and what check finds. */
const EDITS = [
  ["UPDATE audit SET what = 'x' WHERE id = 2", /audit record 2, or one before it/],
  ["UPDATE audit SET os_user = 'x' WHERE id = 4", /audit record 4, or one before it/],
  ['UPDATE audit SET at = at + 1 WHERE id = 1', /audit record 1, or one before it/],
  ['DELETE FROM audit WHERE id = 2', /audit record 3, or one before it/],
  ['DELETE FROM audit WHERE id = 4', /the last audit records were deleted/],
  [
    "INSERT INTO audit (id, at, command, os_user, host, what) VALUES (9, 1, 'keys create', 'x', 'y', 'z')",
    /audit record 9 was added by hand/,
  ],
  ['UPDATE api_keys SET scopes = NULL', /API keys were changed without a record, since the last/],
  ['UPDATE api_keys SET cancels_per_hour = 9', /API keys were changed/],
  ['UPDATE api_keys SET former_digest = digest, former_until = 99', /API keys were changed/],
  ['DELETE FROM api_keys', /API keys were changed/],
  ['DELETE FROM operator_revisions', undefined],
  ['UPDATE api_keys SET last_used_at = 5', undefined],
  ['UPDATE operator_revisions SET audit_id = 77', /1 revisions of operators name an audit record/],
  [
    "INSERT INTO audit (id, at, command, os_user, host, what) VALUES (-1, 1, 'restore', 'x', 'y', 'z')",
    /audit record 1, or one before it/,
  ],
] as const;

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: check finds audit records and keys that were changed by hand`, async (t) => {
    const pristine = await withRecords(t, newDatabase);
    assert.deepEqual((await databaseAt(pristine).check()).audit, []);
    for (const [sql, expected] of EDITS) {
      const url = await withRecords(t, newDatabase);
      await queryDatabase(url, sql);
      const { audit, problems } = await databaseAt(url).check();
      assert.deepEqual(problems, [], sql);
      if (expected === undefined) assert.deepEqual(audit, [], sql);
      else assert.match(audit[0] ?? 'none', expected, sql);
      // An acknowledgement continues from what is there; a revision without a record is of no operator then.
      await run(['audit', '--acknowledge', '--database', url]);
      const left = (await databaseAt(url).check()).audit;
      assert.deepEqual(left, [], sql);
    }
  });

  test(`${name}: a later record does not hide a change by hand before it`, async (t) => {
    const url = await withRecords(t, newDatabase);
    await queryDatabase(url, 'UPDATE api_keys SET revoked_at = 7');
    const store = await open(t, url);
    await store.apply([recorded('later'), place({ id: 2n, status: 'pending' })]);
    const [problem] = (await databaseAt(url).check()).audit;
    assert.equal(problem, 'API keys were changed without a record, before the audit record 5');
  });

  test(`${name}: records from before the chain are part of it from the first later record on`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    for (const id of [1, 2]) {
      await queryDatabase(
        url,
        `INSERT INTO audit (id, at, command, os_user, host, what) VALUES (${id}, ${id}, 'copy', 'x', 'y', 'z')`,
      );
    }
    const problems = async () => (await databaseAt(url).check()).audit;
    assert.deepEqual(await problems(), []);
    await store.apply([recorded('first')]);
    assert.deepEqual(await problems(), []);
    await queryDatabase(url, "UPDATE audit SET what = 'other' WHERE id = 1");
    assert.match((await problems())[0]!, /audit record 3, or one before it/);
  });
}

test('a store whose keys were changed by hand is backed up and restored, with a warning', async (t) => {
  const url = await withRecords(t, async () => `sqlite:${join(temporaryFolder(t), 'store.db')}`);
  await queryDatabase(url, 'UPDATE api_keys SET expires_at = 7');
  const file = join(temporaryFolder(t), 'backup.db');
  const backup = await run(['backup', file, '--database', url]);
  assert.deepEqual([backup.code, /Warning: API keys were changed/.test(backup.stderr)], [0, true]);
  const restored = `sqlite:${join(temporaryFolder(t), 'restored.db')}`;
  assert.equal((await run(['restore', file, '--database', restored])).code, 0);
  const doctor = await run(['doctor', '--database', restored]);
  assert.match(doctor.stdout, /audit +warning +API keys were changed without a record/);
});
