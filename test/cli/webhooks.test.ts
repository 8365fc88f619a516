import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { BEGINNING, positionText } from '../../protocol/history.ts';
import type { Webhook } from '../../src/domain/webhook.ts';
import { startReceiver } from '../feed/receiver.ts';
import { run, runInOwnProcess } from '../process/program.ts';
import { ENGINES, open, place, queryDatabase } from '../store/engines.ts';
import { temporaryFolder } from '../temporary.ts';

/** Runs the commands on a store with one order, with a webhook key, and may call this machine. */
async function commandsOn(t: TestContext, database: string) {
  const store = await open(t, database, 'service');
  await store.apply([place({ id: 1n, status: 'pending' })]);
  const keyFile = join(temporaryFolder(t), 'webhook.key');
  const newKey = () => writeFileSync(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 });
  newKey();
  const env = { WEBHOOK_KEY_FILE: keyFile, WEBHOOK_ALLOW: '127.0.0.1,http' };
  const webhooks = (...args: string[]) =>
    run(['webhooks', ...args, '--database', database], { env });
  const created = async (...args: string[]) => {
    const { code, stdout, stderr } = await webhooks('create', ...args);
    assert.equal(code, 0, stderr);
    return { secret: stdout.trim(), id: /wh_\w+/.exec(stderr)![0] };
  };
  const found = async (id: string) =>
    (await store.webhooks()).find((each) => each.id === id) as Webhook;
  return { store, webhooks, created, found, keyFile, newKey, env };
}

