import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Answer } from '../http/contract-check.ts';
import { Cluster, eventually } from '../postgres.ts';
import { type Running, run, serve } from './program.ts';

export const ORDERS = '/v1/store/orders';
export const DATABASE = 'shop';
/** How long a node may take to recover once the database is back. */
export const RECOVERY_MS = 5_000;

export interface Scenario {
  readonly cluster: Cluster;
  readonly node: Running;
  readonly call: (method: string, path: string) => Promise<Answer>;
  /** The last order that a client asked to cancel. */
  lastId: number;
}

/** Starts a node with 2,000 pending orders on a PostgreSQL server of its own. */
export async function startScenario(
  t: TestContext,
  settings: Readonly<Record<string, string>> = {},
  reroute: (url: string) => Promise<string> = async (url) => url,
): Promise<Scenario> {
  const cluster = await Cluster.start(settings);
  t.after(() => cluster.remove());
  await cluster.admin(`CREATE DATABASE ${DATABASE}`);
  const input = Array.from({ length: 2_000 }, (_, index) => `{"id":${index + 1}}\n`).join('');
  await run(['import', '-', '--database', cluster.url(DATABASE)], { input });
  const database = await reroute(cluster.url(DATABASE));
  const node = await serve(t, [], { database, expectsKey: false });
  const made = await run(['keys', 'create', '--name', 'test', '--database', cluster.url(DATABASE)]);
  const headers = { authorization: `Bearer ${made.stdout.trim()}` };
  const call: Scenario['call'] = (method, path) => node.call(method, path, headers);
  return { cluster, node, call, lastId: 0 };
}

/**
 * Cancels, lists and probes while `disturb` runs and for a while after. Every order whose cancel was 204 must be
 * cancelled in the end, and every response must be one that the contract documents.
 */
export async function underLoad(t: TestContext, scenario: Scenario, disturb: () => Promise<void>) {
  const { cluster, node, call } = scenario;
  let isOver = false;
  const cancelled = new Set<string>();
  const statuses = new Map<string, number>();
  let slowest = 0;
  const count = async (what: string, ask: () => Promise<{ status: number }>) => {
    const from = performance.now();
    const { status } = await ask();
    slowest = Math.max(slowest, performance.now() - from);
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
        const id = String(++scenario.lastId);
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
  await eventually(() => assertHealthy(node, call), node.stdout, RECOVERY_MS);
  await new Promise((resolve) => setTimeout(resolve, 500));
  isOver = true;
  await Promise.all(clients);
  t.diagnostic(
    [...statuses]
      .map(([name, times]) => `${name}: ${times}`)
      .sort()
      .join(', '),
  );
  t.diagnostic(`the slowest response took ${Math.round(slowest)} ms`);
  const rows = await cluster.admin(`SELECT id FROM orders WHERE status = 'cancelled'`, DATABASE);
  const inStore = new Set(rows.map(([id]) => id));
  for (const id of cancelled) assert.ok(inStore.has(id), `the cancel of ${id} was acknowledged`);
  const list = JSON.parse((await call('GET', ORDERS)).body) as { id: number }[];
  assert.equal(list.length, 2_000 - inStore.size);
  for (const { id } of list) assert.ok(!inStore.has(String(id)));
  assert.equal(node.child.exitCode, null, 'the service is still running');
  return statuses;
}

export async function assertHealthy(node: Running, call: Scenario['call']): Promise<void> {
  assert.equal((await fetch(`${node.operations}/readyz`)).status, 200);
  assert.equal((await call('GET', ORDERS)).status, 200);
  assert.equal((await call('DELETE', `${ORDERS}/999999999`)).status, 404);
}

/** Restarts the database under load; no acknowledged cancel may be lost. */
export async function assertSurvivesRestart(
  t: TestContext,
  mode: 'fast' | 'immediate' | 'kill',
): Promise<void> {
  const scenario = await startScenario(t);
  const statuses = await underLoad(t, scenario, async () => {
    await scenario.cluster.stop(mode);
    await eventually(async () => {
      assert.equal((await fetch(`${scenario.node.operations}/readyz`)).status, 503);
    });
    assert.equal((await scenario.call('GET', ORDERS)).status, 503);
    assert.equal((await scenario.call('DELETE', `${ORDERS}/1999`)).status, 503);
    await scenario.cluster.run();
  });
  assert.ok(statuses.get('DELETE 503')! > 0);
}
