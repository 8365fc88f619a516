import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Batch,
  ForbiddenError,
  GoneError,
  type OrderRecord,
  StoreOrders,
} from '../../client/src/client.ts';
import { pending, place, type Service, startService } from '../http/harness.ts';
import { until } from '../postgres.ts';

const clientOf = ({ port, secret }: Service, send: typeof fetch = fetch) =>
  new StoreOrders({ baseUrl: `http://127.0.0.1:${port}`, apiKey: secret, fetch: send });

/** Like fetch, but each stream is cut off after some bytes, wherever that is. */
function cuttingStreams(): { fetch: typeof fetch; cuts: () => number } {
  let cuts = 0;
  return {
    cuts: () => cuts,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
      let left = 100 + ((cuts * 331) % 900);
      const cut = new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          controller.enqueue(chunk.subarray(0, left));
          left -= chunk.length;
          if (left > 0) return;
          cuts += 1;
          controller.error(new TypeError('terminated'));
        },
      });
      return new Response(response.body!.pipeThrough(cut), response);
    },
  };
}

/** Reads until `isEnd` returns true for what was read so far. */
async function readUntil(
  batches: AsyncIterable<Batch>,
  isEnd: (read: readonly Batch[]) => boolean,
) {
  const read: Batch[] = [];
  for await (const batch of batches) {
    read.push(batch);
    if (isEnd(read)) break;
  }
  return read;
}

const changesOf = (batches: readonly Batch[]) => batches.flatMap(({ changes }) => changes);

test('changes are followed without gaps and repetitions, however often the stream is cut off', async (t) => {
  const service = await startService(t);
  await place(service.store, ...Array.from({ length: 700 }, (_, id) => pending(BigInt(id))));
  const { fetch: send, cuts } = cuttingStreams();
  const live: boolean[] = [];
  const following = readUntil(
    clientOf(service, send).changes({ onLive: (isLive) => live.push(isLive) }),
    (read) => changesOf(read).some(({ order }) => order.id === 699n && order.status === 'shipped'),
  );
  let count = 0;
  for (; cuts() < 4; count += 1) {
    await service.store.apply([{ type: 'cancel', id: BigInt(count) }]);
    await pause(10);
  }
  await service.store.apply([{ type: 'ship', id: 699n, at: 0 }]);
  assert.deepEqual(
    changesOf(await following).map(({ type, order }) => `${type} ${order.id}`),
    [
      ...Array.from({ length: 700 }, (_, id) => `placed ${id}`),
      ...Array.from({ length: count }, (_, id) => `cancelled ${id}`),
      'shipped 699',
    ],
  );
  assert.ok(live.includes(true) && live.includes(false));
});

test('following resumes from the cursor of a batch', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const client = clientOf(service);
  const [first] = await readUntil(client.changes(), () => true);
  await place(service.store, pending(2n));
  const [second] = await readUntil(client.changes({ after: first!.cursor }), () => true);
  assert.deepEqual(
    second!.changes.map(({ order }) => order.id),
    [2n],
  );
});

test('following ends with a permanent error, and when its signal is aborted', async (t) => {
  const [service, other] = [await startService(t), await startService(t)];
  await place(service.store, pending(1n));
  const [{ cursor }] = (await readUntil(clientOf(service).changes(), () => true)) as [Batch];
  await assert.rejects(clientOf(other).changes({ after: cursor }).next(), GoneError);
  const apiKey = await service.newKey({ scopes: ['orders:read'] });
  const readOnly = new StoreOrders({ baseUrl: `http://127.0.0.1:${service.port}`, apiKey });
  await assert.rejects(readOnly.changes().next(), ForbiddenError);

  const ending = new AbortController();
  const reason = new Error('enough');
  const following = clientOf(service).changes({
    ...{ after: 'now', signal: ending.signal },
    onLive: (isLive) => isLive && ending.abort(reason),
  });
  await assert.rejects(following.next(), reason);
});

/** All orders of a store, read from it. */
async function ordersOf(service: Service): Promise<Map<bigint, OrderRecord>> {
  const orders = await Array.fromAsync(clientOf(service).orders());
  return new Map(orders.map((order) => [order.id, order]));
}

test('a replica is exact in every step, while orders change and when the store is replaced', async (t) => {
  const [service, other] = [await startService(t), await startService(t)];
  await place(service.store, ...Array.from({ length: 1_200 }, (_, id) => pending(BigInt(id))));
  await place(other.store, pending(5n));
  let port = service.port;
  let reads = 0;
  const client = clientOf(service, async (input, init) => {
    // Orders that were read already, and such that were not, change between the pages.
    reads += 1;
    if (reads === 2) {
      await service.store.apply([
        { type: 'cancel', id: 3n },
        { type: 'cancel', id: 1_150n },
        { type: 'ship', id: 4n, at: 0 },
        { type: 'insertOrder', order: pending(2_000n) },
      ]);
      // More than a page of changes.
      for (const from of [3_000, 4_000]) {
        const ids = Array.from({ length: 500 }, (_, index) => BigInt(from + index));
        await place(service.store, ...ids.map(pending));
      }
    }
    const url = String(input).replace(String(service.port), String(port));
    const headers = new Headers(init?.headers);
    if (port === other.port) headers.set('authorization', `Bearer ${other.secret}`);
    return fetch(url, { ...init, headers });
  });
  const replica = client.replica();
  const first = (await replica.next()).value!;
  assert.equal(first.changes, undefined);
  assert.deepEqual(new Map(first.orders), await ordersOf(service));

  await service.store.apply([{ type: 'cancel', id: 7n }]);
  const second = (await replica.next()).value!;
  assert.deepEqual(
    second.changes?.map(({ order }) => order.id),
    [7n],
  );
  assert.deepEqual(new Map(second.orders), await ordersOf(service));
  assert.equal(second.revision, (await service.store.status()).revision);

  port = other.port;
  const third = replica.next();
  await service.server.close();
  assert.deepEqual(new Map((await third).value!.orders), await ordersOf(other));
  await replica.return();
});

test('changes can be filtered, and are followed from the same cursors', async (t) => {
  const service = await startService(t);
  const pet = (id: bigint) => ({ ...pending(id), petId: id % 2n });
  await place(service.store, pet(1n), pet(2n), pet(3n));
  const client = clientOf(service);
  const lives: boolean[] = [];
  const following = readUntil(
    client.changes({
      petId: 1n,
      type: ['placed', 'cancelled'],
      onLive: (live) => lives.push(live),
    }),
    (read) => changesOf(read).length === 3,
  );
  await until('a state', () => lives.length > 0);
  await service.store.apply([{ type: 'cancel', id: 2n }]);
  await service.store.apply([{ type: 'ship', id: 1n }]);
  await service.store.apply([{ type: 'cancel', id: 3n, by: 'key_a' }]);
  const read = await following;
  const summary = (batches: readonly Batch[]) =>
    changesOf(batches).map(({ type, order }) => `${type} ${order.id}`);
  assert.deepEqual(summary(read), ['placed 1', 'placed 3', 'cancelled 3']);
  assert.equal(read.at(-1)!.cursor, (await client.listChanges({ after: 'now' })).next);
  const [own] = await readUntil(client.changes({ by: 'key_a', type: 'cancelled' }), () => true);
  assert.deepEqual(summary([own!]), ['cancelled 3']);
  await assert.rejects(client.changes({ petId: 1n, verify: true }).next(), TypeError);
  await assert.rejects(client.changes({ type: 'lost' as never }).next(), TypeError);
});
