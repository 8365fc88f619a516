import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Schema } from '../../protocol/openapi.ts';
import { newApiKey, newSecret } from '../../src/domain/api-key.ts';
import { KeyClock } from '../../src/domain/key-clock.ts';
import { type Accepted, validated } from '../../src/http/contract/handlers.ts';
import { ContractValidation } from '../../src/http/contract/validation.ts';
import { KeyRing } from '../../src/http/request/key-ring.ts';
import { sendReply } from '../../src/http/request/reply.ts';
import { Router } from '../../src/http/request/router.ts';
import { buildServer } from '../../src/http/server.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

/** By the contract: the description of 413. */
const MAX_JSON_BYTES = 64 * 1024;
const int64 = { type: 'integer', format: 'int64' };
const COMPONENTS = { schemas: { Count: { ...int64, minimum: 1 } } };
const OPERATION: Accepted = {
  parameters: [
    { name: 'thingId', in: 'path', required: true, schema: int64 },
    { name: 'part', in: 'path', required: true, schema: { type: 'string' } },
    { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 500 } },
    {
      name: 'status',
      in: 'query',
      schema: { type: 'array', items: { type: 'string', enum: ['pending', 'shipped'] } },
    },
    { name: 'before', in: 'query', schema: { type: 'string', format: 'date-time' } },
  ],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          additionalProperties: false,
          required: ['quantity'],
          properties: { petId: int64, quantity: { $ref: '#/components/schemas/Count' } },
        },
      },
    },
  },
};

/** A server with one operation, which responds with the input that its handler received. */
async function startServer(t: TestContext) {
  const secret = newSecret('production');
  const key = newApiKey(secret, {
    name: 'k',
    environment: 'production',
    now: 0,
  });
  const keyRing = new KeyRing({
    findKeys: async () => [key],
    environment: 'production',
    clock: new KeyClock(),
    recordUse: async () => {},
  });
  const router = new Router(['/v2']);
  const echo = validated(new ContractValidation(COMPONENTS), OPERATION, (exchange, input) => {
    const text = JSON.stringify(input, (_, value) =>
      typeof value === 'bigint' ? `${value}n` : value,
    );
    const headers = ['content-type', 'application/json'];
    sendReply(exchange, { status: 200, headers, body: Buffer.from(text) });
  });
  router.add('POST', '/v2/things/{thingId}/parts/{part}', {
    ...{ operation: 'echo', version: 'v2', isPublic: false },
    ...echo,
  });
  const metrics = createMetrics({
    environment: 'production',
    database: 'sqlite:test.db',
    store: () => undefined,
    isReady: async () => true,
  });
  const logger = createLogger('silent', { write: () => {} });
  const server = buildServer({ router, keyRing, metrics, logger });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close());
  const post = async (path: string, body?: string | Buffer, type = 'application/json') => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': type };
    const init = { method: 'POST', headers, body: body as string };
    const response = await fetch(`http://127.0.0.1:${port}/v2${path}`, init);
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  return { post, port, secret };
}

test('a handler receives typed parameters and a body with exact integers', async (t) => {
  const { post } = await startServer(t);
  const path = '/things/9007199254740993/parts/a%20b%2Fc?limit=500&status=pending,shipped';
  const { status, body } = await post(path, '{"petId":-9223372036854775808,"quantity":1}');
  assert.equal(status, 200);
  assert.deepEqual(body.parameters, {
    thingId: '9007199254740993n',
    part: 'a b/c',
    limit: '500n',
    status: ['pending', 'shipped'],
  });
  assert.deepEqual(body.body, { petId: '-9223372036854775808n', quantity: '1n' });
});

