import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Answer } from '../http/contract-check.ts';
import { Cluster, eventually } from '../postgres.ts';
import { type Running, run, serve } from './program.ts';

export const ORDERS = '/v1/store/orders';
export const DATABASE = 'shop';
/** In this time all must work again when the database is back. */
export const RECOVERY_MS = 5_000;

export interface Scene {
  readonly cluster: Cluster;
  readonly node: Running;
  readonly call: (method: string, path: string) => Promise<Answer>;
  /** The last order that somebody wanted cancelled. */
  lastId: number;
}

/** A node with 2,000 pending orders on a PostgreSQL server of its own. */
export async function scene(
  t: TestContext,
  settings: Readonly<Record<string, string>> = {},
  through: (url: string) => Promise<string> = async (url) => url,
): Promise<Scene> {
  const cluster = await Cluster.start(settings);
  t.after(() => cluster.remove());
  await cluster.admin(`CREATE DATABASE ${DATABASE}`);
  const input = Array.from({ length: 2_000 }, (_, index) => `{"id":${index + 1}}\n`).join('');
  await run(['import', '-', '--database', cluster.url(DATABASE)], { input });
  const database = await through(cluster.url(DATABASE));
  const node = await serve(t, [], { database, expectsKey: false });
  const made = await run(['keys', 'create', '--name', 'test', '--database', cluster.url(DATABASE)]);
  const headers = { authorization: `Bearer ${made.stdout.trim()}` };
  const call: Scene['call'] = (method, path) => node.call(method, path, headers);
  return { cluster, node, call, lastId: 0 };
}

/**
 * Clients who cancel, list and probe while `disturb` runs, and a while longer. What was answered 204
 * must be cancelled in the end, and what was answered at all must be an answer of the contract.
 */
export async function underLoad(t: TestContext, all: Scene, disturb: () => Promise<void>) {
  const { cluster, node, call } = all;
  let isOver = false;
  const cancelled = new Set<string>();
  const statuses = new Map<string, number>();
  let longest = 0;
  const count = async (what: string, ask: () => Promise<{ status: number }>) => {
    const from = performance.now();
    const { status } = await ask();
    longest = Math.max(longest, performance.now() - from);
    const name = `${what} ${status}`;
    statuses.set(name, (statuses.get(name) ?? 0) + 1);
    return status;
  };
  const loop = async (round: () => Promise<void>) => {
    while (!isOver) {
      await round();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const clients = [
    ...Array.from({ length: 4 }, () =>
      loop(async () => {
        const id = String(++all.lastId);
        const status = await count('DELETE', () => call('DELETE', `${ORDERS}/${id}`));
        assert.ok([204, 503].includes(status), `${status}`);
        if (status === 204) cancelled.add(id);
      }),
    ),
    loop(async () => {
      const status = await count('GET', () => call('GET', ORDERS));
      assert.ok([200, 503].includes(status), `${status}`);
    }),
    loop(async () => {
      await count('readyz', () => fetch(`${node.operations}/readyz`));
      assert.equal(await count('livez', () => fetch(`${node.operations}/livez`)), 200);
    }),
  ];
  await new Promise((resolve) => setTimeout(resolve, 500));
  await disturb();
  await eventually(() => allIsWell(node, call), node.stdout, RECOVERY_MS);
  await new Promise((resolve) => setTimeout(resolve, 500));
  isOver = true;
  await Promise.all(clients);
  t.diagnostic(
    [...statuses]
      .map(([name, times]) => `${name}: ${times}`)
      .sort()
      .join(', '),
  );
  t.diagnostic(`the longest answer took ${Math.round(longest)} ms`);
  const rows = await cluster.admin(`SELECT id FROM orders WHERE status = 'cancelled'`, DATABASE);
  const inStore = new Set(rows.map(([id]) => id));
  for (const id of cancelled) assert.ok(inStore.has(id), `${id} was acknowledged`);
  const list = JSON.parse((await call('GET', ORDERS)).body) as { id: number }[];
  assert.equal(list.length, 2_000 - inStore.size);
  for (const { id } of list) assert.ok(!inStore.has(String(id)));
  assert.equal(node.child.exitCode, null, 'the service goes on');
  return statuses;
}

export async function allIsWell(node: Running, call: Scene['call']): Promise<void> {
  assert.equal((await fetch(`${node.operations}/readyz`)).status, 200);
  assert.equal((await call('GET', ORDERS)).status, 200);
  assert.equal((await call('DELETE', `${ORDERS}/999999999`)).status, 404);
}

/** Stops the database under load and starts it again; every acknowledged cancel is there afterwards. */
export async function surviveRestart(
  t: TestContext,
  mode: 'fast' | 'immediate' | 'kill',
): Promise<void> {
  const all = await scene(t);
  const statuses = await underLoad(t, all, async () => {
    await all.cluster.stop(mode);
    await eventually(async () => {
      assert.equal((await fetch(`${all.node.operations}/readyz`)).status, 503);
    });
    assert.equal((await all.call('GET', ORDERS)).status, 503);
    assert.equal((await all.call('DELETE', `${ORDERS}/1999`)).status, 503);
    await all.cluster.run();
  });
  assert.ok(statuses.get('DELETE 503')! > 0);
}
