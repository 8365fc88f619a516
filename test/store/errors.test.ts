import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unavailable } from '../../src/store/postgres/database/errors.ts';
import { storeError } from '../../src/store/sqlite/database/errors.ts';
import { type Fault, StoreUnavailable } from '../../src/store/store.ts';

test('SQLite errors are mapped to faults', () => {
  const faults: [number, Fault][] = [
    [5, 'locked'],
    [5 | (2 << 8), 'locked'],
    [11, 'damaged'],
    [13, 'full'],
    [26, 'damaged'],
    [10, 'failed'],
  ];
  for (const [errcode, fault] of faults) {
    const error = storeError('a.db', Object.assign(new Error('x'), { errcode }));
    assert.ok(error instanceof StoreUnavailable);
    assert.equal(error.fault, fault, String(errcode));
  }
  const bug = new Error('no database error');
  assert.equal(storeError('a.db', bug), bug);
});

test('PostgreSQL errors are mapped to faults', () => {
  const faults: [string, Fault][] = [
    ['08006', 'unreachable'],
    ['57P01', 'unreachable'],
    ['53300', 'unreachable'],
    ['ECONNREFUSED', 'unreachable'],
    ['55P03', 'locked'],
    ['40P01', 'locked'],
    ['57014', 'slow'],
    ['53100', 'full'],
    ['58P01', 'damaged'],
    ['XX001', 'damaged'],
    ['22012', 'failed'],
  ];
  for (const [code, fault] of faults) {
    assert.equal(unavailable(Object.assign(new Error('x'), { code })).fault, fault, code);
  }
  // A quota or a limit of the size of a file, while a table grows.
  const quota = { code: 'XX000', routine: 'mdextend' };
  assert.equal(unavailable(Object.assign(new Error('x'), quota)).fault, 'full');
  assert.equal(unavailable(new Error('Query read timeout')).fault, 'slow');
  assert.equal(unavailable(new Error('Connection terminated')).fault, 'unreachable');
});