test('all invalid parameters are reported', async (t) => {
  const { post } = await startServer(t);
  const query = 'limit=0&status=new&limit=5&nope=1&before=2026-11-20T00:00:00&=x&a%zz=1';
  const { status, body } = await post(`/things/05/parts/x?${query}`, '{"quantity":1}');
  assert.equal(status, 400);
  assert.equal(body.code, 'parameter_invalid');
  assert.deepEqual(
    body.errors.map(({ parameter, detail }: Record<string, string>) => `${parameter} ${detail}`),
    [
      'limit must be sent only once',
      'nope is not a known parameter',
      ' is not a known parameter',
      'a%zz=1 has malformed percent-encoding',
      'thingId must be an integer from -9223372036854775808 to 9223372036854775807, in digits only',
      'limit must be an integer from 1 to 500, in digits only',
      'status must be one of pending, shipped',
      'before must be a date-time with an offset, such as 2026-12-01T09:30:00Z or 2026-12-01T10:30:00+01:00',
    ],
  );
  const empty = await post('/things/5/parts/x?limit=', '{"quantity":1}');
  assert.deepEqual(empty.body.errors, [{ parameter: 'limit', detail: 'must not be empty' }]);
  const offset = await post('/things/5/parts/x?before=2026-11-20T00:00:00+01:00', '{"quantity":1}');
  assert.equal(offset.status, 200);
});

for (const [what, text, errors] of [
  ['invalid JSON', '{', ['"": is not valid JSON']],
  ['no content', '', ['"": is not valid JSON']],
  ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), ['"": is not valid UTF-8']],
  ['a repeated field', '{"quantity":1,"quant\\u0069ty":2}', ['"": has the field "quantity" twice']],
  ['an array for an object', '[]', ['"": must be object']],
  ['a number for an object', '1.5', ['"": must be object']],
  [
    'U+0000',
    '{"quantity":1,"a":"\\u0000"}',
    ['"/a": must be text without U+0000 and unpaired surrogates'],
  ],
  ['a missing field', '{}', ['"/quantity": is required']],
  ['an unknown field', '{"quantity":1,"a/b~":0}', ['"/a~1b~0": is not a known field']],
  ['a fraction for an integer', '{"quantity":5.0}', 'int'],
  ['an exponent in an integer', '{"quantity":1e3}', 'int'],
  ['a string for an integer', '{"quantity":"5"}', 'int'],
  ['an integer below the minimum', '{"quantity":0}', 'int'],
  ['an integer beyond int64', '{"quantity":9223372036854775808}', 'int'],
  ['null for an integer', '{"quantity":null}', 'int'],
] as const) {
  test(`a body with ${what} is 400 with a pointer to the problem`, async (t) => {
    const { post } = await startServer(t);
    const { status, body } = await post('/things/1/parts/x', text);
    assert.equal(status, 400);
    assert.equal(body.code, 'body_invalid');
    const found = body.errors.map(
      ({ pointer, detail }: Record<string, string>) => `"${pointer}": ${detail}`,
    );
    const int = ['"/quantity": must be an integer from 1 to 9223372036854775807, in digits only'];
    assert.deepEqual(found, errors === 'int' ? int : errors);
  });
}

test('a body that is not JSON is 415, one that is too large 413, and another method 405', async (t) => {
  const { post, port, secret } = await startServer(t);
  for (const type of ['text/plain', 'application/jsonp', 'application/json; charset=latin1']) {
    const { status, body } = await post('/things/1/parts/x', '{"quantity":1}', type);
    assert.deepEqual([status, body.code], [415, 'unsupported_media_type'], type);
  }
  const utf8 = 'Application/JSON; charset=UTF-8';
  assert.equal((await post('/things/1/parts/x', '{"quantity":1}', utf8)).status, 200);
  const large = await post('/things/1/parts/x', ' '.repeat(1024 * 1024 + 1));
  assert.deepEqual([large.status, large.body.code], [413, 'body_too_large']);
  const headers = { authorization: `Bearer ${secret}` };
  const got = await fetch(`http://127.0.0.1:${port}/v2/things/1/parts/x`, { headers });
  assert.deepEqual([got.status, got.headers.get('allow')], [405, 'POST']);
});

