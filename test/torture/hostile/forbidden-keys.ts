import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { scopeOf } from '../../../protocol/openapi.ts';
import { newSecret, SCOPES } from '../../../src/domain/api-key.ts';
import { CONTRACTS } from '../../http/contract-check.ts';
import { succeed } from '../command.ts';
import { type Call, openStream, parse, REFUSED_WITHIN_MS, send } from '../http.ts';
import { serveNew } from './store.ts';
import type { Attack } from './trial.ts';

const LIMIT_MS = 10_000;
const EXPIRES_IN_MS = 5_000;

/** The operations of v1 have no scope in their contract. */
const SCOPES_OF_V1: Readonly<Record<string, string>> = {
  listOrders: 'orders:read',
  cancelOrder: 'orders:cancel',
  getPet: 'none',
};

interface Operation {
  readonly method: string;
  readonly path: string;
  /** The scope that it needs; "none" if every key may. */
  readonly scope: string;
}

/** Every operation of both contracts, with every kind of key that may not carry it out. */
export const forbiddenKeys: Attack = {
  name: 'keys that are absent, wrong, of another store, of staging, revoked (also while a body arrives), expired or without the scope, at every operation',
  mustHold: 'each request is answered 401, or 403 without the scope, and nothing changes',
  make: async ({ folder }) => {
    const { server, secret, database } = await serveNew(folder, 10);
    const wrong: string[] = [];
    const other = await serveNew(folder, 1);
    await other.server.stop();
    const newKey = (...flags: string[]) =>
      succeed(['keys', 'create', '--name', 'a key', ...flags, '--database', database]);
    const expires = new Date(Date.now() + EXPIRES_IN_MS).toISOString();
    const expired = await newKey('--expires', expires);
    const { id, secret: revoked } = JSON.parse(await newKey('--json'));
    const sending = { port: server.port, agent: new Agent({ keepAlive: true }), limitMs: LIMIT_MS };
    // The service has both keys in its memory.
    for (const key of [expired, revoked]) await stateOf(sending, key);
    const stream = await openStream({ port: server.port }, expired);
    const webhook = await newWebhook(sending, secret);
    await succeed(['keys', 'revoke', id, '--database', database]);
    await pause(EXPIRES_IN_MS + REFUSED_WITHIN_MS);
    let requests = 0;
    const expect = async (status: number, what: string, call: Call) => {
      requests += 1;
      // A stream that is opened does not end.
      const answer = await send(sending, call).catch((error: Error) => error);
      const found = 'status' in answer ? answer.status : answer.message;
      if (found === status) return;
      wrong.push(`${what}: ${call.method} ${call.path} was answered ${found}`);
    };
    if (!stream.hasEnded()) wrong.push('the stream of an expired key has not ended');
    stream.close();
    const before = await stateOf(sending, secret);
    const all = operations(webhook);
    const every = SCOPES.flatMap((scope) => ['--scope', scope]);
    const { id: lateId, secret: late } = JSON.parse(await newKey('--json', ...every));
    await stateOf(sending, late);
    const halves = all
      .map(callOf)
      .filter(({ body }) => body !== undefined)
      .map((call) => sendInHalves(sending.port, { ...call, secret: late }));
    await succeed(['keys', 'revoke', lateId, '--database', database]);
    await pause(REFUSED_WITHIN_MS);
    // Its first request after the time in which it had to become invalid.
    await expect(401, 'a key revoked a second ago', { ...callOf(all[0]!), secret: late });
    for (const { call, complete } of halves) {
      requests += 1;
      const status = await complete();
      if (status !== 401)
        wrong.push(`a key revoked meanwhile: ${call.method} ${call.path} was answered ${status}`);
    }
    for (const operation of all) {
      const call = callOf(operation);
      for (const [what, changed] of withoutKey(call, secret)) await expect(401, what, changed);
      const keys = { expired, revoked, 'of another store': other.secret };
      for (const [what, key] of Object.entries({ ...keys, ...neverMade(secret) })) {
        await expect(401, `a key ${what}`, { ...call, secret: key });
      }
    }
    for (const granted of SCOPES) {
      const key = await newKey('--scope', granted);
      for (const operation of all) {
        if (operation.scope === 'none' || operation.scope === granted) continue;
        await expect(403, `a key for ${granted}`, { ...callOf(operation), secret: key });
      }
    }
    if ((await stateOf(sending, secret)) !== before) wrong.push('something was changed');
    sending.agent.destroy();
    await server.stop();
    const figures = wrong.length === 0 ? `${requests} requests` : wrong.slice(0, 3).join('; ');
    return { figures, isKept: wrong.length === 0 };
  },
};

