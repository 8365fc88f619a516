import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { MAX_STREAMS_PER_KEY } from '../../../src/http/limits.ts';
import { StoreUnavailable } from '../../../src/store/store.ts';
import { pending, place, type Service, startService, testService } from '../../http/harness.ts';

const CHANGES = '/v2/store/changes';

interface Event {
  readonly id: string | undefined;
  readonly type: string;
  readonly data: { readonly revision: number; readonly order: { readonly id: number } };
}

/** An open stream, read event by event. */
class Stream {
  readonly response: Response;
  readonly #events: AsyncGenerator<Event>;
  readonly #controller: AbortController;

  constructor(response: Response, controller: AbortController) {
    this.response = response;
    this.#controller = controller;
    this.#events = eventsIn(response);
  }

  /** The next events, as many as asked for; fewer if the stream ends. */
  async take(count: number): Promise<Event[]> {
    const taken: Event[] = [];
    while (taken.length < count) {
      const { value, done } = await this.#events.next();
      if (done) break;
      taken.push(value);
    }
    return taken;
  }

  close(): void {
    this.#controller.abort();
  }
}

async function* eventsIn(response: Response): AsyncGenerator<Event> {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const fields = Object.fromEntries(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => line.split(/: (.*)/s).slice(0, 2)),
      );
      text = text.slice(end + 2);
      if (fields.data === undefined) continue;
      yield { id: fields.id, type: fields.event, data: JSON.parse(fields.data) };
    }
  }
}

async function open(
  t: TestContext,
  { port, secret }: Pick<Service, 'port' | 'secret'>,
  query = '',
  headers: Record<string, string> = {},
): Promise<Stream> {
  const controller = new AbortController();
  t.after(() => controller.abort());
  const response = await fetch(`http://127.0.0.1:${port}${CHANGES}${query}`, {
    headers: { authorization: `Bearer ${secret}`, accept: 'text/event-stream', ...headers },
    signal: controller.signal,
  });
  return new Stream(response, controller);
}

const briefly = (events: readonly Event[]) =>
  events.map(({ type, data }) => `${type} ${data.order.id}`);

testService('a stream begins with what has happened, and goes on with what happens', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const stream = await open(t, service);
  assert.equal(stream.response.headers.get('content-type'), 'text/event-stream');
  assert.equal(stream.response.headers.get('cache-control'), 'no-store');
  const begun = await stream.take(2);
  assert.deepEqual(briefly(begun), ['placed 1', 'placed 2']);
  await service.store.apply([{ type: 'cancel', id: 1n }]);
  const [cancelled] = await stream.take(1);
  assert.equal(cancelled!.type, 'cancelled');
  // Only the last event of a revision has an id.
  assert.deepEqual(
    [...begun, cancelled!].map(({ id }) => id !== undefined),
    [false, true, true],
  );
  const page = JSON.parse((await service.call('GET', `${CHANGES}?after=${begun[1]!.id}`)).body);
  assert.deepEqual(page.changes, [cancelled!.data]);
});

testService('a stream resumes behind its last event, without gap or repetition', async (t) => {
  const service = await startService(t);
  let lastEventId = '';
  const seen: string[] = [];
  for (let round = 1n; round <= 5n; round += 1n) {
    // One change while no stream is open, and one while it is.
    await place(service.store, pending(2n * round));
    const stream = await open(t, service, '?after=start', { 'last-event-id': lastEventId });
    const [missed] = await stream.take(1);
    await place(service.store, pending(2n * round + 1n));
    const [live] = await stream.take(1);
    seen.push(...briefly([missed!, live!]));
    lastEventId = live!.id!;
    stream.close();
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 10 }, (_, index) => `placed ${index + 2}`),
  );
});

testService(
  'streams that begin at different places all get each change once, in order',
  async (t) => {
    const service = await startService(t);
    const orders = Array.from({ length: 1_500 }, (_, index) => pending(BigInt(index + 1)));
    for (let from = 0; from < 1_500; from += 100) {
      await place(service.store, ...orders.slice(from, from + 100));
    }
    const streams = await Promise.all(
      ['start', 'now', 'start', 'now'].map((after) => open(t, service, `?after=${after}`)),
    );
    for (let from = 0n; from < 10n; from += 1n) {
      await service.store.apply([{ type: 'cancel', id: from + 1n }]);
    }
    const expected = Array.from({ length: 10 }, (_, index) => `cancelled ${index + 1}`);
    for (const [index, stream] of streams.entries()) {
      if (index % 2 === 0) {
        const placed = await stream.take(1_500);
        assert.deepEqual(
          briefly(placed),
          orders.map(({ id }) => `placed ${id}`),
        );
      }
      assert.deepEqual(briefly(await stream.take(10)), expected);
    }
  },
);

