import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrderRecord } from '../../src/domain/order.ts';
import { orderEtag, storeEtags } from '../../src/records/etags.ts';

test('different states of an order have different ETags, even if a revision is reused after a restore', () => {
  const order: OrderRecord = { id: 1n, status: 'pending', placedAt: 5, updatedAt: 5, revision: 7n };
  const states: OrderRecord[] = [
    order,
    { ...order, revision: 8n },
    { ...order, updatedAt: 6 },
    { ...order, status: 'cancelled' },
  ];
  assert.equal(new Set(states.map((order) => orderEtag(order))).size, states.length);
  assert.equal(orderEtag({ ...order }), orderEtag(order));
});

test('different states of a store have different ETags, even within a millisecond and after a failover that lost changes', () => {
  const position = { revision: 7n, head: 'a'.repeat(64) };
  const etags = [
    storeEtags(position),
    storeEtags({ ...position, revision: 8n }),
    storeEtags({ ...position, head: 'b'.repeat(64) }),
    storeEtags(position, 1n),
    storeEtags(position, 2n),
  ];
  const all = etags.flatMap(({ identity, gzip }) => [identity, gzip]);
  assert.equal(new Set(all).size, 2 * etags.length);
});
