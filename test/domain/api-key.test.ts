import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  environmentOfSecret,
  keyBySecret,
  keyStatus,
  newApiKey,
  newSecret,
  secretDigest,
  withoutSecrets,
} from '../../src/domain/api-key.ts';

test('a secret identifies its environment and is unique', () => {
  const secrets = new Set<string>();
  for (let index = 0; index < 1_000; index += 1) {
    const live = newSecret('production');
    const staging = newSecret('staging');
    assert.match(live, /^so_live_[0-9A-Za-z]{49}$/);
    assert.match(staging, /^so_test_[0-9A-Za-z]{49}$/);
    assert.equal(environmentOfSecret(live), 'production');
    assert.equal(environmentOfSecret(staging), 'staging');
    secrets.add(live).add(staging);
  }
  assert.equal(secrets.size, 2_000);
});

test('a secret with one character changed is not recognised as a secret', () => {
  const secret = newSecret('production');
  const place = fc.nat({ max: secret.length - 1 });
  const letter = fc.constantFrom(...'0123456789ABCXYZabcxyz_-= \n');
  fc.assert(
    fc.property(place, letter, (at, other) => {
      if (secret[at] === other) return;
      assert.equal(
        environmentOfSecret(secret.slice(0, at) + other + secret.slice(at + 1)),
        undefined,
      );
    }),
  );
  for (const text of ['', secret.slice(0, -1), `${secret}0`, `${secret}\n`, ` ${secret}`]) {
    assert.equal(environmentOfSecret(text), undefined);
  }
});

test('a key contains only the SHA-256 digest of its secret', () => {
  const secret = newSecret('production');
  const key = newApiKey(secret, { name: 'shop', environment: 'production', now: 5 });
  const sha256 = createHash('sha256').update(secret).digest();
  assert.deepEqual(Buffer.from(key.digest), sha256);
  assert.deepEqual(Buffer.from(secretDigest(secret)), sha256);
  assert.match(key.id, /^key_[0-9A-Za-z]{9}$/);
  for (const [name, value] of Object.entries(key)) {
    if (typeof value === 'string') assert.ok(!value.includes(secret.slice(8, 14)), name);
  }
});

test('a key is valid until it expires or is revoked', () => {
  const details = { name: 'shop', environment: 'production', now: 0, expiresAt: 100 } as const;
  const key = newApiKey(newSecret('production'), details);
  assert.equal(keyStatus(key, 99), 'valid');
  assert.equal(keyStatus(key, 100), 'expired');
  assert.equal(keyStatus({ ...key, revokedAt: 50 }, 10), 'revoked');
  assert.equal(keyStatus({ ...key, expiresAt: undefined }, Number.MAX_SAFE_INTEGER), 'valid');
});

test('by its former secret a key ends with that secret, or when the key itself ends', () => {
  const [former, present] = [newSecret('production'), newSecret('production')];
  const key = newApiKey(present, { name: 'shop', environment: 'production', now: 0 });
  for (const [expiresAt, until, end] of [
    [undefined, 100, 100],
    [200, 100, 100],
    [100, 200, 100],
  ] as const) {
    const rotated = { ...key, expiresAt, former: { digest: secretDigest(former), until } };
    assert.equal(keyBySecret(rotated, secretDigest(former))!.expiresAt, end);
    assert.equal(keyBySecret(rotated, secretDigest(present)), rotated);
    assert.equal(keyBySecret(rotated, secretDigest(newSecret('production'))), undefined);
  }
});

test('secrets are redacted from log text wherever they appear', () => {
  const secret = newSecret('staging');
  const text = withoutSecrets(`a=${secret}&b=${newSecret('production').slice(0, 12)} c`);
  assert.equal(text, 'a=so_[secret]&b=so_[secret] c');
  assert.equal(withoutSecrets(secret + secret), 'so_[secret]');
  assert.equal(withoutSecrets(secret.toUpperCase()), 'so_[secret]');
});
