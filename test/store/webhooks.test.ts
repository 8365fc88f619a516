import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BEGINNING } from '../../protocol/history.ts';
import {
  newWebhook,
  type Webhook,
  type WebhookChanges,
  webhookTag,
} from '../../src/domain/webhook.ts';
import type { CommandOf, OutcomeOf } from '../../src/store/commands.ts';
import { copyStore } from '../../src/store/copy.ts';
import { databaseAt } from '../../src/store/database.ts';
import type { Store } from '../../src/store/store.ts';
import { cancel, ENGINES, open, place, queryDatabase, testStore } from './engines.ts';

type Rotation = Extract<OutcomeOf<CommandOf<'rotateWebhook'>>, object>;

const WANTED: Parameters<typeof newWebhook>[0] = {
  url: 'https://shop.example/hook',
  description: 'the shop',
  types: ['placed', 'cancelled'],
  petIds: [1n, 2n ** 63n - 1n],
  createdAt: 1_000,
  createdBy: 'key_1',
  keyName: 'k1',
  position: BEGINNING,
};

async function created(
  store: Store,
  wanted: Partial<Parameters<typeof newWebhook>[0]> = {},
): Promise<Webhook> {
  const webhook = newWebhook({ ...WANTED, ...wanted });
  assert.deepEqual(await store.apply([{ type: 'createWebhook', webhook }]), ['created']);
  return webhook;
}

const lease = (store: Store, node: string) => store.apply([{ type: 'leaseWebhooks', node }]);

/** @param known the webhook as the node knows it */
const record = (store: Store, node: string, state: Webhook, known = state) =>
  store.apply([{ type: 'recordDeliveries', node, deliveries: [{ id: state.id, known, state }] }]);

testStore(
  'webhooks are stored as they were created, and their URLs are unique',
  async (_t, store) => {
    const first = await created(store);
    const second = await created(store, {
      ...{ url: 'https://b.example/', description: undefined },
      ...{ types: undefined, petIds: undefined, createdAt: 999 },
    });
    assert.deepEqual(await store.webhooks(), [second, first]);
    const changes = { url: first.url };
    assert.deepEqual(await store.apply([{ type: 'changeWebhook', id: second.id, changes }]), [
      'webhook_url_taken',
    ]);
    // The URL is no secret: another key, and the operators, may have webhooks with it.
    for (const createdBy of ['key_1', 'key_2', undefined]) {
      const webhook = () => newWebhook({ ...WANTED, createdBy });
      const [outcome] = await store.apply([{ type: 'createWebhook', webhook: webhook() }]);
      assert.equal(outcome, createdBy === 'key_1' ? 'webhook_url_taken' : 'created');
      const [repeated] = await store.apply([{ type: 'createWebhook', webhook: webhook() }]);
      assert.equal(repeated, 'webhook_url_taken');
    }
    assert.deepEqual(await store.apply([{ type: 'deleteWebhook', id: first.id }]), ['deleted']);
    assert.deepEqual(
      await store.apply([
        { type: 'deleteWebhook', id: first.id },
        { type: 'changeWebhook', id: first.id, changes },
        { type: 'rotateWebhook', id: first.id, keyName: 'k', at: 1 },
      ]),
      Array(3).fill('webhook_not_found'),
    );
  },
);

testStore('a store has 1,000 webhooks, of which keys leave 100 to operators', async (_t, store) => {
  const webhooks = Array.from({ length: 1_002 }, (_, index) =>
    newWebhook({
      ...{ ...WANTED, url: `https://shop.example/${index}` },
      createdBy: index <= 900 ? `key_${index % 45}` : undefined,
    }),
  );
  const outcomes = await store.apply(
    webhooks.map((webhook) => ({ type: 'createWebhook' as const, webhook, maxOfKey: 21 })),
  );
  const refused = outcomes.flatMap((outcome, index) => (outcome === 'created' ? [] : [index]));
  assert.deepEqual(refused, [900, 1_001]);
  assert.deepEqual([outcomes[900], outcomes[1_001]], Array(2).fill('too_many_webhooks'));
});

