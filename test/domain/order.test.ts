import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { INT64_MAX, INT64_MIN, orderJson, parseInt64 } from '../../src/domain/order.ts';
import { anyOrder, codePoint, int64 } from './arbitraries.ts';

test('parseInt64 accepts every int64 in canonical decimal form, and nothing else', () => {
  fc.assert(
    fc.property(int64, (id) => {
      assert.equal(parseInt64(String(id)), id);
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), (text) => {
      const id = parseInt64(text);
      if (id !== undefined) assert.equal(String(id), text);
    }),
  );
});

test('adjacent ids above 2^53 stay distinct', () => {
  assert.equal(parseInt64('9007199254740993'), 9007199254740993n);
  assert.equal(parseInt64('9007199254740992'), 9007199254740992n);
});

test('parseInt64 accepts the limits of int64 and refuses values beyond them', () => {
  assert.equal(parseInt64('9223372036854775807'), INT64_MAX);
  assert.equal(parseInt64('9223372036854775808'), undefined);
  assert.equal(parseInt64('-9223372036854775808'), INT64_MIN);
  assert.equal(parseInt64('-9223372036854775809'), undefined);
});

const NOT_CANONICAL = ['', '-0', '+5', '007', '0x10', '1e3', '5.0', ' 5', '5 ', '5\n', '٥', '--5'];
for (const text of [...NOT_CANONICAL, '9'.repeat(400)]) {
  test(`${JSON.stringify(text.slice(0, 20))} is not a canonical int64`, () => {
    assert.equal(parseInt64(text), undefined);
  });
}

test('the JSON of an order has its fields in the order of the contract, and int64 values as integers', () => {
  const json = orderJson({
    id: 9007199254740993n,
    status: 'shipped',
    petId: -1n,
    quantity: 2n,
    shipDate: Date.UTC(2026, 10, 20, 5, 18, 56, 7),
    complete: true,
  });
  assert.equal(
    json,
    '{"id":9007199254740993,"petId":-1,"quantity":2,"shipDate":"2026-11-20T05:18:56.007Z","complete":true}',
  );
});

test('a field without a value is omitted, never null', () => {
  assert.equal(orderJson({ id: 1n, status: 'pending' }), '{"id":1}');
  assert.equal(
    orderJson({ id: 1n, status: 'pending', complete: false }),
    '{"id":1,"complete":false}',
  );
});

test('the JSON of any order is ASCII', () => {
  fc.assert(
    fc.property(anyOrder, (order) => {
      assert.match(orderJson(order), /^[\x20-\x7e]+$/);
    }),
  );
});

test('zero and false are values', () => {
  assert.equal(
    orderJson({
      ...{ id: 0n, status: 'pending', petId: 0n, quantity: 0n },
      ...{ shipDate: 0, complete: false },
    }),
    '{"id":0,"petId":0,"quantity":0,"shipDate":"1970-01-01T00:00:00.000Z","complete":false}',
  );
});
