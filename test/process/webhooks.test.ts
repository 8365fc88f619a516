import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { verifyWebhook, type WebhookDelivery } from '../../client/src/client.ts';
import { eventually } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';
import { PROGRAM, run, runInOwnProcess } from './program.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** Listens for deliveries, which it verifies; each gets the next of `statuses`, and the last one again. */
async function receiver(t: TestContext, statuses: readonly number[]) {
  const received: (WebhookDelivery & { readonly id: string; readonly status: number })[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const delivery = await verifyWebhook(await text(request), request.headers, SECRET);
    const status = statuses[received.length] ?? statuses.at(-1)!;
    received.push({ ...delivery, id: String(request.headers['webhook-id']), status });
    response.writeHead(status, { location: 'http://127.0.0.1:1/', 'retry-after': '0' }).end();
  };
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.writeHead(400).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

function listen(t: TestContext, ...args: readonly string[]) {
  const child = spawn(PROGRAM, ['webhooks', 'listen', '--secret', SECRET, ...args]);
  t.after(() => child.kill('SIGKILL'));
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return { child, stderr: () => stderr };
}

test('webhooks listen forwards the changes to a program, signed, in order and until they are accepted', async (t) => {
  const database = ['--database', `sqlite:${join(temporaryFolder(t), 'a.db')}`];
  const rows = Array.from({ length: 1_200 }, (_, index) => `{"id":${index + 1}}\n`);
  await run(['import', '-', ...database], { input: rows.join('') });
  await run(['cancel', '1', ...database]);
  const { received, url } = await receiver(t, [500, 302, 204]);
  const forwarding = listen(t, '--forward-to', url, '--after', 'start', ...database);
  await eventually(async () => assert.match(forwarding.stderr(), /^204: 1 change up to/m));
  await run(['ship', '7', ...database]);
  await eventually(async () => assert.equal(received.at(-1)?.changes[0]?.order.id, 7n));
  // The first two were not accepted; each repetition has the same id and the same changes.
  const [first, second, third] = received;
  assert.deepEqual([second!.id, third!.id], [first!.id, first!.id]);
  assert.deepEqual(third!.changes, first!.changes);
  const accepted = received.filter(({ status }) => status === 204);
  let after = `0-${'0'.repeat(64)}`;
  for (const delivery of accepted) {
    assert.equal(delivery.after, after);
    after = delivery.next;
  }
  assert.equal(new Set(accepted.map(({ id }) => id)).size, accepted.length);
  const changed = accepted.flatMap(({ changes }) => changes);
  assert.deepEqual(
    changed.map(({ type, order }) => `${type} ${order.id}`),
    [...rows.map((_, index) => `placed ${index + 1}`), 'cancelled 1', 'shipped 7'],
  );
});

test('webhooks listen forwards only to programs on this machine', async (t) => {
  const database = ['--database', `sqlite:${join(temporaryFolder(t), 'a.db')}`];
  await run(['migrate', ...database]);
  for (const url of [
    ...['http://10.0.0.1/', 'http://172.16.0.1/', 'http://192.168.0.1/', 'http://[fd00::1]/'],
    ...['http://169.254.169.254/', 'https://8.8.8.8:8443/', 'ftp://127.0.0.1/', 'x'],
  ]) {
    const args = ['webhooks', 'listen', '--forward-to', url, ...database];
    const { code, stderr } = await runInOwnProcess(args, { limitMs: 20_000 });
    assert.equal(code, 2, url);
    assert.match(stderr, /--forward-to must/);
  }
  for (const [flag, value] of [
    ['--after', 'x'],
    ['--secret', 'secret'],
  ] as const) {
    const forward = ['--forward-to', 'http://127.0.0.1:1/'];
    assert.equal((await run(['webhooks', 'listen', ...forward, flag, value, ...database])).code, 2);
  }
});
