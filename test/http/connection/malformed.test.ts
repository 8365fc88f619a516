import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Refusal } from '../../../src/http/error-records.ts';
import { refuse } from '../../../src/http/request/reply.ts';
import { eventually } from '../../postgres.ts';
import { parseAnswers } from '../contract-check.ts';
import { placeSamples, startService } from '../harness.ts';
import { serviceWithList } from './raw-connection.ts';

const code = ({ body }: { body: string }) => JSON.parse(body).code;

/** Builds requests with a key and without a body; `last` is one more header line. */
const requestsWith =
  (secret: string) =>
  (method: string, path: string, last = '') =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n${last}\r\n`;

test('bytes that are not a valid HTTP request get an Error record', async (t) => {
  const { answersTo } = await startService(t);
  const host = 'Host: x\r\n';
  const cases: [string, string | Buffer, number, Refusal][] = [
    ['an unknown method', `FROB / HTTP/1.1\r\n${host}\r\n`, 400, 'bad_method'],
    ['a broken URL', `GET /%zz HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 400, 'bad_url'],
    ['nonsense', 'hello\r\n\r\n', 400, 'bad_method'],
    ['a TLS hello', Buffer.from('16030100c8010000c40303', 'hex'), 400, 'bad_method'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'http2'],
    ['HTTP/3.7', `GET / HTTP/3.7\r\n${host}\r\n`, 400, 'bad_request_line'],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400, 'host_missing'],
    ['two Hosts', `GET / HTTP/1.1\r\n${host}${host}\r\n`, 400, 'host_repeated'],
    ['a space before the colon', `GET / HTTP/1.1\r\n${host}A : b\r\n\r\n`, 400, 'bad_header'],
    ['a control in a header', `GET / HTTP/1.1\r\n${host}A: \x01\r\n\r\n`, 400, 'bad_header'],
    [
      'a bad Content-Length',
      `GET / HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`,
      400,
      'bad_framing',
    ],
    [
      'a length and chunks',
      `POST / HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
      'bad_framing',
    ],
    ['a fragment', `GET /#x HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, 400, 'url_fragment'],
    [
      'a URL that is too long',
      `GET /${'x'.repeat(9_000)} HTTP/1.1\r\n${host}\r\n`,
      414,
      'uri_too_long',
    ],
    ['a URL that is far too long', `GET /${'x'.repeat(50_000)}`, 414, 'uri_too_long'],
    [
      'headers too large',
      `GET / HTTP/1.1\r\n${host}A: ${'x'.repeat(40_000)}`,
      431,
      'headers_too_large',
    ],
    [
      'an expectation',
      `GET / HTTP/1.1\r\n${host}Expect: miracles\r\n\r\n`,
      417,
      'expectation_failed',
    ],
  ];
  for (const [what, bytes, status, expected] of cases) {
    const answers = await answersTo(bytes);
    assert.equal(answers.length, 1, what);
    assert.equal(answers[0]!.status, status, what);
    assert.equal(answers[0]!.body, refuse(expected).body, what);
  }
});

test('dot segments are not resolved, and absolute request targets are accepted', async (t) => {
  const { answersTo, secret, port, store } = await startService(t);
  await placeSamples(store, 10);
  const ask = async (method: string, target: string) => {
    const head = `${method} ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n`;
    const [answer] = await answersTo(`${head}Connection: close\r\n\r\n`);
    return answer!;
  };
  for (const target of ['/v1/store/orders/%2e%2e', '/v1/store/orders/..', '/v1/store/orders/.']) {
    assert.equal(code(await ask('DELETE', target)), 'invalid_order_id', target);
  }
  assert.equal((await ask('DELETE', '/v1/store/orders/x/../1')).status, 404);
  assert.equal((await ask('DELETE', '/v1/x/../store/orders/1')).status, 404);
  assert.equal((await ask('DELETE', '/v1/store/orders/٥')).status, 400, 'a URL is ASCII');
  const absolute = `http://127.0.0.1:${port}/v1/store/orders`;
  assert.equal((await ask('GET', absolute)).status, 200);
  assert.equal((await ask('DELETE', `${absolute}/1`)).status, 204);
  assert.equal((await ask('OPTIONS', '*')).status, 404);
});

