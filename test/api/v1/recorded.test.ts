import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { place, startService } from '../../http/harness.ts';

/** Requests to v1, and the responses that release 1.0.0 of the contract was published with. */
const RECORDED = new URL('./recorded.json', import.meta.url);

interface Recorded {
  readonly request: string;
  readonly response: string;
}

/** What differs from run to run: the date, and the ETag, of which the recorded one had another form. */
function withoutChance(response: string): string {
  return response
    .replace(/^Date: .*$/m, 'Date: …')
    .replace(/^(etag: )"(\d+)-[0-9a-f]{16}(-gzip)?"/m, '$1"…-$2-…$3"');
}

test('v1 responses equal the recorded ones, byte for byte', async (t) => {
  const { port, secret, store } = await startService(t, {
    PET_LOOKUP_SUNSET_AT: '2999-12-31T00:00:00Z',
  });
  await place(
    store,
    { id: 1n, status: 'pending', petId: 412n, quantity: 1n, shipDate: 0, complete: false },
    { id: 2n, status: 'pending' },
    { id: 3n, status: 'pending', petId: -5n, quantity: 0n, shipDate: 1e12, complete: true },
    { id: 9007199254740993n, status: 'pending', petId: 9007199254740993n },
  );
  await store.apply([
    { type: 'ship', id: 2n, at: 1_700_000_000_000 },
    { type: 'cancel', id: 3n },
    { type: 'putPets', pets: [{ id: 7n, name: 'Rex', tag: 'dog' }, { id: 8n }] },
  ]);
  const recorded: Recorded[] = JSON.parse(readFileSync(RECORDED, 'utf8'));
  const found: Recorded[] = [];
  for (const { request } of recorded) {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(request.replace('KEY', secret));
    const response = withoutChance(await text(socket));
    found.push({ request, response });
  }
  assert.deepEqual(found, recorded);
});
