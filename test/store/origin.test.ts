import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Origin } from '../../src/store/postgres/origin.ts';
import type { Session } from '../../src/store/postgres/session.ts';

/** A connection to a server on a timeline whose store is for an environment. */
function sessionOn(timeline: number, environment: string | null = 'production') {
  const session = {
    isLost: false,
    file: undefined,
    destroy: () => {
      session.isLost = true;
    },
    query: async ({ text }: { text: string }) =>
      text.includes('pg_walfile_name') ? [[String(timeline)]] : [['an id', environment, '1']],
  };
  return session as unknown as Session;
}

test('a superseded server is rejected, and its connections are closed', async () => {
  const origin = new Origin();
  const [first, same, next] = [sessionOn(1), sessionOn(1), sessionOn(2)];
  await origin.confirm(first);
  await origin.confirm(same);
  assert.deepEqual([first.isLost, same.isLost], [false, false]);
  await origin.confirm(next);
  assert.deepEqual([first.isLost, same.isLost, next.isLost], [true, true, false]);
  await assert.rejects(origin.confirm(sessionOn(1)), /superseded/);
});

test('a store of another environment is rejected after a reconnect', async () => {
  const origin = new Origin();
  await origin.confirm(sessionOn(1, null));
  await origin.confirm(sessionOn(1));
  await origin.confirm(sessionOn(2));
  await assert.rejects(origin.confirm(sessionOn(2, 'staging')), /is for staging/);
});
