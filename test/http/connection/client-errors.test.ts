import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Bodies } from '../../../src/http/connection/bodies.ts';
import { discardInput } from '../../../src/http/connection/lingering-close.ts';
import { Pipelining } from '../../../src/http/connection/pipelining.ts';
import type { Refusal } from '../../../src/http/error-records.ts';
import { clientErrorListeners } from '../../../src/http/parser-errors.ts';
import { Cors } from '../../../src/http/request/cors.ts';
import { refuse } from '../../../src/http/request/reply.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';

/** The listeners, with what they need and nothing else. */
function listeners(write: (line: string) => void = () => {}) {
  const metrics = createMetrics({
    environment: 'production',
    database: 'sqlite:test.db',
    store: () => undefined,
    isReady: async () => true,
  });
  const logger = createLogger('info', { write });
  const turns = new Pipelining();
  const parts = { turns, bodies: new Bodies(), cors: new Cors([]) };
  const { clientError } = clientErrorListeners(logger, metrics, parts);
  return { metrics, turns, clientError };
}

/** Starts the server, and connects to it. */
async function connectTo(server: Server, t: TestContext): Promise<Socket> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return connect((server.address() as AddressInfo).port, '127.0.0.1');
}

for (const [what, bytes, status, refusal] of [
  ['a request that does not arrive in time', 'GET / HT', 408, 'request_timeout'],
  ['what is no request', 'hello\r\n\r\n', 400, 'bad_method'],
] as const satisfies readonly [string, string, number, Refusal][]) {
  test(`${what} is answered with ${status}, counted and logged`, async (t) => {
    const lines: string[] = [];
    const { metrics, clientError } = listeners((line) => lines.push(line));
    const server = createServer({ headersTimeout: 100, connectionsCheckingInterval: 50 });
    const socket = await connectTo(server.on('clientError', clientError), t);
    socket.write(bytes);
    let text = '';
    for await (const chunk of socket) text += chunk;
    assert.match(text, new RegExp(`^HTTP/1.1 ${status} `));
    assert.ok(text.endsWith(`\r\n\r\n${refuse(refusal).body}`));
    const counted = await metrics.registry.metrics();
    assert.ok(
      counted.includes(`requests_total{operation="none",version="none",status="${status}"} 1`),
    );
    assert.equal(JSON.parse(lines[0]!).status, status);
  });
}

test('a connection that discards what follows its last request is read until its end', {
  timeout: 10_000,
}, async (t) => {
  const { turns, clientError } = listeners();
  const timeouts = { headersTimeout: 100, connectionsCheckingInterval: 50 };
  const server = createServer(timeouts, (request, response) => {
    turns.take(request.socket, response, () => {
      response.write('the last one');
      discardInput(request.socket);
    });
  });
  const accepted = once(server, 'connection');
  const socket = await connectTo(server.on('clientError', clientError), t);
  // The rest of the second request does not arrive in time.
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HT');
  const [served] = await accepted;
  await once(server, 'clientError');
  const ended = once(served, 'end');
  socket.end('more');
  await ended;
  socket.destroy();
});
