import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseAt } from '../../src/store/database.ts';
import { newSession } from '../../src/store/postgres/database/connection.ts';
import { Origin, Timelines } from '../../src/store/postgres/database/origin.ts';
import { COMMAND } from '../../src/store/postgres/database/time-limits.ts';
import { newPostgresSchema } from './engines.ts';

test('a superseded server is rejected, and connections to it are to be closed', () => {
  const [first, same, next] = ['first', 'same', 'next'].map((name) => ({ name, isLost: false }));
  const timelines = new Timelines<{ name: string; isLost: boolean }>();
  assert.deepEqual(timelines.admit(first!, 1), []);
  assert.deepEqual(timelines.admit(same!, 1), []);
  assert.deepEqual(timelines.admit(next!, 2), [first, same]);
  assert.throws(() => timelines.admit(first!, 1), /superseded/);
  assert.equal(timelines.of(first!), undefined);
});

test('a store of another environment is rejected after a reconnect', async (t) => {
  const production = await newPostgresSchema();
  const staging = await newPostgresSchema();
  for (const [url, environment] of [
    [production, 'production'],
    [staging, 'staging'],
  ] as const) {
    const store = await databaseAt(url).open({ create: true, purpose: 'write' });
    await store.apply([{ type: 'recordEnvironment', environment }]);
    await store.close();
  }
  const sessionOn = async (url: string) => {
    const session = await newSession(url, COMMAND);
    t.after(() => session.end());
    return session;
  };
  const origin = new Origin();
  await origin.confirm(await sessionOn(production));
  await origin.confirm(await sessionOn(production));
  await assert.rejects(
    origin.confirm(await sessionOn(staging)),
    /changed from production to staging/,
  );
});
