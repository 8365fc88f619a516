import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { buildAdmin } from '../../../src/http/admin.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { eventually, until } from '../../postgres.ts';
import { parseAnswers } from '../contract-check.ts';
import { placeSamples, type Service, startService } from '../harness.ts';
import { connections, received, requestsOf, serviceWithList, statuses } from './raw-connection.ts';

const ORDERS = '/v1/store/orders';
const CONNECT = 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n';
/** The first bytes of a TLS connection. */
const JUNK = Buffer.from('16030102000100', 'hex');

/** A service with sample orders. */
async function serviceWith(t: TestContext, samples: number): Promise<Service> {
  const service = await startService(t);
  await placeSamples(service.store, samples);
  return service;
}

/** A client that stops reading after the first bytes, until `received` reads the rest. */
async function stalledReader({ port }: Service, request: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.write(request);
  await once(socket, 'readable');
  return socket;
}

async function listed({ call }: Service): Promise<number[]> {
  const orders: { id: number }[] = JSON.parse((await call('GET', ORDERS)).body);
  return orders.map(({ id }) => id);
}

test('a connection reset right after CONNECT has no effect on others', async (t) => {
  const service = await serviceWith(t, 10);
  for (const request of [
    CONNECT,
    CONNECT.replace('\r\n\r\n', '\r\nContent-Length: 9\r\n\r\nabc'),
  ]) {
    for (let round = 0; round < 100; round += 1) await resetAfter(service.port, request);
  }
  assert.equal((await service.call('GET', ORDERS)).status, 200);
});

async function resetAfter(port: number, bytes: string): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes);
  socket.resetAndDestroy();
  await once(socket, 'close');
}

test('a pipelined CONNECT is refused in order, and requests after it have no effect', async (t) => {
  const service = await serviceWith(t, 50);
  const request = requestsOf(service);
  const [first, second] = (await pendingIds(service)).map((id) => `${ORDERS}/${id}`);
  const answers = await service.answersTo(
    request('DELETE', first!) + request('GET', ORDERS) + CONNECT + request('DELETE', second!),
  );
  assert.deepEqual(statuses(answers), [204, 200, 400]);
  assert.equal(JSON.parse(answers[2]!.body).code, 'bad_request');
  const left = await listed(service);
  assert.ok(!left.some((id) => first!.endsWith(`/${id}`)));
  assert.ok(left.some((id) => second!.endsWith(`/${id}`)));
});

async function pendingIds({ call }: Service): Promise<number[]> {
  const orders: { id: number; complete: boolean }[] = JSON.parse((await call('GET', ORDERS)).body);
  return orders.filter(({ complete }) => !complete).map(({ id }) => id);
}

test('CONNECT with an incomplete body is refused and the connection closed', async (t) => {
  const { answersTo } = await startService(t);
  const answers = await answersTo(
    'CONNECT a:1 HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc',
  );
  assert.deepEqual(statuses(answers), [400]);
  assert.equal(answers[0]!.headers.connection, 'close');
});

test('a request of an unsupported HTTP version is 505 and has no effect', async (t) => {
  const service = await serviceWith(t, 20);
  const before = await listed(service);
  for (const version of ['0.9', '2.0']) {
    const cancel = requestsOf(service)('DELETE', `${ORDERS}/1`, '', version);
    const answers = await service.answersTo(cancel + cancel);
    assert.deepEqual(statuses(answers), [505], version);
    assert.equal(JSON.parse(answers[0]!.body).code, 'http_version_not_supported');
    assert.equal(answers[0]!.headers.connection, 'close');
  }
  assert.deepEqual(await listed(service), before);
});

test('junk sent during a response is not read, and the response arrives complete', async (t) => {
  const service = await serviceWithList(t);
  const socket = await stalledReader(service, requestsOf(service)('GET', ORDERS));
  for (let packet = 0; packet < 200; packet += 1) {
    socket.write(JUNK);
    await pause(1);
  }
  // More than the system buffers hold: unsent bytes show that the service has stopped reading.
  socket.write(Buffer.alloc(32 * 1024 * 1024, JUNK));
  await pause(500);
  assert.ok(socket.writableLength > 0);
  const answers = await received(socket);
  assert.deepEqual(statuses(answers), [200]);
  assert.equal(answers[0]!.body.length, Number(answers[0]!.headers['content-length']));
});