testStore(
  'a key has as many webhooks as it may have, and others have theirs',
  async (_t, store) => {
    const create = async (url: string, createdBy: string | undefined) => {
      const webhook = newWebhook({ ...WANTED, url: `https://shop.example/${url}`, createdBy });
      return (await store.apply([{ type: 'createWebhook', webhook, maxOfKey: 2 }]))[0];
    };
    assert.deepEqual(
      [await create('1', 'key_1'), await create('2', 'key_1')],
      ['created', 'created'],
    );
    assert.equal(await create('3', 'key_1'), 'webhook_limit_reached');
    for (const other of ['key_2', undefined]) assert.equal(await create('3', other), 'created');
  },
);

testStore('what a client sets is changed, and nothing else', async (_t, store) => {
  const webhook = await created(store);
  const set = async (changes: object) =>
    (await store.apply([{ type: 'changeWebhook', id: webhook.id, changes }]))[0] as Webhook;
  assert.deepEqual(await set({ description: '' }), { ...webhook, description: undefined });
  const wanted = await set({ types: [], petIds: [7n] });
  assert.deepEqual([wanted.types, wanted.petIds, wanted.version], [undefined, [7n], 1n]);
  const position = { revision: 3n, head: 'a'.repeat(64) };
  assert.deepEqual(await set({ position, isPaused: true }), {
    ...wanted,
    description: undefined,
    ...{ position, version: 2n, pauseReason: 'requested' },
  });
  const resumed = await set({ isPaused: false });
  assert.equal(resumed.pauseReason, undefined);
  assert.deepEqual(await store.webhooks(), [resumed]);
});

testStore('what is the same as before is no change, in whatever order', async (_t, store) => {
  const webhook = await created(store);
  const set = async (changes: WebhookChanges) =>
    (await store.apply([{ type: 'changeWebhook', id: webhook.id, changes }]))[0] as Webhook;
  const filtered = await set({ types: ['shipped', 'cancelled'], petIds: [7n, 8n] });
  assert.equal(filtered.version, webhook.version + 1n);
  for (const changes of [
    { types: ['cancelled', 'shipped'], petIds: [8n, 7n] },
    { url: webhook.url, description: webhook.description ?? '', isPaused: false },
    { position: webhook.position },
    {},
  ] as WebhookChanges[]) {
    assert.deepEqual(await set(changes), filtered);
  }
  assert.deepEqual(await store.webhooks(), [filtered]);
  const paused = await set({ isPaused: true });
  assert.deepEqual(await set({ isPaused: true, types: ['cancelled', 'shipped'] }), paused);
});

testStore('a webhook is changed only if it has the tag that is required', async (_t, store) => {
  const webhook = await created(store);
  const { id } = webhook;
  const commands = [
    { type: 'changeWebhook', id, changes: { description: 'x' } },
    { type: 'rotateWebhook', id, keyName: 'k', at: 1 },
    { type: 'deleteWebhook', id },
  ] as const;
  for (const command of commands) {
    assert.deepEqual(await store.apply([{ ...command, ifTag: 'x' }]), ['webhook_changed']);
    const [now] = await store.webhooks();
    const [outcome] = await store.apply([{ ...command, ifTag: webhookTag(now!) }]);
    assert.notEqual(outcome, 'webhook_changed');
  }
});

testStore('a rotation that is repeated has the outcome of the first', async (_t, store) => {
  const { id } = await created(store);
  const rotate = async (idempotencyKey: string, by = 'key_a', keyName = 'k1') => {
    const name = { by, idempotencyKey };
    return (await store.apply([{ type: 'rotateWebhook', id, keyName, at: 5, name }]))[0];
  };
  const generationOf = async (...parameters: Parameters<typeof rotate>) => {
    const { generation, isReplay, webhook } = (await rotate(...parameters)) as Rotation;
    return [generation, isReplay, webhook.generation];
  };
  assert.deepEqual(await generationOf('a'), [2, false, 2]);
  assert.deepEqual(await generationOf('a'), [2, true, 2]);
  assert.deepEqual(await generationOf('b'), [3, false, 3]);
  assert.deepEqual(await generationOf('a'), [2, true, 3]);
  assert.deepEqual(await generationOf('a', 'key_b'), [4, false, 4]);
  assert.equal(await rotate('a', 'key_a', 'k2'), 'webhooks_unavailable');
  // The key of a request for several orders.
  await store.apply([place({ id: 1n, status: 'pending' })]);
  const repeatable = { by: 'key_a', idempotencyKey: 'a', digest: 'x' };
  const cancels = {
    type: 'bulk',
    changes: [cancel(1n)],
    isAtomic: false,
    repeatable,
  } as const;
  assert.deepEqual(await store.apply([cancels]), [{ refusal: 'idempotency_key_reused' }]);
});

