import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { constants, createGunzip } from 'node:zlib';
import { eventually } from '../postgres.ts';
import { serve } from '../process/program.ts';
import { sampleStore, withList } from '../process/sample-store.ts';
import { startProxy } from './proxies.ts';

/** Two heartbeats of a stream: longer than no time limit of the proxy, and long enough to see that they arrive. */
const IDLE_MS = 32_000;
/** A change reaches a stream within about a second. */
const CHANGE_WITHIN_MS = 3_000;

/** A node with 100,000 orders behind a proxy, and a connection to the proxy. */
async function startBehind(
  t: TestContext,
  name: 'haproxy' | 'nginx',
  also?: Readonly<Record<string, string>>,
) {
  const node = await withList(await serve(t, [], { database: await sampleStore(t) }));
  const upstream = { port: node.port, operationsPort: Number(new URL(node.operations).port) };
  const { port, folder, proxy } = await startProxy(t, name, [upstream, upstream, upstream], also);
  const session = connect(`https://localhost:${port}`, { rejectUnauthorized: false });
  t.after(() => session.destroy());
  await once(session, 'connect');
  assert.equal(session.alpnProtocol, 'h2');
  return { node, session, port, folder, proxy, authorization: `Bearer ${node.secret}` };
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
  const { node, session, authorization } = await startBehind(t, 'nginx');
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
  assert.match(received, /event: change\n/);
  assert.equal(isClosed, false);
  await ask(session, {
    ':path': '/v2/store',
    authorization,
    'x-forwarded-for': '192.0.2.7',
  });
  // Lines are written in batches.
  await eventually(async () =>
    assert.match(node.stdout(), /"forwardedFor":"192\.0\.2\.7, 127\.0\.0\.1"/),
  );
});

