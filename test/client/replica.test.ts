import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import {
  type OrderRecord,
  type ReplicaStep,
  StoreOrders,
  type WebhookDelivery,
  WebhookGapError,
  WebhookReplica,
} from '../../client/src/client.ts';
import { SqliteReplica } from '../../examples/sqlite-replica.js';
import { pending, place, type Service, startService } from '../http/harness.ts';

const clientOf = ({ port, secret }: Service, send: typeof fetch = fetch) =>
  new StoreOrders({ baseUrl: `http://127.0.0.1:${port}`, apiKey: secret, fetch: send });

/** The orders of a replica's database, as the service has them. */
function ordersIn(database: DatabaseSync, table = 'orders'): OrderRecord[] {
  const statement = database.prepare(`SELECT * FROM ${table} ORDER BY id`);
  statement.setReadBigInts(true);
  return statement.all().map((row) => {
    const record = {
      ...{ id: row.id, petId: row.pet_id, quantity: row.quantity, shipDate: row.ship_date },
      complete: row.complete === null ? null : row.complete === 1n,
      ...{ status: row.status, placedAt: row.placed_at, updatedAt: row.updated_at },
      ...{ revision: row.revision, reference: row.reference, reason: row.reason },
      ...{ trackingNumber: row.tracking_number, etag: row.etag },
    };
    const given = Object.entries(record).filter(([, value]) => value !== null);
    return Object.fromEntries(given) as unknown as OrderRecord;
  });
}

const allOrders = (service: Service) => Array.fromAsync(clientOf(service).orders());

/** Takes steps until the replica has reached the revision of the service. */
async function takeUntilExact(replica: AsyncGenerator<ReplicaStep, void>, service: Service) {
  const { revision } = await service.store.status();
  for (;;) {
    const { value } = await replica.next();
    if (value!.revision >= revision) return value!;
  }
}

test('a replica in a database is exact, and resumes where it stopped', async (t) => {
  const service = await startService(t);
  const big = 2n ** 63n - 1n;
  const reference = 'PO 5';
  await place(service.store, pending(-(2n ** 63n)), pending(big));
  await place(service.store, { id: 5n, status: 'pending', reference });
  const database = new DatabaseSync(':memory:');
  const first = clientOf(service).replica({ store: new SqliteReplica(database) });
  assert.equal((await takeUntilExact(first, service)).changes, undefined);
  assert.deepEqual(ordersIn(database), await allOrders(service));
  database.exec('CREATE INDEX by_status ON orders (status)');
  await service.store.apply([{ type: 'cancel', id: big, reason: 'other' }]);
  assert.equal((await takeUntilExact(first, service)).changes?.length, 1);
  await first.return();

  await service.store.apply([{ type: 'ship', id: 5n, at: 0, trackingNumber: 'T' }]);
  const paths: string[] = [];
  const counting: typeof fetch = (input, init) => {
    paths.push(new URL(String(input)).pathname);
    return fetch(input, init);
  };
  const store = new SqliteReplica(database);
  const second = clientOf(service, counting).replica({ store });
  // The copy as it is, and then what has happened since.
  assert.equal((await second.next()).value!.changes, undefined);
  const { changes } = await takeUntilExact(second, service);
  assert.deepEqual(
    changes?.map(({ type, order }) => [type, order.id]),
    [['shipped', 5n]],
  );
  assert.ok(!paths.includes('/v2/store/orders'), 'nothing is copied again');
  assert.deepEqual(ordersIn(database), await allOrders(service));
  await second.return();
});

test('replicas keep the time of a placement, which later changes do not prove', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const placed = await allOrders(service);
  const altering: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (!String(input).includes('/changes?')) return response;
    const body = await response.text();
    return new Response(body.replaceAll(/"placedAt":"2/g, '"placedAt":"1'), response);
  };
  const database = new DatabaseSync(':memory:');
  const client = clientOf(service, altering);
  const inDatabase = client.replica({ store: new SqliteReplica(database) });
  const inMemory = client.replica();
  await takeUntilExact(inDatabase, service);
  await inMemory.next();
  await service.store.apply([{ type: 'cancel', id: 1n }]);
  const { changes } = await takeUntilExact(inDatabase, service);
  const { orders } = (await inMemory.next()).value!;
  assert.notEqual(changes![0]!.order.placedAt, placed[0]!.placedAt);
  for (const copy of [ordersIn(database), [...orders.values()]]) {
    assert.deepEqual(
      copy.map(({ placedAt }) => placedAt),
      placed.map(({ placedAt }) => placedAt),
    );
    assert.equal(copy[0]!.status, 'cancelled');
  }
  await inDatabase.return();
  await inMemory.return();
});

