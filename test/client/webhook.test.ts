import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyWebhook, WebhookVerificationError } from '../../client/src/client.ts';
import { secretOf, signatureOf } from '../../src/feed/deliveries/webhook-key.ts';

const SECRETS = [1, 2].map((generation) => secretOf(new Uint8Array(32), { id: 'we', generation }));
const [SECRET, OTHER] = SECRETS as [string, string];
const ORDER =
  '{"id":9007199254740993,"petId":1,"status":"pending","placedAt":"2026-11-22T08:01:01.217Z","updatedAt":"2026-11-22T08:01:01.217Z","revision":1,"etag":"\\"1-x\\""}';
const CHANGE = `{"revision":1,"type":"placed","at":"2026-11-22T08:01:01.217Z","order":${ORDER}}`;
const BODY = `{"after":"0-0","changes":[${CHANGE}],"next":"1-1","more":false,"revision":1,"head":"1"}`;
const NOW = 1_795_386_819_607;
const TIMESTAMP = Math.floor(NOW / 1_000);

function headersFor(body: string, secrets: readonly string[] = [SECRET], timestamp = TIMESTAMP) {
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureOf({ id: 'msg_1', timestamp, body }, secrets),
  };
}

test('a delivery is verified and parsed with exact ids', async () => {
  const headers = headersFor(BODY);
  // As platforms pass them: in any case, an array for each.
  const arrays = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.replace('webhook', 'Webhook'), [value]]),
  );
  for (const [body, given] of [
    [BODY, headers],
    [Buffer.from(BODY), headers],
    [BODY, new Headers(headers)],
    [BODY, headersFor(BODY, [OTHER, SECRET])],
    [BODY, arrays],
    [new Uint8Array(Buffer.from(BODY)).buffer as never, headers],
    [BODY, { ...headers, 'webhook-signature': `v2,x ${headers['webhook-signature']}` }],
    // Five minutes of now; NOW is more than half a second after TIMESTAMP.
    [BODY, headersFor(BODY, [SECRET], TIMESTAMP - 299)],
    [BODY, headersFor(BODY, [SECRET], TIMESTAMP + 300)],
  ] as const) {
    const { after, next, changes } = await verifyWebhook(body, given, SECRET, NOW);
    assert.deepEqual([after, next, changes[0]!.order.id], ['0-0', '1-1', 9007199254740993n]);
  }
});

test('a delivery that is not the service’s, altered or old is refused', async () => {
  const headers = headersFor(BODY);
  const refuses = (body: string, given: Record<string, string>, secret = SECRET) =>
    assert.rejects(verifyWebhook(body, given, secret, NOW), WebhookVerificationError);
  await refuses(BODY.replace('93', '92'), headers);
  await refuses(BODY, headers, OTHER);
  await refuses(BODY, { ...headers, 'webhook-id': 'msg_2' });
  await refuses(BODY, { ...headers, 'webhook-timestamp': String(TIMESTAMP + 1) });
  for (const timestamp of [TIMESTAMP - 301, TIMESTAMP + 301]) {
    await refuses(BODY, headersFor(BODY, [SECRET], timestamp));
  }
  for (const signature of ['', 'v1', 'v1,', 'v1,****', headers['webhook-signature'].slice(3)]) {
    await refuses(BODY, { ...headers, 'webhook-signature': signature });
  }
  for (const name of Object.keys(headers)) {
    const { [name as 'webhook-id']: _, ...others } = headers;
    await refuses(BODY, others);
  }
  for (const body of ['', '[]', '{}', 'null', BODY.replace('"after":"0-0",', '')]) {
    await refuses(body, headersFor(body));
  }
  const twice = { ...headers, 'Webhook-Id': headers['webhook-id'] };
  await refuses(BODY, twice);
  await assert.rejects(verifyWebhook(BODY, headers, 'whsec_', NOW), TypeError);
  await assert.rejects(verifyWebhook(BODY, headers, undefined as never, NOW), TypeError);
  for (const body of [JSON.parse(BODY), undefined]) {
    await assert.rejects(verifyWebhook(body, headers, SECRET, NOW), /parsed body/);
  }
});
