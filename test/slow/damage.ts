import assert from 'node:assert/strict';
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { eventually } from '../postgres.ts';
import { serve } from '../process/program.ts';
import { sampleStore } from '../process/sample-store.ts';

const ORDERS = '/v1/store/orders';

test('with damaged pages, requests are 503, the service is not ready and an error says what to do', async (t) => {
  const { call, database, operations, stdout } = await serve(t, [], {
    database: await sampleStore(t),
  });
  const path = database.slice('sqlite:'.length);
  assert.equal((await call('GET', ORDERS)).status, 200);
  damage(path);
  for (let id = 1; id <= 60_000; id += 1_000) await call('DELETE', `${ORDERS}/${id}`);
  const answers = await Promise.all([call('GET', ORDERS), call('DELETE', `${ORDERS}/2`)]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [503, 503],
  );
  const ready = await fetch(`${operations}/readyz`);
  assert.equal(ready.status, 503);
  assert.match(
    await ready.text(),
    /store\.db is damaged .*"store-orders check".*"store-orders restore"/,
  );
  // Once, however many requests fail.
  const errors = () =>
    stdout()
      .split('\n')
      .filter((line) => line.includes('"level":50'));
  await eventually(async () => assert.equal(errors().length, 1));
  assert.match(errors()[0]!, /"cause":"damaged".*store\.db is damaged/);
});

/** Overwrites most pages of a database in use; a connection has only a few in memory. */
function damage(path: string): void {
  const db = new DatabaseSync(path);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  const { size } = statSync(path);
  const file = openSync(path, 'r+');
  for (let at = 40 * 4_096; at < size; at += 4_096)
    writeSync(file, Buffer.alloc(4_096, 0xff), 0, 4_096, at);
  closeSync(file);
}
