import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiKey, newApiKey, newSecret, secretDigest } from '../../src/domain/api-key.ts';
import { KeyClock } from '../../src/domain/key-clock.ts';
import { KeyRing } from '../../src/http/request/key-ring.ts';

const recordUse = async () => {};

/** A key ring over some keys; `lookups` has the number of digests of each lookup. */
function ringOf(...secrets: readonly string[]) {
  const keys = secrets.map((secret, index) =>
    newApiKey(secret, { name: `key ${index}`, environment: 'production', now: 0 }),
  );
  const lookups: number[] = [];
  const uses: string[][] = [];
  const ring = new KeyRing({
    findKeys: async (digests) => {
      lookups.push(digests.length);
      const names = new Set(digests.map(String));
      // A store may return keys in any order.
      return keys.filter(({ digest }) => names.has(String(digest))).reverse();
    },
    environment: 'production',
    clock: new KeyClock(),
    recordUse: async (ids) => uses.push([...ids]),
  });
  return { ring, keys, lookups, uses };
}

const KEY = newApiKey(newSecret('production'), { name: 'k', environment: 'production', now: 0 });

const [a, b, unknown] = Array.from({ length: 3 }, () => newSecret('production')) as [
  string,
  string,
  string,
];

test('each distinct secret is looked up once, and results are in the order of the secrets', async () => {
  const { ring, keys, lookups } = ringOf(a, b);
  const found = await ring.lookUp([b, unknown, a, b, unknown]);
  assert.deepEqual(
    found.map(({ key, refusal }) => key?.name ?? refusal),
    [keys[1]!.name, 'api_key_invalid', keys[0]!.name, keys[1]!.name, 'api_key_invalid'],
  );
  assert.deepEqual(lookups, [3]);
});

test('a valid key is remembered after a lookup, an unknown one is not', async () => {
  const { ring } = ringOf(a);
  assert.equal(ring.recall(a), undefined);
  await ring.lookUp([a, unknown]);
  assert.equal(ring.recall(a)?.key?.name, 'key 0');
  assert.equal(ring.recall(unknown), undefined);
});

test('a secret that is malformed or of another environment is refused without a lookup', () => {
  const { ring } = ringOf();
  assert.equal(ring.recall('so_live_nonsense')?.refusal, 'api_key_invalid');
  assert.equal(ring.recall(newSecret('staging'))?.refusal, 'api_key_wrong_environment');
});

test('a key that is found revoked is removed, even if it was valid a moment before', async () => {
  const { ring, keys } = ringOf(a);
  await ring.lookUp([a]);
  keys[0] = { ...keys[0]!, revokedAt: 1 };
  const [after] = await ring.lookUp([a]);
  assert.equal(after!.refusal, 'api_key_revoked');
  assert.equal(ring.recall(a), undefined);
});

test('a remembered key is refused once it has expired', async () => {
  const { ring, keys } = ringOf(a);
  const key = keys[0] as { -readonly [Name in keyof ApiKey]: ApiKey[Name] };
  key.expiresAt = Date.now() + 60_000;
  await ring.lookUp([a]);
  key.expiresAt = Date.now() - 1;
  assert.equal(ring.recall(a)?.refusal, 'api_key_expired');
});

test('the time a key is remembered counts from the start of its lookup, not the end', async (t) => {
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
    recordUse,
  });
  await ring.lookUp([secret]);
  assert.equal(ring.recall(secret)?.key, key);
  now += 1;
  assert.equal(ring.recall(secret), undefined);
});

test('the use of a valid key is reported at most once an hour', async () => {
  const { ring, keys, uses } = ringOf(a, b);
  keys[1] = { ...keys[1]!, revokedAt: 1 };
  await ring.lookUp([a, b, unknown, a]);
  assert.deepEqual(uses, [[keys[0]!.id]]);
  await new Promise(setImmediate);
  keys[0] = { ...keys[0]!, lastUsedAt: Date.now() - 3_500_000 };
  await ring.lookUp([a]);
  assert.equal(uses.length, 1);
  keys[0] = { ...keys[0]!, lastUsedAt: Date.now() - 3_700_000 };
  await ring.lookUp([a]);
  assert.equal(uses.length, 2);
});

