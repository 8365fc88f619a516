import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Duplex } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { ListSender } from '../../../src/http/list/sender.ts';
import type { Snapshot } from '../../../src/listing/listing.ts';

const MEGABYTE = 1024 * 1024;
/** More than the buffers of a loopback connection take, so that a reader who stops is noticed. */
const CHUNKS = 32;

/** A list of 32 MB of which each version has `changed` new chunks. */
function versions(count: number, changed: number): Snapshot[] {
  let chunks = Array.from({ length: CHUNKS }, () => Buffer.alloc(MEGABYTE, 'x'));
  return Array.from({ length: count }, (_, index) => {
    chunks = chunks.map((chunk, at) => (at < changed ? Buffer.alloc(MEGABYTE, 'y') : chunk));
    const replacedBytes = index * changed * MEGABYTE;
    const byteLength = CHUNKS * MEGABYTE;
    const moment = { storeId: 'x', revision: BigInt(index), mark: 0n };
    return { moment, count: 1, byteLength, replacedBytes, chunks, blocks: [] };
  });
}

/** Serves snapshots one after another to readers who do not read. */
async function stalled(t: TestContext, readers: ListSender, snapshots: readonly Snapshot[]) {
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    const snapshot = snapshots[responses.length]!;
    responses.push(response);
    response.writeHead(200, { 'content-length': snapshot.byteLength });
    readers.send(response, snapshot);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  for (const _ of snapshots) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'readable');
  }
  return responses;
}

test('slow readers of lists that differ little all get theirs', async (t) => {
  const responses = await stalled(t, new ListSender(16 * MEGABYTE, () => {}), versions(12, 1));
  assert.deepEqual(
    responses.map(({ destroyed }) => destroyed),
    Array(12).fill(false),
  );
});

test('slow readers that hold too much of old lists are cut off, the furthest behind first', async (t) => {
  const responses = await stalled(t, new ListSender(16 * MEGABYTE, () => {}), versions(8, 4));
  // Between the newest and the fifth newest 16 MB were replaced; the others hold more.
  assert.deepEqual(
    responses.map(({ destroyed }) => destroyed),
    [true, true, true, false, false, false, false, false],
  );
});

test('a reader who takes all there is leaves everybody else their turns', async () => {
  const [snapshot] = versions(1, 0);
  let turns = 0;
  let isOver = false;
  const countTurns = () => {
    turns += 1;
    if (!isOver) setImmediate(countTurns);
  };
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': snapshot!.byteLength });
    new ListSender(MEGABYTE, () => {}).send(response, snapshot!);
    response.on('finish', () => {
      isOver = true;
    });
    countTurns();
  });
  const takesAll = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() });
  server.emit('connection', takesAll);
  takesAll.push('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  await once(takesAll, 'finish');
  assert.ok(turns >= CHUNKS, `${CHUNKS} chunks in ${turns} turns of the event loop`);
});

test('a list whose client left before it was ready holds no snapshot', async (t) => {
  const readers = new ListSender(16 * MEGABYTE, () => {});
  const [old, ...newer] = versions(3, 8);
  const gone = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => {
    response.once('close', () => gone.resolve(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(server, 'request');
  socket.resetAndDestroy();
  const response = await gone.promise;
  readers.send(response, old!);
  // Were the old one held, the reader of the next one would be beyond the bound, and be cut off.
  const responses = await stalled(t, readers, newer);
  assert.deepEqual(
    responses.map(({ destroyed }) => destroyed),
    [false, false],
  );
  assert.equal(response.listenerCount('drain'), 0);
});

test('lists that nobody reads any more do not count against a slow reader', async (t) => {
  const lists = versions(11, 4);
  const readers = new ListSender(33 * MEGABYTE, () => {});
  const [slow] = await stalled(t, readers, lists.slice(0, 1));
  for (const list of lists.slice(1)) {
    const [response] = await stalled(t, readers, [list]);
    response!.destroy();
    await once(response!, 'close');
  }
  assert.equal(slow!.destroyed, false);
});
