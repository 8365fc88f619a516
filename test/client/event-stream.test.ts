import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { eventsOf } from '../../client/src/feed/changes.ts';

const STREAM = [
  'retry: 1000\nid: a\n\n',
  ':\n\n',
  'event: placed\ndata: {"x":1}\n\n',
  'id: b\nevent: shipped\ndata: one\ndata:two\n\n',
  'id: not finished\n',
].join('');

async function* inPieces(text: string, size: number) {
  for (let from = 0; from < text.length; from += size) yield text.slice(from, from + size);
}

test('events are parsed alike, whatever pieces they arrive in and whatever ends their lines', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: STREAM.length }),
      fc.constantFrom('\n', '\r\n', '\r'),
      async (size, end) => {
        const chunks = inPieces(STREAM.replaceAll('\n', end), size);
        assert.deepEqual(await Array.fromAsync(eventsOf(chunks)), [
          { id: 'a', data: '' },
          { id: undefined, data: '{"x":1}' },
          { id: 'b', data: 'one\ntwo' },
        ]);
      },
    ),
  );
});
