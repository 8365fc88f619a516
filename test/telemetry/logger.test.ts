import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TimedOut } from '../../src/concurrency.ts';
import { NotConfirmed } from '../../src/store/group-commit.ts';
import { StoreUnavailable } from '../../src/store/store.ts';
import { createLogger } from '../../src/telemetry/logger.ts';

test('expected errors are logged with their cause and without a stack, others with a stack', () => {
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line) => lines.push(line) });
  for (const err of [
    new StoreUnavailable('gone', 'full'),
    new TimedOut('late'),
    new NotConfirmed('unknown'),
    new Error('a bug'),
  ]) {
    logger.warn({ err });
  }
  const errors = lines.map((line) => JSON.parse(line).err);
  assert.deepEqual(errors.slice(0, 3), [
    { type: 'StoreUnavailable', cause: 'full', message: 'gone' },
    { type: 'TimedOut', cause: 'slow', message: 'late' },
    { type: 'CommandNotConfirmed', cause: 'slow', message: 'unknown' },
  ]);
  assert.match(errors[3].stack, /a bug/);
});
