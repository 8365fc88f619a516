import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { elementsOf } from '../../client/src/v1.ts';

async function* inPieces(text: string, sizes: readonly number[]) {
  for (let [from, piece] = [0, 0]; from < text.length; piece += 1) {
    const size = sizes[piece % sizes.length]!;
    yield text.slice(from, from + size);
    from += size;
  }
}

const listed = (text: string, sizes = [7]) => Array.fromAsync(elementsOf(inPieces(text, sizes)));

test('a list is parsed alike, whatever pieces it arrives in', async () => {
  const element = fc.record({
    text: fc.oneof(fc.string(), fc.constantFrom('"},{', '\\', '[{', '}]"')),
    nested: fc.array(fc.record({ a: fc.string() }), { maxLength: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(element, { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
      fc.constantFrom(0, 1),
      async (elements, sizes, indent) => {
        const text = JSON.stringify(elements, undefined, indent);
        assert.deepEqual(await listed(text, sizes), JSON.parse(text));
      },
    ),
    { numRuns: 300 },
  );
});

test('a list that breaks off is an error, after the elements that arrived', async () => {
  const elements: unknown[] = [];
  const reading = (async () => {
    for await (const each of elementsOf(inPieces('[{"id":1},{"id":2},{"i', [5])))
      elements.push(each);
  })();
  await assert.rejects(reading, SyntaxError);
  assert.deepEqual(elements, [{ id: 1n }, { id: 2n }]);
  await assert.rejects(listed('{"code":"x"}'), SyntaxError);
  await assert.rejects(listed('["an error", 5]'), SyntaxError);
  await assert.rejects(listed(''), SyntaxError);
});
