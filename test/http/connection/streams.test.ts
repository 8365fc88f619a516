import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { MAX_STREAM_BACKLOG_BYTES } from '../../../src/feed/streams/change-streams.ts';
import { IDLE_TIMEOUT_MS } from '../../../src/http/limits.ts';
import type { Store } from '../../../src/store/store.ts';
import { openStream, STREAM } from '../../api/v2/open-stream.ts';
import { pending, place, placeInBatches, type Service, startService } from '../harness.ts';
import { requestsOf } from './raw-connection.ts';

/** Places orders with the ids from `from`. */
const placeFrom = (store: Store, from: number, count: number) =>
  placeInBatches(
    store,
    Array.from({ length: count }, (_, index) => pending(BigInt(from + index))),
  );

test('a client that does not read its stream does not delay shutdown', async (t) => {
  const service = await startService(t);
  await placeFrom(service.store, 1, 20_000);
  const socket = connect(service.port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  socket.write(requestsOf(service)('GET', STREAM));
  await once(socket, 'readable');
  const closed = once(socket, 'close');
  await service.server.close();
  socket.resume();
  await closed;
});

test('a client that does not read delays no other, and gets all changes when it reads again', async (t) => {
  const service = await startService(t);
  const socket = connect(service.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(requestsOf(service)('GET', STREAM));
  await once(socket, 'readable');
  const reader = await openStream(t, service);
  const count = 20_000;
  await placeFrom(service.store, 1, count);
  assert.equal((await reader.take(count)).length, count);
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  const received = () => [...text.matchAll(/"order":\{"id":(\d+)/g)].map(([, id]) => Number(id));
  while (received().length < count) await once(socket, 'data');
  socket.destroy();
  assert.deepEqual(
    received(),
    Array.from({ length: count }, (_, index) => index + 1),
  );
});

test('little memory is used for a client that does not read, wherever its stream begins', async (t) => {
  const service = await startService(t);
  const [count, atOnce] = [40_000, 2_000];
  await placeFrom(service.store, 1, count);
  // One client begins with what has happened, the other with what happens.
  const responses = [
    await openUnread(t, service, '?after=start'),
    await openUnread(t, service, '?after=now'),
  ];
  const reader = await openStream(t, service, '?after=now');
  for (let from = count + 1; from <= 2 * count; from += atOnce) {
    await placeFrom(service.store, from, atOnce);
    await reader.take(atOnce);
    for (const { writableLength } of responses) {
      assert.ok(writableLength < 4 * MAX_STREAM_BACKLOG_BYTES, `${writableLength} bytes wait`);
    }
  }
});

/** Opens a stream whose client does not read it, and returns its response in the server. */
async function openUnread(
  t: TestContext,
  { port, secret }: Pick<Service, 'port' | 'secret'>,
  query = '',
): Promise<ServerResponse> {
  const started = channel('http.server.request.start');
  let response: ServerResponse | undefined;
  const onRequest = (message: unknown) => {
    response ??= (message as { response: ServerResponse }).response;
  };
  started.subscribe(onRequest);
  const socket = connect(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  socket.write(requestsOf({ secret })('GET', `${STREAM}${query}`));
  await once(socket, 'readable');
  started.unsubscribe(onRequest);
  return response!;
}

// Without the check of keys, the connection would be closed only when it counts as stalled: IDLE_TIMEOUT_MS.
const SOON = { timeout: IDLE_TIMEOUT_MS / 2 };

test(
  'a key that is revoked ends its stream also if the client does not read it',
  SOON,
  async (t) => {
    const service = await startService(t);
    // More than the buffers of the connection take.
    await placeFrom(service.store, 1, 60_000);
    const secret = await service.newKey({});
    const { id } = (await service.store.keys()).find((key) => key.id !== service.key.id)!;
    const response = await openUnread(t, { ...service, secret });
    for (let before = 0; before === 0 || before !== response.writableLength; ) {
      before = response.writableLength;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const closed = once(response, 'close');
    await service.store.apply([{ type: 'revokeKey', id }]);
    await closed;
    assert.equal(response.writableFinished, false, 'the client has read everything');
  },
);

test('a client that closes its side of the connection ends its stream', async (t) => {
  const service = await startService(t);
  const socket = connect(service.port, '127.0.0.1');
  socket.write(requestsOf(service)('GET', STREAM));
  await once(socket, 'data');
  const closed = once(socket, 'close');
  socket.end();
  await closed;
});

test(
  'requests after the one for a stream are never begun, and do not hide that the client closes its side',
  SOON,
  async (t) => {
    const service = await startService(t);
    await place(service.store, pending(1n));
    const request = requestsOf(service);
    const cancel = request('DELETE', '/v1/store/orders/1');
    const socket = connect(service.port, '127.0.0.1');
    socket.write(request('GET', STREAM) + cancel);
    await once(socket, 'data');
    const closed = once(socket, 'close');
    socket.end(cancel);
    await closed;
    const { body } = await service.call('GET', '/v1/store/orders');
    assert.equal(JSON.parse(body).length, 1);
  },
);

test('a stream that is refused is the last response of its connection too', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const request = requestsOf(service);
  const lost = `${STREAM}?after=9-${'0'.repeat(64)}`;
  const [answer, ...others] = await service.answersTo(
    request('GET', lost) + request('DELETE', '/v1/store/orders/1'),
  );
  assert.deepEqual([answer!.status, answer!.headers.connection, others], [410, 'close', []]);
  const { body } = await service.call('GET', '/v1/store/orders');
  assert.equal(JSON.parse(body).length, 1);
});
