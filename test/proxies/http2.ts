import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { type ClientHttp2Session, connect } from 'node:http2';
import { request } from 'node:https';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../postgres.ts';
import { run, serve } from '../process/program.ts';
import { sampleStore } from '../process/sample-store.ts';
import { startProxy } from './proxies.ts';

/** Two heartbeats of a stream: longer than no time limit of the proxy, and long enough to see that they arrive. */
const IDLE_MS = 32_000;
/** A change reaches a stream within about a second. */
const CHANGE_WITHIN_MS = 3_000;

/** A node with 100,000 orders behind nginx, and a connection to the proxy. */
async function startBehindNginx(t: TestContext) {
  const database = await sampleStore(t);
  const made = await run(['keys', 'create', '--name', 'x', '--database', database]);
  const node = await serve(t, [], { database, expectsKey: false });
  const upstream = { port: node.port, operationsPort: Number(new URL(node.operations).port) };
  const { port, folder, proxy } = await startProxy(t, 'nginx', [upstream, upstream, upstream]);
  const session = connect(`https://localhost:${port}`, { rejectUnauthorized: false });
  t.after(() => session.destroy());
  await once(session, 'connect');
  assert.equal(session.alpnProtocol, 'h2');
  return { node, session, port, folder, proxy, authorization: `Bearer ${made.stdout.trim()}` };
}

async function ask(session: ClientHttp2Session, headers: Record<string, string>) {
  const stream = session.request(headers);
  stream.end();
  const [response] = await once(stream, 'response');
  let body = '';
  for await (const chunk of stream.setEncoding('utf8')) body += chunk;
  return { status: response[':status'] as number, body };
}

test('behind nginx: HTTP/2, a large list, streams without delay, and the address of the client in the log', async (t) => {
  const { node, session, authorization } = await startBehindNginx(t);
  const list = await ask(session, { ':path': '/v1/store/orders', authorization });
  const direct = await fetch(`${node.origin}/v1/store/orders`, { headers: { authorization } });
  assert.ok(list.body === (await direct.text()), 'the list is the same as without the proxy');

  const events = session.request({
    ...{ ':path': '/v2/store/changes/stream?after=now', authorization },
  });
  events.end();
  let received = '';
  events.setEncoding('utf8').on('data', (chunk) => {
    received += chunk;
  });
  // The node is killed before the proxy.
  events.on('error', () => {});
  let isClosed = false;
  events.on('close', () => {
    isClosed = true;
  });
  await once(events, 'response');
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  assert.equal(received.split('\n:\n').length, 3, 'two heartbeats');
  for (const id of [1, 2]) {
    const changed = once(events, 'data', { signal: AbortSignal.timeout(CHANGE_WITHIN_MS) });
    const path = `/v2/store/orders/${id}/cancel`;
    const { status } = await ask(session, { ':method': 'POST', ':path': path, authorization });
    if (status === 200) await changed;
    else changed.catch(() => {});
    assert.ok([200, 409].includes(status));
  }
  assert.match(received, /event: cancelled\n/);
  assert.equal(isClosed, false);
  await ask(session, {
    ':path': '/v2/store/summary',
    authorization,
    'x-forwarded-for': '192.0.2.7',
  });
  // Lines are written in batches.
  await eventually(async () =>
    assert.match(node.stdout(), /"forwardedFor":"192\.0\.2\.7, 127\.0\.0\.1"/),
  );
});

test('nginx takes a new certificate without a request that fails', async (t) => {
  const { port, folder, proxy, authorization } = await startBehindNginx(t);
  const fingerprints = new Set<string>();
  const failures: unknown[] = [];
  let isOver = false;
  const client = async () => {
    while (!isOver) {
      const sent = request({
        ...{ host: 'localhost', port, path: '/v2/store/summary', agent: false },
        ...{ headers: { authorization }, rejectUnauthorized: false },
      });
      sent.end();
      try {
        const [response] = await once(sent, 'response');
        fingerprints.add(response.socket.getPeerCertificate().fingerprint256);
        response.resume();
        await once(response, 'end');
        if (response.statusCode !== 200) failures.push(response.statusCode);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  const clients = Array.from({ length: 8 }, client);
  await eventually(async () => assert.equal(fingerprints.size, 1));
  for (const suffix of ['crt', 'key']) {
    const next = new URL(`../tls/next.${suffix}`, import.meta.url);
    copyFileSync(next, join(folder, `server.${suffix}`));
  }
  proxy.kill('SIGHUP');
  await eventually(async () => assert.equal(fingerprints.size, 2));
  isOver = true;
  await Promise.all(clients);
  assert.deepEqual(failures, []);
});
