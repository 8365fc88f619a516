import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionLimit } from '../../../src/http/connection/limit.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';

test('the connection limit stays below the limit of open files, and a reduced limit is logged', () => {
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line) => lines.push(line) });
  assert.equal(connectionLimit(logger, 20_000), 10_000);
  assert.equal(connectionLimit(logger, Number.POSITIVE_INFINITY), 10_000);
  assert.deepEqual(lines, []);
  assert.equal(connectionLimit(logger, 256), 160);
  assert.match(lines[0]!, /allows 160 connections; raise it .* to 10096 for all 10000/);
  assert.equal(connectionLimit(logger, 64), 16);
});