test('a stream for which there is no history is 410, and one without a cursor 400', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const page = JSON.parse((await service.call('GET', CHANGES)).body);
  const parts = JSON.parse(Buffer.from(page.next, 'base64url').toString());
  const other = Buffer.from(JSON.stringify(parts.with(5, '1'))).toString('base64url');
  for (const [id, status] of [
    [other, 410],
    ['x', 400],
  ] as const) {
    const { response } = await open(t, service, '', { 'last-event-id': id });
    assert.equal(response.status, status);
    await response.arrayBuffer();
  }
});

test('Accept decides between a page and a stream', async (t) => {
  const { call, port, secret } = await startService(t);
  for (const accept of [
    '',
    '*/*',
    'application/json',
    'application/json, text/event-stream;q=0.5',
  ]) {
    const { headers } = await call('GET', CHANGES, { accept });
    assert.equal(headers['content-type'], 'application/json', accept);
  }
  const stream = await open(t, { port, secret }, '', { accept: 'text/event-stream, */*;q=0.1' });
  assert.equal(stream.response.headers.get('content-type'), 'text/event-stream');
});

testService('a key that is revoked ends its streams, and no others', async (t) => {
  const service = await startService(t);
  const secret = await service.newKey({});
  const [doomed, other] = [await open(t, { ...service, secret }), await open(t, service)];
  const { id } = (await service.store.keys()).find((key) => key.id !== service.key.id)!;
  await service.store.apply([{ type: 'revokeKey', id }]);
  assert.deepEqual(await doomed.take(1), []);
  await place(service.store, pending(1n));
  assert.deepEqual(briefly(await other.take(1)), ['placed 1']);
});

test('the streams of a key are bounded', async (t) => {
  const service = await startService(t);
  const streams: Stream[] = [];
  for (let count = 0; count < MAX_STREAMS_PER_KEY; count += 1) streams.push(await open(t, service));
  const refused = await open(t, service);
  assert.equal(refused.response.status, 503);
  assert.match(await refused.response.text(), /"too_many_streams"/);
  const another = { ...service, secret: await service.newKey({}) };
  assert.equal((await open(t, another)).response.status, 200);
  streams[0]!.close();
  // The place is free once the server has seen the client leave.
  for (;;) {
    const { response } = await open(t, service);
    if (response.status === 200) break;
    await response.arrayBuffer();
  }
});

test('a stop ends streams in good order', async (t) => {
  const service = await startService(t);
  const stream = await open(t, service);
  await place(service.store, pending(1n));
  await stream.take(1);
  const closed = service.server.close();
  assert.deepEqual(await stream.take(1), []);
  await closed;
});

test('a client that does not read its stream does not hold up a stop', async (t) => {
  const service = await startService(t);
  for (let from = 1n; from <= 20_000n; from += 1_000n) {
    await place(
      service.store,
      ...Array.from({ length: 1_000 }, (_, i) => pending(from + BigInt(i))),
    );
  }
  const socket = connect(service.port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  socket.write(
    `GET ${CHANGES} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${service.secret}\r\n\r\n`,
  );
  await once(socket, 'readable');
  const closed = once(socket, 'close');
  await service.server.close();
  socket.resume();
  await closed;
});

test('a client that does not read holds up no other, and gets everything when it reads again', async (t) => {
  const service = await startService(t);
  const socket = connect(service.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    `GET ${CHANGES} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${service.secret}\r\n\r\n`,
  );
  await once(socket, 'readable');
  const reader = await open(t, service);
  const count = 20_000;
  for (let from = 1; from <= count; from += 1_000) {
    const ids = Array.from({ length: 1_000 }, (_, index) => BigInt(from + index));
    await place(service.store, ...ids.map(pending));
  }
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

test('while the store cannot tell, streams stay open and get nothing; then they go on', async (t) => {
  let isDown = false;
  const service = await startService(t, {}, (store) => ({
    ...store,
    feed: (after, limit) =>
      isDown
        ? Promise.reject(new StoreUnavailable('down', 'unreachable'))
        : store.feed(after, limit),
    keys: (digests) =>
      isDown ? Promise.reject(new StoreUnavailable('down', 'unreachable')) : store.keys(digests),
  }));
  const stream = await open(t, service);
  await place(service.store, pending(1n));
  await stream.take(1);
  isDown = true;
  await place(service.store, pending(2n));
  const next = stream.take(1);
  while (!service.log().includes('streams of changes wait')) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  isDown = false;
  assert.deepEqual(briefly(await next), ['placed 2']);
});
