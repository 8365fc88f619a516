import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { secretOf, signatureOf } from '../../src/feed/deliveries/webhook-key.ts';

const KEY = new Uint8Array(32).fill(7);

/** Verifies as receivers do; throws for a wrong signature. */
function verify(secret: string, body: string, signature: string, timestamp: number): void {
  new Webhook(secret).verify(body, {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  });
}

test('secrets differ by service, endpoint and generation, and are the same on every node', () => {
  const secret = secretOf(KEY, { id: 'we_1', generation: 1 });
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(secretOf(KEY, { id: 'we_1', generation: 1 }), secret);
  const others = [
    secretOf(new Uint8Array(32), { id: 'we_1', generation: 1 }),
    secretOf(KEY, { id: 'we_2', generation: 1 }),
    secretOf(KEY, { id: 'we_1', generation: 2 }),
  ];
  assert.equal(new Set([secret, ...others]).size, 4);
});

test('signatures are those of Standard Webhooks, with one for each secret while one is replaced', () => {
  const [now, old] = [2, 1].map((generation) => secretOf(KEY, { id: 'we_1', generation }));
  const body = '{"id":9007199254740993,"name":"Ü"}';
  const timestamp = Math.floor(Date.now() / 1_000);
  const signature = signatureOf({ id: 'msg_1', timestamp, body }, [now!, old!]);
  for (const secret of [now!, old!]) verify(secret, body, signature, timestamp);
  const alone = signatureOf({ id: 'msg_1', timestamp, body }, [now!]);
  assert.throws(() => verify(old!, body, alone, timestamp));
  assert.throws(() => verify(now!, body.replace('3', '2'), alone, timestamp));
  assert.throws(() => verify(now!, body, alone, timestamp + 1));
});
