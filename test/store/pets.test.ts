import assert from 'node:assert/strict';
import { testStore } from './engines.ts';

testStore('a pet replaces the pet with the same id', async (_t, store) => {
  await store.apply([{ type: 'putPets', pets: [{ id: 2n ** 60n, name: 'Ada', tag: 'cat' }] }]);
  const again = [{ id: 2n ** 60n, name: 'Eve' }, { id: 3n }, { id: 2n ** 60n, name: 'Bob' }];
  await store.apply([{ type: 'putPets', pets: again }]);
  assert.deepEqual(await store.pet(3n), { id: 3n, name: undefined, tag: undefined });
  assert.deepEqual(await store.pet(2n ** 60n), { id: 2n ** 60n, name: 'Bob', tag: undefined });
  assert.equal(await store.pet(1n), undefined);
});

testStore('a moved store takes no pets, not even none', async (_t, store) => {
  await store.apply([{ type: 'moveAway', to: 'elsewhere', revision: 0n }]);
  for (const pets of [[], [{ id: 1n }]]) {
    await assert.rejects(store.apply([{ type: 'putPets', pets }]), { fault: 'moved' });
  }
});