/** Every operation, on the order 5 or a webhook. */
function operations(webhook: string): Operation[] {
  return Object.entries(CONTRACTS).flatMap(([version, { paths }]) =>
    Object.entries(paths).flatMap(([template, item]) => {
      const path = `/${version}${template.replace('{webhookId}', webhook).replace(/\{\w+\}/, '5')}`;
      return Object.entries(item).flatMap(([method, operation]) => {
        const scope =
          version === 'v1' ? SCOPES_OF_V1[operation.operationId]! : (scopeOf(operation) ?? 'none');
        const each = { method: method.toUpperCase(), path, scope };
        return each.method === 'GET' ? [each, { ...each, method: 'HEAD' }] : [each];
      });
    }),
  );
}

/** A request that would be carried out with a key that may. */
function callOf({ method, path }: Operation): Call {
  const headers = { 'idempotency-key': path };
  if (path.endsWith('/store/activity')) {
    const query = 'boundaries=2026-11-21T00:00:00Z,2026-11-22T00:00:00Z';
    return { method, path: `${path}?${query}`, headers };
  }
  const body = bodyOf(method, path);
  return { method, path, headers, ...(body !== undefined && { body }) };
}

/** A body that an operation accepts; undefined if it has none. */
export function bodyOf(method: string, path: string): string | undefined {
  if (method === 'PATCH') return '{}';
  if (method !== 'POST') return undefined;
  if (path.endsWith('/store/orders')) return '{"petId":1,"quantity":1}';
  if (path.endsWith('/webhooks')) return '{"url":"https://shop.example/"}';
  return /\/orders\/(cancel|ship)$/.test(path) ? '{"orders":[{"id":5}]}' : undefined;
}

/** Requests without a key, and with one where none is read. */
function* withoutKey(call: Call, secret: string): Generator<[what: string, call: Call]> {
  const path = `${call.path}${call.path.includes('?') ? '&' : '?'}`;
  const withHeader = (name: string, value: string) => {
    return { ...call, headers: { ...call.headers, [name]: value } };
  };
  yield ['no key', call];
  yield ['an empty key', withHeader('authorization', 'Bearer ')];
  yield ['a key as Basic', withHeader('authorization', `Basic ${btoa(`${secret}:`)}`)];
  yield ['a key without Bearer', withHeader('authorization', secret)];
  yield ['two keys', withHeader('authorization', `Bearer ${secret}, Bearer ${secret}`)];
  yield ['a key as Proxy-Authorization', withHeader('proxy-authorization', `Bearer ${secret}`)];
  yield ['a key as X-API-Key', withHeader('x-api-key', secret)];
  yield ['a key as a cookie', withHeader('cookie', `key=${secret}`)];
  yield ['a key in the query', { ...call, path: `${path}access_token=${secret}` }];
}

function neverMade(secret: string): Record<string, string> {
  const last = secret.at(-1) === '0' ? '1' : '0';
  return {
    'that was never made': newSecret('production'),
    'of staging': newSecret('staging'),
    'with another end': secret.slice(0, -1) + last,
    'that is cut off': secret.slice(0, -1),
    'with more at its end': `${secret}0`,
    'in other case': secret.toUpperCase(),
  };
}

/** Sends a request but for the end of its body, which `complete` sends. */
export function sendInHalves(port: number, call: Call & { readonly secret: string }) {
  const { method, path, headers, secret, body } = call;
  const sent = request({
    ...{ port, host: '127.0.0.1', method, path },
    headers: {
      ...{ ...headers, authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      'content-length': body!.length,
    },
  });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.write(body!.slice(0, -1));
  const complete = async () => {
    sent.end(body!.slice(-1));
    const [response] = await answered;
    response.resume();
    return response.statusCode;
  };
  return { call, complete };
}

/** Where the feed ends, and the webhooks. */
async function stateOf(sending: Parameters<typeof send>[0], secret: string): Promise<string> {
  const bodies: string[] = [];
  for (const path of ['/v2/store/changes?after=now', '/v2/webhooks']) {
    const { status, body } = await send(sending, { method: 'GET', path, secret });
    if (status !== 200) throw new Error(`${path} was answered ${status}: ${body}`);
    bodies.push(body);
  }
  return bodies.join(' ');
}

/** @returns the id of a new webhook, to which nothing is delivered, since nothing changes */
async function newWebhook(sending: Parameters<typeof send>[0], secret: string): Promise<string> {
  const created = await send(sending, {
    ...{ method: 'POST', path: '/v2/webhooks', secret, body: '{"url":"https://shop.example/"}' },
  });
  if (created.status !== 201) throw new Error(`a webhook was answered ${created.body}`);
  return parse(created.body).id;
}