test('two Authorization headers are refused even if one is valid', async (t) => {
  const { answersTo, secret } = await startService(t);
  const good = `Authorization: Bearer ${secret}\r\n`;
  for (const headers of [good + good, `${good}authorization: Bearer x\r\n`]) {
    const [answer] = await answersTo(
      `GET /v1/store/orders HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`,
    );
    assert.equal(answer!.status, 401);
    assert.equal(code(answer!), 'api_key_malformed');
  }
});

test('a key of Latin-1 bytes or of 8 KB is 401', async (t) => {
  const { answersTo } = await startService(t);
  for (const key of [Buffer.from([0xe9, 0xff]), Buffer.alloc(8192, 'k')]) {
    const head = 'GET /v1/store/orders HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
    const [answer] = await answersTo(
      Buffer.concat([Buffer.from(`${head}Authorization: Bearer `), key, Buffer.from('\r\n\r\n')]),
    );
    assert.equal(answer!.status, 401);
  }
});

test('pipelined requests are answered in order', async (t) => {
  const { answersTo, secret, store } = await startService(t);
  await placeSamples(store, 3_000);
  const head = requestsWith(secret);
  const answers = await answersTo(
    head('GET', '/v1/store/orders') +
      head('DELETE', '/v1/store/orders/1', 'Content-Length: 3\r\n') +
      'abc' +
      head('GET', '/v1/store/orders') +
      head('GET', '/nope', 'Connection: close\r\n'),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 204, 200, 404],
  );
  assert.equal(JSON.parse(answers[2]!.body).length, 2_999);
});

test('garbage after pipelined requests gets no response, and the requests get theirs', async (t) => {
  const { answersTo, secret, store } = await startService(t);
  await placeSamples(store, 5_000);
  const head = requestsWith(secret);
  const list = head('GET', '/v1/store/orders');
  const one = await answersTo(`${list}garbage\r\n\r\n`);
  assert.deepEqual(
    one.map(({ status }) => status),
    [200],
  );
  const two = await answersTo(`${list}${head('DELETE', '/v1/store/orders/1')}garbage\r\n\r\n`);
  assert.deepEqual(
    two.map(({ status }) => status),
    [200, 204],
  );
});

test('a request with an invalid body is refused and has no effect', async (t) => {
  const { answersTo, secret, call, store } = await startService(t);
  await placeSamples(store, 10);
  const before = (await call('GET', '/v1/store/orders')).body;
  const head = `DELETE /v1/store/orders/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n`;
  const chunked = 'Transfer-Encoding: chunked\r\n\r\n';
  const cases: [string, number][] = [
    [`${head}${chunked}zz\r\n`, 400],
    [`${head}${chunked}1\r\nx\r\nnonsense\r\n`, 400],
    [`${head}${chunked}5;${'x'.repeat(20_000)}\r\n`, 413],
    [`${head}Transfer-Encoding: gzip\r\n\r\n`, 400],
    [`${head}Transfer-Encoding: identity\r\n\r\n`, 400],
    [`${head.replace('1.1', '1.0')}${chunked}0\r\n\r\n`, 400],
  ];
  for (const [bytes, status] of cases) {
    const answers = await answersTo(bytes);
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [status],
      bytes.slice(-40),
    );
  }
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  const [tooLarge] = await answersTo(`${head}${chunked}${chunk.repeat(17)}`);
  assert.equal(tooLarge!.status, 413);
  assert.equal((await call('GET', '/v1/store/orders')).body, before);
  const [whole] = await answersTo(
    `${head}Connection: close\r\n${chunked}${chunk.repeat(3)}0\r\n\r\n`,
  );
  assert.equal(whole!.status, 204);
});

test('a client that half-closes its connection after a request gets its response', async (t) => {
  const { port, secret, store } = await startService(t);
  await placeSamples(store, 20_000);
  for (const line of ['DELETE /v1/store/orders/1', 'GET /v1/store/orders']) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.end(`${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n\r\n`);
    await once(socket, 'end');
    const [answer] = parseAnswers(received);
    assert.ok(answer!.status < 300, line);
    assert.equal(Number(answer!.headers['content-length'] ?? 0), answer!.body.length);
  }
});

test('a request with Upgrade is answered as usual, and the connection closed', async (t) => {
  const { answersTo, secret } = await startService(t);
  const [answer] = await answersTo(
    `GET /v1/store/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n` +
      'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\nGET / HT',
  );
  assert.equal(answer!.status, 200);
  assert.equal(answer!.headers.connection, 'close');
});