test('an expired key stays expired when the clock is set back', async () => {
  let timeOfDay = 5_000_000;
  const clock = new KeyClock(() => timeOfDay);
  const key = newApiKey(a, {
    ...{ name: 'k', environment: 'production', now: 0, expiresAt: 4_000_000 },
  });
  const ring = new KeyRing({
    findKeys: async () => [key],
    environment: 'production',
    clock,
    recordUse,
  });
  assert.equal((await ring.lookUp([a]))[0]!.refusal, 'api_key_expired');
  timeOfDay = 3_000_000;
  assert.equal((await ring.lookUp([a]))[0]!.refusal, 'api_key_expired');
  assert.equal(clock.behindMs(), 2_000_000);
  clock.notBefore(6_000_000);
  assert.equal(clock.now(), 6_000_000);
  timeOfDay = 7_000_000;
  assert.equal(clock.now(), 7_000_000);
});

test('key uses are recorded by one write at a time, and by none for a minute after a failure', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const writes: PromiseWithResolvers<void>[] = [];
  const ring = new KeyRing({
    findKeys: async ([digest]) => [{ ...KEY, digest: digest! }],
    environment: 'production',
    clock: new KeyClock(),
    recordUse: () => {
      const write = Promise.withResolvers<void>();
      writes.push(write);
      return write.promise;
    },
  });
  const counts: number[] = [];
  const use = async () => {
    await ring.lookUp([newSecret('production')]);
    counts.push(writes.length);
  };
  await use();
  await use();
  writes[0]!.resolve();
  await new Promise(setImmediate);
  await use();
  writes[1]!.reject(new Error('locked'));
  await new Promise(setImmediate);
  await use();
  now = 61_000;
  await use();
  assert.deepEqual(counts, [1, 1, 2, 2, 3]);
});

test('at most 10,000 keys are remembered', async () => {
  const secrets = Array.from({ length: 10_001 }, () => newSecret('production'));
  const keyOf = new Map(secrets.map((secret) => [String(secretDigest(secret)), secret]));
  const ring = new KeyRing({
    findKeys: async (digests) =>
      digests.map((digest) => {
        const details = { name: 'k', environment: 'production', now: 0 } as const;
        return newApiKey(keyOf.get(String(digest))!, details);
      }),
    environment: 'production',
    clock: new KeyClock(),
    recordUse,
  });
  await ring.lookUp(secrets.slice(0, 10_000));
  await ring.lookUp(secrets.slice(10_000));
  assert.equal(ring.recall(secrets[0]!), undefined);
  assert.ok(ring.recall(secrets[10_000]!)?.key);
});

test('of the keys that are rechecked those are valid that exist, and are neither revoked nor expired', async () => {
  const now = Date.UTC(2026, 10, 20);
  const keyOf = (expiresAt?: number) =>
    newApiKey(newSecret('production'), {
      ...{ name: 'k', environment: 'production', now: 0, expiresAt },
    });
  // More than are asked for at a time.
  const stored: ApiKey[] = Array.from({ length: 450 }, (_, index) =>
    index % 3 === 0 ? keyOf(now + (index % 2)) : keyOf(),
  );
  const keys = [...stored, keyOf()];
  const ring = new KeyRing({
    findKeys: async (digests) =>
      stored
        .map((key, index) => (index % 5 === 0 ? { ...key, revokedAt: 1 } : key))
        .filter(({ digest }) => digests.includes(digest)),
    environment: 'production',
    clock: new KeyClock(() => now),
    recordUse,
  });
  const expected = stored.filter(
    (_, index) => index % 5 !== 0 && !(index % 3 === 0 && index % 2 === 0),
  );
  assert.deepEqual(await ring.recheck(keys, 'changes:read'), new Set(expected));
});

test('the former secret of a key is valid until it ends, as the same key', async () => {
  let now = Date.UTC(2026, 10, 20);
  const until = now + 1_000;
  const details = { name: 'shop', environment: 'production', now: 0 } as const;
  const rotated = { ...newApiKey(b, details), former: { digest: secretDigest(a), until } };
  const ring = new KeyRing({
    findKeys: async () => [rotated],
    environment: 'production',
    clock: new KeyClock(() => now),
    recordUse,
  });
  const [former, present, other] = await ring.lookUp([a, b, unknown]);
  assert.deepEqual([former!.key!.id, former!.key!.expiresAt], [rotated.id, until]);
  assert.deepEqual([present!.key!.id, present!.key!.expiresAt], [rotated.id, undefined]);
  assert.equal(other!.refusal, 'api_key_invalid');
  const keys = [former!.key!, present!.key!];
  assert.deepEqual(await ring.recheck(keys, 'changes:read'), new Set(keys));
  now = until;
  assert.equal(ring.recall(a)!.refusal, 'api_key_expired');
  const [late] = await ring.lookUp([a]);
  assert.deepEqual([late!.refusal, late!.keyId], ['api_key_expired', rotated.id]);
  assert.deepEqual(await ring.recheck(keys, 'changes:read'), new Set([present!.key!]));
});
