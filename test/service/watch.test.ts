import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { KeyClock } from '../../src/domain/key-clock.ts';
import { Listing } from '../../src/listing/listing.ts';
import { watchClock, watchStore } from '../../src/service/watch.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { open } from '../store/engines.ts';
import { temporaryFolder } from '../temporary.ts';

function recordingLogger() {
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line) => lines.push(line) });
  return { logger, said: () => lines.splice(0).map((line) => JSON.parse(line)) };
}

test('an unavailable store is counted at every check, and logged once, as is its return', async (t) => {
  const store = await open(t, `sqlite:${join(temporaryFolder(t), 'store.db')}`);
  const { logger, said } = recordingLogger();
  const faults: string[] = [];
  const listing = new Listing(store);
  await listing.current();
  t.mock.timers.enable({ apis: ['setInterval'] });
  t.after(watchStore({ store, listing }, logger, (fault) => faults.push(fault)));
  const check = async () => {
    t.mock.timers.tick(1_000);
    await listing.current().catch(() => {});
  };
  await store.apply([{ type: 'moveAway', to: 'elsewhere', revision: 0n }]);
  await check();
  await check();
  assert.deepEqual(faults, ['moved', 'moved']);
  assert.deepEqual(
    said().map(({ msg, level }) => [msg, level]),
    [['the store is not available', 40]],
  );
  await store.apply([{ type: 'reactivate' }]);
  await check();
  await check();
  assert.deepEqual(
    said().map(({ msg }) => msg),
    ['the store is available again'],
  );
});

test('a clock that falls behind is logged once, as is that it has caught up', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { logger, said } = recordingLogger();
  let now = 100_000;
  const clock = new KeyClock(() => now);
  t.after(watchClock(clock, logger));
  const look = (at: number) => {
    now = at;
    t.mock.timers.tick(1_000);
    return said().map(({ msg, seconds }) => `${msg.slice(0, 19)} ${seconds ?? ''}`);
  };
  assert.deepEqual(look(96_000), []);
  assert.deepEqual(look(90_000), ['the clock is behind 10']);
  assert.deepEqual(look(91_000), []);
  assert.deepEqual(look(100_000), ['the clock has caugh ']);
  assert.deepEqual(look(101_000), []);
});
