// docs/upgrading.md, with the releases that came before.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BUILDS, earlierBuild, LAST_BETA } from '../earlier-build.ts';
import { packedProgram } from '../packed-program.ts';
import { Cluster } from '../postgres.ts';
import { Cancels } from '../process/cancels.ts';
import { type RunOptions, run, serve } from '../process/program.ts';
import { ENGINES } from '../store/engines.ts';
import { temporaryFolder } from '../temporary.ts';
import { carryOutEveryOperation, runEveryCommand, webhookKeyFile } from './every-operation.ts';
import { Machine } from './machine.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Release 1.0.0, which had SQLite only. */
const RELEASE = '6396602';
/** The release before, and the last state of the main branch that had another schema, with the engines that they had. */
const RELEASES: readonly (readonly [string, readonly string[]])[] = [
  [RELEASE, ['SQLite']],
  [LAST_BETA, ['SQLite', 'PostgreSQL']],
];
/** More than are cancelled during a test, on a fast machine too: the last order stays pending. */
const ORDERS = 40_000;

/** The commands of docs/upgrading.md under a heading, a block each. */
function blocksUnder(heading: string): string[] {
  const page = readFileSync(join(ROOT, 'docs/upgrading.md'), 'utf8');
  const section = page.split(/^(?=#)/m).find((each) => each.startsWith(`${heading}\n`));
  const blocks = [...(section ?? '').matchAll(/^```sh\n(.*?)^```/gms)].map(([, text]) => text!);
  assert.ok(blocks.length > 0, heading);
  return blocks;
}

function blockUnder(heading: string): string {
  return blocksUnder(heading)[0]!;
}

/** The store of an earlier release, with many orders. */
async function fill(database: string, old: RunOptions): Promise<void> {
  const rows = Array.from({ length: ORDERS }, (_, index) => `{"id":${index + 1},"quantity":1}\n`);
  const imported = await run(['import', '-', '--database', database], {
    ...old,
    input: rows.join(''),
  });
  assert.equal(imported.code, 0, imported.stderr);
}

/** What was acknowledged is in the store, and the store is consistent. */
async function assertKept(database: string, cancels: Cancels): Promise<void> {
  const { stdout } = await run(['export', '--database', database]);
  const orders = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const cancelled = orders.filter(({ status }) => status === 'cancelled').map(({ id }) => id);
  const kept = new Set(cancelled);
  const lost = cancels.acknowledged.filter((id) => !kept.has(id));
  assert.deepEqual(lost, []);
  const { code, stdout: checked } = await run(['check', '--database', database]);
  assert.equal(code, 0, checked);
}

/** An earlier build does not start on a store that was upgraded, and its message has the reason. */
async function assertRefused(database: string, old: RunOptions, reason: RegExp): Promise<void> {
  const { code, stderr } = await run(['serve', '--port', '0', '--database', database], old);
  assert.equal(code, 1);
  assert.match(stderr, reason);
}

test('SQLite: the commands for one process upgrade under load without a loss, and those for going back restore', {
  timeout: 200_000,
}, async (t) => {
  const old = earlierBuild(t, RELEASE);
  if (old === undefined) return;
  const database = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  await fill(database, old);
  const machine = await Machine.with(t, { database, tarball: await packedProgram() });
  machine.useClone(join(BUILDS, RELEASE));
  const { origin, secret } = await machine.start({ expectsKey: true });
  const cancels = new Cancels(t, [origin], secret);
  await cancels.more(300);
  const call = (path: string, headers = {}) =>
    fetch(origin + path, { headers: { authorization: `Bearer ${secret}`, ...headers } });
  const etag = (await call('/v1/store/orders')).headers.get('etag')!;

  await machine.run(blockUnder('## Once, from 1.0.0'));
  await machine.run(blockUnder('## One process'));
  await cancels.more(300);
  await cancels.stop();
  t.diagnostic(`repeated: ${JSON.stringify(cancels.repeated)}`);
  // Nothing is lost; what clients have cached is not taken for current.
  assert.equal((await call('/v1/store/orders', { 'if-none-match': etag })).status, 200);
  assert.equal((await call('/v2/store/orders?status=cancelled')).status, 200);
  await assertKept(database, cancels);
  await assertRefused(database, old, /newer/);

  await machine.run(blockUnder('### On SQLite'));
  const left = (await (await call('/v1/store/orders')).json()) as unknown[];
  assert.ok(left.length > ORDERS - cancels.acknowledged.length, `${left.length} orders`);
});

test('PostgreSQL: the commands for nodes upgrade those of the last beta, no request is refused, and those for going back restore', {
  timeout: 300_000,
}, async (t) => {
  const old = earlierBuild(t, LAST_BETA);
  if (old === undefined) return;
  const cluster = await Cluster.start();
  t.after(() => cluster.remove());
  const database = cluster.url();
  await fill(database, old);
  const options = { database, tarball: await packedProgram() };
  const machines = await Promise.all([1, 2, 3].map(() => Machine.with(t, options)));
  for (const machine of machines) machine.useRelease(join(BUILDS, LAST_BETA), '1.1.0-beta.1');
  const { secret } = await machines[0]!.start({ expectsKey: true });
  for (const machine of machines.slice(1)) await machine.start();
  const origins = machines.map(({ service }) => service.origin);
  const headers = { authorization: `Bearer ${secret}` };
  const cancels = new Cancels(t, origins, secret);
  await cancels.more(300);
  const [backup, perNode] = blocksUnder('## Node after node');
  await machines[0]!.run(backup!);
  for (const [index, machine] of machines.entries()) {
    await machine.run(perNode!);
    await cancels.more(300);
    for (const [at, { service }] of machines.slice(index + 1).entries()) {
      const url = `${service.origin}/v1/store/orders`;
      assert.equal((await fetch(url, { headers })).status, 200);
      // An order that the clients do not reach: cancelled at the first of these nodes, which the others know.
      const cancel = await fetch(`${url}/${ORDERS - index}`, { headers, method: 'DELETE' });
      assert.equal(cancel.status, at === 0 ? 204 : 404);
      assert.equal((await fetch(`${service.operations}/readyz`)).status, 200);
    }
  }
  await cancels.stop();
  t.diagnostic(`repeated: ${JSON.stringify(cancels.repeated)}`);
  assert.equal(cancels.repeated['503'], undefined);
  await assertKept(database, cancels);
  await assertRefused(database, old, /newer than this release/);

  await cluster.admin('CREATE DATABASE orders_before');
  const [onEach, onOne] = blocksUnder('### On PostgreSQL');
  for (const machine of machines) await machine.run(onEach!);
  const before = cluster.url('orders_before');
  await machines[0]!.run(onOne!, { BEFORE_URL: before });
  for (const machine of machines) {
    machine.database = before;
    await machine.start();
    const list = await fetch(`${machine.service.origin}/v1/store/orders`, { headers });
    const left = (await list.json()) as unknown[];
    assert.ok(left.length > ORDERS - cancels.acknowledged.length, `${left.length} orders`);
  }
  const placed = await machines[0]!.service.call(
    'POST',
    '/v2/store/orders',
    { ...headers, 'content-type': 'application/json', 'idempotency-key': 'after' },
    '{"petId":1,"quantity":1}',
  );
  assert.equal(JSON.parse(placed.body).id, 1_000_000_000);
});

for (const [commit, engines] of RELEASES) {
  for (const { name, newDatabase } of ENGINES.filter((engine) => engines.includes(engine.name))) {
    test(`${name}: every operation and command works on a store of ${commit} after its upgrade`, {
      timeout: 200_000,
    }, async (t) => {
      const old = earlierBuild(t, commit);
      if (old === undefined) return;
      const database = await newDatabase(t);
      const input = Array.from({ length: 6 }, (_, index) => `{"id":${index + 1},"petId":1}\n`);
      for (const [args, text] of [
        [['import', '-'], input.join('')],
        [['pets', 'import', '-'], '{"id":1,"name":"Ada"}\n'],
      ] as const) {
        const made = await run([...args, '--database', database], { ...old, input: text });
        assert.equal(made.code, 0, made.stderr);
      }
      const before = await serve(t, [], { ...old, database });
      assert.equal((await fetch(`${before.origin}/v1/store/orders`)).status, 401);
      assert.equal(await before.stop(), 0);

      const env = { WEBHOOK_KEY_FILE: webhookKeyFile(t) };
      const service = await serve(t, [], { database, expectsKey: false, env });
      const { secret } = before;
      const own = { authorization: `Bearer ${secret}` };
      // No key manages keys only because of an upgrade.
      assert.equal((await service.call('GET', '/v2/keys', own)).status, 403);
      const scopes = ['--scope', 'keys:manage', '--scope', 'orders:read'];
      const create = ['keys', 'create', '--name', 'owner', ...scopes, '--database', database];
      const owner = (await run(create)).stdout.trim();
      const call: typeof service.call = (method, path, headers, body) => {
        const authorization = `Bearer ${path.startsWith('/v2/keys') ? owner : secret}`;
        return service.call(method, path, { authorization, ...headers }, body);
      };
      await carryOutEveryOperation({ ...service, call });
      // Orders placed after the upgrade continue the ids.
      const placed = await call('GET', '/v2/store/orders/7');
      assert.equal(placed.status, 200);
      assert.equal(await service.stop(), 0);
      await runEveryCommand(t, database, () => newDatabase(t));
    });
  }
}