testStore(
  'no delivery begins for a webhook that is paused or has another secret, but those in flight are recorded',
  async (_t, store) => {
    const webhook = await created(store);
    await lease(store, 'a');
    const sendingTo = { revision: 3n, head: 'a'.repeat(64) };
    const begin = async () => {
      const [known] = await store.webhooks();
      const delivery = { id: webhook.id, known: known!, state: { ...known!, sendingTo } };
      const deliveries = [{ ...delivery, beginsWith: webhook.generation }];
      return (await store.apply([{ type: 'recordDeliveries', node: 'a', deliveries }]))[0];
    };
    const set = (isPaused: boolean) =>
      store.apply([{ type: 'changeWebhook', id: webhook.id, changes: { isPaused } }]);
    assert.deepEqual(await begin(), [webhook.id]);
    await set(true);
    assert.deepEqual(await begin(), []);
    const [paused] = await store.webhooks();
    const accepted = { ...paused!, position: sendingTo, sendingTo: undefined };
    assert.deepEqual(await record(store, 'a', accepted, paused), [[webhook.id]]);
    await set(false);
    assert.deepEqual(await begin(), [webhook.id]);
    await store.apply([{ type: 'rotateWebhook', id: webhook.id, keyName: 'k', at: 1 }]);
    assert.deepEqual(await begin(), []);
  },
);

testStore(
  'a rotation gives the next secret; the one before is valid only with the same webhook key',
  async (_t, store) => {
    const { id } = await created(store);
    const rotate = async (keyName: string, at: number) =>
      ((await store.apply([{ type: 'rotateWebhook', id, keyName, at }]))[0] as Rotation).webhook;
    const second = await rotate('k1', 5);
    assert.deepEqual([second.generation, second.rotatedAt, second.keyName], [2, 5, 'k1']);
    const third = await rotate('k2', 6);
    assert.deepEqual([third.generation, third.rotatedAt, third.keyName], [3, undefined, 'k2']);
  },
);

testStore(
  'one node at a time has the lease; another gets it when it was released or has ended',
  async (_t, store) => {
    assert.deepEqual(await lease(store, 'a'), ['held']);
    assert.deepEqual(await lease(store, 'b'), ['held_by_another']);
    assert.deepEqual(await lease(store, 'a'), ['held']);
    await store.apply([{ type: 'releaseWebhooks', node: 'b' }]);
    assert.deepEqual(await lease(store, 'b'), ['held_by_another']);
    await store.apply([{ type: 'releaseWebhooks', node: 'a' }]);
    assert.deepEqual(await lease(store, 'b'), ['held']);
  },
);

