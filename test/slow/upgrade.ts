// docs/upgrading.md, with the releases that came before.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { npm } from '../client/packed.ts';
import { Cluster, freePort } from '../postgres.ts';
import { Cancels } from '../process/cancels.ts';
import { type Running, type RunOptions, run, serve } from '../process/program.ts';
import { ENGINES } from '../store/engines.ts';
import { temporaryFolder } from '../temporary.ts';
import { carryOutEveryOperation, runEveryCommand, webhookKeyFile } from './every-operation.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Release 1.0.0, which had SQLite only. */
const RELEASE = '6396602';
/** The last commit with PostgreSQL and the schema before v2. */
const BEFORE_V2 = 'e29270d';
/** The last beta before 2.0.0. */
const LAST_BETA = '8ce2a30';
/** Each release, or state of the main branch, whose stores are in use, with the engines that it had. */
const RELEASES: readonly (readonly [string, readonly string[]])[] = [
  [RELEASE, ['SQLite']],
  ['f78935a', ['SQLite', 'PostgreSQL']],
  ['9ca6b94', ['SQLite', 'PostgreSQL']],
  [LAST_BETA, ['SQLite', 'PostgreSQL']],
];
/** More than are cancelled during a test, on a fast machine too: the last order stays pending. */
const ORDERS = 40_000;

/** Not below node_modules, where Node.js runs no TypeScript. */
const CHECKOUTS = mkdtempSync(join(tmpdir(), 'store-orders-releases-'));
after(() => rmSync(CHECKOUTS, { recursive: true, force: true }));

/** Checks out an earlier release and installs it, once. Returns undefined in a clone without history. */
function earlier(t: TestContext, commit: string): RunOptions | undefined {
  const folder = join(CHECKOUTS, commit);
  const { status } = spawnSync('git', ['cat-file', '-e', commit], { cwd: ROOT });
  if (status !== 0) {
    t.skip(`this clone does not have the commit ${commit}`);
    return undefined;
  }
  if (!existsSync(folder)) checkOut(commit, folder);
  return { program: [process.execPath, join(folder, 'bin/store-orders.js')] };
}

function checkOut(commit: string, folder: string): void {
  const options = { cwd: ROOT, maxBuffer: 1 << 28, stdio: 'pipe' } as const;
  const archive = execFileSync('git', ['archive', commit], options);
  mkdirSync(folder);
  execFileSync('tar', ['-x'], { cwd: folder, input: archive });
  npm(['ci', '--omit=dev'], folder);
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

test('SQLite: an upgrade under load loses nothing, and can be undone by a restore', {
  timeout: 200_000,
}, async (t) => {
  const old = earlier(t, RELEASE);
  if (old === undefined) return;
  const folder = temporaryFolder(t);
  const database = `sqlite:${join(folder, 'store.db')}`;
  await fill(database, old);
  const ports = ['--port', String(await freePort())];
  const before = await serve(t, ports, { ...old, database });
  const cancels = new Cancels(t, [before.origin], before.secret);
  await cancels.more(300);

  // 1. The new release makes a backup while the old one serves the store.
  const backup = join(folder, 'before.db');
  const made = await run(['backup', backup, '--database', database]);
  assert.equal(made.code, 0, made.stderr);
  // 2. The old release stops, and the new one starts.
  const call = (path: string, headers = {}) =>
    fetch(before.origin + path, {
      headers: { authorization: `Bearer ${before.secret}`, ...headers },
    });
  const etag = (await call('/v1/store/orders')).headers.get('etag')!;
  const stoppedAt = performance.now();
  assert.equal(await before.stop(), 0);
  const after = await serve(t, ports, { database, expectsKey: false });
  t.diagnostic(`not served for ${Math.round(performance.now() - stoppedAt)} ms`);
  await cancels.more(300);
  await cancels.stop();
  t.diagnostic(`repeated: ${JSON.stringify(cancels.repeated)}`);
  // 3. Nothing is lost; what clients have cached is not taken for current.
  assert.equal((await call('/v1/store/orders', { 'if-none-match': etag })).status, 200);
  assert.equal((await call('/v2/store/orders?status=cancelled')).status, 200);
  assert.equal(await after.stop(), 0);
  await assertKept(database, cancels);

  // 4. The old release refuses the new schema in words; a restore of the backup is the way back.
  const refused = await run(['serve', ...ports, '--database', database], old);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /newer/);
  const restored = await run(['restore', backup, '--database', database]);
  assert.equal(restored.code, 0, restored.stderr);
  await serve(t, ports, { ...old, database, expectsKey: false });
  const list = await call('/v1/store/orders');
  const left = (await list.json()) as unknown[];
  assert.ok(left.length > ORDERS - cancels.acknowledged.length, `${left.length} orders`);
});