test('NODE_TLS_REJECT_UNAUTHORIZED does not make an endpoint without a valid certificate acceptable', async (t) => {
  const url = await ENGINES[0]!.newDatabase(t);
  const { created, env } = await commandsOn(t, url);
  const file = (name: string) => readFileSync(new URL(`../tls/${name}`, import.meta.url));
  const tls = { cert: file('server.crt'), key: file('server.key') };
  let requests = 0;
  const endpoint = createServer(tls, (_, response) => {
    requests += 1;
    response.end();
  }).listen(0, '127.0.0.1');
  t.after(() => endpoint.close());
  await once(endpoint, 'listening');
  const { port } = endpoint.address() as AddressInfo;
  const { id } = await created(`https://127.0.0.1:${port}/`);
  const tested = await runInOwnProcess(['webhooks', 'test', id, '--database', url], {
    env: { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' },
  });
  assert.equal(tested.code, 1);
  assert.match(tested.stderr, /NODE_TLS_REJECT_UNAUTHORIZED has no effect/);
  assert.equal(requests, 0);
});

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: webhooks are created, shown, paused, resumed, rewound, rotated, tested and deleted`, async (t) => {
    const url = await newDatabase(t);
    const { store, webhooks, created, found } = await commandsOn(t, url);
    const secrets: string[] = [];
    const receiver = await startReceiver(
      t,
      () => secrets,
      (_, index) => (index === 0 ? 204 : 500),
    );
    const filter = ['--type', 'cancelled', '--type', 'shipped', '--pet', '7'];
    const { id, secret } = await created(receiver.url, '--description', 'the shop', ...filter);
    const { now } = (await store.feed('now', 1))!;
    const { types, petIds, position, description } = await found(id);
    assert.deepEqual(
      { types, petIds, position, description },
      { types: ['cancelled', 'shipped'], petIds: [7n], position: now, description: 'the shop' },
    );
    secrets.push(secret);
    assert.match((await webhooks('test', id)).stderr, /has accepted the test: 204/);
    const refused = await webhooks('test', id);
    assert.deepEqual([refused.code, /not accepted the test: 500/.test(refused.stderr)], [1, true]);
    await webhooks('pause', id);
    assert.equal((await found(id)).pauseReason, 'requested');
    await webhooks('resume', id);
    assert.equal((await found(id)).pauseReason, undefined);
    // One that is failing is tried at once.
    const failing =
      'UPDATE webhooks SET failures = 3, failing_since = 1, next_attempt_at = 4102444800000';
    await queryDatabase(url, failing);
    await webhooks('resume', id);
    const { failures, nextAttemptAt, pauseReason } = await found(id);
    assert.deepEqual([failures, nextAttemptAt, pauseReason], [0, undefined, undefined]);
    assert.match((await webhooks('rewind', id, '--to', 'start')).stderr, /continues after 0-0/);
    assert.deepEqual((await found(id)).position, BEGINNING);
    assert.match(
      (await webhooks('list')).stdout,
      new RegExp(`${id} +active +1 change +never +http`),
    );
    const others = Array.from({ length: 999 }, (_, index) => BigInt(index + 2));
    await store.apply(others.map((order) => place({ id: order, status: 'pending' })));
    assert.match((await webhooks('list')).stdout, / active +1,000 changes or more +never /);
    assert.match((await webhooks('show', id)).stdout, /petIds +7\n/);
    const [record] = JSON.parse((await webhooks('list', '--json')).stdout);
    assert.equal(record.after, positionText(BEGINNING));
    const rotated = await webhooks('rotate', id);
    assert.notEqual(rotated.stdout.trim(), secret);
    assert.match(rotated.stderr, /24 hours more/);
    assert.equal((await webhooks('delete', id)).code, 0);
    assert.deepEqual(await store.webhooks(), []);
    for (const command of ['show', 'pause', 'resume', 'rotate', 'test', 'delete']) {
      const { code, stderr } = await webhooks(command, id);
      assert.deepEqual([code, stderr.trim()], [1, `store-orders: there is no webhook ${id}`]);
    }
    const audited = (await store.history.audit(20)).map(({ command }) => command);
    assert.deepEqual(
      audited.filter((command) => command.startsWith('webhooks')).toReversed(),
      ['create', 'pause', 'resume', 'resume', 'rewind', 'rotate', 'delete'].map(
        (each) => `webhooks ${each}`,
      ),
    );
  });
}

test('a webhook that cannot be delivered is not created', async (t) => {
  const { store, webhooks, created, newKey } = await commandsOn(
    t,
    await ENGINES[0]!.newDatabase(t),
  );
  for (const args of [
    ['https://10.0.0.1/'],
    ['https://a.example/', '--type', 'sold'],
    ['https://a.example/', '--pet', 'x'],
    ['https://a.example/', '--after', 'never'],
    ['https://a.example/', '--description', 'two\nlines'],
  ]) {
    assert.equal((await webhooks('create', ...args)).code, 2, args.join(' '));
  }
  const gone = await webhooks('create', 'https://a.example/', '--after', `9-${'a'.repeat(64)}`);
  assert.deepEqual([gone.code, /no longer valid/.test(gone.stderr)], [1, true]);
  const { id } = await created('https://a.example/');
  assert.match(
    (await webhooks('create', 'https://a.example/')).stderr,
    /operators have created a webhook with this URL already/,
  );
  newKey();
  assert.match(
    (await webhooks('create', 'https://b.example/')).stderr,
    /does not have the webhook key/,
  );
  assert.match((await webhooks('rotate', id)).stderr, /no longer valid/);
  assert.equal((await webhooks('create', 'https://b.example/')).code, 0);
  assert.equal((await store.webhooks()).length, 2);
});

test('on PostgreSQL a webhook needs the key of WEBHOOK_KEY_FILE', async (t) => {
  const database = await ENGINES[1]!.newDatabase(t);
  await open(t, database);
  const args = ['webhooks', 'create', 'https://a.example/', '--database', database];
  const { code, stderr } = await run(args);
  assert.deepEqual([code, /WEBHOOK_KEY_FILE/.test(stderr)], [1, true]);
});

test('doctor reports what keeps webhooks from being delivered', async (t) => {
  const database = await ENGINES[0]!.newDatabase(t);
  const { store, created, keyFile, newKey, env } = await commandsOn(t, database);
  const doctor = async (settings: Readonly<Record<string, string>> = env) => {
    const ports = { PORT: '0', OPERATIONS_PORT: '0' };
    const args = ['doctor', '--json', '--database', database];
    const { stdout } = await run(args, { env: { ...ports, ...settings } });
    const { findings } = JSON.parse(stdout) as {
      findings: { subject: string; level: string; found: string }[];
    };
    return findings
      .filter(({ subject, level }) => subject === 'webhooks' && level !== 'ok')
      .map(({ level, found }) => `${level}: ${found}`);
  };
  assert.deepEqual(await doctor(), []);
  const { id } = await created('http://127.0.0.1:1/');
  assert.deepEqual(await doctor(), []);
  assert.deepEqual(await doctor({ WEBHOOK_KEY_FILE: keyFile }), [
    `warning: ${id} have URLs that may not be called`,
  ]);
  chmodSync(keyFile, 0o644);
  assert.match((await doctor())[0]!, /^warning: other users may read/);
  chmodSync(keyFile, 0o600);
  const webhook = (await store.webhooks())[0]!;
  await store.apply([{ type: 'leaseWebhooks', node: 'a' }]);
  const state = { ...webhook, failures: 3, pauseReason: 'failed' as const };
  const deliveries = [{ id, known: webhook, state }];
  await store.apply([{ type: 'recordDeliveries', node: 'a', deliveries }]);
  assert.deepEqual(await doctor(), [`warning: ${id} were paused by the service`]);
  newKey();
  assert.match((await doctor())[0]!, /^problem: .* is not the webhook key of wh_/);
  // The file beside the database, which is not made for a store that has webhooks.
  const missing = await doctor({ WEBHOOK_ALLOW: '127.0.0.1,http' });
  assert.match(missing[0]!, /^problem: .*-webhook-key does not exist/);
  assert.equal(existsSync(`${database.slice('sqlite:'.length)}-webhook-key`), false);
});