testStore(
  'the answer of an endpoint is not recorded once the webhook has another URL',
  async (_t, store) => {
    const webhook = await created(store);
    await lease(store, 'a');
    const changes = { url: 'https://other.example/', isPaused: false };
    await store.apply([{ type: 'changeWebhook', id: webhook.id, changes }]);
    const gone = { ...webhook, pauseReason: 'gone', failures: 1 } as const;
    assert.deepEqual(await record(store, 'a', gone, webhook), [[]]);
    const [found] = await store.webhooks();
    assert.deepEqual([found!.pauseReason, found!.failures], [undefined, 0]);
  },
);

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: a lease ends by the clock of the database, also if that was set back`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    assert.deepEqual(await lease(store, 'a'), ['held']);
    for (const heldUntil of [0, Date.now() + 15_000]) {
      await queryDatabase(url, `UPDATE webhook_lease SET held_until = ${heldUntil}`);
      assert.deepEqual(await lease(store, `node of ${heldUntil}`), ['held']);
      assert.deepEqual(await lease(store, 'a'), ['held_by_another']);
    }
  });

  test(`${name}: a store that was moved away gives no lease and records no deliveries`, async (t) => {
    const url = await newDatabase(t);
    const store = await open(t, url);
    const webhook = await created(store);
    await lease(store, 'a');
    await queryDatabase(url, "UPDATE store SET moved_to = 'elsewhere'");
    const outcomes = [lease(store, 'a'), record(store, 'a', { ...webhook, failures: 1 }, webhook)];
    for (const settled of await Promise.allSettled(outcomes)) {
      if (settled.status === 'rejected') assert.match(String(settled.reason), /was moved to/);
      else assert.ok(['held_by_another', ''].includes(String(settled.value[0])));
    }
    await queryDatabase(url, 'UPDATE store SET moved_to = NULL');
    assert.deepEqual(await store.webhooks(), [webhook]);
  });

  test(`${name}: webhooks are copied with their positions`, async (t) => {
    const from = await newDatabase(t);
    const store = await open(t, from);
    const webhook = await created(store, { position: { revision: 7n, head: 'b'.repeat(64) } });
    await lease(store, 'a');
    for (const { newDatabase: newTarget } of ENGINES) {
      const to = await newTarget(t);
      await copyStore(databaseAt(from), databaseAt(to), { isMove: false, onProgress: () => {} });
      const copy = await open(t, to);
      assert.deepEqual(await copy.webhooks(), [webhook]);
      assert.deepEqual(await lease(copy, 'b'), ['held']);
    }
  });
}

testStore(
  'deliveries are recorded by the node that has the lease, unless position or filter were set meanwhile',
  async (_t, store) => {
    const webhook = await created(store);
    const other = await created(store, { url: 'https://b.example/', createdAt: 2_000 });
    const position = (revision: bigint) => ({ revision, head: String(revision).padStart(64, '0') });
    const state = {
      ...{ position: position(1n), examined: position(2n), sendingTo: position(2n ** 60n) },
      ...{ failures: 2, failingSince: 10, nextAttemptAt: 20, lastSuccessAt: 5 },
      lastFailure: { at: 15, status: undefined, problem: 'no answer' },
    };
    assert.deepEqual(await record(store, 'a', { ...webhook, ...state }, webhook), [[]]);
    await lease(store, 'a');
    assert.deepEqual(await record(store, 'a', { ...webhook, ...state }, webhook), [[webhook.id]]);
    assert.deepEqual(await store.webhooks(), [{ ...webhook, ...state }, other]);
    assert.deepEqual(await record(store, 'b', { ...webhook, ...state }), [[]]);
    // A place from which another node has gone on.
    assert.deepEqual(await record(store, 'a', webhook), [[]]);
    const sent = { ...webhook, ...state, sendingTo: undefined };
    assert.deepEqual(await record(store, 'a', sent), [[]]);
    await store.apply([{ type: 'changeWebhook', id: webhook.id, changes: { types: ['shipped'] } }]);
    assert.deepEqual(await record(store, 'a', { ...webhook, ...state }), [[]]);
    // A pause does not hinder the record of a delivery that was in progress, and is not undone by it.
    const paused = { isPaused: true };
    await store.apply([{ type: 'changeWebhook', id: webhook.id, changes: paused }]);
    assert.deepEqual(
      await record(store, 'a', { ...webhook, position: state.position, version: 1n }),
      [[webhook.id]],
    );
    const [found] = await store.webhooks();
    assert.deepEqual([found!.pauseReason, found!.failures], ['requested', 0]);
    const failing = { ...found!, failures: 9, failingSince: 10, nextAttemptAt: 20 };
    assert.deepEqual(await record(store, 'a', failing, found), [[webhook.id]]);
    const [resumed] = await store.apply([
      { type: 'changeWebhook', id: webhook.id, changes: { isPaused: false } },
    ]);
    const { failures, failingSince, nextAttemptAt } = resumed as Webhook;
    assert.deepEqual([failures, failingSince, nextAttemptAt], [0, undefined, undefined]);
  },
);

testStore('what a webhook has not delivered is counted, up to a limit', async (_t, store) => {
  const orders = (from: bigint, count: number) =>
    Array.from({ length: count }, (_, index) =>
      place({ id: from + BigInt(index), status: 'pending' as const }),
    );
  await store.apply(orders(1n, 3));
  await store.apply(orders(10n, 1_001));
  const lags = await store.webhookLags([0n, 1n, 2n, 99n]);
  assert.deepEqual(
    lags.map(({ count }) => count),
    [1_000, 1_000, 0, 0],
  );
  const first = (await store.orders([1n]))[0];
  const second = (await store.orders([10n]))[0];
  assert.deepEqual(
    lags.map(({ since }) => since),
    [first!.placedAt, second!.placedAt, undefined, undefined],
  );
});
