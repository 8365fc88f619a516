import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { StoreUnavailable } from '../../src/store/store.ts';
import { eventually } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';
import { open } from './engines.ts';

const ORDERS = 1_000;
const PAGE_BYTES = 4_096;

const isDamaged = (error: unknown) =>
  error instanceof StoreUnavailable && error.fault === 'damaged';

test('a store whose disk did not read well for a moment is used again once all of it can be read', async (t) => {
  const path = join(temporaryFolder(t), 'store.db');
  const store = await open(t, `sqlite:${path}`, 'service');
  const place = (id: number) =>
    ({ type: 'insertOrder', order: { id: BigInt(id), status: 'pending' } }) as const;
  await store.apply(Array.from({ length: ORDERS }, (_, index) => place(index + 1)));
  const db = new DatabaseSync(path);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  const whole = readFileSync(path);
  const misread = Buffer.from(whole).fill(0xff, 30 * PAGE_BYTES);
  writeFileSync(path, misread, { flag: 'r+' });
  await assert.rejects(
    store.history.scan(async () => true),
    isDamaged,
  );
  // Nothing is read or written, also where no page is damaged.
  await assert.rejects(store.status(), isDamaged);
  await assert.rejects(store.apply([place(ORDERS + 1)]), isDamaged);
  writeFileSync(path, whole, { flag: 'r+' });
  await eventually(() => store.status());
  await store.apply([place(ORDERS + 1)]);
  assert.equal((await store.orders([BigInt(ORDERS + 1)])).length, 1);
});
