import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { KeyClock } from '../../src/domain/key-clock.ts';
import { DRAIN_FIRST_REQUEST_MS } from '../../src/http/connection/graceful-close.ts';
import type { Handle } from '../../src/http/request/exchange.ts';
import { KeyRing } from '../../src/http/request/key-ring.ts';
import { sendReply } from '../../src/http/request/reply.ts';
import { Router } from '../../src/http/request/router.ts';
import { buildServer } from '../../src/http/server.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { until } from '../postgres.ts';

/** A server with one public path, /x. */
async function startServer(t: TestContext, handle: Handle) {
  const router = new Router(['/v1']);
  router.addPublic('/x', handle);
  const keyRing = new KeyRing({
    findKeys: async () => [],
    environment: 'production',
    clock: new KeyClock(),
    recordUse: async () => {},
  });
  const metrics = createMetrics({
    environment: 'production',
    database: 'sqlite:test.db',
    store: () => undefined,
    isReady: async () => true,
  });
  const lines: string[] = [];
  const logger = createLogger('info', { write: (line) => lines.push(line) });
  const server = buildServer({ router, keyRing, metrics, logger });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close());
  const connected = () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    t.after(() => socket.destroy());
    return socket;
  };
  return { server, connected, lines, counted: () => metrics.registry.metrics() };
}

const ok: Handle = (exchange) =>
  sendReply(exchange, { status: 200, headers: [], body: Buffer.from('ok') });
const GET = 'GET /x HTTP/1.1\r\nHost: x\r\n\r\n';

async function ended(socket: ReturnType<typeof connect>): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

test('a request whose client disconnects before the response is counted and logged as aborted', async (t) => {
  const arrived = Promise.withResolvers<void>();
  const { connected, lines, counted } = await startServer(t, () => arrived.resolve());
  const socket = connected();
  socket.write(GET);
  await arrived.promise;
  socket.resetAndDestroy();
  await until('a line of the log', () => lines.length > 0);
  const { aborted, status } = JSON.parse(lines[0]!);
  assert.deepEqual([aborted, status], [true, undefined]);
  assert.match(
    await counted(),
    /requests_total\{operation="none",version="none",status="aborted"\} 1/,
  );
});

test('request durations are measured in seconds', async (t) => {
  const { connected, lines, counted } = await startServer(t, ok);
  const socket = connected();
  socket.write(GET);
  await once(socket, 'data');
  await until('a line of the log', () => lines.length > 0);
  const [, sum] = /request_duration_seconds_sum\{[^}]*\} ([\d.e-]+)/.exec(await counted())!;
  const { ms } = JSON.parse(lines[0]!);
  // The log has microseconds.
  assert.ok(Math.abs(Number(sum) * 1_000 - ms) < 0.001, `${sum} s, ${ms} ms`);
});

test('a response to HTTP/1.0 has no Keep-Alive header', async (t) => {
  const { connected } = await startServer(t, ok);
  const socket = connected();
  socket.write('GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n');
  const [head] = await once(socket, 'data');
  assert.match(String(head), /^HTTP\/1.1 200 /);
  assert.doesNotMatch(String(head), /timeout=/i);
});

test('a chunked body in HTTP/1.0 is refused', async (t) => {
  const { connected } = await startServer(t, ok);
  const socket = connected();
  socket.write('GET /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n');
  assert.match(await ended(socket), /^HTTP\/1.1 400 /);
});

test('responses sent during shutdown have Connection: close', async (t) => {
  const handles: Parameters<Handle>[0][] = [];
  const { server, connected } = await startServer(t, (exchange) => {
    handles.push(exchange);
  });
  const [underWay, justOpened] = [connected(), connected()];
  await once(justOpened, 'connect');
  underWay.write(GET);
  await until('a request', () => handles.length > 0);
  const closed = server.close();
  justOpened.write(GET);
  await until('another request', () => handles.length > 1);
  for (const exchange of handles) ok(exchange);
  for (const socket of [underWay, justOpened]) {
    assert.match(await ended(socket), /\r\nconnection: close\r\n/i);
  }
  await closed;
});

test('a connection that was opened long before shutdown may still send its first request', async (t) => {
  const { server, connected } = await startServer(t, ok);
  const socket = connected();
  await once(socket, 'connect');
  await pause(DRAIN_FIRST_REQUEST_MS + 100);
  const closed = server.close();
  socket.write(GET);
  assert.match(await ended(socket), /^HTTP\/1.1 200 /);
  await closed;
});

test('requests that arrive while the process stalls during shutdown are answered', async (t) => {
  const { server, connected } = await startServer(t, ok);
  const socket = connected();
  await once(socket, 'connect');
  const closed = server.close();
  // The stall begins before the request is read, and is longer than the time for a first request.
  socket.write(GET);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, DRAIN_FIRST_REQUEST_MS + 100);
  assert.match(await ended(socket), /^HTTP\/1.1 200 /);
  await closed;
});