/** Upgrades three nodes of an earlier build one by one under load. @param whileOld checks each node that is still of that build */
async function upgradeNodes(
  t: TestContext,
  commit: string,
  whileOld: (node: Running, call: (method: string) => Promise<Response>) => Promise<void>,
): Promise<Cancels | undefined> {
  const old = earlier(t, commit);
  if (old === undefined) return undefined;
  const cluster = await Cluster.start();
  t.after(() => cluster.remove());
  const database = cluster.url();
  await fill(database, old);
  const ports = await Promise.all([1, 2, 3].map(() => freePort()));
  const flags = ports.map((port) => ['--port', String(port)]);
  const first = await serve(t, flags[0]!, { ...old, database });
  const others = await Promise.all(
    flags.slice(1).map((each) => serve(t, each, { ...old, database, expectsKey: false })),
  );
  const nodes = [first, ...others];
  const cancels = new Cancels(
    t,
    nodes.map(({ origin }) => origin),
    first.secret,
  );
  await cancels.more(300);
  /** Orders at the end, which the clients do not reach. */
  let last = ORDERS;
  for (const [index, node] of nodes.entries()) {
    // Stop, install, start: the first new node migrates the schema beside the old ones.
    assert.equal(await node.stop(), 0);
    await serve(t, flags[index]!, { database, expectsKey: false });
    await cancels.more(300);
    for (const each of nodes.slice(index + 1)) {
      await whileOld(each, (method) => {
        const path = method === 'DELETE' ? `/${last--}` : '';
        const headers = { authorization: `Bearer ${first.secret}` };
        return fetch(`${each.origin}/v1/store/orders${path}`, { method, headers });
      });
    }
  }
  await cancels.stop();
  t.diagnostic(`repeated: ${JSON.stringify(cancels.repeated)}`);
  await assertKept(database, cancels);
  const refused = await run(['serve', '--port', '0', '--database', database], old);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /newer than this release/);
  return cancels;
}

test('PostgreSQL: nodes of the last beta serve until they are replaced, and no request is refused', {
  timeout: 200_000,
}, async (t) => {
  const cancels = await upgradeNodes(t, LAST_BETA, async ({ operations }, call) => {
    assert.equal((await call('DELETE')).status, 204);
    assert.equal((await call('GET')).status, 200);
    assert.equal((await fetch(`${operations}/readyz`)).status, 200);
  });
  assert.equal(cancels?.repeated['503'], undefined);
});

test('PostgreSQL: nodes of builds before references refuse requests, and are not ready, once a new node has migrated the schema', {
  timeout: 200_000,
}, async (t) => {
  await upgradeNodes(t, BEFORE_V2, async ({ operations }, call) => {
    assert.equal((await call('DELETE')).status, 503);
    assert.equal((await call('GET')).status, 503);
    assert.equal((await fetch(`${operations}/readyz`)).status, 503);
  });
});

for (const [commit, engines] of RELEASES) {
  for (const { name, newDatabase } of ENGINES.filter((engine) => engines.includes(engine.name))) {
    test(`${name}: every operation and command works on a store of ${commit} after its upgrade`, {
      timeout: 200_000,
    }, async (t) => {
      const old = earlier(t, commit);
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
      const call: typeof service.call = (method, path, headers, body) =>
        service.call(method, path, { authorization: `Bearer ${secret}`, ...headers }, body);
      await carryOutEveryOperation({ ...service, call });
      // Orders placed after the upgrade continue the ids.
      const placed = await call('GET', '/v2/store/orders/7');
      assert.equal(placed.status, 200);
      assert.equal(await service.stop(), 0);
      await runEveryCommand(t, database, () => newDatabase(t));
    });
  }
}