test('a replica in a database keeps the previous copy until the new one is complete', async (t) => {
  const [service, other] = [await startService(t), await startService(t)];
  await place(service.store, pending(1n), pending(2n));
  await place(other.store, ...Array.from({ length: 700 }, (_, id) => pending(BigInt(id))));
  await place(other.store, pending(700n));
  const database = new DatabaseSync(':memory:');
  const first = clientOf(service).replica({ store: new SqliteReplica(database) });
  await takeUntilExact(first, service);
  await first.return();
  database.exec('CREATE INDEX by_status ON orders (status)');

  const before = ordersIn(database);
  const seen: [orders: number, next: number][] = [];
  const looking: typeof fetch = async (input, init) => {
    const [{ exists }] = database
      .prepare(`SELECT count(*) AS "exists" FROM sqlite_schema WHERE name = 'orders_next'`)
      .all() as [{ exists: number }];
    const next = exists === 0 ? 0 : ordersIn(database, 'orders_next').length;
    seen.push([ordersIn(database).length, next]);
    return fetch(input, init);
  };
  const second = clientOf(other, looking).replica({ store: new SqliteReplica(database) });
  await takeUntilExact(second, other);
  assert.ok(seen.some(([orders, next]) => orders === before.length && next === 500));
  assert.deepEqual(ordersIn(database), await allOrders(other));
  const names = database.prepare('SELECT name FROM sqlite_schema').all();
  assert.ok(names.some(({ name }) => name === 'by_status'));
  await second.return();
});

test('a copy that was incomplete when the process ended is made again', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const database = new DatabaseSync(':memory:');
  const interrupted = new SqliteReplica(database);
  interrupted.load();
  interrupted.reset();
  interrupted.apply([{ ...(await clientOf(service).getOrder(1n)), id: 77n }], undefined);
  const later = new SqliteReplica(database);
  assert.equal(later.load(), undefined);
  // Another process has taken over.
  assert.throws(() => interrupted.apply([], { cursor: 'x', revision: 1n }), /another process/);
  assert.throws(() => interrupted.reset(), /another process/);
  assert.equal(later.load(), undefined);
  const replica = clientOf(service).replica({ store: new SqliteReplica(database) });
  await takeUntilExact(replica, service);
  assert.deepEqual(ordersIn(database), await allOrders(service));
  await replica.return();
});

test('a step that fails in the database changes nothing, and ends the replica with its error', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const database = new DatabaseSync(':memory:');
  const store = new SqliteReplica(database);
  const replica = clientOf(service).replica({ store });
  await takeUntilExact(replica, service);
  const position = store.load();
  database.exec(`CREATE TRIGGER refused BEFORE INSERT ON orders WHEN new.id = 3
    BEGIN SELECT RAISE(ABORT, 'no three'); END`);
  await service.store.apply([
    { type: 'insertOrder', order: pending(2n) },
    { type: 'insertOrder', order: pending(3n) },
  ]);
  await assert.rejects(replica.next(), /no three/);
  assert.deepEqual(store.load(), position);
  assert.equal(ordersIn(database).length, 1);
});

test('a replica can be started before the service is up, and continues after outages', async (t) => {
  const service = await startService(t);
  await place(service.store, ...Array.from({ length: 600 }, (_, id) => pending(BigInt(id))));
  let requests = 0;
  // More failures in a row than a call repeats, of every kind, before and between the pages.
  const failing: typeof fetch = async (input, init) => {
    requests += 1;
    if (requests <= 3) throw new TypeError('fetch failed');
    if (requests % 3 === 1) return fetch(input, init);
    return new Response('<h1>Bad gateway</h1>', { status: requests % 2 === 0 ? 502 : 404 });
  };
  const client = new StoreOrders({
    ...{ baseUrl: `http://127.0.0.1:${service.port}`, apiKey: service.secret, fetch: failing },
    ...{ retries: 0, longestWaitMs: 10 },
  });
  const replica = client.replica();
  const { value } = await replica.next();
  assert.deepEqual([...value!.orders.values()], await allOrders(service));
  await replica.return();
});

test('after a 410 followed by an outage a new copy is made in the same map', async (t) => {
  const [service, other] = [await startService(t), await startService(t)];
  await place(service.store, pending(1n), pending(2n));
  await place(other.store, pending(5n));
  let to: Service = service;
  let outage = 0;
  const client = new StoreOrders({
    ...{ baseUrl: 'http://store.example', apiKey: 'x', retries: 0, longestWaitMs: 10 },
    fetch: async (input, init) => {
      if (to === other && outage > 0 && !String(input).includes('changes')) {
        outage -= 1;
        throw new TypeError('fetch failed');
      }
      const { pathname, search } = new URL(String(input));
      const headers = new Headers(init?.headers);
      headers.set('authorization', `Bearer ${to.secret}`);
      return fetch(`http://127.0.0.1:${to.port}${pathname}${search}`, { ...init, headers });
    },
  });
  const replica = client.replica();
  const { orders } = (await replica.next()).value!;
  assert.equal(orders.size, 2);
  [to, outage] = [other, 10];
  const next = replica.next();
  await service.server.close();
  const { value } = await next;
  assert.equal(outage, 0);
  assert.equal(value!.orders, orders);
  assert.deepEqual([...orders.values()], await allOrders(other));
  await replica.return();
});

/** The delivery of the changes after a cursor, as webhooks have it. */
async function deliveryAfter(service: Service, after: string): Promise<WebhookDelivery> {
  return { ...(await clientOf(service).listChanges({ after, limit: 1 })), after };
}

