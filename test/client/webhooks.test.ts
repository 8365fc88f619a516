import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  ConflictError,
  InvalidRequestError,
  NotFoundError,
  StoreOrders,
  UnknownOutcomeError,
} from '../../client/src/client.ts';
import { startReceiver } from '../feed/receiver.ts';
import { startService } from '../http/harness.ts';
import { temporaryFolder } from '../temporary.ts';

test('webhooks are created, tested, changed, rotated and deleted', async (t) => {
  const keyFile = join(temporaryFolder(t), 'webhook.key');
  writeFileSync(keyFile, randomBytes(32).toString('base64'));
  const settings = { WEBHOOK_KEY_FILE: keyFile, WEBHOOK_ALLOW: '127.0.0.1,http' };
  const { port, secret: apiKey } = await startService(t, settings);
  const store = new StoreOrders({ baseUrl: `http://127.0.0.1:${port}`, apiKey });
  const secrets: string[] = [];
  const { url } = await startReceiver(t, () => secrets);
  const petIds = [2n ** 63n - 1n];
  const { webhook, secret } = await store.createWebhook({ url, types: ['shipped'], petIds });
  secrets.push(secret);
  const { id } = webhook;
  assert.deepEqual([webhook.petIds, webhook.lag?.count], [petIds, 0n]);
  assert.equal((await store.testWebhook(id)).accepted, true);
  assert.equal(
    (await store.updateWebhook(id, { petIds: null, state: 'paused' })).petIds,
    undefined,
  );
  assert.equal((await store.getWebhook(id)).pauseReason, 'requested');
  assert.notEqual((await store.rotateWebhookSecret(id)).secret, secret);
  assert.deepEqual(await store.listWebhooks(), [await store.getWebhook(id)]);
  await assert.rejects(store.createWebhook({ url }), ConflictError);
  await assert.rejects(store.createWebhook({ url: 'https://[::1]/' }), InvalidRequestError);
  await assert.rejects(store.updateWebhook(id, { event: [] } as never), TypeError);
  await store.deleteWebhook(id);
  await assert.rejects(store.deleteWebhook(id), NotFoundError);
});

test('all webhooks are listed, page by page', async () => {
  const asked: (string | null)[] = [];
  const client = new StoreOrders({
    ...{ baseUrl: 'https://store.example', apiKey: 'k' },
    fetch: async (input) => {
      const cursor = new URL(String(input)).searchParams.get('cursor');
      asked.push(cursor);
      const webhook = { url: 'https://a.example/', state: 'active', after: '0-0' };
      const webhooks = [{ ...webhook, id: `wh_${asked.length}` }];
      return Response.json({ webhooks, next: { 1: 'b', 2: 'c' }[asked.length] });
    },
  });
  const all = await client.listWebhooks();
  assert.deepEqual(
    all.map(({ id }) => id),
    ['wh_1', 'wh_2', 'wh_3'],
  );
  assert.deepEqual(asked, [null, 'b', 'c']);
});

test('a rotation is repeated with its Idempotency-Key; a deletion whose response was lost succeeds', async () => {
  const keys: (string | null)[] = [];
  const answers = (second: () => Response) => async (_: unknown, init?: RequestInit) => {
    keys.push(new Headers(init?.headers).get('idempotency-key'));
    if (keys.length === 1) throw new TypeError('the connection was lost');
    return second();
  };
  const client = (second: () => Response) => {
    keys.length = 0;
    const fetch = answers(second);
    return new StoreOrders({ baseUrl: 'https://store.example', apiKey: 'k', fetch });
  };
  const gone = { code: 'webhook_not_found', message: 'There is none.', status: 404 };
  const notFound = () => Response.json(gone, { status: 404 });
  await assert.rejects(client(notFound).rotateWebhookSecret('wh_1'), UnknownOutcomeError);
  assert.equal(keys.length, 2);
  assert.ok(keys[0] !== null && keys[0] === keys[1]);
  const own = client(notFound).rotateWebhookSecret('wh_1', { idempotencyKey: 'mine' });
  await assert.rejects(own, { idempotencyKey: 'mine' });
  assert.deepEqual(keys, ['mine', 'mine']);
  await client(notFound).deleteWebhook('wh_1');
  assert.equal(keys.length, 2);
});
