import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Duplex } from 'node:stream';
import { type TestContext, test } from 'node:test';
import type { Snapshot } from '../../src/listing/listing.ts';
import { ListSender } from '../../src/listing/sender.ts';

const MEGABYTE = 1024 * 1024;
/** More than the buffers of a loopback connection hold, so that a stopped reader is noticed. */
const CHUNKS = 32;

/** Versions of a list of 32 MB, each with `changed` new chunks. */
function versions(count: number, changed: number): Snapshot[] {
  let chunks = Array.from({ length: CHUNKS }, () => Buffer.alloc(MEGABYTE, 'x'));
  return Array.from({ length: count }, (_, index) => {
    chunks = chunks.map((chunk, at) => (at < changed ? Buffer.alloc(MEGABYTE, 'y') : chunk));
    const replacedBytes = index * changed * MEGABYTE;
    const byteLength = CHUNKS * MEGABYTE;
    const position = { revision: BigInt(index), head: 'x' };
    return { position, count: 1, byteLength, replacedBytes, chunks, blocks: [] };
  });
}

/** Sends each snapshot to a new client that stops reading at once. */
async function sendToStalledClients(
  t: TestContext,
  sender: ListSender,
  snapshots: readonly Snapshot[],
) {
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    const snapshot = snapshots[responses.length]!;
    responses.push(response);
    response.writeHead(200, { 'content-length': snapshot.byteLength });
    sender.send(response, snapshot);
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

test('slow readers stay connected while their lists differ little from the newest', async (t) => {
  const responses = await sendToStalledClients(
    t,
    new ListSender(() => {}, 16 * MEGABYTE),
    versions(12, 1),
  );
  assert.deepEqual(
    responses.map(({ destroyed }) => destroyed),
    Array(12).fill(false),
  );
});

test('slow readers that retain too much of old lists are disconnected, oldest list first', async (t) => {
  const responses = await sendToStalledClients(
    t,
    new ListSender(() => {}, 16 * MEGABYTE),
    // Each by two clients.
    versions(8, 4).flatMap((version) => [version, version]),
  );
  // 16 MB were replaced between the fifth newest list and the newest; older lists retain more.
  assert.deepEqual(
    responses.map(({ destroyed }) => destroyed),
    [...Array(6).fill(true), ...Array(10).fill(false)],
  );
});

test('sending to a fast reader yields to the event loop after each chunk', async () => {
  const [snapshot] = versions(1, 0);
  let turns = 0;
  let isOver = false;
  const countTurns = () => {
    turns += 1;
    if (!isOver) setImmediate(countTurns);
  };
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': snapshot!.byteLength });
    new ListSender(() => {}, MEGABYTE).send(response, snapshot!);
    response.on('finish', () => {
      isOver = true;
    });
    countTurns();
  });
  const fastReader = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() });
  server.emit('connection', fastReader);
  fastReader.push('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  await once(fastReader, 'finish');
  assert.ok(turns >= CHUNKS, `${CHUNKS} chunks in ${turns} turns of the event loop`);
});

test('a list whose client disconnected before it was sent retains no snapshot', async (t) => {
  const sender = new ListSender(() => {}, 16 * MEGABYTE);
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
  sender.send(response, old!);
  // If the old snapshot were retained, the next reader would exceed the limit and be disconnected.
  const responses = await sendToStalledClients(t, sender, newer);
  assert.deepEqual(
    responses.map(({ destroyed }) => destroyed),
    [false, false],
  );
  assert.equal(response.listenerCount('drain'), 0);
});

test('lists of disconnected clients do not count against a slow reader', async (t) => {
  const lists = versions(11, 4);
  const readers = new ListSender(() => {}, 33 * MEGABYTE);
  const [slow] = await sendToStalledClients(t, readers, lists.slice(0, 1));
  for (const list of lists.slice(1)) {
    const [response] = await sendToStalledClients(t, readers, [list]);
    response!.destroy();
    await once(response!, 'close');
  }
  assert.equal(slow!.destroyed, false);
});
