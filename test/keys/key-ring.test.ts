import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiKey, digestOf, newApiKey, newSecret } from '../../src/keys/api-key.ts';
import { KeyClock } from '../../src/keys/key-clock.ts';
import { KeyRing } from '../../src/keys/key-ring.ts';
import { KeyUse } from '../../src/keys/key-use.ts';

/** A ring over some keys, and how many digests were looked up each time. */
function ringOf(...secrets: readonly string[]) {
  const keys = secrets.map((secret, index) =>
    newApiKey(secret, { name: `key ${index}`, environment: 'production', now: 0 }),
  );
  const asked: number[] = [];
  const uses: string[][] = [];
  const ring = new KeyRing({
    findKeys: async (digests) => {
      asked.push(digests.length);
      const names = new Set(digests.map(String));
      // In no particular order: last first.
      return keys.filter(({ digest }) => names.has(String(digest))).reverse();
    },
    environment: 'production',
    clock: new KeyClock(),
    onUse: (ids) => uses.push([...ids]),
  });
  return { ring, keys, asked, uses };
}

const [a, b, unknown] = Array.from({ length: 3 }, () => newSecret('production')) as [
  string,
  string,
  string,
];

test('secrets are looked up once each, and answered in their order', async () => {
  const { ring, keys, asked } = ringOf(a, b);
  const found = await ring.lookUp([b, unknown, a, b, unknown]);
  assert.deepEqual(
    found.map(({ key, refusal }) => key?.name ?? refusal),
    [keys[1]!.name, 'api_key_invalid', keys[0]!.name, keys[1]!.name, 'api_key_invalid'],
  );
  assert.deepEqual(asked, [3]);
});

test('a good key is recalled, and only a good one', async () => {
  const { ring } = ringOf(a);
  assert.equal(ring.recall(a), undefined);
  await ring.lookUp([a, unknown]);
  assert.equal(ring.recall(a)?.key?.name, 'key 0');
  assert.equal(ring.recall(unknown), undefined);
});

test('what never was a secret of this environment is refused without a look', () => {
  const { ring } = ringOf();
  assert.equal(ring.recall('so_live_nonsense')?.refusal, 'api_key_invalid');
  assert.equal(ring.recall(newSecret('staging'))?.refusal, 'api_key_wrong_environment');
});

test('a key that was found revoked is not recalled, however lately it was good', async () => {
  const { ring, keys } = ringOf(a);
  await ring.lookUp([a]);
  keys[0] = { ...keys[0]!, revokedAt: 1 };
  const [after] = await ring.lookUp([a]);
  assert.equal(after!.refusal, 'api_key_revoked');
  assert.equal(ring.recall(a), undefined);
});

test('a key that has expired meanwhile is refused though it is remembered', async () => {
  const { ring, keys } = ringOf(a);
  const key = keys[0] as { -readonly [Name in keyof ApiKey]: ApiKey[Name] };
  key.expiresAt = Date.now() + 60_000;
  await ring.lookUp([a]);
  key.expiresAt = Date.now() - 1;
  assert.equal(ring.recall(a)?.refusal, 'api_key_expired');
});

test('trust begins when the look began, not when it ended', async (t) => {
  const secret = newSecret('production');
  const key = newApiKey(secret, { name: 'k', environment: 'production', now: 0 });
  let now = 1_000;
  t.mock.method(performance, 'now', () => now);
  const ring = new KeyRing({
    findKeys: async () => {
      now += 499;
      return [key];
    },
    environment: 'production',
    clock: new KeyClock(),
  });
  await ring.lookUp([secret]);
  assert.equal(ring.recall(secret)?.key, key);
  now += 1;
  assert.equal(ring.recall(secret), undefined);
});

test('the use of a good key is told, and not again for an hour', async () => {
  const { ring, keys, uses } = ringOf(a, b);
  keys[1] = { ...keys[1]!, revokedAt: 1 };
  await ring.lookUp([a, b, unknown, a]);
  assert.deepEqual(uses, [[keys[0]!.id]]);
  keys[0] = { ...keys[0]!, lastUsedAt: Date.now() - 3_500_000 };
  await ring.lookUp([a]);
  assert.equal(uses.length, 1);
  keys[0] = { ...keys[0]!, lastUsedAt: Date.now() - 3_700_000 };
  await ring.lookUp([a]);
  assert.equal(uses.length, 2);
});

test('a key that has expired stays so when the clock is set back', async () => {
  let timeOfDay = 5_000_000;
  const clock = new KeyClock(() => timeOfDay);
  const key = newApiKey(a, {
    ...{ name: 'k', environment: 'production', now: 0, expiresAt: 4_000_000 },
  });
  const ring = new KeyRing({ findKeys: async () => [key], environment: 'production', clock });
  assert.equal((await ring.lookUp([a]))[0]!.refusal, 'api_key_expired');
  timeOfDay = 3_000_000;
  assert.equal((await ring.lookUp([a]))[0]!.refusal, 'api_key_expired');
  assert.equal(clock.behindMs(), 2_000_000);
  clock.notBefore(6_000_000);
  assert.equal(clock.now(), 6_000_000);
  timeOfDay = 7_000_000;
  assert.equal(clock.now(), 7_000_000);
});

test('of the uses of keys one write is under way at a time, and none for a while after a failure', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const writes: { ids: readonly string[]; end: (error?: Error) => void }[] = [];
  const use = new KeyUse(
    (ids) =>
      new Promise((resolve, reject) => {
        writes.push({ ids, end: (error) => (error ? reject(error) : resolve()) });
      }),
  );
  use.offer(['a'], 1);
  use.offer(['b'], 1);
  writes[0]!.end();
  await new Promise(setImmediate);
  use.offer(['b'], 2);
  writes[1]!.end(new Error('locked'));
  await new Promise(setImmediate);
  use.offer(['c'], 3);
  now = 61_000;
  use.offer(['d'], 4);
  assert.deepEqual(
    writes.map(({ ids }) => ids),
    [['a'], ['b'], ['d']],
  );
});

test('no more than 10,000 keys are remembered', async () => {
  const secrets = Array.from({ length: 10_001 }, () => newSecret('production'));
  const keyOf = new Map(secrets.map((secret) => [String(digestOf(secret)), secret]));
  const ring = new KeyRing({
    findKeys: async (digests) =>
      digests.map((digest) => {
        const details = { name: 'k', environment: 'production', now: 0 } as const;
        return newApiKey(keyOf.get(String(digest))!, details);
      }),
    environment: 'production',
    clock: new KeyClock(),
  });
  await ring.lookUp(secrets.slice(0, 10_000));
  await ring.lookUp(secrets.slice(10_000));
  assert.equal(ring.recall(secrets[0]!), undefined);
  assert.ok(ring.recall(secrets[10_000]!)?.key);
});
