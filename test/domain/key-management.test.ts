import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ApiKey, IMPLIED_SCOPES, keyBySecret, SCOPES } from '../../src/domain/api-key.ts';
import { type KeyAct, keyAfter } from '../../src/domain/key-management.ts';

const NOW = 1_000;
const DIGESTS = [1, 2, 3, 4].map((byte) => new Uint8Array(32).fill(byte));

const limit = fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined });
const time = fc.option(fc.integer({ min: NOW - 1, max: NOW + 3 }), { nil: undefined });
const scopes = fc.subarray([...SCOPES], { minLength: 1 });

/** A key, as stored. */
const stored = (id: string, digest: Uint8Array): fc.Arbitrary<ApiKey> =>
  fc.record({
    id: fc.constant(id),
    name: fc.constant('n'),
    environment: fc.constant('production' as const),
    digest: fc.constant(digest),
    former: fc.option(
      fc.record({ digest: fc.constant(DIGESTS[2]!), until: fc.constant(NOW + 2) }),
      {
        nil: undefined,
      },
    ),
    createdAt: fc.constant(0),
    expiresAt: time,
    revokedAt: fc.option(fc.constant(1), { nil: undefined }),
    scopes: fc.option(scopes, { nil: undefined }),
    cancelsPerHour: limit,
    placesPerHour: limit,
  });

const changes = fc.record(
  {
    scopes,
    cancelsPerHour: limit,
    placesPerHour: limit,
    expiresAt: fc.oneof(fc.constant('never' as const), fc.integer({ min: NOW + 1, max: NOW + 3 })),
    endsFormer: fc.boolean(),
  },
  { requiredKeys: [] },
);

const acts: fc.Arbitrary<KeyAct> = fc.oneof(
  stored('key_new', DIGESTS[3]!).map((key) => ({ type: 'create' as const, key })),
  changes.map((each) => ({ type: 'update' as const, id: 'key_b', changes: each })),
  fc.constant({ type: 'revoke' as const, id: 'key_b' }),
  fc.constant({ type: 'rotate' as const, id: 'key_b', digest: DIGESTS[3]!, formerUntil: NOW + 9 }),
  fc.constant({
    type: 'invite' as const,
    id: 'key_b',
    ticket: { digest: DIGESTS[3]!, until: NOW + 9 },
  }),
);

const never = (value: number | undefined) => value ?? Number.POSITIVE_INFINITY;
const scopesOf = (key: ApiKey) => key.scopes ?? IMPLIED_SCOPES;

/** What a key can do, compared field by field. */
function isWithin(one: ApiKey, other: ApiKey): boolean {
  const has = (scope: string) => scopesOf(one).some((each) => each === scope);
  return (
    scopesOf(one).every((scope) => scopesOf(other).includes(scope)) &&
    (!has('orders:cancel') || never(one.cancelsPerHour) <= never(other.cancelsPerHour)) &&
    (!has('orders:place') || never(one.placesPerHour) <= never(other.placesPerHour)) &&
    never(one.expiresAt) <= never(other.expiresAt)
  );
}

test('whoever has a key and its acts can do no more with them than with the key, and for no longer', () => {
  const scene = fc.record({
    own: stored('key_a', DIGESTS[0]!),
    other: fc.option(stored('key_b', DIGESTS[1]!), { nil: undefined }),
    isByFormer: fc.boolean(),
    hasOtherManager: fc.boolean(),
    act: acts,
  });
  fc.assert(
    fc.property(scene, ({ own, other, isByFormer, hasOtherManager, act }) => {
      const manager = isByFormer ? (keyBySecret(own, DIGESTS[2]!) ?? own) : own;
      // The key of the act is another one, or that of the request.
      const key = act.type === 'create' ? undefined : (other ?? own);
      const after = keyAfter(act, key, { manager, hasOtherManager, now: NOW });
      if (typeof after === 'string' || 'refusal' in after) return;
      // The request knows the secret of what it creates, rotates or invites to.
      if (act.type === 'create' || act.type === 'rotate' || act.type === 'invite') {
        assert.ok(isWithin(after, manager));
      }
      if (key === undefined) return;
      assert.ok(scopesOf(key).every((scope) => scopesOf(manager).includes(scope)));
      assert.ok(isWithin({ ...after, expiresAt: undefined }, { ...key, expiresAt: undefined }));
      if (never(after.expiresAt) > never(key.expiresAt)) {
        assert.notEqual(key.id, manager.id);
        assert.ok(never(after.expiresAt) <= never(manager.expiresAt));
      }
      assert.ok(key.revokedAt === undefined || after === key, 'nothing revives a revoked key');
    }),
    { numRuns: 20_000 },
  );
});

test('the last key that can manage keys is neither revoked nor made narrower by keys', () => {
  const key: ApiKey = {
    ...{ id: 'key_a', name: 'n', environment: 'production', digest: DIGESTS[0]!, createdAt: 0 },
    scopes: ['orders:read', 'keys:manage'],
  };
  const narrower = { type: 'update', id: 'key_a', changes: { scopes: ['orders:read'] } } as const;
  for (const act of [{ type: 'revoke', id: 'key_a' } as const, narrower]) {
    const alone = { manager: key, hasOtherManager: false, now: NOW };
    assert.equal(keyAfter(act, key, alone), 'last_key_manager');
    assert.equal(typeof keyAfter(act, key, { ...alone, hasOtherManager: true }), 'object');
  }
});
