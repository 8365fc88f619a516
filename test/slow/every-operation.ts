import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { load } from 'js-yaml';
import { type Running, run } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

const JSON_BODY = { 'content-type': 'application/json' };
const WEBHOOKS = '/v2/webhooks';
const KEYS = '/v2/keys';

/**
 * A request of each operation, in this order, on a store that has the pending orders 1 to 6 and the pet 1: v1/listOrders. ID is the

 * webhook, or API key, that was created; an invitation is redeemed with its ticket.
 */
const REQUESTS: Readonly<Record<string, Request>> = {
  'v1/listOrders': { method: 'GET', path: '/v1/store/orders', status: 200 },
  'v1/cancelOrder': { method: 'DELETE', path: '/v1/store/orders/1', status: 204 },
  'v1/getPet': { method: 'GET', path: '/v1/pets/1', status: 200 },
  'v2/listOrders': {
    method: 'GET',
    path: '/v2/store/orders?status=cancelled&petId=1',
    status: 200,
  },
  'v2/placeOrder': {
    ...{ method: 'POST', path: '/v2/store/orders', status: 201 },
    headers: { ...JSON_BODY, 'idempotency-key': 'rehearsal' },
    body: '{"petId":1,"quantity":2}',
  },
  'v2/getOrder': { method: 'GET', path: '/v2/store/orders/2', status: 200 },
  'v2/getOrderHistory': { method: 'GET', path: '/v2/store/orders/1/history', status: 200 },
  'v2/cancelOrder': { method: 'POST', path: '/v2/store/orders/2/cancel', status: 200 },
  'v2/shipOrder': { method: 'POST', path: '/v2/store/orders/3/ship', status: 200 },
  'v2/cancelOrders': {
    ...{ method: 'POST', path: '/v2/store/orders/cancel', status: 200 },
    headers: { ...JSON_BODY, 'idempotency-key': 'rehearsal' },
    body: '{"orders":[{"id":5}],"atomic":true}',
  },
  'v2/shipOrders': {
    ...{ method: 'POST', path: '/v2/store/orders/ship', status: 200 },
    headers: JSON_BODY,
    body: '{"orders":[{"id":6}]}',
  },
  'v2/listChanges': { method: 'GET', path: '/v2/store/changes', status: 200 },
  // A stream has no end.
  'v2/streamChanges': { method: 'HEAD', path: '/v2/store/changes/stream', status: 200 },
  'v2/getKey': { method: 'GET', path: '/v2/key', status: 200 },
  'v2/findOrders': {
    ...{ method: 'POST', path: '/v2/store/orders/find', status: 200 },
    headers: JSON_BODY,
    body: '{"ids":[1],"references":["none"]}',
  },
  'v2/countOrders': { method: 'GET', path: '/v2/store/counts?petId=1', status: 200 },
  'v2/getStore': { method: 'GET', path: '/v2/store', status: 200 },
  'v2/getActivity': {
    ...{ method: 'GET', status: 200 },
    path: '/v2/store/activity?boundaries=2026-01-01T00:00:00Z,2099-01-01T00:00:00Z',
  },
  'v2/createWebhook': {
    ...{ method: 'POST', path: WEBHOOKS, status: 201 },
    headers: JSON_BODY,
    body: '{"url":"https://shop.invalid/hook"}',
  },
  'v2/listWebhooks': { method: 'GET', path: WEBHOOKS, status: 200 },
  'v2/getWebhook': { method: 'GET', path: `${WEBHOOKS}/ID`, status: 200 },
  'v2/updateWebhook': {
    ...{ method: 'PATCH', path: `${WEBHOOKS}/ID`, status: 200 },
    headers: JSON_BODY,
    body: '{"state":"paused"}',
  },
  'v2/rotateWebhookSecret': { method: 'POST', path: `${WEBHOOKS}/ID/rotate-secret`, status: 200 },
  'v2/testWebhook': { method: 'POST', path: `${WEBHOOKS}/ID/test`, status: 200 },
  'v2/listKeys': { method: 'GET', path: KEYS, status: 200 },
  'v2/createKey': {
    ...{ method: 'POST', path: KEYS, status: 201 },
    headers: JSON_BODY,
    body: '{"name":"rehearsal","scopes":["orders:read"],"invitation":true}',
  },
  'v2/redeemInvitation': { method: 'POST', path: '/v2/key/redeem', status: 200 },
  'v2/getKeyById': { method: 'GET', path: `${KEYS}/ID`, status: 200 },
  'v2/updateKey': {
    ...{ method: 'PATCH', path: `${KEYS}/ID`, status: 200 },
    headers: JSON_BODY,
    body: '{"name":"renamed"}',
  },
  'v2/rotateKey': { method: 'POST', path: `${KEYS}/ID/rotate`, status: 200 },
  'v2/revokeKey': { method: 'POST', path: `${KEYS}/ID/revoke`, status: 200 },
  'v2/deleteWebhook': { method: 'DELETE', path: `${WEBHOOKS}/ID`, status: 204 },
};

