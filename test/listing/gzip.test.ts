import assert from 'node:assert/strict';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { crc32, gunzip } from 'node:zlib';
import fc from 'fast-check';
import type { Order } from '../../src/domain/order.ts';
import { withEntries } from '../../src/listing/blocks.ts';
import { combinedCrc32, GzipLists } from '../../src/listing/gzip.ts';
import { Listing } from '../../src/listing/listing.ts';
import { pending, place, startService } from '../http/harness.ts';

const ORDERS = '/v1/store/orders';
const decompress = promisify(gunzip);

test('the checksums of two pieces combine into the checksum of the whole', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), fc.uint8Array({ maxLength: 70_000 }), (a, b) => {
      const whole = crc32(Buffer.concat([a, b]));
      assert.equal(combinedCrc32(crc32(a), crc32(b), b.length), whole);
    }),
  );
});

test('any compressed list is one gzip member that decompresses to the original', async () => {
  const lists = new GzipLists();
  const ids = fc.uniqueArray(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), {
    maxLength: 3_000,
    size: 'max',
  });
  await fc.assert(
    fc.asyncProperty(ids, async (chosen) => {
      const orders = chosen.sort((a, b) => (a < b ? -1 : 1)).map((id): Order => pending(id));
      const listing = new Listing({
        status: async () => ({
          orders: { pending: 0n, shipped: 0n, cancelled: 0n },
          revision: 0n,
        }),
        changedOrders: async (_since, visit) => {
          visit(orders);
          return { revision: 1n, head: 'x' };
        },
      });
      const snapshot = await listing.current();
      const text = Buffer.concat(snapshot.chunks);
      // Beyond the time limit of the first call, on a machine under load, the compression goes on for the second.
      const compressed = (await lists.get(snapshot)) ?? (await lists.get(snapshot));
      assert.equal(compressed === undefined, text.length < 1_024);
      if (compressed === undefined) return;
      const sent = Buffer.concat(compressed.chunks);
      assert.equal(sent.length, compressed.byteLength);
      assert.ok(text.equals(await decompress(sent)));
      // A second member would begin with the magic number of gzip.
      assert.equal(sent.indexOf(Buffer.from([0x1f, 0x8b, 8]), 1), -1);
    }),
    // Thousands of numbers take hours to shrink.
    { numRuns: 20, endOnFailure: true },
  );
});

test('after a change only the changed block is compressed again', async () => {
  const entries = Array.from({ length: 5_000 }, (_, index) => ({
    id: BigInt(index),
    text: `{"id":${index}}`,
  }));
  const { blocks } = withEntries([], entries);
  const changed = withEntries(blocks, [{ id: 2_500n, text: undefined }]).blocks;
  const lists = new GzipLists();
  const snapshotOf = (parts: typeof blocks) => ({
    position: { revision: 1n, head: 'x' },
    count: 1,
    byteLength: 99_999,
    replacedBytes: 0,
    chunks: [],
    blocks: parts,
  });
  const before = (await lists.get(snapshotOf(blocks)))!.chunks;
  const after = (await lists.get(snapshotOf(changed)))!.chunks;
  const known = new Set(before.map(({ buffer }) => buffer));
  assert.equal(after.slice(1, -1).filter(({ buffer }) => !known.has(buffer)).length, 1);
});

test('a list is compressed for clients that accept gzip, under its own ETag', async (t) => {
  const { call, store } = await startService(t);
  await place(store, ...Array.from({ length: 700 }, (_, index) => pending(BigInt(index))));
  const plain = await call('GET', ORDERS);
  assert.equal(plain.headers['content-encoding'], undefined);
  assert.equal(plain.headers.vary, 'Accept-Encoding');
  for (const [accepted, coding] of [
    ['', undefined],
    ['identity', undefined],
    ['br, zstd', undefined],
    ['gzip', 'gzip'],
    ['GZip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'gzip'],
    ['gzip;q=0', undefined],
    ['*', 'gzip'],
    ['*;q=0', undefined],
    ['identity;q=0, gzip', 'gzip'],
    ['identity;q=1, gzip;q=0.5', undefined],
    ['gzip;q=0.5, identity;q=0.5', 'gzip'],
  ] as const) {
    const { headers } = await call('GET', ORDERS, { 'accept-encoding': accepted });
    assert.equal(headers['content-encoding'], coding, accepted);
  }
  const answer = await call('GET', ORDERS, { 'accept-encoding': 'gzip' });
  assert.notEqual(answer.headers.etag, plain.headers.etag);
  assert.equal(answer.body, plain.body);
  const head = await call('HEAD', ORDERS, { 'accept-encoding': 'gzip' });
  for (const name of ['etag', 'content-length', 'content-encoding', 'vary']) {
    assert.equal(String(head.headers[name]), String(answer.headers[name]), name);
  }
  for (const accepted of ['gzip', 'identity']) {
    const again = { 'if-none-match': String(answer.headers.etag), 'accept-encoding': accepted };
    const unchanged = await call('GET', ORDERS, again);
    assert.equal(unchanged.status, 304);
    assert.equal(unchanged.headers.etag, answer.headers.etag);
  }
  await call('DELETE', `${ORDERS}/1`);
  const etags = `${plain.headers.etag}, ${answer.headers.etag}`;
  const stale = { 'if-none-match': etags, 'accept-encoding': 'gzip' };
  assert.equal((await call('GET', ORDERS, stale)).status, 200);
});

test('without time left a list is sent uncompressed', async () => {
  const { blocks } = withEntries(
    [],
    Array.from({ length: 500 }, (_, index) => ({ id: BigInt(index), text: '{}' })),
  );
  const position = { revision: 1n, head: 'x' };
  const sizes = { count: 500, byteLength: 1_501, replacedBytes: 0 };
  const compressed = await new GzipLists().get({ position, ...sizes, chunks: [], blocks }, 0);
  assert.equal(compressed, undefined);
});
