import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Answer } from '../http/contract-check.ts';
import { type Running, run, serve } from '../process/program.ts';
import { serveNodes } from '../process/serve-nodes.ts';
import { newPostgresDatabase, open } from '../store/engines.ts';
import { temporaryFolder } from '../temporary.ts';

const ORDERS = '/v2/store/orders';
/** Placements of each writer while replicas are made. */
const ROUNDS = 40;

type Call = (
  node: number,
  method: string,
  path: string,
  headers?: Record<string, string>,
  body?: string,
) => Promise<Answer>;

function placement(key: string): [Record<string, string>, string] {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  return [headers, '{"petId":7,"quantity":1}'];
}

test('identical placements on three nodes at once place one order, and get equal responses', async (t) => {
  const { call } = await serveNodes(t, 3, await newPostgresDatabase(t));
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        call(index, 'POST', ORDERS, ...placement(`round ${round}`.replace(' ', '-'))),
      ),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
    assert.equal(new Set(answers.map(({ body }) => body)).size, 1);
    const fresh = answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined);
    assert.equal(fresh.length, 1);
  }
  const { counts } = JSON.parse((await call(0, 'GET', '/v2/store')).body);
  assert.equal(counts.pending, 3);
});

test('different placements on three nodes at once get ids of their own', async (t) => {
  const { call } = await serveNodes(t, 3, await newPostgresDatabase(t));
  const answers = await Promise.all(
    Array.from({ length: 150 }, (_, index) =>
      call(index, 'POST', ORDERS, ...placement(`key-${index}`)),
    ),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  const ids = answers.map(({ body }) => JSON.parse(body).id).sort((a, b) => a - b);
  assert.deepEqual(
    ids,
    Array.from({ length: 150 }, (_, index) => index + 1),
  );
});

/** Places orders in several lanes until the process is killed. @returns the responses by idempotency key */
async function placeUntilKilled(node: Running, headers: Record<string, string>) {
  const answered = new Map<string, string>();
  const sent: string[] = [];
  const lanes = Array.from({ length: 8 }, async (_, lane) => {
    for (let count = 0; ; count += 1) {
      const key = `lane-${lane}-${count}`;
      sent.push(key);
      const [own, body] = placement(key);
      const answer = await node
        .call('POST', ORDERS, { ...headers, ...own }, body)
        .catch(() => undefined);
      if (answer === undefined) return;
      assert.equal(answer.status, 201);
      answered.set(key, answer.body);
      if (answered.size === 100) node.child.kill('SIGKILL');
    }
  });
  await Promise.all(lanes);
  return { answered, sent };
}

test('a placement repeated after the process was killed gets the first response', async (t) => {
  const database = `sqlite:${join(temporaryFolder(t), 'a.db')}`;
  const first = await serve(t, [], { database });
  const headers = { authorization: `Bearer ${first.secret}` };
  const { answered, sent } = await placeUntilKilled(first, headers);
  const second = await serve(t, ['--no-first-key'], { database });
  for (const key of sent) {
    const [own, body] = placement(key);
    const answer = await second.call('POST', ORDERS, { ...headers, ...own }, body);
    assert.equal(answer.status, 201);
    if (answered.has(key)) {
      assert.equal(answer.body, answered.get(key));
      assert.equal(answer.headers['idempotent-replayed'], 'true');
    }
  }
  const { counts } = JSON.parse((await second.call('GET', '/v2/store', headers)).body);
  assert.equal(counts.pending, sent.length);
});

test('a key with 100 cancels an hour cancels 100 orders on three nodes, also after a crash', async (t) => {
  const database = await newPostgresDatabase(t);
  const { call, nodes } = await serveNodes(t, 3, database);
  const store = await open(t, database);
  const ids = Array.from({ length: 300 }, (_, index) => BigInt(index + 1));
  await store.apply(
    ids.map((id) => ({ type: 'insertOrder', order: { id, status: 'pending' } }) as const),
  );
  const create = ['keys', 'create', '--name', 'limited', '--cancels-per-hour', '100'];
  const { stdout } = await run([...create, '--database', database]);
  const authorization = `Bearer ${stdout.trim()}`;
  const cancel = (id: bigint, node: number) =>
    id % 2n === 0n
      ? call(node, 'DELETE', `/v1/store/orders/${id}`, { authorization })
      : call(node, 'POST', `${ORDERS}/${id}/cancel`, { authorization });
  const answers = await Promise.all(ids.slice(0, 250).map((id, index) => cancel(id, index)));
  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 429).length, 150);
  assert.equal((await store.status()).orders.cancelled, 100n);
  nodes[0]!.child.kill('SIGKILL');
  assert.equal((await cancel(299n, 1)).status, 429);
  assert.equal((await store.status()).orders.cancelled, 100n);
});