test('nginx takes a new certificate without a request that fails', async (t) => {
  const { port, folder, proxy, authorization } = await startBehind(t, 'nginx');
  const fingerprints = new Set<string>();
  const failures: unknown[] = [];
  let isOver = false;
  const client = async () => {
    while (!isOver) {
      const sent = request({
        ...{ host: 'localhost', port, path: '/v2/store', agent: false },
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

/** Settings with which the proxies compress whatever they can. */
const COMPRESSING = {
  nginx: {
    'large_client_header_buffers 4 16k;':
      'large_client_header_buffers 4 16k; gzip on; gzip_types *; gzip_proxied any; gzip_min_length 0;',
  },
  haproxy: {
    'default_backend nodes':
      'default_backend nodes\n    filter compression\n    compression algo gzip\n    compression type text/event-stream application/json',
  },
} as const;

for (const name of ['nginx', 'haproxy'] as const) {
  test(`behind ${name} that compresses, a stream arrives without delay`, async (t) => {
    const { session, authorization } = await startBehind(t, name, COMPRESSING[name]);
    const events = session.request({
      ...{
        ':path': '/v2/store/changes/stream?after=now',
        authorization,
        'accept-encoding': 'gzip',
      },
    });
    events.end();
    events.on('error', () => {});
    const [response] = await once(events, 'response');
    const isCoded = response['content-encoding'] === 'gzip';
    // HAProxy honours no-transform.
    assert.equal(isCoded, name === 'nginx');
    const text = isCoded ? events.pipe(createGunzip({ flush: constants.Z_SYNC_FLUSH })) : events;
    text.on('error', () => {});
    let received = '';
    text.on('data', (chunk) => {
      received += String(chunk);
    });
    await eventually(async () => assert.match(received, /^id: /m));
    const body = '{"petId":1,"quantity":1}';
    for (let number = 0; number < 3; number += 1) {
      const changed = once(text, 'data', { signal: AbortSignal.timeout(CHANGE_WITHIN_MS) });
      const placing = session.request({
        ...{ ':method': 'POST', ':path': '/v2/store/orders', authorization },
        ...{ 'content-type': 'application/json', 'idempotency-key': `k${number}` },
      });
      placing.end(body);
      await once(placing, 'response');
      await changed;
    }
    await eventually(async () => assert.equal(received.match(/"type":"placed"/g)?.length, 3));
    const read = session.request({
      ...{ ':path': '/v2/store/orders/1', authorization, 'accept-encoding': 'gzip' },
    });
    read.end();
    const [order] = await once(read, 'response');
    if (name === 'haproxy') assert.match(String(order.etag), /^"/);
  });
}

test('nginx repeats a POST only if that changes nothing more, and takes bodies of 1.5 MiB', async (t) => {
  // A node that closes every connection once it has read the request, and one that answers.
  const seen: string[] = [];
  const closing = createServer((request) => {
    seen.push(`${request.method} ${request.url}`);
    request.resume().on('end', () => request.socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(closing, 'listening');
  t.after(() => closing.close());
  const broken = { port: (closing.address() as AddressInfo).port, operationsPort: 1 };
  const node = await serve(t, ['--sample', '3']);
  const upstream = { port: node.port, operationsPort: Number(new URL(node.operations).port) };
  const { port } = await startProxy(t, 'nginx', [broken, broken, upstream], {
    ' max_fails=1 fail_timeout=1s': ' max_fails=0',
  });
  const agent = new Agent();
  const send = async (method: string, path: string, headers: Record<string, string>, body = '') => {
    seen.length = 0;
    const sent = request({
      ...{ host: '127.0.0.1', port, method, path, agent, rejectUnauthorized: false },
      headers: {
        ...{ authorization: `Bearer ${node.secret}`, 'content-type': 'application/json' },
        ...{ 'content-length': String(Buffer.byteLength(body)), ...headers },
      },
    });
    sent.end(body);
    const [response] = await once(sent, 'response');
    response.resume();
    await once(response, 'end');
    return { status: response.statusCode as number, tries: seen.length };
  };
  const order = '{"petId":1,"quantity":1}';
  // The first of three requests in a row meets each of the nodes.
  const outcomes = async (...request: Parameters<typeof send>) => {
    const all = [];
    for (let count = 0; count < 3; count += 1) all.push(await send(...request));
    return all;
  };
  for (const each of await outcomes(
    'POST',
    '/v2/store/orders',
    { 'idempotency-key': 'a' },
    order,
  )) {
    assert.equal(each.status, 201);
  }
  for (const each of await outcomes('POST', '/v2/store/orders/1/cancel', {})) {
    assert.ok([200, 409].includes(each.status), String(each.status));
  }
  for (const headers of [{}, { 'idempotency-key': 'any' }] as Record<string, string>[]) {
    for (const each of await outcomes('POST', '/v2/store/orders/2/ship', headers)) {
      assert.ok([200, 409].includes(each.status), String(each.status));
    }
  }
  for (const action of ['cancel', 'ship']) {
    const key = { 'idempotency-key': action };
    const orders = '{"orders":[{"id":3}]}';
    for (const each of await outcomes('POST', `/v2/store/orders/${action}`, key, orders)) {
      assert.equal(each.status, 200);
    }
    const without = await outcomes('POST', `/v2/store/orders/${action}`, {}, orders);
    assert.ok(without.every(({ tries }) => tries <= 1));
  }
  const rotations = await outcomes('POST', '/v2/webhooks/wh_0123456789abcdef/rotate-secret', {});
  assert.ok(rotations.some(({ status }) => status === 502));
  assert.ok(rotations.every(({ tries }) => tries <= 1));
  // The longest header is the Link of a page, whose URL has the filters again.
  const prefix = '😀'.repeat(254);
  for (const reference of [1, 2].map((each) => `${prefix}${each}`)) {
    const body = JSON.stringify({ petId: 1, quantity: 1, reference });
    await outcomes('POST', '/v2/store/orders', { 'idempotency-key': reference.slice(-1) }, body);
  }
  const page = `/v2/store/orders?limit=1&referencePrefix=${encodeURIComponent(prefix)}`;
  assert.deepEqual(
    (await outcomes('GET', page, {})).map(({ status }) => status),
    [200, 200, 200],
  );
  const large = `{"orders":[{"id":1}],"x":"${'x'.repeat(1_500_000)}"}`;
  const bulk = await outcomes('POST', '/v2/store/orders/cancel', { 'idempotency-key': 'b' }, large);
  assert.ok(bulk.every(({ status }) => status === 400));
});