interface Request {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const keyFiles = new WeakMap<TestContext, string>();

/** The file with the webhook key of a test; SQLite would make one, PostgreSQL needs it. */
export function webhookKeyFile(t: TestContext): string {
  const file = keyFiles.get(t) ?? join(temporaryFolder(t), 'webhook.key');
  if (!keyFiles.has(t)) writeFileSync(file, randomBytes(32).toString('base64'), { mode: 0o600 });
  keyFiles.set(t, file);
  return file;
}

/** The operations of the contracts, as version/operationId. */
function operations(): string[] {
  return ['v1', 'v2'].flatMap((version) => {
    const path = new URL(`../../contract/${version}.yaml`, import.meta.url);
    const { paths } = load(readFileSync(path, 'utf8')) as {
      paths: Record<string, Record<string, { operationId?: string }>>;
    };
    const found = Object.values(paths).flatMap((methods) => Object.values(methods));
    return found.flatMap(({ operationId }) => (operationId ? `${version}/${operationId}` : []));
  });
}

/** Carries out every operation of the contracts; an operation without a request in REQUESTS fails. */
export async function carryOutEveryOperation({ call }: Running): Promise<void> {
  assert.deepEqual(Object.keys(REQUESTS).sort(), operations().sort());
  const made = { webhook: '', key: '', ticket: '' };
  for (const [operation, { method, path, headers, body, status }] of Object.entries(REQUESTS)) {
    const id = path.startsWith(KEYS) ? made.key : made.webhook;
    const ticket = operation === 'v2/redeemInvitation' && {
      authorization: `Bearer ${made.ticket}`,
    };
    const answer = await call(method, path.replace('ID', id), { ...headers, ...ticket }, body);
    assert.equal(answer.status, status, `${operation}: ${answer.body}`);
    if (operation === 'v2/createWebhook') made.webhook = JSON.parse(answer.body).webhook.id;
    if (operation === 'v2/createKey') {
      const { key, invitation } = JSON.parse(answer.body);
      Object.assign(made, { key: key.id, ticket: invitation });
    }
  }
}

/** Runs every command of the program on a store that has order 4, and is not served; a command that is left out fails. */
export async function runEveryCommand(
  t: TestContext,
  database: string,
  emptyDatabase: () => Promise<string>,
): Promise<void> {
  const done = new Set(['serve', 'help']);
  const command = async (args: readonly string[], on = database, input = '') => {
    done.add(args[0]!);
    const where = ['sample', 'copy', 'reference'].includes(args[0]!) ? [] : ['--database', on];
    const env = { PORT: '0', OPERATIONS_PORT: '0', WEBHOOK_KEY_FILE: webhookKeyFile(t) };
    const result = await run([...args, ...where], { input, env });
    assert.equal(result.code, 0, `${args.join(' ')}: ${result.stdout}${result.stderr}`);
    return result;
  };
  const folder = temporaryFolder(t);
  const backup = join(folder, 'backup.db');
  const { stderr } = await command(['keys', 'create', '--name', 'rehearsal']);
  await command(['keys', 'revoke', /key_\w+/.exec(stderr)![0]]);
  await command(['migrate', '--plan']);
  await command(['migrate']);
  await command(['import', '-'], database, '{"id":4000000,"petId":1}\n{"petId":2}\n');
  await command(['imports']);
  await command(['pets', 'import', '-'], database, '{"id":7,"name":"Ada"}\n');
  for (const args of [['list'], ['show', '4'], ['export'], ['changes'], ['audit'], ['ids']]) {
    await command(args);
  }
  const created = await command(['webhooks', 'create', 'https://shop.invalid/']);
  const webhook = /wh_\w+/.exec(created.stderr)![0];
  for (const name of ['pause', 'resume', 'show', 'delete']) {
    await command(['webhooks', name, webhook]);
  }
  await command(['ship', '4']);
  await command(['cancel', '5']);
  await command(['backup', backup]);
  const restored = `sqlite:${join(folder, 'restored.db')}`;
  await command(['restore', backup], restored);
  for (const on of [database, restored]) await command(['check'], on);
  const { stdout } = await run(['doctor', '--json', '--database', database], {
    env: { PORT: '0', OPERATIONS_PORT: '0' },
  });
  done.add('doctor');
  const { findings } = JSON.parse(stdout);
  const problems = findings.filter(({ level }: { level: string }) => level === 'problem');
  // The PostgreSQL of the tests does not sync.
  const others = problems.filter(({ subject }: { subject: string }) => subject !== 'durability');
  assert.deepEqual(others, []);
  await command(['copy', '--from', database, '--to', await emptyDatabase()]);
  await command(['reactivate']);
  await command(['rechain']);
  await command(['check']);
  await command(['sample', '3']);
  await command(['reference', '--base-url', 'https://api.example']);
  const help = (await run(['--help'])).stdout;
  const names = [...help.matchAll(/^ {2}([a-z-]+)(?: \S+)* {2,}\S/gm)].map(([, name]) => name!);
  assert.deepEqual(
    names.filter((name) => !done.has(name)),
    [],
  );
}