/** An exact copy of the store, kept as docs/integrating.md describes it. */
class Replica {
  readonly orders = new Map<number, { id: number; revision: number }>();
  cursor = '';

  /** Walks the pages of a node, then reads the changes since the first page. */
  async fill(call: Call, node: number): Promise<void> {
    for (let cursor = ''; ; ) {
      const { body } = await call(node, 'GET', `${ORDERS}?limit=25${cursor}`);
      const page = JSON.parse(body);
      this.cursor ||= page.changesAfter;
      for (const order of page.orders) this.orders.set(order.id, order);
      if (page.next === undefined) break;
      cursor = `&cursor=${page.next}`;
    }
    await this.follow(call, node);
  }

  async follow(call: Call, node: number): Promise<void> {
    for (;;) {
      const { body } = await call(node, 'GET', `/v2/store/changes?limit=20&after=${this.cursor}`);
      const page = JSON.parse(body);
      for (const { order } of page.changes) this.orders.set(order.id, order);
      this.cursor = page.next;
      if (!page.more) return;
    }
  }

  toString(): string {
    return JSON.stringify([...this.orders.values()].sort((a, b) => a.id - b.id));
  }
}

test('replicas that are made and followed on any node are exact while all nodes change orders', async (t) => {
  const { call } = await serveNodes(t, 3, await newPostgresDatabase(t));
  let placed = 0;
  const writers = Array.from({ length: 6 }, async (_, lane) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const answer = await call(lane, 'POST', ORDERS, ...placement(`lane-${lane}-${round}`));
      assert.equal(answer.status, 201);
      placed += 1;
      const { id } = JSON.parse(answer.body);
      if (round % 3 === 1) await call(lane + 1, 'POST', `${ORDERS}/${id}/cancel`);
      if (round % 3 === 2) await call(lane + 1, 'POST', `${ORDERS}/${id}/ship`);
    }
  });
  const replicas: Replica[] = [];
  while (placed < 6 * ROUNDS) {
    const replica = new Replica();
    await replica.fill(call, replicas.length);
    replicas.push(replica);
    // The others go on, each on another node than before.
    await Promise.all(replicas.map((each, index) => each.follow(call, replicas.length + index)));
  }
  await Promise.all(writers);
  assert.ok(replicas.length > 1);
  const last = new Replica();
  await last.fill(call, 0);
  for (const [index, replica] of replicas.entries()) {
    await replica.follow(call, index);
    assert.equal(replica.toString(), last.toString());
  }
  assert.equal(last.orders.size, placed);
});

/** Reads a stream until it ends, or `onEvent` returns false. */
async function readStream(
  node: Running,
  headers: Record<string, string>,
  onEvent: (id: number, lastEventId: string | undefined) => boolean,
): Promise<void> {
  const response = await fetch(`${node.origin}/v2/store/changes/stream`, { headers });
  assert.equal(response.status, 200);
  let text = '';
  try {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const event = text.slice(0, end);
        text = text.slice(end + 2);
        const order = /"order":\{"id":(\d+)/.exec(event)?.[1];
        const eventId = /^id: (.*)$/m.exec(event)?.[1];
        if (order !== undefined && !onEvent(Number(order), eventId)) return;
      }
    }
  } catch {
    // The node was killed.
  }
}

test('a stream that ends with its node resumes at another node, without gap or repetition', async (t) => {
  const { call, nodes, secret } = await serveNodes(t, 3, await newPostgresDatabase(t));
  const seen: number[] = [];
  let lastEventId = '';
  const total = 90;
  const reader = (async () => {
    for (const node of nodes) {
      const headers = { authorization: `Bearer ${secret}`, 'last-event-id': lastEventId };
      await readStream(node, headers, (id, eventId) => {
        seen.push(id);
        lastEventId = eventId ?? lastEventId;
        const isOver = seen.length % (total / nodes.length) === 0;
        if (isOver) node.child.kill(node === nodes[0] ? 'SIGKILL' : 'SIGTERM');
        return !isOver;
      });
    }
  })();
  for (let count = 0; count < total; count += 1) {
    const answer = await call(2, 'POST', ORDERS, ...placement(`key-${count}`));
    assert.equal(answer.status, 201);
  }
  await reader;
  assert.deepEqual(
    seen,
    Array.from({ length: total }, (_, index) => index + 1),
  );
});
