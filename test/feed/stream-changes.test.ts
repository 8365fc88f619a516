import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { newSecret, secretDigest } from '../../src/domain/api-key.ts';
import { STREAM_END_MS, STREAM_KEYS_CHECKED_MS } from '../../src/feed/streams/change-streams.ts';
import type { ChangePage, FeedStart } from '../../src/store/feed.ts';
import { StoreUnavailable } from '../../src/store/store.ts';
import { type Event, openStream, STREAM, type Stream } from '../api/v2/open-stream.ts';
import { pending, place, startService, testService } from '../http/harness.ts';
import { until } from '../postgres.ts';
import { queryDatabase } from '../store/engines.ts';

const CHANGES = '/v2/store/changes';

const briefly = (events: readonly Event[]) =>
  events.map(({ data }) => `${data.type} ${data.order.id}`);

testService('a stream begins with the recorded changes, and continues with new ones', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const stream = await openStream(t, service);
  assert.equal(stream.response.headers.get('content-type'), 'text/event-stream');
  assert.equal(stream.response.headers.get('cache-control'), 'no-store, no-transform');
  const begun = await stream.take(2);
  assert.deepEqual(briefly(begun), ['placed 1', 'placed 2']);
  await service.store.apply([{ type: 'cancel', id: 1n }]);
  const [cancelled] = await stream.take(1);
  assert.deepEqual([cancelled!.event, cancelled!.data.type], ['change', 'cancelled']);
  // Only the last event of a revision has an id.
  assert.deepEqual(
    [...begun, cancelled!].map(({ id }) => id !== undefined),
    [false, true, true],
  );
  const page = JSON.parse((await service.call('GET', `${CHANGES}?after=${begun[1]!.id}`)).body);
  assert.deepEqual(page.changes, [cancelled!.data]);
});

testService('a stream resumes after its last event, without gap or repetition', async (t) => {
  const service = await startService(t);
  let lastEventId = '';
  const seen: string[] = [];
  for (let round = 1n; round <= 5n; round += 1n) {
    // One change while no stream is open, and one while it is.
    await place(service.store, pending(2n * round));
    const stream = await openStream(t, service, '?after=start', { 'last-event-id': lastEventId });
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
      ['start', 'now', 'start', 'now'].map((after) => openStream(t, service, `?after=${after}`)),
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
  for (const [id, status] of [
    [`1-${'f'.repeat(64)}`, 410],
    ['x', 400],
  ] as const) {
    const { response } = await openStream(t, service, '', { 'last-event-id': id });
    assert.equal(response.status, status);
    await response.arrayBuffer();
  }
});

test('a path is a page or a stream, whatever Accept says', async (t) => {
  const { call, port, secret } = await startService(t);
  for (const accept of ['', '*/*', 'application/json', 'text/event-stream']) {
    const { headers } = await call('GET', CHANGES, { accept });
    assert.equal(headers['content-type'], 'application/json', accept);
    const stream = await openStream(t, { port, secret }, '', { accept });
    assert.equal(stream.response.headers.get('content-type'), 'text/event-stream', accept);
    stream.close();
  }
});

testService('a key that is revoked ends all its streams at once, and no others', async (t) => {
  let [isRevoked, checks] = [false, 0];
  const held = Promise.withResolvers<'a further check'>();
  const service = await startService(t, {}, (store) => ({
    ...store,
    // A check may have begun before the revocation; the next one must end what is left.
    keys: async (digests) => {
      if (isRevoked && ++checks > 1) await held.promise;
      return store.keys(digests);
    },
  }));
  const secret = await service.newKey({});
  const doomed: Stream[] = [];
  for (let count = 0; count < 4; count += 1) {
    doomed.push(await openStream(t, { ...service, secret }));
  }
  const other = await openStream(t, service);
  const { id } = (await service.store.keys()).find((key) => key.id !== service.key.id)!;
  await service.store.apply([{ type: 'revokeKey', id }]);
  isRevoked = true;
  const giveUp = setTimeout(() => held.resolve('a further check'), 10_000);
  const ended = Promise.all(doomed.map((stream) => stream.take(1)));
  assert.deepEqual(await Promise.race([ended, held.promise]), [[], [], [], []]);
  clearTimeout(giveUp);
  held.resolve('a further check');
  // Within a second.
  assert.ok(STREAM_KEYS_CHECKED_MS + STREAM_END_MS < 1_000);
  await place(service.store, pending(1n));
  assert.deepEqual(briefly(await other.take(1)), ['placed 1']);
});

test('the streams of a key are bounded', async (t) => {
  const service = await startService(t);
  const streams: Stream[] = [];
  for (let count = 0; count < 100; count += 1) streams.push(await openStream(t, service));
  const refused = await openStream(t, service);
  assert.equal(refused.response.status, 429);
  assert.equal(refused.response.headers.get('retry-after'), '1');
  assert.match(await refused.response.text(), /"stream_limit_reached"/);
  const another = { ...service, secret: await service.newKey({}) };
  assert.equal((await openStream(t, another)).response.status, 200);
  streams[0]!.close();
  // The place is free once the server has seen the client leave.
  for (;;) {
    const { response } = await openStream(t, service);
    if (response.status === 200) break;
    await response.arrayBuffer();
  }
});

test('shutdown ends streams gracefully', async (t) => {
  const service = await startService(t);
  const streams = [await openStream(t, service), await openStream(t, service)];
  await place(service.store, pending(1n));
  for (const stream of streams) await stream.take(1);
  const closed = service.server.close();
  for (const stream of streams) assert.deepEqual(await stream.take(1), []);
  await closed;
});

test('a stream without changes has a comment every 15 seconds', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const service = await startService(t);
  const { response } = await openStream(t, service, '?after=now');
  t.mock.timers.tick(60_000);
  t.mock.timers.reset();
  const closed = service.server.close();
  assert.match(await response.text(), /^retry: 1000\nid: \S+\n\n(?::\n\n){4}$/);
  await closed;
});

