import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readable } from '../../src/http/logging.ts';

const line = (fields: object) => readable(JSON.stringify({ time: 0, level: 30, ...fields }));

test('a request reads as one short line on a terminal', () => {
  const fields = {
    requestId: 'abc',
    method: 'GET',
    path: '/v1/store/orders',
    status: 200,
    ms: 1.2,
  };
  assert.match(
    line({ ...fields, key: 'key_1', msg: 'request' }),
    /^\d\d:\d\d:\d\d INFO {2}GET \/v1\/store\/orders 200 1.2ms key="key_1" requestId=abc\n$/,
  );
  assert.match(line({ ...fields, status: 503, level: 40, msg: 'request' }), /requestId=abc\n$/);
});

test('an error comes with its stack', () => {
  const text = line({ level: 50, msg: 'a request failed', err: { stack: 'Error: x\n    at y' } });
  assert.match(text, /ERROR a request failed\nError: x\n {4}at y\n$/);
});
