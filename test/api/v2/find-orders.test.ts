import assert from 'node:assert/strict';
import { pending, place, startService, testService } from '../../http/harness.ts';

const FIND = '/v2/store/orders/find';
const JSON_BODY = { 'content-type': 'application/json' };

testService(
  'findOrders returns the orders with ids and references, each once, whatever their status',
  async (t) => {
    const service = await startService(t);
    await place(service.store, { ...pending(1n), reference: '2' }, pending(2n), {
      ...pending(9007199254740993n),
      reference: 'PO "Ü"',
    });
    await service.store.apply([{ type: 'cancel', id: 2n }]);
    const find = async (body: string) => {
      const reply = await service.call('POST', FIND, JSON_BODY, body);
      assert.equal(reply.status, 200, reply.body);
      assert.equal(reply.headers['cache-control'], 'no-store, no-transform');
      return reply.body;
    };
    const idsIn = (body: string) => [...body.matchAll(/"id":(\d+)/g)].map(([, id]) => id).sort();
    const all = await find(
      '{"ids":[2,2,404,9007199254740993],"references":["2","po \\"ü\\"","none"]}',
    );
    assert.deepEqual(idsIn(all), ['1', '2', '9007199254740993']);
    const [single] = JSON.parse(await find('{"references":["2"]}')).orders;
    assert.deepEqual(single, JSON.parse((await service.call('GET', '/v2/store/orders/1')).body));
    assert.equal(await find('{}'), '{"orders":[]}');
  },
);

testService(
  'findOrders refuses more than 250 ids or references, and texts that no reference can be',
  async (t) => {
    const service = await startService(t);
    const problemsOf = async (body: object) => {
      const reply = await service.call('POST', FIND, JSON_BODY, JSON.stringify(body));
      assert.equal(reply.status, 400, reply.body);
      return JSON.parse(reply.body).errors.map(({ pointer }: { pointer: string }) => pointer);
    };
    const many = Array.from({ length: 251 }, (_, id) => id);
    assert.deepEqual(await problemsOf({ ids: many }), ['/ids']);
    assert.deepEqual(await problemsOf({ references: many.map(String) }), ['/references']);
    assert.deepEqual(await problemsOf({ references: ['', 'a\tb', 'c'], ids: ['5'] }), [
      '/ids/0',
      '/references/0',
      '/references/1',
    ]);
  },
);
