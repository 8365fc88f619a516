import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../process/program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CLIENT = join(ROOT, 'client');

export function npm(args: readonly string[], cwd: string): void {
  execFileSync('npm', [...args, '--silent', '--no-audit', '--no-fund'], { cwd });
}

/** Packs the client and installs it in `folder`, which is empty. */
export function installPacked(folder: string): void {
  // A copy is packed, since a build removes the one before, which another test may be packing.
  const copy = join(folder, 'copy');
  for (const path of ['package.json', 'client', 'protocol']) {
    cpSync(join(ROOT, path), join(copy, path), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  npm(['pack', '--pack-destination', folder], join(copy, 'client'));
  rmSync(copy, { recursive: true });
  const [tarball] = readdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  npm(['install', '--offline', `./${tarball}`], folder);
}

/** The programs of README.md, each with the output it shows. */
function examples() {
  const readme = readFileSync(join(CLIENT, 'README.md'), 'utf8');
  const pairs = readme.matchAll(/```js\n(\/\/ (\S+)\n.*?)```\n\n```text\n(.*?)```/gs);
  return [...pairs].map(([, code, name, output]) => ({
    name: name!,
    code: code!,
    output: output!,
  }));
}

/** Runs the examples of README.md in a project with the client, against a new store, and compares what they print. */
export async function assertExamplesRun(
  t: TestContext,
  project: string,
  [runtime, ...flags]: readonly string[],
): Promise<void> {
  const service = await serve(t);
  const env = {
    ...process.env,
    STORE_ORDERS_URL: service.origin,
    STORE_ORDERS_KEY: service.secret,
  };
  assert.equal(examples().length, 6);
  for (const { name, code, output } of examples()) {
    writeFileSync(join(project, name), code);
    const printed = execFileSync(runtime!, [...flags, name], {
      cwd: project,
      env,
      encoding: 'utf8',
    });
    const pattern = output.split('…').map(RegExp.escape).join('.*');
    assert.match(printed, new RegExp(`^${pattern}$`), name);
  }
}

/** A program whose types are checked: what must be accepted, and what must not. */
export const CONSUMER = `import {
  type CallOptions,
  ConflictError,
  type OrderRecord,
  type ReplicaStore,
  StoreOrders,
  type StoreOrdersOptions,
  stringify,
  UnknownOutcomeError,
} from '@store-orders/client';

const options: StoreOrdersOptions = { baseUrl: 'https://x.example', apiKey: 'x', fetch: undefined };
const store = new StoreOrders({ ...options, retries: undefined, headers: undefined });

export async function main(replicaStore: ReplicaStore) {
  const call: CallOptions = { signal: undefined, timeoutMs: undefined, retries: undefined };
  const order: OrderRecord = await store.getOrder(1n, call);
  const id: bigint = order.id;
  // @ts-expect-error
  await store.getOrder(1);
  // @ts-expect-error
  const rounded: number = order.id;
  const unchanged: OrderRecord | undefined = await store.getOrder(id, { ifNoneMatch: '"a"' });
  for await (const listed of store.v1.listOrders()) await store.v1.cancelOrder(listed.id);
  for await (const { orders } of store.replica({ onLive: undefined, verify: undefined })) orders.get(id);
  const durable = store.replica({ store: replicaStore, signal: undefined });
  for await (const { revision } of durable) console.log(revision > 1n);
  await store.cancelOrder(1n, { ifMatch: undefined });
  const placement = { petId: 1n, quantity: 1n, shipDate: undefined };
  await store.placeOrder(placement, { idempotencyKey: undefined });
  await store.listOrders({ status: undefined, petId: undefined, limit: undefined, cursor: undefined });
  await store.listChanges({ after: undefined, limit: undefined });
  await store.shipOrder(1n, { shippedAt: undefined });
  const text: string = stringify(order);
  return [rounded, unchanged, text, ConflictError, UnknownOutcomeError];
}
`;

/** Flags of TypeScript under which the types must hold. */
export const STRICT = [
  ...['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'],
  ...['--target', 'es2022', '--lib', 'es2022,dom'],
];
