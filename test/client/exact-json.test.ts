import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from '../../client/src/exact-json.ts';

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.bigInt({ min: -9n, max: 99n }),
    fc.string(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(
      fc.string().filter((name) => name !== '__proto__'),
      tie('any'),
      { maxKeys: 4, noNullPrototype: true },
    ),
  ),
})).any;

/** JSON with plain integers. */
function written(item: unknown): string {
  if (typeof item === 'bigint') return String(item);
  if (Array.isArray(item)) return `[${item.map(written).join()}]`;
  if (typeof item !== 'object' || item === null) return JSON.stringify(item);
  const members = Object.entries(item).map(
    ([name, each]) => `${JSON.stringify(name)}:${written(each)}`,
  );
  return `{${members.join()}}`;
}

test('every integer of a JSON text is read exactly, as a bigint', () => {
  fc.assert(
    fc.property(value, (item) => {
      assert.deepEqual(parse(written(item)), item);
    }),
    { numRuns: 500 },
  );
});

test('adjacent ids above 2^53 stay distinct', () => {
  const text = '[9007199254740992,9007199254740993,-9223372036854775808,9223372036854775807]';
  assert.deepEqual(parse(text), [2n ** 53n, 2n ** 53n + 1n, -(2n ** 63n), 2n ** 63n - 1n]);
});

test('a runtime that rounds integers is refused when there are large ones', async (t) => {
  // As in Node.js 20: the reviver gets no source.
  t.mock.method(JSON, 'parse', (text: string) => Number(text));
  const fresh = await import(`../../client/src/exact-json.ts?${Date.now()}`);
  assert.throws(() => fresh.parse('9007199254740993'), /this runtime rounds integers/);
  assert.equal(fresh.parse('5'), 5n);
});