test('a pipelined request sees the effect of the one before it', async (t) => {
  const { answersTo, secret, store } = await startService(t);
  await placeSamples(store, 50);
  const head = requestsWith(secret);
  for (const id of [1, 2, 3, 4, 5, 6]) {
    const answers = await answersTo(
      head('DELETE', `/v1/store/orders/${id}`) +
        head('GET', '/v1/store/orders', 'Connection: close\r\n'),
    );
    if (answers[0]!.status === 409) continue;
    const listed: { id: number }[] = JSON.parse(answers[1]!.body);
    assert.ok(!listed.some((order) => order.id === id));
  }
});

test('requests after one whose response closes the connection have no effect', async (t) => {
  const { answersTo, secret, call, store } = await startService(t);
  await placeSamples(store, 20);
  const before = (await call('GET', '/v1/store/orders')).body;
  const key = `Authorization: Bearer ${secret}\r\n`;
  const cancel = `DELETE /v1/store/orders/1 HTTP/1.1\r\nHost: x\r\n${key}\r\n`;
  const closing = [
    `GET /v1/store/orders#x HTTP/1.1\r\nHost: x\r\n${key}\r\n`,
    `GET /v1/store/orders HTTP/1.1\r\nHost: x\r\nHost: y\r\n${key}\r\n`,
    `GET / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n`,
    `GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\n`,
  ];
  for (const bytes of closing) {
    const answers = await answersTo(bytes + cancel);
    assert.equal(answers.length, 1, bytes);
    assert.ok(answers[0]!.status >= 400);
  }
  assert.equal((await call('GET', '/v1/store/orders')).body, before);
});

test('a pipelined request whose URL cannot be decoded is 400 in the order of requests', async (t) => {
  const { answersTo, secret, store } = await startService(t);
  await placeSamples(store, 2_000);
  const head = requestsWith(secret);
  const answers = await answersTo(
    `${head('GET', '/v1/store/orders')}${head('GET', '/%zz')}garbage\r\n\r\n`,
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 400],
  );
});

test('a connection with too many waiting requests is closed', async (t) => {
  const { port, secret, call } = await serviceWithList(t);
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(requestsWith(secret)('GET', '/v1/store/orders').repeat(200));
  socket.resume();
  await once(socket, 'close');
  assert.equal((await call('GET', '/v1/store/orders')).status, 200);
});

test('a request whose client disconnected is logged and counted', async (t) => {
  const { port, secret, metrics, log } = await serviceWithList(t);
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `GET /v1/store/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n\r\n`,
  );
  await once(socket, 'data');
  socket.destroy();
  const line = await eventually(async () => {
    const found = log()
      .trim()
      .split('\n')
      .map((each) => JSON.parse(each))
      .find(({ msg, aborted }) => msg === 'request' && aborted);
    assert.ok(found !== undefined);
    return found;
  });
  assert.equal(line.path, '/v1/store/orders');
  assert.match(
    await metrics.registry.metrics(),
    /http_requests_total\{operation="listOrders",version="v1",status="200"\} 2/,
  );
});

test('a refused request gets one response, even if its body is invalid or incomplete', async (t) => {
  const { answersTo } = await startService(t);
  const answers = await answersTo(
    'DELETE /v1/store/orders/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [401],
  );
  const [endless] = await answersTo(
    'DELETE /v1/store/orders/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc',
  );
  assert.equal(endless!.status, 401);
  assert.equal(endless!.headers.connection, 'close');
});

test('CONNECT is refused with an Error record', async (t) => {
  const { answersTo } = await startService(t);
  const [answer] = await answersTo('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
  assert.equal(answer!.status, 400);
});

test('a body may arrive slowly, but the key must still be valid when it is complete', async (t) => {
  const { port, store, key, secret, newKey } = await startService(t);
  await placeSamples(store, 10);
  const slowly = async (id: number, withSecret: string) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `DELETE /v1/store/orders/${id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${withSecret}\r\n` +
        'Connection: close\r\nContent-Length: 2\r\n\r\nx',
    );
    // Longer than a key is remembered and than a response may take.
    await pause(2_000);
    socket.write('y');
    return statusOf(socket);
  };
  const answers = Promise.all([slowly(1, await newKey({})), slowly(2, secret)]);
  await store.apply([{ type: 'revokeKey', id: key.id }]);
  assert.deepEqual(await answers, [204, 401]);
});

async function statusOf(socket: Socket): Promise<number> {
  let text = '';
  for await (const chunk of socket) text += chunk;
  return parseAnswers(text)[0]!.status;
}