test('the deadline of a pipelined request starts after the earlier responses, not at its arrival', async (t) => {
  const service = await serviceWithList(t);
  const request = requestsOf(service);
  const socket = await stalledReader(
    service,
    request('GET', ORDERS) + request('GET', ORDERS, 'If-None-Match: *\r\nConnection: close\r\n'),
  );
  await pause(2_200);
  assert.deepEqual(statuses(await received(socket)), [200, 304]);
});

test('a request with a complete body is executed, whatever follows it', async (t) => {
  const service = await serviceWith(t, 50);
  const [id] = await pendingIds(service);
  const socket = connect({ port: service.port, host: '127.0.0.1', noDelay: true });
  const head = requestsOf(service)('DELETE', `${ORDERS}/${id}`, 'Transfer-Encoding: chunked\r\n');
  socket.write(`${head}3\r\nab`);
  await pause(50);
  socket.write(Buffer.concat([Buffer.from('c\r\n0\r\n\r\n'), JUNK]));
  assert.deepEqual(statuses(await received(socket)), [204]);
});

test('a client that keeps sending still receives the response that closes its connection', async (t) => {
  const service = await serviceWith(t, 10);
  const request = requestsOf(service);
  const body = Buffer.alloc(2_000_000, 'x');
  for (let round = 0; round < 20; round += 1) {
    const socket = connect(service.port, '127.0.0.1');
    socket.write(request('DELETE', `${ORDERS}/1`, `Content-Length: ${body.length}\r\n`));
    for (let at = 0; at < body.length; at += 100_000) {
      socket.write(body.subarray(at, at + 100_000));
      await pause(1);
    }
    assert.deepEqual(statuses(await received(socket)), [413]);
  }
});

test('graceful shutdown completes responses to clients that have paused reading', async (t) => {
  const service = await serviceWithList(t);
  const list = requestsOf(service)('GET', ORDERS);
  // Each client pauses at a different point; for some the list is fully buffered but not fully sent.
  const readers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      pausedReader(service.port, list, index < 20 ? 1 : index * 50_000),
    ),
  );
  await pause(500);
  const stopped = service.server.close();
  await pause(1_000);
  for (const { socket } of readers) socket.resume();
  for (const { socket, text } of readers) {
    if (!socket.closed) await once(socket, 'close');
    const [answer] = parseAnswers(text());
    assert.equal(answer!.body.length, Number(answer!.headers['content-length']));
  }
  await stopped;
});

/** A client that pauses reading once it has received `bytes` bytes. */
async function pausedReader(port: number, request: string, bytes: number) {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  let length = 0;
  let hasPaused = false;
  socket.write(request);
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (hasPaused || length < bytes) return;
      hasPaused = true;
      socket.pause();
      resolve();
    });
  });
  return { socket, text: () => Buffer.concat(chunks).toString('latin1') };
}

test('graceful shutdown completes a list even if an incomplete or further requests follow it', async (t) => {
  const stopWith = async (what: string, half: string | undefined, keepsSending: boolean) => {
    const service = await serviceWithList(t);
    const request = requestsOf(service);
    const { socket, text } = await pausedReader(service.port, request('GET', ORDERS), 1);
    if (half !== undefined) socket.write(`${request('DELETE', `${ORDERS}/1`, half)}abc`);
    await pause(200);
    const stopped = service.server.close();
    const sending = setInterval(() => {
      if (keepsSending && socket.writable) socket.write(request('GET', '/v1/nowhere'));
    }, 100);
    // Longer than an incomplete request may still take.
    await pause(2_500);
    socket.on('data', () => {
      socket.pause();
      setTimeout(() => socket.resume(), 5);
    });
    socket.resume();
    await once(socket, 'close');
    clearInterval(sending);
    const head = text().slice(0, text().indexOf('\r\n\r\n') + 4);
    const length = Number(/content-length: (\d+)/i.exec(head)![1]);
    assert.ok(text().length >= head.length + length, what);
    await stopped;
  };
  await Promise.all([
    stopWith('an incomplete body', 'Content-Length: 9\r\n', false),
    stopWith('an expectation', 'Content-Length: 9\r\nExpect: 100-continue\r\n', false),
    stopWith('further requests', undefined, true),
  ]);
});

