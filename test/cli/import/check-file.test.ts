import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { openInput } from '../../../src/cli/files/input.ts';
import { checkOrders } from '../../../src/cli/orders/import/check-file.ts';
import { placeOrders } from '../../../src/cli/orders/import/place-orders.ts';
import { ALL_IDS } from '../../../src/domain/ids.ts';
import type { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../temporary.ts';

function newFile(t: TestContext, content: string): string {
  const path = join(temporaryFolder(t), 'a.ndjson');
  writeFileSync(path, content);
  return path;
}

test('an interrupted import continues with exactly the rows that were not placed', async (t) => {
  const path = newFile(t, '{"petId":1}\n{"petId":2}\n{"petId":3}\n');
  using input = await openInput(path, Readable.from([]));
  const store = { orders: async () => [] };
  const source = { store, placedBefore: 2, freeIds: { ...ALL_IDS, highest: 2n } };
  const { count, known, withoutId, lastWithoutId } = await checkOrders(input, source);
  assert.deepEqual([count, known, withoutId, lastWithoutId], [3, 2, 1, 'line 3']);
});

test('an import that another run has continued does not begin', async (t) => {
  using input = await openInput(newFile(t, ''), Readable.from([]));
  const store = { apply: async () => [1n, 'out_of_turn'] } as unknown as Store;
  const begun = { source: 'a', name: 'a', isAgain: false, total: 1, highestId: 0n, from: 0 };
  await assert.rejects(placeOrders(input, store, begun), /another import of the same file/);
});
