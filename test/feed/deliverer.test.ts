import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { BEGINNING, positionText } from '../../protocol/history.ts';
import { newWebhook, type Webhook, type WebhookChanges } from '../../src/domain/webhook.ts';
import { type AllowedTargets, parseAllowedTargets } from '../../src/feed/deliveries/addresses.ts';
import { Deliverer } from '../../src/feed/deliveries/deliverer.ts';
import {
  secretOf,
  signingSecrets,
  type WebhookKey,
} from '../../src/feed/deliveries/webhook-key.ts';
import { type Store, StoreUnavailable } from '../../src/store/store.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { eventually } from '../postgres.ts';
import { ENGINES, open, place, queryDatabase } from '../store/engines.ts';
import { type Behaviour, type Receiver, startReceiver } from './receiver.ts';

const KEY: WebhookKey = { name: 'k', bytes: randomBytes(32) };
const LOCAL = parseAllowedTargets('127.0.0.0/8,http') as AllowedTargets;

interface Setting {
  readonly store: Store;
  /** Of its database. */
  readonly url: string;
  readonly log: () => string;
  /** Starts another node. */
  readonly startNode: (key?: WebhookKey, own?: Store) => Deliverer;
  /** Creates a webhook whose endpoint behaves in a way, from the first change on. */
  readonly endpoint: (
    behave?: Behaviour,
    wanted?: Partial<Parameters<typeof newWebhook>[0]>,
  ) => Promise<Receiver & { readonly id: string }>;
  readonly found: (id: string) => Promise<Webhook>;
  readonly set: (id: string, changes: WebhookChanges) => Promise<void>;
  /** Makes repetitions due. */
  readonly hurry: () => Promise<unknown>;
}

/** Defines a test with one delivering node, on every engine. */
function testDeliveries(title: string, run: (setting: Setting, t: TestContext) => Promise<void>) {
  for (const { name, newDatabase } of ENGINES) {
    test(`${name}: ${title}`, async (t) => {
      const url = await newDatabase(t);
      const store = await open(t, url, 'service');
      const lines: string[] = [];
      const logger = createLogger('debug', { write: (line) => lines.push(line) });
      const nodes: Deliverer[] = [];
      const startNode = (key = KEY, own = store) => {
        const parts = { store: own, key: () => key, allowed: LOCAL, logger, onDelivery: () => {} };
        const node = new Deliverer(parts);
        node.start();
        nodes.push(node);
        return node;
      };
      t.after(() => Promise.all(nodes.map((node) => node.close(0))));
      const found = async (id: string) => (await store.webhooks()).find((each) => each.id === id)!;
      await run(
        {
          ...{ store, url, startNode, found },
          log: () => lines.join(''),
          endpoint: async (behave, wanted) => {
            const secrets: string[] = [];
            const receiver = await startReceiver(t, () => secrets, behave);
            const webhook = newWebhook({
              ...{ url: receiver.url, description: undefined, types: undefined },
              ...{ petIds: undefined, createdAt: Date.now(), createdBy: undefined },
              ...{ keyName: KEY.name, position: BEGINNING, ...wanted },
            });
            secrets.push(
              ...[1, 2].map((generation) => secretOf(KEY.bytes, { id: webhook.id, generation })),
            );
            assert.deepEqual(await store.apply([{ type: 'createWebhook', webhook }]), ['created']);
            return { ...receiver, id: webhook.id };
          },
          set: async (id, changes) => {
            await store.apply([{ type: 'changeWebhook', id, changes }]);
          },
          hurry: () => queryDatabase(url, 'UPDATE webhooks SET next_attempt_at = NULL'),
        },
        t,
      );
    });
  }
}

/** A store whose writes fail while it is on. */
function failingWrites(store: Store): { isOn: boolean; readonly store: Store } {
  const failing: ReturnType<typeof failingWrites> = {
    isOn: false,
    store: {
      ...store,
      apply: ((commands) =>
        failing.isOn
          ? Promise.reject(new StoreUnavailable('no write now', 'failed'))
          : store.apply(commands)) as Store['apply'],
    },
  };
  return failing;
}

