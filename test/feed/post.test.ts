import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import {
  type AllowedTargets,
  PUBLIC_ONLY,
  parseAllowedTargets,
} from '../../src/feed/deliveries/addresses.ts';
import { isAccepted, post } from '../../src/feed/deliveries/post.ts';

const LOCAL = parseAllowedTargets('127.0.0.0/8,http') as AllowedTargets;

type Handle = (request: IncomingMessage, response: ServerResponse, index: number) => void;

/** An endpoint that handles each request in a way. */
async function endpoint(t: TestContext, handle: Handle) {
  const requests: { readonly url: string; readonly socket: Socket }[] = [];
  const server = createServer((request, response) => {
    const index = requests.push({ url: request.url!, socket: request.socket }) - 1;
    request.resume().on('end', () => handle(request, response, index));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const send = (options: Partial<Parameters<typeof post>[0]> = {}) =>
    post({
      ...{ url: new URL(`http://127.0.0.1:${port}/hook`), headers: {}, body: '{}' },
      ...{ allowed: LOCAL, ...options },
    });
  return { requests, send };
}

function whenClosed(socket: Socket, then: () => void): void {
  if (socket.destroyed) then();
  else socket.on('error', () => {}).on('close', then);
}

test('a connection is used again, unless an answer is too large', async (t) => {
  const { requests, send } = await endpoint(t, (_request, response, index) => {
    response.writeHead(index === 1 ? 200 : 204).end(index === 1 ? Buffer.alloc(1_000_000) : '');
  });
  for (let count = 0; count < 3; count += 1) {
    const { status } = await send();
    assert.equal(status, count === 1 ? 200 : 204);
    // The connection is free again, or closed.
    const { socket } = requests.at(-1)!;
    await new Promise((resolve) => setImmediate(resolve));
    if (count === 1) await new Promise<void>((resolve) => whenClosed(socket, resolve));
  }
  const [first, second, third] = requests.map(({ socket }) => socket);
  assert.equal(first, second);
  assert.notEqual(second, third);
});

test('a request on a connection that the endpoint has closed meanwhile is sent again; other resets are failures', async (t) => {
  const { requests, send } = await endpoint(t, ({ socket }, response, index) => {
    if (index === 1 || index === 3) socket.resetAndDestroy();
    else response.writeHead(204, { connection: index === 2 ? 'close' : 'keep-alive' }).end();
  });
  assert.equal((await send()).status, 204);
  assert.equal((await send()).status, 204);
  assert.equal(requests.length, 3);
  assert.match((await send()).problem!, /ECONNRESET|socket hang up/);
  assert.equal(requests.length, 4);
});

test('the status counts, whatever becomes of the rest of the answer', async (t) => {
  const { send } = await endpoint(t, ({ socket }, response, index) => {
    response.writeHead(202, { 'content-length': '10' }).write('x');
    if (index === 1) setImmediate(() => socket.resetAndDestroy());
  });
  assert.equal((await send({ withinMs: 300 })).status, 202);
  assert.equal((await send({ withinMs: 300 })).status, 202);
});

test('an endpoint that does not answer in time, or whose delivery is ended, is a failure', async (t) => {
  const { send } = await endpoint(t, () => {});
  const { timeout } = AbortSignal;
  // A thousandth of the time.
  t.mock.method(AbortSignal, 'timeout', (ms: number) => timeout.call(AbortSignal, ms / 1_000));
  assert.deepEqual(await send(), { problem: 'no answer within 15000 ms' });
  t.mock.restoreAll();
  const controller = new AbortController();
  const sending = send({ signal: controller.signal });
  controller.abort();
  assert.match((await sending).problem!, /abort/i);
});

test('redirects are not followed, and addresses that are not permitted get no request', async (t) => {
  const { requests, send } = await endpoint(t, (_request, response) => {
    response.writeHead(302, { location: '/other', 'retry-after': '7' }).end();
  });
  const redirected = await send();
  assert.deepEqual(redirected, { status: 302, retryAfterMs: 7_000 });
  assert.deepEqual(
    [199, 200, 299, 300].map((status) => isAccepted({ ...redirected, status })),
    [false, true, true, false],
  );
  for (const allowed of [PUBLIC_ONLY, parseAllowedTargets('10.0.0.0/8,http') as AllowedTargets]) {
    assert.match((await send({ allowed })).problem!, /^the URL must/);
  }
  assert.deepEqual(
    requests.map(({ url }) => url),
    ['/hook'],
  );
});

test('Retry-After is a number of seconds, or a date', async (t) => {
  const dates = ['Thu, 01 Jan 1970 00:00:01 GMT', 'Tue, 01 Jan 2999 00:00:00 GMT', 'later'];
  const { send } = await endpoint(t, (_request, response, index) => {
    response.writeHead(503, { 'retry-after': dates[index] }).end();
  });
  const [past, future, neither] = [await send(), await send(), await send()];
  const left = Date.parse(dates[1]!) - Date.now();
  assert.deepEqual(
    [past, neither],
    [0, undefined].map((retryAfterMs) => ({ status: 503, retryAfterMs })),
  );
  assert.ok(future.problem === undefined && future.retryAfterMs! >= left);
});

test('an answer that switches protocols is a failure', async (t) => {
  const { send } = await endpoint(t, ({ socket }) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n');
  });
  assert.deepEqual(await send({ withinMs: 5_000 }), { problem: 'the connection was closed' });
});

test('an answer that never ends occupies its connection only until the next delivery', async (t) => {
  const { requests, send } = await endpoint(t, (_request, response) => {
    response.writeHead(200).write('x');
  });
  for (let count = 0; count < 2; count += 1) {
    assert.equal((await send()).status, 200);
    const { socket } = requests.at(-1)!;
    await new Promise<void>((resolve) => whenClosed(socket, resolve));
  }
});

test('a request on a connection that was closed while it was written (EPIPE) is sent again', async (t) => {
  const { requests, send } = await endpoint(t, (_request, response) =>
    response.writeHead(204).end(),
  );
  assert.equal((await send()).status, 204);
  const { localPort } = requests[0]!.socket;
  const { write } = Socket.prototype;
  let isBroken = true;
  t.mock.method(Socket.prototype, 'write', function (this: Socket, ...written: [string]) {
    if (!isBroken || this.remotePort !== localPort) return write.apply(this, written);
    isBroken = false;
    this.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    return false;
  });
  assert.equal((await send()).status, 204);
  assert.equal(isBroken, false);
  assert.equal(requests.length, 2);
});

test('the status counts with up to 64 KiB of headers', async (t) => {
  const { send } = await endpoint(t, (_request, response) => {
    for (let index = 0; index < 60; index += 1)
      response.appendHeader('set-cookie', 'x'.repeat(1_000));
    response.writeHead(200).end();
  });
  assert.equal((await send()).status, 200);
});
