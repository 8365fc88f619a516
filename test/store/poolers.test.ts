import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseAt } from '../../src/store/database.ts';
import { parseAddress } from '../../src/store/postgres/database/address.ts';
import { Connection } from '../../src/store/postgres/database/connection.ts';
import { unavailable } from '../../src/store/postgres/database/errors.ts';
import { expectOwnBackendBehindProxy } from '../../src/store/postgres/database/own-backend.ts';
import { SERVICE } from '../../src/store/postgres/database/session-settings.ts';
import { StoreNotUsable, StoreUnavailable } from '../../src/store/store.ts';
import { startPooler } from '../postgres-proxy.ts';
import { newPostgresDatabase, open, place } from './engines.ts';

const ADVICE = /connect to PostgreSQL directly/;

for (const passesKey of [true, false]) {
  const what = passesKey ? 'names processes of the server' : 'names processes of its own';
  test(`a pooler that switches connections between transactions, and ${what}, is refused`, async (t) => {
    const url = await newPostgresDatabase(t);
    const store = await open(t, url);
    await store.apply([place({ id: 1n, status: 'pending' })]);
    const pooled = await startPooler(t, url, passesKey);
    for (const purpose of ['service', 'write', 'read'] as const) {
      const opened = databaseAt(pooled).open({ create: false, purpose });
      await assert.rejects(opened, (error) => {
        assert.ok(error instanceof StoreNotUsable);
        assert.match(error.message, ADVICE);
        return true;
      });
    }
    const [finding] = await databaseAt(pooled).diagnose();
    assert.equal(finding!.level, 'problem');
    assert.match(finding!.found, ADVICE);
  });
}

test('a pooler that appears while a node runs is refused by its next connection', async (t) => {
  const pooled = await startPooler(t, await newPostgresDatabase(t), false);
  const connection = new Connection(() => parseAddress(pooled), SERVICE, {
    welcome: expectOwnBackendBehindProxy,
  });
  await assert.rejects(connection.session(), (error) => {
    assert.ok(error instanceof StoreUnavailable);
    assert.match(error.message, ADVICE);
    return true;
  });
});

test('errors of prepared statements, which poolers cause, lead to the same advice', () => {
  for (const code of ['42P05', '26000']) {
    const error = Object.assign(new Error('prepared statement "s0" already exists'), { code });
    assert.match(unavailable(error).message, ADVICE);
  }
});