test('invalid parameters and body fields are reported together', async (t) => {
  const { post } = await startServer(t);
  const { status, body } = await post('/things/x/parts/y?status=a,b', '{}');
  assert.equal(status, 400);
  assert.deepEqual(
    body.errors.map((each: Record<string, string>) => each.parameter ?? each.pointer),
    ['thingId', 'status', '/quantity'],
  );
});

test('compiling a schema that cannot be validated exactly fails', () => {
  const validation = new ContractValidation();
  for (const schema of [
    { type: 'number' },
    { type: ['integer', 'null'] },
    { type: 'integer', enum: [1, 2] },
    { type: 'integer', default: 1 },
    { type: 'array', uniqueItems: true, items: { type: 'string' } },
  ]) {
    assert.throws(
      () => validation.body(schema as Schema),
      /is not supported/,
      JSON.stringify(schema),
    );
  }
  const header = { name: 'x', in: 'header' as 'query', schema: { type: 'string' } };
  assert.throws(() => validation.parameters([header]), /unsupported location/);
});

test('a JSON body of exactly the maximum size is accepted; one byte more is 413', async (t) => {
  const { post } = await startServer(t);
  const body = '{"quantity":1}'.padEnd(MAX_JSON_BYTES);
  assert.equal((await post('/things/1/parts/x', body)).status, 200);
  assert.equal((await post('/things/1/parts/x', `${body} `)).status, 413);
});

test('a JSON body that is announced as too large is 413 before it arrives', async (t) => {
  const { port, secret } = await startServer(t);
  const socket = connect(port, '127.0.0.1');
  const head = `Host: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json`;
  const length = `Content-Length: ${MAX_JSON_BYTES + 1}`;
  socket.write(`POST /v2/things/1/parts/x HTTP/1.1\r\n${head}\r\n${length}\r\n\r\n{`);
  const [answer] = await once(socket, 'data');
  assert.match(String(answer), /^HTTP\/1\.1 413 /);
  socket.destroy();
});

test('at most 100 problems are listed', async (t) => {
  const { post } = await startServer(t);
  const query = Array.from({ length: 300 }, (_, index) => `x${index}=1`).join('&');
  const { status, body } = await post(`/things/1/parts/x?${query}`, '{"quantity":1}');
  assert.equal(status, 400);
  assert.equal(body.errors.length, 100);
});

test('a field name that cannot be stored is refused with its pointer', async (t) => {
  const { post } = await startServer(t);
  for (const name of ['a\\u0000', '\\ud800']) {
    const { body } = await post('/things/1/parts/x', `{"quantity":1,"b":{"${name}":1}}`);
    const detail = 'must be text without U+0000 and unpaired surrogates';
    assert.deepEqual(body.errors, [{ pointer: '/b', detail }], name);
  }
});

test('a pointer to a value escapes the names on its way', async (t) => {
  const { post } = await startServer(t);
  const { body } = await post('/things/1/parts/x', '{"quantity":1,"a/b":{"~":["\\u0000"]}}');
  assert.equal(body.errors[0].pointer, '/a~1b/~0/0');
});

test('integers are limited to exactly the range of their format', () => {
  const validation = new ContractValidation();
  for (const [format, least, most] of [
    ['int32', -(2n ** 31n), 2n ** 31n - 1n],
    ['int64', -(2n ** 63n), 2n ** 63n - 1n],
  ] as const) {
    const validate = validation.body<bigint>({ type: 'integer', format });
    for (const value of [least, most]) assert.equal(validate(value).problems, undefined);
    for (const value of [least - 1n, most + 1n]) assert.equal(validate(value).problems!.length, 1);
  }
});

test('a problem repeats at most 100 characters of a name', async (t) => {
  const { post } = await startServer(t);
  const name = 'x'.repeat(300);
  const { body } = await post(`/things/1/parts/x?${name}=1`, `{"quantity":1,"${name}":1}`);
  assert.deepEqual(
    body.errors.map((each: Record<string, string>) => (each.parameter ?? each.pointer)!.length),
    [100, 100],
  );
});