test('webhooks are applied to the copy once and in order, and a gap is noticed', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const database = new DatabaseSync(':memory:');
  const made = clientOf(service).replica({ store: new SqliteReplica(database) });
  await takeUntilExact(made, service);
  await made.return();
  const { next: begin } = await clientOf(service).listChanges({ after: 'now' });
  for (const id of [2n, 3n, 4n]) await place(service.store, pending(id));
  const first = await deliveryAfter(service, begin);
  const second = await deliveryAfter(service, first.next);
  const third = await deliveryAfter(service, second.next);

  const copy = new WebhookReplica(new SqliteReplica(database));
  // At the same time, as overlapping repetitions arrive.
  assert.deepEqual(
    await Promise.all([first, first, second, first].map((each) => copy.apply(each))),
    [true, false, true, false],
  );
  const altered = { ...third, changes: [{ ...third.changes[0]!, type: 'shipped' }] };
  await assert.rejects(copy.apply(altered), { name: 'HistoryMismatchError', after: second.next });
  assert.equal(await copy.apply(third), true);
  assert.deepEqual(ordersIn(database), await allOrders(service));

  for (const id of [5n, 6n]) await place(service.store, pending(id));
  const missed = await deliveryAfter(service, third.next);
  const later = await deliveryAfter(service, missed.next);
  await assert.rejects(copy.apply(later), WebhookGapError);
  // Without a proof, too, which would fail for other changes.
  const unproven = new WebhookReplica(new SqliteReplica(database), { verify: false });
  await assert.rejects(unproven.apply(later), WebhookGapError);
  // After a restart of the receiver.
  const again = new WebhookReplica(new SqliteReplica(database));
  assert.deepEqual([await again.apply(missed), await again.apply(later)], [true, true]);
  assert.deepEqual(ordersIn(database), await allOrders(service));
  // After the gap the first one has loaded the copy again, which the second one notices.
  assert.equal(await copy.apply(missed), false);
  await place(service.store, pending(7n));
  const last = await deliveryAfter(service, later.next);
  await assert.rejects(again.apply(last), /another process/);
  const none = new WebhookReplica(new SqliteReplica(new DatabaseSync(':memory:')));
  await assert.rejects(none.apply(first), WebhookGapError);
});

test('after a gap catchUp brings the copy up to date, and a delivery that the copy has in part is applied for the rest', async (t) => {
  const service = await startService(t);
  const database = new DatabaseSync(':memory:');
  const replica = new SqliteReplica(database);
  const copy = new WebhookReplica(replica);
  const { next: begin } = await clientOf(service).listChanges({ after: 'now' });
  for (const id of [1n, 2n]) await place(service.store, pending(id));
  const first = await deliveryAfter(service, begin);
  await assert.rejects(copy.apply(first), WebhookGapError);
  const { revision } = await clientOf(service).catchUp({ store: replica });
  assert.equal(revision, 2n);
  assert.equal(await copy.apply(first), false);
  for (const id of [3n, 4n]) await place(service.store, pending(id));
  const part = {
    ...(await clientOf(service).listChanges({ after: first.next })),
    after: first.next,
  };
  assert.equal(await copy.apply(part), true);
  assert.deepEqual(ordersIn(database), await allOrders(service));
  // Several pages, of which the first ends after 600 changes.
  for (let from = 5; from < 905; from += 300) {
    const ids = Array.from({ length: 300 }, (_, index) => BigInt(from + index));
    await place(service.store, ...ids.map(pending));
  }
  assert.equal((await clientOf(service).catchUp({ store: replica })).revision, 7n);
  assert.deepEqual(ordersIn(database), await allOrders(service));
});

test('a copy is not mixed with deliveries of another history, whether the store is behind the copy or ahead', async (t) => {
  const [lost, restored] = [await startService(t), await startService(t)];
  const database = new DatabaseSync(':memory:');
  const replica = new SqliteReplica(database);
  for (const id of [1n, 2n, 3n]) await place(lost.store, pending(id));
  await clientOf(lost).catchUp({ store: replica });
  const copy = new WebhookReplica(replica);
  await place(restored.store, pending(7n));
  const behind = { ...(await clientOf(restored).listChanges()), after: `0-${'0'.repeat(64)}` };
  await assert.rejects(copy.apply(behind), WebhookGapError);
  for (const id of [8n, 9n]) await place(restored.store, pending(id));
  const beside = { ...(await clientOf(restored).listChanges()), after: behind.after };
  assert.equal(beside.revision, 3n);
  await assert.rejects(copy.apply(beside), WebhookGapError);
  for (const id of [10n, 11n]) await place(restored.store, pending(id));
  const ahead = { ...(await clientOf(restored).listChanges()), after: behind.after };
  await assert.rejects(copy.apply(ahead), WebhookGapError);
  await clientOf(restored).catchUp({ store: replica });
  assert.deepEqual(ordersIn(database), await allOrders(restored));
  assert.equal(await copy.apply(ahead), false);
});
