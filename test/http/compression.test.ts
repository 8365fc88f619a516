import assert from 'node:assert/strict';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { crc32, gunzip, zstdDecompress } from 'node:zlib';
import fc from 'fast-check';
import { bestCoding, CODINGS } from '../../src/http/accept-encoding.ts';
import { CompressedLists } from '../../src/http/compressed-lists.ts';
import { combinedCrc32 } from '../../src/http/crc32.ts';
import { withEntries } from '../../src/orders/blocks.ts';
import { Listing } from '../../src/orders/listing.ts';
import type { Order } from '../../src/orders/order.ts';
import { pending, place, startService, testService } from './harness.ts';

const ORDERS = '/v1/store/orders';
const DECODE = { gzip: promisify(gunzip), zstd: promisify(zstdDecompress) };

test('the coding is the one that the client likes best (RFC 9110, section 12.5.3)', () => {
  for (const [field, expected] of [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['br', undefined],
    ['gzip', 'gzip'],
    ['GZip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['zstd', 'zstd'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip;q=1.0, zstd;q=0.5', 'gzip'],
    ['gzip ; q=0.2 , zstd;Q=0.3', 'zstd'],
    ['gzip;q=0', undefined],
    ['gzip;q=0.000, zstd;q=0', undefined],
    ['*', 'zstd'],
    ['*;q=0.1, zstd;q=0', 'gzip'],
    ['*;q=0', undefined],
    ['identity;q=0, gzip', 'gzip'],
    ['identity;q=1, gzip;q=0.5', undefined],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['gzip;q=2', undefined],
    ['gzip;q=0.1234', undefined],
    ['gzip, "zstd"', undefined],
    [', gzip,,', 'gzip'],
  ] as const) {
    assert.equal(bestCoding(field), expected, String(field));
  }
});

test('checksums of pieces combine into the one of the whole', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), fc.uint8Array({ maxLength: 70_000 }), (a, b) => {
      const whole = crc32(Buffer.concat([a, b]));
      assert.equal(combinedCrc32(crc32(a), crc32(b), b.length), whole);
    }),
  );
});

test('any list comes out of any coding as it went in, by one member of gzip', async () => {
  const lists = new CompressedLists();
  const ids = fc.uniqueArray(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), {
    maxLength: 3_000,
    size: 'max',
  });
  await fc.assert(
    fc.asyncProperty(ids, async (chosen) => {
      const orders = chosen.sort((a, b) => (a < b ? -1 : 1)).map((id): Order => pending(id));
      const listing = new Listing({
        changes: async (_since, visit) => {
          visit(orders);
          return { storeId: 'x', revision: 1n, mark: 0n };
        },
      });
      const snapshot = await listing.current();
      const text = Buffer.concat(snapshot.chunks);
      for (const coding of CODINGS) {
        const { coding: used, list } = await lists.best(snapshot, coding);
        const sent = Buffer.concat(list.chunks);
        assert.equal(sent.length, list.byteLength);
        assert.equal(used, text.length < 1_024 ? undefined : coding);
        const decoded = used === undefined ? sent : await DECODE[coding](sent);
        assert.ok(text.equals(decoded));
        // Only one member: a second one would begin with the magic number of gzip.
        if (used === 'gzip') assert.equal(sent.indexOf(Buffer.from([0x1f, 0x8b, 8]), 1), -1);
      }
    }),
    { numRuns: 20 },
  );
});

test('after a change only its block is compressed again', async () => {
  const entries = Array.from({ length: 5_000 }, (_, index) => ({
    id: BigInt(index),
    text: `{"id":${index}}`,
  }));
  const { blocks } = withEntries([], entries);
  const changed = withEntries(blocks, [{ id: 2_500n, text: undefined }]).blocks;
  const lists = new CompressedLists();
  const snapshotOf = (parts: typeof blocks) => ({
    moment: { storeId: 'x', revision: 1n, mark: 0n },
    count: 1,
    byteLength: 99_999,
    replacedBytes: 0,
    chunks: [],
    blocks: parts,
  });
  const before = (await lists.best(snapshotOf(blocks), 'zstd')).list.chunks;
  const after = (await lists.best(snapshotOf(changed), 'zstd')).list.chunks;
  const known = new Set(before.map(({ buffer }) => buffer));
  assert.equal(after.slice(1, -1).filter(({ buffer }) => !known.has(buffer)).length, 1);
});

testService(
  'a list is compressed for those who accept it, each form under its own ETag',
  async (t) => {
    const { call, store } = await startService(t);
    await place(store, ...Array.from({ length: 700 }, (_, index) => pending(BigInt(index))));
    const plain = await call('GET', ORDERS);
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(plain.headers.vary, 'Accept-Encoding');
    const etags = new Set([plain.headers.etag]);
    for (const coding of CODINGS) {
      const answer = await call('GET', ORDERS, { 'accept-encoding': coding });
      assert.equal(answer.headers['content-encoding'], coding);
      assert.equal(answer.headers.vary, 'Accept-Encoding');
      const head = await call('HEAD', ORDERS, { 'accept-encoding': coding });
      for (const name of ['etag', 'content-length', 'content-encoding', 'vary']) {
        assert.equal(String(head.headers[name]), String(answer.headers[name]), name);
      }
      etags.add(answer.headers.etag);
      for (const accepted of [coding, 'identity']) {
        const again = { 'if-none-match': String(answer.headers.etag), 'accept-encoding': accepted };
        const unchanged = await call('GET', ORDERS, again);
        assert.equal(unchanged.status, 304);
        assert.equal(unchanged.headers.etag, answer.headers.etag);
      }
    }
    assert.equal(etags.size, 3);
    await call('DELETE', `${ORDERS}/1`);
    const stale = { 'if-none-match': [...etags].join(', '), 'accept-encoding': 'gzip' };
    assert.equal((await call('GET', ORDERS, stale)).status, 200);
  },
);
