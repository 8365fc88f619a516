import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { KEEP_ALIVE_MS } from '../../src/http/limits.ts';
import { serve } from './program.ts';

/** Comes well after every limit of a connection, see src/http/limits.ts. */
const TEST_LIMIT = { timeout: 110_000 };

/** A client that sends `first`, then a byte every second if it is slow, until the service closes the connection. */
async function untilClosed(
  t: TestContext,
  port: number,
  { first, isSlow = false, reads = true }: { first: string; isSlow?: boolean; reads?: boolean },
) {
  const socket = connect(port, '127.0.0.1');
  const begin = performance.now();
  let text = '';
  // Not once(), which rejects on a reset.
  const closing = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve));
  if (reads) socket.setEncoding('latin1').on('data', (chunk) => (text += chunk));
  socket.write(first);
  const dripping = setInterval(() => isSlow && socket.write('x'), 1_000);
  t.after(() => {
    clearInterval(dripping);
    socket.destroy();
  });
  await closing;
  const status = /^HTTP\/1\.1 (\d+)/.exec(text)?.[1];
  return { status, tookMs: performance.now() - begin };
}

test(
  'connections that are idle, slow or stalled are closed: headers first, then bodies, then idle ones',
  TEST_LIMIT,
  async (t) => {
    const { port, operations, secret } = await serve(t, ['--sample', '50000']);
    const key = `Host: x\r\nAuthorization: Bearer ${secret}\r\n`;
    const list = `GET /v1/store/orders HTTP/1.1\r\n${key}\r\n`;
    const closed: string[] = [];
    const client = async (
      name: string,
      first: string,
      options: { isSlow?: boolean; reads?: boolean; port?: number } = {},
    ) => {
      const result = await untilClosed(t, options.port ?? port, { first, ...options });
      closed.push(name);
      return result;
    };
    const results = await Promise.all([
      client('headers', 'GET / HTTP/1.1\r\nX: ', { isSlow: true }),
      client('body', `DELETE /v1/store/orders/1 HTTP/1.1\r\n${key}Content-Length: 1000\r\n\r\n`, {
        isSlow: true,
      }),
      client('idle', `GET /nothing HTTP/1.1\r\n${key}\r\n`),
      // Sends on, so that it notices when the service resets the connection.
      client('stalled', list.repeat(3), { reads: false, isSlow: true }),
      client('operations', 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n', {
        port: Number(new URL(operations).port),
      }),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['408', '408', '404', undefined, '200'],
    );
    // The admin listener closes a connection after its response.
    assert.deepEqual(closed.slice(0, 3), ['operations', 'headers', 'body']);
    const [, , idle] = results;
    assert.ok(
      idle!.tookMs > KEEP_ALIVE_MS,
      'an idle connection stays open as long as Keep-Alive says',
    );
  },
);
