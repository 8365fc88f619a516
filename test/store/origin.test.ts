import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseAt } from '../../src/store/database.ts';
import { newSession } from '../../src/store/postgres/database/connection.ts';
import { Origin, Timelines } from '../../src/store/postgres/database/origin.ts';
import { COMMAND } from '../../src/store/postgres/database/session-settings.ts';
import { newPostgresSchema } from './engines.ts';

/** A connection to a server. */
const at = (system: string, timeline: number) =>
  [
    { name: `${system}/${timeline}`, isLost: false },
    { address: '10.0.0.1:5432', system, timeline },
  ] as const;

test('a superseded server is rejected, and connections to it are to be closed', () => {
  const [first, same, next] = [at('a', 1), at('a', 1), at('a', 2)];
  const timelines = new Timelines<{ name: string; isLost: boolean }>();
  assert.deepEqual(timelines.admit(...first), []);
  assert.deepEqual(timelines.admit(...same), []);
  assert.deepEqual(timelines.admit(...next), [first[0], same[0]]);
  assert.throws(() => timelines.admit(...first), {
    fault: 'superseded',
    message:
      /10\.0\.0\.1:5432, timeline 1 was superseded: a server with timeline 2 was in use before/,
  });
});

test('a server of another system, such as after pg_upgrade, is used whatever its timeline is, and alone', () => {
  const [first, upgraded, again] = [at('a', 3), at('b', 1), at('a', 2)];
  const timelines = new Timelines<{ name: string; isLost: boolean }>();
  timelines.admit(...first);
  assert.deepEqual(timelines.admit(...upgraded), [first[0]]);
  assert.throws(() => timelines.admit(...again), /a server with timeline 3 was in use before/);
  // The server before the upgrade, also if its standby was promoted since.
  assert.throws(
    () => timelines.admit(...at('a', 4)),
    /a server of another system was in use before/,
  );
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
