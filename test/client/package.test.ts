import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../temporary.ts';
import { installPacked } from './packed.ts';

const TSC = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));

/** An empty project with the packed package installed. */
let project: string;

before((t) => {
  project = temporaryFolder(t as never);
  installPacked(project);
});

test('the package has the compiled library and its types, and nothing else', () => {
  const installed = join(project, 'node_modules/@store-orders/client');
  assert.deepEqual(readdirSync(installed).sort(), ['LICENSE', 'README.md', 'dist', 'package.json']);
  const files = readdirSync(join(installed, 'dist'));
  assert.ok(files.every((file) => /\.d\.ts$|\.js$/.test(file)));
  const bytes = files.map((file) => readFileSync(join(installed, 'dist', file)).length);
  assert.ok(bytes.reduce((sum, each) => sum + each, 0) < 100_000);
});

test('the types of the package are checked in a project that uses it', () => {
  writeFileSync(
    join(project, 'consumer.ts'),
    `import { StoreOrders, type OrderRecord, UnknownOutcomeError } from '@store-orders/client';
const store = new StoreOrders({ baseUrl: 'https://x.example', apiKey: 'so_live_x' });
const order: OrderRecord = await store.getOrder(1n);
const id: bigint = order.id;
// @ts-expect-error
await store.getOrder(1);
// @ts-expect-error
const rounded: number = order.id;
const unchanged: OrderRecord | undefined = await store.getOrder(id, { ifNoneMatch: '"a"' });
for await (const listed of store.v1.listOrders()) await store.v1.cancelOrder(listed.id);
export { rounded, unchanged, UnknownOutcomeError };
`,
  );
  const flags = ['--noEmit', '--strict', '--target', 'es2023', '--lib', 'es2023,dom', '--module'];
  const check = [...flags, 'nodenext', '--types', '', 'consumer.ts'];
  execFileSync(TSC, check, { cwd: project, stdio: 'pipe' });
});
