import assert from 'node:assert/strict';
import { newApiKey, newSecret, secretDigest } from '../../src/domain/api-key.ts';
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
      ...{ cancelsPerHour: 9, placesPerHour: 8 },
    });
    assert.deepEqual(await store.apply([{ type: 'createKey', key }]), ['created']);
    const [found] = await store.keys([new Uint8Array(32), key.digest]);
    assert.deepEqual(
      { ...found, digest: Buffer.from(found!.digest) },
      {
        ...key,
        ...{ former: undefined, ticket: undefined, createdBy: undefined, secretBy: undefined },
        ...{ revokedAt: undefined, lastUsedAt: undefined },
      },
    );
    assert.equal((await store.keys()).length, 1);
    await store.apply([{ type: 'recordKeyUse', ids: [key.id, 'key_none'], formers: [], at: 7 }]);
    await store.apply([{ type: 'recordKeyUse', ids: [key.id], formers: [], at: 6 }]);
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

testStore('a rotated key is found by both secrets, and by no earlier one', async (_t, store) => {
  const details = { name: 'shop', environment: 'production', now: 1 } as const;
  const key = newApiKey(newSecret('production'), details);
  await store.apply([{ type: 'createKey', key }]);
  const [second, third] = [secretDigest('second'), secretDigest('third')];
  const rotate = (digest: Uint8Array, formerUntil: number | undefined) =>
    store.apply([{ type: 'rotateKey', id: key.id, digest, formerUntil }]);
  assert.deepEqual(await rotate(second, 7), ['rotated']);
  for (const digest of [key.digest, second]) {
    const [found, ...others] = await store.keys([digest]);
    assert.deepEqual([found!.id, others], [key.id, []]);
    assert.deepEqual([Buffer.from(found!.digest), found!.former!.until], [Buffer.from(second), 7]);
    assert.deepEqual(Buffer.from(found!.former!.digest), Buffer.from(key.digest));
  }
  await rotate(third, 8);
  assert.deepEqual(await store.keys([key.digest]), []);
  assert.equal((await store.keys([second, third])).length, 2);
  // Without an overlap the secret before is unknown at once, whatever the clocks are.
  await rotate(second, undefined);
  assert.deepEqual(await store.keys([third]), []);
  assert.equal((await store.keys([second]))[0]!.former, undefined);
  assert.deepEqual(
    await store.apply([{ type: 'rotateKey', id: 'key_none', digest: second, formerUntil: 9 }]),
    ['key_not_found'],
  );
  await store.apply([{ type: 'revokeKey', id: key.id }]);
  assert.deepEqual(await rotate(secretDigest('fourth'), 9), ['unchanged']);
});
