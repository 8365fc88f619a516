import assert from 'node:assert/strict';
import { pending, place, startService, testService } from '../../http/harness.ts';

const COUNTS = '/v2/store/counts';

testService(
  'countOrders counts the orders that match all filters, by status, with an ETag',
  async (t) => {
    const service = await startService(t);
    const orders = [1n, 2n, 3n, 4n, 5n].map((id) => ({
      ...pending(id),
      petId: id % 2n,
      shipDate: Number(id),
    }));
    await place(service.store, ...orders);
    await service.store.apply([
      { type: 'cancel', id: 1n },
      { type: 'ship', id: 2n, at: 2 },
    ]);
    const count = async (query: string) => {
      const { status, body } = await service.call('GET', `${COUNTS}?${query}`);
      assert.equal(status, 200, body);
      const { counts: orders, exact } = JSON.parse(body);
      assert.equal(exact, true);
      return [orders.pending, orders.shipped, orders.cancelled];
    };
    assert.deepEqual(await count(''), [3, 1, 1]);
    assert.deepEqual(await count('petId=1'), [2, 0, 1]);
    assert.deepEqual(await count('status=pending,shipped'), [3, 1, 0]);
    assert.deepEqual(await count('shipDateFrom=1970-01-01T00:00:00.004Z'), [2, 0, 0]);
    assert.deepEqual(await count('shipDateBefore=1970-01-01T00:00:00.004Z&petId=0'), [0, 1, 0]);
    assert.deepEqual(await count('placedBefore=1970-01-02T00:00:00Z'), [0, 0, 0]);
    assert.deepEqual(await count('placedFrom=1970-01-02T00:00:00Z'), [3, 1, 1]);
    assert.deepEqual(await count('reference=none'), [0, 0, 0]);

    const { headers } = await service.call('GET', `${COUNTS}?petId=1`);
    const tag = { 'if-none-match': String(headers.etag) };
    assert.equal((await service.call('GET', `${COUNTS}?petId=1`, tag)).status, 304);
    await service.store.apply([{ type: 'cancel', id: 3n }]);
    assert.equal((await service.call('GET', `${COUNTS}?petId=1`, tag)).status, 200);
  },
);
