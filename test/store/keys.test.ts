import assert from 'node:assert/strict';
import { newApiKey, newSecret } from '../../src/domain/api-key.ts';
import { testStore } from './engines.ts';

testStore(
  'keys are found by digest, record their latest use and are revoked once',
  async (_t, store) => {
    const key = newApiKey(newSecret('production'), {
      name: 'shop',
      environment: 'production',
      now: 1,
      expiresAt: 2,
      scopes: ['orders:read', 'changes:read'],
      cancelsPerHour: 9,
    });
    assert.deepEqual(await store.apply([{ type: 'createKey', key }]), ['created']);
    const [found] = await store.keys([new Uint8Array(32), key.digest]);
    assert.deepEqual(
      { ...found, digest: Buffer.from(found!.digest) },
      { ...key, revokedAt: undefined, lastUsedAt: undefined },
    );
    assert.equal((await store.keys()).length, 1);
    await store.apply([{ type: 'recordKeyUse', ids: [key.id, 'key_none'], at: 7 }]);
    await store.apply([{ type: 'recordKeyUse', ids: [key.id], at: 6 }]);
    assert.equal((await store.keys())[0]!.lastUsedAt, 7);
    const revoke = { type: 'revokeKey', id: key.id } as const;
    assert.deepEqual(await store.apply([revoke, revoke, { ...revoke, id: 'key_none' }]), [
      'revoked',
      'unchanged',
      'key_not_found',
    ]);
    assert.ok((await store.keys())[0]!.revokedAt! > 2);
  },
);

testStore('only one first key per environment is stored', async (_t, store) => {
  const firstKey = (environment: 'production' | 'staging') => ({
    type: 'createFirstKey' as const,
    key: newApiKey(newSecret(environment), { name: 'first', environment, now: 1 }),
  });
  const outcomes = await Promise.all([
    store.apply([firstKey('production')]),
    store.apply([firstKey('production'), firstKey('staging')]),
  ]);
  assert.deepEqual(outcomes.flat().sort(), ['created', 'created', 'unchanged']);
  assert.equal((await store.keys()).length, 2);
});