test('pipelined requests are not read while a response waits for its client to read', async (t) => {
  const service = await startService(t);
  const socket = connect(service.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  // Small responses, none of which makes Node.js itself stop reading.
  const contract = 'GET /openapi/v1.yaml HTTP/1.1\r\nHost: x\r\n\r\n';
  const answered = async (count: number) => {
    const metrics = await service.metrics.registry.metrics();
    const [, done] =
      /requests_total\{operation="none",version="none",status="200"\} (\d+)/.exec(metrics) ?? [];
    assert.equal(Number(done), count);
  };
  // Until responses wait for their client to read.
  for (let sent = 20; ; sent += 20) {
    socket.write(contract.repeat(20));
    const isAnswered = await eventually(() => answered(sent), undefined, 1_000).then(
      () => true,
      () => false,
    );
    if (!isAnswered) break;
  }
  const large = contract.replace('\r\n\r\n', `\r\nA: ${'x'.repeat(31_000)}\r\n\r\n`);
  socket.write(large.repeat(300));
  await pause(500);
  assert.ok(socket.writableLength > 0, 'the service read requests into memory');
  assert.equal(socket.destroyed, false);
  socket.destroy();
});

test('an invalid chunk in a request with Upgrade is refused at once', async (t) => {
  const service = await serviceWith(t, 5);
  const upgrade = 'Connection: Upgrade\r\nUpgrade: x\r\nTransfer-Encoding: chunked\r\n';
  const answers = await service.answersTo(
    `${requestsOf(service)('DELETE', `${ORDERS}/1`, upgrade)}zz\r\n`,
  );
  assert.deepEqual(statuses(answers), [400]);
});

async function startAdmin(t: TestContext) {
  const admin = buildAdmin({
    whyNotReady: async () => undefined,
    metrics: async () => '',
    database: '',
    listState: () => '',
    head: async () => undefined,
    names: ['orders.example'],
    logger: createLogger('silent', { write: () => {} }),
  });
  const { port } = await admin.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => admin.close());
  return port;
}

const livez = (host: string) => `GET /livez HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

test('the admin listener answers beside any number of silent connections, and closes these within seconds', async (t) => {
  const port = await startAdmin(t);
  const { sockets, closed } = connections(port, 100);
  // The ones that were opened last have a place; each further one takes that of an idle one.
  await until('68 closed connections', () => closed.size === 68);
  for (let probe = 0; probe < 3; probe += 1) {
    const { sockets: own } = connections(port, 1);
    own[0]!.write(livez('x'));
    assert.deepEqual(statuses(await received(own[0]!)), [200]);
  }
  for (const socket of sockets) socket.resume();
  await until('the end of all of them', () => closed.size === sockets.length);
});

test('a client that keeps its side of a connection open has no place at the admin listener after its response', {
  timeout: 20_000,
}, async (t) => {
  const port = await startAdmin(t);
  for (let client = 0; client < 40; client += 1) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    t.after(() => socket.destroy());
    socket.write(livez('x').replace('Connection: close\r\n', ''));
    assert.deepEqual(statuses(await received(socket)), [200]);
  }
});

test('the admin listener answers for its own hosts only', async (t) => {
  const port = await startAdmin(t);
  const statusFor = async (host: string) => {
    const { sockets } = connections(port, 1);
    sockets[0]!.write(livez(host));
    return statuses(await received(sockets[0]!))[0];
  };
  const machine = hostname().split('.')[0]!;
  for (const host of [
    ...['127.0.0.1', '127.0.0.1:8081', '[::1]:8081', 'localhost', 'store-orders:8081'],
    ...['orders.shop.svc', 'node-1.internal', 'shop.lan', 'orders.service.consul'],
    ...[machine, `${machine.toUpperCase()}.corp.example:8081`, 'orders.example', 'Orders.Example.'],
  ]) {
    assert.equal(await statusFor(host), 200, host);
  }
  for (const host of ['evil.example', 'localhost.evil.example:8081', '127.0.0.1.evil.example']) {
    assert.equal(await statusFor(host), 421, host);
  }
});

test('the admin listener answers no pipelined requests', async (t) => {
  const port = await startAdmin(t);
  const { sockets, closed } = connections(port, 1);
  let text = '';
  sockets[0]!.on('data', (chunk) => {
    text += chunk;
  });
  sockets[0]!.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000));
  await until('the end of the connection', () => closed.size === 1);
  assert.ok(text.split('HTTP/1.1 ').length <= 2, text.slice(0, 1_000));
});