test('while the store is unavailable, streams stay open without events, and then continue', async (t) => {
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
  const stream = await openStream(t, service);
  await place(service.store, pending(1n));
  await stream.take(1);
  isDown = true;
  await place(service.store, pending(2n));
  const next = stream.take(1);
  while (!service.log().includes('changes cannot be read for streams')) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  isDown = false;
  assert.deepEqual(briefly(await next), ['placed 2']);
});

test('once the store was moved, streams end, and no request is answered from it', async (t) => {
  const service = await startService(t);
  const stream = await openStream(t, service, '?after=now');
  await queryDatabase(service.url, "UPDATE store SET moved_to = 'elsewhere'");
  assert.deepEqual(await stream.take(1), []);
  for (const path of ['/v2/key', '/v2/store', `${STREAM}?after=now`]) {
    const secret = newSecret('production');
    const { status } = await service.call('GET', path, { authorization: `Bearer ${secret}` });
    assert.equal(status, 503, path);
  }
});

test('Last-Event-ID takes the place of the cursor in the query, and is sent once', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { next } = JSON.parse((await service.call('GET', CHANGES)).body);
  await place(service.store, pending(2n));
  const stream = await openStream(t, service, '?after=now', { 'last-event-id': next });
  assert.deepEqual(briefly(await stream.take(1)), ['placed 2']);
  const socket = connect(service.port, '127.0.0.1');
  socket.write(
    `GET ${STREAM} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
      `Authorization: Bearer ${service.secret}\r\nLast-Event-ID: ${next}\r\nLast-Event-ID: ${next}\r\n\r\n`,
  );
  let text = '';
  for await (const chunk of socket.setEncoding('utf8')) text += chunk;
  assert.match(text, /^HTTP\/1\.1 400 /);
  assert.match(text, /"parameter_invalid".*"parameter":"Last-Event-ID"/);
});

test('a limit does not apply to a stream', async (t) => {
  const { call } = await startService(t);
  const { status, body } = await call('GET', `${STREAM}?limit=5`);
  assert.equal(status, 400);
  assert.equal(JSON.parse(body).errors[0].parameter, 'limit');
});

test('a stream begins with the id of its beginning, for clients that get no event', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  for (const [after, later, expected] of [
    ['start', 2n, ['placed 1', 'placed 2']],
    ['now', 3n, ['placed 3']],
  ] as const) {
    const { response } = await openStream(t, service, `?after=${after}`);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('\n\n')) text += (await reader.read()).value;
    await reader.cancel();
    const id = /^id: (.*)$/m.exec(text.slice(0, text.indexOf('\n\n')))?.[1];
    await place(service.store, pending(later));
    const resumed = await openStream(t, service, '', { 'last-event-id': id! });
    assert.deepEqual(briefly(await resumed.take(expected.length)), expected, after);
  }
});

test('a HEAD request gets the headers of a stream, and then the end of its connection', async (t) => {
  const service = await startService(t);
  const socket = connect(service.port, '127.0.0.1');
  socket.write(
    `HEAD ${STREAM} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.secret}\r\n\r\n`,
  );
  let text = '';
  for await (const chunk of socket.setEncoding('utf8')) text += chunk;
  assert.match(text, /^HTTP\/1\.1 200 .*\r\ncontent-type: text\/event-stream\r\n.*\r\n\r\n$/is);
});

testService(
  'when the store has lost changes that were streamed, streams end, and resuming them is 410',
  async (t) => {
    const service = await startService(t);
    await place(service.store, pending(1n));
    const stream = await openStream(t, service);
    await place(service.store, pending(2n));
    const [, lost] = await stream.take(2);
    // As after a failover to a server that did not have the last transaction.
    for (const sql of [
      'UPDATE store SET revision = 1, head = (SELECT head FROM order_events WHERE revision = 1)',
      'DELETE FROM order_events WHERE revision = 2',
      'DELETE FROM orders WHERE revision = 2',
    ]) {
      await queryDatabase(service.url, sql);
    }
    assert.deepEqual(await stream.take(1), []);
    const { response } = await openStream(t, service, '', { 'last-event-id': lost!.id! });
    assert.equal(response.status, 410);
    await response.arrayBuffer();
  },
);

test('a stream that is behind the others when it is opened misses nothing', async (t) => {
  let release = () => {};
  let reading: Promise<ChangePage | undefined> | undefined;
  const service = await startService(t, {}, (store) => ({
    ...store,
    feed: async (after, limit) => {
      const page = store.feed(after, limit);
      if (after !== 'start') return page;
      // What was read reaches the stream only when others have later changes.
      reading = page;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return page;
    },
  }));
  await place(service.store, pending(1n));
  const first = await openStream(t, service, '?after=now');
  const opening = openStream(t, service, '?after=start');
  await until('a read', () => reading !== undefined);
  await reading;
  await place(service.store, pending(2n));
  await first.take(1);
  release();
  const second = await opening;
  await place(service.store, pending(3n));
  assert.deepEqual(briefly(await second.take(3)), ['placed 1', 'placed 2', 'placed 3']);
});

test('a stream that is ahead of the others when it is opened gets no change again', async (t) => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let [isHolding, isHeld] = [false, false];
  const service = await startService(t, {}, (store) => ({
    ...store,
    feed: async (after, limit) => {
      const page = await store.feed(after, limit);
      if (after === 'start' || !isHolding) return page;
      // What was read for the live streams reaches them only when another one has later changes.
      isHeld = true;
      await held;
      return page;
    },
  }));
  await place(service.store, pending(1n));
  const first = await openStream(t, service, '?after=now');
  isHolding = true;
  await until('a held read', () => isHeld);
  await place(service.store, pending(2n));
  const second = await openStream(t, service, '?after=start');
  assert.deepEqual(briefly(await second.take(2)), ['placed 1', 'placed 2']);
  release();
  assert.deepEqual(briefly(await first.take(1)), ['placed 2']);
  await place(service.store, pending(3n));
  assert.deepEqual(briefly(await second.take(1)), ['placed 3']);
});

test('a stream that is opened while the service stops ends at once', async (t) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isReading = false;
  const service = await startService(t, {}, (store) => ({
    ...store,
    feed: async (after, limit) => {
      isReading = true;
      await held;
      return store.feed(after, limit);
    },
  }));
  const opening = openStream(t, service);
  await until('a read', () => isReading);
  const closed = service.server.close();
  release();
  assert.deepEqual(await (await opening).take(1), []);
  await closed;
});

test('a stream whose client has left or got a 503 is not read for any more', async (t) => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const reads: FeedStart[] = [];
  const service = await startService(t, {}, (store) => ({
    ...store,
    feed: async (after, limit) => {
      reads.push(after);
      if (reads.length === 1) await held;
      return store.feed(after, limit);
    },
  }));
  const ask = (after: string) => service.call('GET', `${STREAM}?after=${after}`);
  const answers = await Promise.all([ask('start'), ask('start'), ask('start')]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [503, 503, 503],
  );
  release();
  const stream = await openStream(t, service, '?after=now');
  assert.deepEqual(reads, ['start', 'now']);
  stream.close();
});

test('for a client that does not read, a stream buffers 256 KiB and a page', async (t) => {
  const service = await startService(t);
  const socket = connect(service.port, '127.0.0.1');
  t.after(() => socket.destroy());
  const request = `GET ${STREAM}?after=now HTTP/1.1\r\nHost: x\r\n`;
  socket.write(`${request}Authorization: Bearer ${service.secret}\r\n\r\n`);
  await once(socket, 'readable');
  const other = await openStream(t, service, '?after=now');
  // More than the buffers of both sockets: 12 MB, of which a page has 1.5.
  const reference = '\u{10ffff}'.repeat(255);
  for (let first = 1; first < 4_000; first += 500) {
    const orders = Array.from({ length: 500 }, (_, index) => pending(BigInt(first + index)));
    await place(service.store, ...orders.map((order) => ({ ...order, reference })));
    // Each page is new when it is sent.
    await other.take(500);
  }
  const text = await service.metrics.registry.metrics();
  const waiting = Number(/^store_orders_stream_backlog_bytes (\d+)$/m.exec(text)![1]);
  assert.ok(waiting > 0 && waiting < 2_500_000, `${waiting} bytes`);
});

test('keys are checked, too, while live streams catch up with the store', async (t) => {
  let isBehind = false;
  const service = await startService(t, {}, (store) => ({
    ...store,
    // The store is always ahead of the streams.
    feed: async (after, limit) => {
      const page = await store.feed(after, limit);
      if (isBehind) await new Promise((resolve) => setTimeout(resolve, 20));
      return page && (isBehind ? { ...page, isMore: true } : page);
    },
  }));
  const stream = await openStream(t, service, '?after=now');
  await place(service.store, pending(1n));
  assert.deepEqual(briefly(await stream.take(1)), ['placed 1']);
  isBehind = true;
  await service.store.apply([{ type: 'revokeKey', id: service.key.id }]);
  assert.deepEqual(await stream.take(1), []);
  isBehind = false;
});

test('a stream that is opened while the keys of others are checked is not ended', async (t) => {
  let isHeld = false;
  let checks = 0;
  let release = () => {};
  const service = await startService(t, {}, (store) => ({
    ...store,
    keys: async (digests) => {
      const isFirst = digests?.some(
        (each) => Buffer.compare(each, secretDigest(service.secret)) === 0,
      );
      const keys = await store.keys(digests);
      if (isHeld && isFirst) {
        checks += 1;
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      }
      return keys;
    },
  }));
  const first = await openStream(t, service, '?after=now');
  const secret = await service.newKey({});
  isHeld = true;
  await until('a check of the keys', () => checks > 0);
  const other = await openStream(t, { ...service, secret }, '?after=now');
  isHeld = false;
  release();
  await place(service.store, pending(1n));
  assert.deepEqual(briefly(await other.take(1)), ['placed 1']);
  assert.deepEqual(briefly(await first.take(1)), ['placed 1']);
});