const orders = (from: number, count: number, petId = 1n) =>
  Array.from({ length: count }, (_, index) =>
    place({ id: BigInt(from + index), petId, status: 'pending' }),
  );

/** Asserts that deliveries are one chain from the first change on, and returns what they have changed. */
function chainOf(deliveries: Receiver['received'], from = positionText(BEGINNING)): string[] {
  let after = from;
  for (const delivery of deliveries) {
    assert.equal(delivery.after, after);
    after = delivery.next;
  }
  return deliveries.flatMap(({ changes }) =>
    changes.map(({ type, order }) => `${type} ${order.id}`),
  );
}

const placed = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `placed ${from + index}`);

// They mostly wait for a node to read webhooks again.
suite('webhooks are delivered', { concurrency: 6 }, () => {
  testDeliveries(
    'a revision of more than a thousand changes is one delivery, and those after it follow',
    async ({ store, startNode, endpoint }) => {
      await store.apply(orders(1, 1_200));
      await store.apply([{ type: 'cancel', id: 7n }]);
      const { accepted } = await endpoint();
      startNode();
      await eventually(async () =>
        assert.deepEqual(chainOf(accepted()), [...placed(1, 1_200), 'cancelled 7']),
      );
      assert.equal(accepted()[0]!.changes.length, 1_200);
    },
  );

  testDeliveries(
    'every change is delivered once and in order, one delivery at a time, by the node that has the lease',
    async ({ store, startNode, endpoint, found }) => {
      const [first, second] = [startNode(), startNode()];
      const { accepted, mostAtOnce, id, received } = await endpoint();
      for (let from = 1; from <= 271; from += 30) await store.apply(orders(from, 30));
      await store.apply([{ type: 'cancel', id: 7n }]);
      const all = [...placed(1, 300), 'cancelled 7'];
      await eventually(async () => assert.deepEqual(chainOf(accepted()), all));
      assert.equal(received.length, accepted().length);
      assert.equal(mostAtOnce(), 1);
      assert.ok(accepted().every(({ changes }) => changes.length <= 100));
      await eventually(async () => {
        const { position, sendingTo, lastSuccessAt } = await found(id);
        assert.equal(positionText(position), accepted().at(-1)!.next);
        assert.equal(sendingTo, undefined);
        assert.ok(Date.now() - lastSuccessAt! < 60_000);
      });
      assert.deepEqual([first.isDelivering, second.isDelivering].sort(), [false, true]);
    },
  );

  testDeliveries(
    'a delivery that is not accepted is repeated as it was, also after a restart and with further changes',
    async ({ store, startNode, endpoint, found, hurry }) => {
      const node = startNode();
      const { received, accepted, id } = await endpoint((_, index) => [500, 302][index] ?? 204);
      await store.apply(orders(1, 3));
      await eventually(async () => assert.equal((await found(id)).failures, 1));
      const { lastFailure, sendingTo } = await found(id);
      assert.deepEqual([lastFailure?.status, sendingTo?.revision], [500, 1n]);
      await node.close(0);
      await store.apply(orders(10, 3));
      await hurry();
      startNode();
      await eventually(async () => assert.equal((await found(id)).failures, 2));
      await hurry();
      await eventually(async () => assert.equal(accepted().length, 2));
      assert.deepEqual(chainOf(accepted()), [...placed(1, 3), ...placed(10, 3)]);
      const [first, second, third] = received;
      assert.deepEqual([second!.id, third!.id], [first!.id, first!.id]);
      assert.deepEqual(second!.changes, first!.changes);
      await eventually(async () => assert.equal((await found(id)).failures, 0));
    },
  );

  testDeliveries(
    'a filtered webhook is sent what it wants; after and next cover the rest',
    async ({ store, startNode, endpoint, found }) => {
      startNode();
      const { accepted, id } = await endpoint(undefined, {
        types: ['cancelled'],
        petIds: [2n, 3n],
      });
      await store.apply([...orders(1, 300, 1n), ...orders(301, 300, 2n)]);
      await store.apply([1n, 301n, 302n].map((order) => ({ type: 'cancel' as const, id: order })));
      await eventually(async () => assert.equal(accepted().length, 1));
      await store.apply(orders(1_000, 10, 5n));
      await store.apply([...orders(2_000, 1, 3n), { type: 'cancel', id: 2_000n }]);
      await eventually(async () => assert.equal(accepted().length, 2));
      assert.deepEqual(chainOf(accepted()), ['cancelled 301', 'cancelled 302', 'cancelled 2000']);
      // What is not wanted is not waited for after a restart, either.
      await store.apply(orders(3_000, 10, 5n));
      await eventually(async () => assert.equal((await found(id)).examined?.revision, 5n));
      assert.equal((await found(id)).position.revision, 4n);
    },
  );

  testDeliveries(
    'a paused webhook keeps its position; a webhook whose cursor is set continues there',
    async ({ store, startNode, endpoint, found, set }) => {
      startNode();
      const { accepted, received, id } = await endpoint();
      await store.apply(orders(1, 1));
      await eventually(async () => assert.equal(accepted().length, 1));
      await set(id, { isPaused: true });
      // The node has read it.
      const other = await endpoint();
      await eventually(async () => assert.equal(other.accepted().length, 1));
      await store.apply(orders(2, 1));
      await eventually(async () => assert.equal(other.accepted().length, 2));
      assert.equal(received.length, 1);
      await set(id, { isPaused: false });
      await eventually(async () => assert.deepEqual(chainOf(accepted()), placed(1, 2)));
      await eventually(async () => assert.equal((await found(id)).position.revision, 2n));
      await set(id, { position: BEGINNING });
      await eventually(async () => assert.equal(received.length, 3));
      assert.deepEqual(chainOf(received.slice(2)), placed(1, 2));
      // Not repetitions: an endpoint that knows the ids of earlier deliveries would skip them.
      assert.equal(new Set(received.map(({ id: each }) => each)).size, 3);
    },
  );

  testDeliveries(
    'an endpoint that is gone pauses its webhook at once; a position in no history pauses it until the cursor is set',
    async ({ store, startNode, endpoint, found, set }) => {
      startNode();
      const gone = await endpoint(() => 410);
      const lost = await endpoint(undefined, { position: { revision: 1n, head: 'a'.repeat(64) } });
      await store.apply(orders(1, 1));
      await eventually(async () => assert.equal((await found(gone.id)).pauseReason, 'gone'));
      await eventually(async () =>
        assert.equal((await found(lost.id)).pauseReason, 'changes_gone'),
      );
      assert.deepEqual([gone.received.length, lost.received.length], [1, 0]);
      await set(lost.id, { position: BEGINNING, isPaused: false });
      await eventually(async () => assert.deepEqual(chainOf(lost.accepted()), placed(1, 1)));
    },
  );

  testDeliveries(
    'a webhook whose latest deliveries a failover has lost continues at its position in the store',
    async ({ store, startNode, endpoint, found }) => {
      const failing = failingWrites(store);
      const feed: Store['feed'] = async (after, limit) => {
        const isLost = failing.isOn && typeof after === 'object' && after.revision === 2n;
        if (isLost) failing.isOn = false;
        return isLost ? undefined : store.feed(after, limit);
      };
      startNode(KEY, { ...failing.store, feed });
      const { accepted, received, id } = await endpoint((_, index) => {
        if (index === 1) failing.isOn = true;
        return 204;
      });
      await store.apply(orders(1, 1));
      await eventually(async () => assert.equal((await found(id)).position.revision, 1n));
      await store.apply(orders(2, 1));
      await eventually(async () => assert.equal(received.length, 3));
      assert.deepEqual(chainOf(accepted()), placed(1, 2));
      await eventually(async () => assert.equal((await found(id)).position.revision, 2n));
      assert.equal((await found(id)).pauseReason, undefined);
    },
  );

  testDeliveries(
    'an endpoint that does not answer delays no other, and a stop hands over to another node at once',
    async ({ store, url, startNode, endpoint, found }) => {
      const node = startNode();
      const silent = await endpoint((_, index) => (index === 0 ? 'nothing' : 204));
      const quick = await endpoint();
      for (let id = 1; id <= 5; id += 1) {
        await store.apply(orders(id, 1));
        await eventually(async () => assert.deepEqual(chainOf(quick.accepted()), placed(1, id)));
      }
      assert.equal(silent.received.length, 1);
      await node.close(0);
      assert.deepEqual(await queryDatabase(url, 'SELECT holder FROM webhook_lease'), [['']]);
      // The delivery in flight was ended, and is not a failure of the endpoint.
      assert.equal((await found(silent.id)).failures, 0);
      startNode();
      await eventually(async () => assert.deepEqual(chainOf(silent.accepted()), placed(1, 5)));
      assert.equal(silent.received[1]!.id, silent.received[0]!.id);
    },
  );

  testDeliveries(
    'a webhook that is paused and resumed while a delivery is in flight has no second one',
    async ({ store, startNode, endpoint, set, found }) => {
      startNode();
      const answered = Promise.withResolvers<void>();
      const { received, accepted, mostAtOnce, id } = await endpoint(async () => {
        await answered.promise;
        return 204;
      });
      const other = await endpoint();
      await store.apply(orders(1, 1));
      await eventually(async () => assert.equal(mostAtOnce(), 1));
      for (const isPaused of [true, false]) {
        await set(id, { isPaused });
        // The node has read it: it reads all webhooks at once.
        await eventually(async () => assert.ok((await found(other.id)).position.revision > 0n));
        await set(other.id, { position: BEGINNING });
        const before = other.received.length;
        await eventually(async () => assert.ok(other.received.length > before));
      }
      answered.resolve();
      await store.apply(orders(2, 1));
      await eventually(async () => assert.deepEqual(chainOf(accepted()), placed(1, 2)));
      assert.deepEqual([mostAtOnce(), received.length], [1, 2]);
    },
  );

  testDeliveries(
    'after a pause or a rotation only what is in flight is sent as before',
    async ({ store, startNode, endpoint, set, found }, t) => {
      startNode();
      for (const change of ['pause', 'rotation']) {
        const { received, accepted, id } = await endpoint();
        let isPlacing = true;
        t.after(() => {
          isPlacing = false;
        });
        const placing = (async () => {
          for (let number = change === 'pause' ? 1_000 : 100_000; isPlacing; number += 1) {
            await store.apply(orders(number, 1));
            await pause(5);
          }
        })();
        await eventually(async () => assert.ok(received.length >= 5));
        if (change === 'pause') await set(id, { isPaused: true });
        else {
          await store.apply([{ type: 'rotateWebhook', id, keyName: KEY.name, at: Date.now() }]);
        }
        const before = received.length;
        if (change === 'pause') {
          const other = await endpoint();
          await eventually(async () => assert.ok(other.received.length >= 5));
          assert.ok(received.length <= before + 1, `${received.length} after ${before}`);
          // Its place is behind the last delivery that the endpoint has accepted.
          const { position } = await found(id);
          assert.equal(positionText(position), accepted().at(-1)!.next);
        } else {
          await eventually(async () => assert.ok(received.length >= before + 3));
          for (let index = before + 1; index < received.length; index += 1) {
            assert.equal(received[index]!.signatures, 2);
          }
          chainOf(received);
        }
        isPlacing = false;
        await placing;
        assert.ok(accepted().length > 0);
      }
    },
  );

  testDeliveries(
    'a delivery has up to 64 KiB, unless one revision alone has more',
    async ({ store, startNode, endpoint }) => {
      const draft = { status: 'pending', petId: 1n, quantity: 1n, shipDate: 0 } as const;
      // A revision for each order, with the longest reference that JSON can make of it.
      const placements = Array.from({ length: 90 }, (_, index) => ({
        ...({ type: 'placeOrder', by: 'key_a', idempotencyKey: `${index}`, digest: 'x' } as const),
        draft: { ...draft, complete: false, reference: `${'\u{10ffff}'.repeat(120)}${index}` },
      }));
      for (const placement of placements) await store.apply([placement]);
      await store.apply(
        placements.map((each, index) => ({
          ...each,
          idempotencyKey: `b${index}`,
          draft: { ...each.draft, reference: `b${each.draft.reference}` },
        })),
      );
      await store.apply(orders(1_000, 3));
      startNode();
      const { accepted } = await endpoint();
      await eventually(async () => assert.equal(chainOf(accepted()).length, 183));
      const sizes = accepted().map(({ bytes }) => bytes);
      const [largest, ...others] = sizes.toSorted((a, b) => b - a);
      assert.ok(largest! > 65_536, 'the revision with 90 changes');
      assert.ok(
        others.every((size) => size <= 65_536),
        others.join(),
      );
      assert.ok(sizes.length < 20, `${sizes.length} deliveries`);
    },
  );

  testDeliveries(
    'a node that could not record its deliveries, and gets the lease again, continues where the other node has stopped',
    async ({ store, url, startNode, endpoint }) => {
      const failing = failingWrites(store);
      startNode(KEY, failing.store);
      const { accepted } = await endpoint((_, index) => {
        if (index === 0) failing.isOn = true;
        return 204;
      });
      await store.apply(orders(1, 1));
      await eventually(async () => assert.equal(accepted().length, 1));
      for (let id = 2; id <= 4; id += 1) await store.apply(orders(id, 1));
      await queryDatabase(url, 'UPDATE webhook_lease SET held_until = 0');
      const other = startNode();
      await eventually(async () => assert.deepEqual(chainOf(accepted()), placed(1, 4)));
      await store.apply(orders(5, 1));
      await eventually(async () => assert.deepEqual(chainOf(accepted()), placed(1, 5)));
      await other.close(1_000);
      failing.isOn = false;
      await store.apply(orders(6, 1));
      await eventually(async () => assert.deepEqual(chainOf(accepted()), placed(1, 6)));
    },
  );

  testDeliveries(
    'a pause that could not be stored is stored later',
    async ({ store, startNode, endpoint, found }) => {
      const failing = failingWrites(store);
      startNode(KEY, failing.store);
      const { id, received } = await endpoint(() => {
        failing.isOn = true;
        return 410;
      });
      await store.apply(orders(1, 1));
      await eventually(async () => assert.equal(received.length, 1));
      assert.equal((await found(id)).pauseReason, undefined);
      failing.isOn = false;
      await eventually(async () => assert.equal((await found(id)).pauseReason, 'gone'));
    },
  );

  testDeliveries(
    'nothing is sent to a webhook that was deleted, or that does not want it any more',
    async ({ store, startNode, endpoint, set }) => {
      startNode();
      const deleted = await endpoint();
      const filtered = await endpoint();
      const other = await endpoint();
      const all = [deleted, filtered, other];
      await store.apply(orders(1, 1));
      await eventually(async () => assert.ok(all.every(({ received }) => received.length === 1)));
      await store.apply([{ type: 'deleteWebhook', id: deleted.id }]);
      await set(filtered.id, { petIds: [99n] });
      for (let id = 2; id <= 4; id += 1) {
        await store.apply(orders(id, 1));
        await eventually(async () => assert.equal(other.received.length, id));
      }
      assert.deepEqual([deleted.received.length, filtered.received.length], [1, 1]);
    },
  );

  testDeliveries(
    'while a secret is rotated, both sign; a node with another key sends nothing and reports it',
    async ({ store, startNode, endpoint, found, log }) => {
      const other = startNode({ name: 'other', bytes: randomBytes(32) });
      const { accepted, received, id } = await endpoint();
      await store.apply(orders(1, 1));
      await eventually(async () => assert.match(log(), /does not have the webhook key/));
      assert.equal(other.isDelivering, false);
      assert.equal(received.length, 0);
      startNode();
      await eventually(async () => assert.equal(accepted().length, 1));
      await store.apply([{ type: 'rotateWebhook', id, keyName: KEY.name, at: Date.now() }]);
      const rotated = await found(id);
      assert.equal(signingSecrets(KEY, rotated, Date.now() + 86_000_000).length, 2);
      assert.equal(signingSecrets(KEY, rotated, Date.now() + 86_400_000).length, 1);
      await store.apply(orders(2, 1));
      await eventually(async () => assert.equal(accepted().length, 2));
    },
  );
});
