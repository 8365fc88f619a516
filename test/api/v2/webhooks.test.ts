import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { BEGINNING, positionText } from '../../../protocol/history.ts';
import {
  keyForNew,
  readWebhookKey,
  secretOf,
  WebhookKeyUnusable,
} from '../../../src/feed/deliveries/webhook-key.ts';
import { startReceiver } from '../../feed/receiver.ts';
import { type Service, startService, testService } from '../../http/harness.ts';
import { place } from '../../store/engines.ts';
import { temporaryFolder } from '../../temporary.ts';

const JSON_BODY = { 'content-type': 'application/json' };

/** A service with a webhook key, which may call this machine. */
async function startWithWebhooks(t: TestContext) {
  const keyFile = join(temporaryFolder(t), 'webhook.key');
  writeFileSync(keyFile, `${randomBytes(32).toString('base64')}\n`);
  const service = await startService(t, {
    WEBHOOK_KEY_FILE: keyFile,
    WEBHOOK_ALLOW: '127.0.0.1,http',
  });
  return { service, keyFile, ...callsOf(service) };
}

function callsOf(service: Service) {
  const call = async (
    method: string,
    path: string,
    value?: unknown,
    secret = service.secret,
    more: Readonly<Record<string, string>> = {},
  ) => {
    const headers = { ...JSON_BODY, authorization: `Bearer ${secret}`, ...more };
    const body = value === undefined ? undefined : JSON.stringify(value);
    const answer = await service.call(method, `/v2/webhooks${path}`, headers, body);
    return {
      status: answer.status,
      value: answer.body === '' ? undefined : JSON.parse(answer.body),
      headers: answer.headers,
    };
  };
  const created = async (value: object) => {
    const answer = await call('POST', '', value);
    assert.equal(answer.status, 201, JSON.stringify(answer.value));
    return answer.value as { webhook: { id: string; after: string }; secret: string };
  };
  return { call, created };
}

testService('a webhook is created with its secret, read, changed and deleted', async (t) => {
  const { service, keyFile, call, created } = await startWithWebhooks(t);
  await service.store.apply([place({ id: 1n, petId: 7n, status: 'pending' })]);
  const { now } = (await service.store.feed('now', 1))!;
  const { webhook, secret } = await created({
    ...{ url: 'https://Shop.example:443/hook', description: 'the shop' },
    ...{ types: ['shipped', 'shipped'], petIds: [7] },
  });
  const { bytes } = readWebhookKey({ path: keyFile })!;
  assert.equal(secret, secretOf(bytes, { id: webhook.id, generation: 1 }));
  const { createdAt, ...rest } = (await call('GET', `/${webhook.id}`)).value;
  assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000);
  assert.deepEqual(rest, {
    ...{ id: webhook.id, url: 'https://shop.example/hook', description: 'the shop' },
    ...{ types: ['shipped'], petIds: [7], state: 'active', failures: 0 },
    ...{ after: positionText(now), lag: { count: 0 }, createdBy: service.key.id },
  });
  const changed = await call('PATCH', `/${webhook.id}`, {
    ...{ description: null, types: null, petIds: null, state: 'paused', after: 'start' },
  });
  const placedAt = new Date((await service.store.orders([1n]))[0]!.placedAt).toISOString();
  assert.deepEqual(changed.value, {
    ...{ id: webhook.id, url: 'https://shop.example/hook', state: 'paused' },
    ...{ pauseReason: 'requested', failures: 0, createdAt, createdBy: service.key.id },
    ...{ after: positionText(BEGINNING), lag: { count: 1, since: placedAt } },
  });
  const resumed = await call('PATCH', `/${webhook.id}`, { state: 'active' });
  assert.equal(resumed.value.state, 'active');
  assert.deepEqual((await call('GET', '')).value.webhooks, [resumed.value]);
  assert.equal((await call('DELETE', `/${webhook.id}`)).status, 204);
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    const { status, value } = await call(
      method,
      `/${webhook.id}`,
      method === 'PATCH' ? {} : undefined,
    );
    assert.deepEqual([status, value.code], [404, 'webhook_not_found']);
  }
});

testService('a webhook that cannot be used is refused', async (t) => {
  const { service, call, created } = await startWithWebhooks(t);
  const refused = async (value: object) => {
    const answer = await call('POST', '', value);
    return [answer.status, answer.value.code, answer.value.errors?.[0]?.pointer];
  };
  const url = 'https://shop.example/hook';
  for (const wrong of [
    'ftp://shop.example/',
    'https://10.0.0.1/',
    'https://[::1]/',
    'https://a.example/#',
    'x',
  ]) {
    assert.deepEqual(await refused({ url: wrong }), [400, 'body_invalid', '/url'], wrong);
  }
  assert.deepEqual(await refused({ url, after: 'never' }), [400, 'body_invalid', '/after']);
  assert.deepEqual(await refused({ url, types: ['sold'] }), [400, 'body_invalid', '/types/0']);
  assert.deepEqual(await refused({}), [400, 'body_invalid', '/url']);
  // The longest values, and those that are longer by one.
  const most = (more: number) => ({
    url: `${url}?`.padEnd(2_000 + more, 'x'),
    description: '😀'.repeat(200 + more),
    petIds: Array(100 + more).fill(1),
  });
  for (const name of ['url', 'description', 'petIds'] as const) {
    const { [name]: value } = most(1);
    assert.deepEqual(await refused({ url, [name]: value }), [400, 'body_invalid', `/${name}`]);
  }
  await created(most(0));
  const gone = `5-${'a'.repeat(64)}`;
  assert.deepEqual(await refused({ url, after: gone }), [410, 'changes_gone', undefined]);
  const { webhook } = await created({ url });
  assert.deepEqual(await refused({ url }), [409, 'webhook_url_taken', undefined]);
  const back = await call('PATCH', `/${webhook.id}`, { after: gone });
  assert.deepEqual([back.status, back.value.code], [410, 'changes_gone']);
  const reader = await service.newKey({ scopes: ['orders:read', 'changes:read'] });
  assert.equal((await call('GET', '', undefined, reader)).status, 403);
});

testService('a PATCH is a JSON Merge Patch, of either media type', async (t) => {
  const { service, call, created } = await startWithWebhooks(t);
  const { webhook } = await created({
    ...{ url: 'https://shop.example/hook', description: 'the shop' },
    ...{ types: ['placed', 'shipped'], petIds: [7, 8] },
  });
  const path = `/v2/webhooks/${webhook.id}`;
  const patch = async (body: string, type = 'application/merge-patch+json') => {
    const answer = await service.call('PATCH', path, { 'content-type': type }, body);
    return { ...answer, value: JSON.parse(answer.body) };
  };
  const some = await patch('{"description":null,"types":["cancelled"]}');
  assert.equal(some.status, 200, some.body);
  const { description, types, petIds } = some.value;
  assert.deepEqual([description, types, petIds], [undefined, ['cancelled'], [7, 8]]);
  const none = await patch('{"types":null,"petIds":null}', 'Application/JSON; charset=utf-8');
  assert.deepEqual([none.status, none.value.types, none.value.petIds], [200, undefined, undefined]);
  for (const [body, pointer] of [
    ['{"types":[]}', '/types'],
    ['{"petIds":[]}', '/petIds'],
    ['{"url":null}', '/url'],
    ['{"state":null}', '/state'],
    ['{"after":null}', '/after'],
    ['null', ''],
  ] as const) {
    const refused = await patch(body);
    assert.deepEqual([refused.status, refused.value.errors[0].pointer], [400, pointer], body);
  }
  for (const type of ['application/json-patch+json', 'text/plain', '']) {
    assert.equal((await patch('{}', type)).status, 415, type);
  }
  const url = 'https://shop.example/other';
  const empty = await call('POST', '', { url, types: [] });
  assert.deepEqual([empty.status, empty.value.errors[0].pointer], [400, '/types']);
});

testService('webhooks are listed page by page; a new one has its path in Location', async (t) => {
  const { service, call, created } = await startWithWebhooks(t);
  const ids: string[] = [];
  for (let each = 1; each <= 5; each += 1) {
    const { webhook } = await created({ url: `https://shop.example/${each}` });
    ids.push(webhook.id);
  }
  const found: string[] = [];
  for (let query = '?limit=2', pages = 1; ; pages += 1) {
    const { webhooks, next } = (await call('GET', query)).value;
    found.push(...webhooks.map(({ id }: { id: string }) => id));
    // One that was deleted meanwhile is no gap.
    if (pages === 1) await call('DELETE', `/${found.at(-1)}`);
    if (next === undefined) break;
    query = `?limit=2&cursor=${next}`;
  }
  assert.deepEqual(found.toSorted(), ids.toSorted());
  for (const cursor of ['x', 'WzEsIndlYmhvb2tzIl0']) {
    assert.equal((await call('GET', `?cursor=${cursor}`)).value.code, 'cursor_invalid');
  }
  const json = { 'content-type': 'application/json' };
  const body = '{"url":"https://shop.example/6"}';
  const { headers, ...answer } = await service.call('POST', '/v2/webhooks', json, body);
  assert.equal(headers.location, `/v2/webhooks/${JSON.parse(answer.body).webhook.id}`);
});

testService('without a webhook key there are no webhooks, and no Retry-After', async (t) => {
  const service = await startService(t);
  // On SQLite the first webhook makes the key.
  if (service.store.engine.name === 'sqlite') return;
  const json = { 'content-type': 'application/json' };
  const body = '{"url":"https://shop.example/6"}';
  const { status, headers, ...answer } = await service.call('POST', '/v2/webhooks', json, body);
  assert.deepEqual(
    [status, JSON.parse(answer.body).code, headers['retry-after']],
    [503, 'webhooks_unavailable', undefined],
  );
});

testService('a rotation gives another secret', async (t) => {
  const { call, created } = await startWithWebhooks(t);
  const { webhook, secret } = await created({ url: 'https://shop.example/hook' });
  const rotated = await call('POST', `/${webhook.id}/rotate-secret`);
  assert.equal(rotated.status, 200);
  assert.notEqual(rotated.value.secret, secret);
  assert.ok(Date.parse(rotated.value.webhook.secretRotatedAt) <= Date.now());
});

test('the bodies of a rotation and of a test are empty or an object without fields', async (t) => {
  const { service, call, created } = await startWithWebhooks(t);
  const { webhook } = await created({ url: 'https://shop.example/hook' });
  for (const path of ['rotate-secret', 'test']) {
    const refused = await call('POST', `/${webhook.id}/${path}`, { overlap: '1h' });
    assert.deepEqual([refused.status, refused.value.code], [400, 'body_invalid']);
    const url = `/v2/webhooks/${webhook.id}/${path}`;
    const malformed = await service.call('POST', url, JSON_BODY, 'not json');
    assert.equal(JSON.parse(malformed.body).code, 'body_invalid');
    const text = await service.call('POST', url, { 'content-type': 'text/plain' }, '{}');
    assert.equal(JSON.parse(text.body).code, 'unsupported_media_type');
  }
  const { secretRotatedAt } = (await call('GET', `/${webhook.id}`)).value;
  assert.equal(secretRotatedAt, undefined);
  assert.equal((await call('POST', `/${webhook.id}/rotate-secret`, {})).status, 200);
});

test('a body of another media type is 415 with those that the operation takes, of a PATCH also in Accept-Patch', async (t) => {
  const { service, created } = await startWithWebhooks(t);
  const { webhook } = await created({ url: 'https://shop.example/hook' });
  const url = `/v2/webhooks/${webhook.id}`;
  const both = 'application/json, application/merge-patch+json';
  for (const [method, path, accept, acceptPatch] of [
    ['PATCH', url, both, both],
    ['POST', `${url}/test`, 'application/json', undefined],
  ] as const) {
    const answer = await service.call(method, path, { 'content-type': 'text/plain' }, '{}');
    assert.equal(answer.status, 415);
    assert.equal(answer.headers.accept, accept);
    assert.equal(answer.headers['accept-patch'], acceptPatch);
    const { message } = JSON.parse(answer.body);
    assert.equal(message.includes('merge-patch'), method === 'PATCH', message);
  }
});

testService(
  'a test sends a signed delivery; only the key that created the webhook gets the answer',
  async (t) => {
    const { service, call, created } = await startWithWebhooks(t);
    const secrets: string[] = [];
    const receiver = await startReceiver(
      t,
      () => secrets,
      (_, index) => (index === 0 ? 204 : 418),
    );
    const { webhook, secret } = await created({ url: receiver.url });
    secrets.push(secret);
    const { mock } = t.mock.method(AbortSignal, 'timeout');
    const first = await call('POST', `/${webhook.id}/test`);
    assert.deepEqual(
      mock.calls.map(({ arguments: [ms] }) => ms),
      [8_000],
    );
    assert.deepEqual([first.value.accepted, first.value.status], [true, 204]);
    const other = await service.newKey({ scopes: ['webhooks:manage'] });
    const second = await call('POST', `/${webhook.id}/test`, undefined, other);
    assert.deepEqual([second.value.accepted, 'status' in second.value], [false, false]);
    const [sent, sentAgain] = receiver.received;
    assert.deepEqual([sent!.after, sent!.next, sent!.changes], [webhook.after, webhook.after, []]);
    assert.notEqual(sent!.id, sentAgain!.id);
  },
);

testService(
  'what an endpoint has answered is shown only to the key that created its webhook, and the whole URL to those that may change it',
  async (t) => {
    const { service, call, created } = await startWithWebhooks(t);
    const { webhook } = await created({ url: 'https://shop.example/hook' });
    const stored = (await service.store.webhooks())[0]!;
    await service.store.apply([{ type: 'leaseWebhooks', node: 'a' }]);
    const failed = {
      ...{ ...stored, failures: 1, failingSince: 1_000, nextAttemptAt: 6_000 },
      lastFailure: { at: 1_000, status: 500, problem: undefined },
    };
    const deliveries = [{ id: stored.id, known: stored, state: failed }];
    await service.store.apply([{ type: 'recordDeliveries', node: 'a', deliveries }]);
    const own = (await call('GET', `/${webhook.id}`)).value;
    const whole = ['https://shop.example/hook', { at: '1970-01-01T00:00:01.000Z', status: 500 }];
    assert.deepEqual([own.state, own.url, own.lastFailure], ['failing', ...whole]);
    const other = await service.newKey({ scopes: ['webhooks:manage'] });
    const all = await service.newKey({ scopes: ['webhooks:manage', 'webhooks:manage-all'] });
    for (const path of ['', `/${webhook.id}`]) {
      const shown = async (key: string) => {
        const { value } = await call('GET', path, undefined, key);
        const { url, lastFailure } = path === '' ? value.webhooks[0] : value;
        return [url, lastFailure];
      };
      const failure = { at: '1970-01-01T00:00:01.000Z' };
      assert.deepEqual(await shown(other), ['https://shop.example/', failure]);
      assert.deepEqual(await shown(all), ['https://shop.example/hook', failure]);
    }
  },
);

testService('a key has as many webhooks as WEBHOOKS_PER_KEY, by default 20', async (t) => {
  const { service, call, created } = await startWithWebhooks(t);
  const url = (name: number) => ({ url: `https://shop.example/${name}` });
  for (let number = 1; number <= 20; number += 1) await created(url(number));
  const { status, value } = await call('POST', '', url(21));
  assert.deepEqual([status, value.code], [409, 'webhook_limit_reached']);
  const other = await service.newKey({ scopes: ['webhooks:manage'] });
  // Also under the URL of a webhook that it does not know.
  assert.equal((await call('POST', '', url(1), other)).status, 201);
  assert.equal((await call('POST', '', url(1), other)).value.code, 'webhook_url_taken');
});

test('a webhook key that cannot be stored is reported as such, and leaves no file', (t) => {
  const folder = temporaryFolder(t);
  const key = (name: string, madeFor: string) =>
    keyForNew({ path: join(folder, name), madeFor: join(folder, madeFor) }, []);
  // The database was moved away; the folder does not exist.
  for (const name of ['key', 'nowhere/key']) {
    assert.throws(() => key(name, 'store.db'), WebhookKeyUnusable);
  }
  assert.deepEqual(readdirSync(folder), []);
});

test('SQLite: the webhook key is made beside the database for the first webhook, for its owner only', async (t) => {
  const service = await startService(t);
  const { call, created } = callsOf(service);
  const path = `${service.url.slice('sqlite:'.length)}-webhook-key`;
  assert.equal(readWebhookKey({ path }), undefined);
  const { webhook, secret } = await created({ url: 'https://a.example/' });
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const key = readWebhookKey({ path })!;
  assert.equal(secret, secretOf(key.bytes, { id: webhook.id, generation: 1 }));
  // Lost or replaced, it is not made again: the secrets of webhooks would change without notice.
  writeFileSync(path, `${randomBytes(32).toString('base64')}\n`);
  for (const [method, at] of [
    ['POST', ''],
    ['POST', `/${webhook.id}/rotate-secret`],
    ['POST', `/${webhook.id}/test`],
  ]) {
    const { status, value } = await call(
      method!,
      at!,
      at === '' ? { url: 'https://b.example/' } : undefined,
    );
    assert.deepEqual([status, value.code], [503, 'webhooks_unavailable']);
  }
});

testService(
  'a webhook is changed by the key that created it, or by one with the scope for all',
  async (t) => {
    const { service, call, created } = await startWithWebhooks(t);
    const { webhook } = await created({ url: 'https://shop.example/hook' });
    const other = await service.newKey({});
    const all = await service.newKey({ scopes: ['webhooks:manage', 'webhooks:manage-all'] });
    const requests = [
      ['PATCH', `/${webhook.id}`, { description: 'x' }],
      ['POST', `/${webhook.id}/rotate-secret`, undefined],
      ['DELETE', `/${webhook.id}`, undefined],
    ] as const;
    for (const [method, path, value] of requests) {
      const refused = await call(method, path, value, other);
      assert.deepEqual([refused.status, refused.value.code], [403, 'scope_missing'], method);
      assert.match(String(refused.headers['www-authenticate']), /scope="webhooks:manage-all"$/);
    }
    assert.equal((await call('GET', `/${webhook.id}`, undefined, other)).status, 200);
    const scopes = JSON.parse(
      (await service.call('GET', '/v2/key', { authorization: `Bearer ${other}` })).body,
    ).scopes;
    assert.ok(scopes.includes('webhooks:manage') && !scopes.includes('webhooks:manage-all'));
    for (const [method, path, value] of requests) {
      assert.ok((await call(method, path, value, all)).status < 300, `${method} ${path}`);
    }
  },
);

testService('requests that change a webhook honour If-Match and If-None-Match', async (t) => {
  const { call, created } = await startWithWebhooks(t);
  const { webhook } = await created({ url: 'https://shop.example/hook' });
  const path = `/${webhook.id}`;
  const etag = async () => String((await call('GET', path)).headers.etag);
  const first = await etag();
  const send = (method: string, suffix: string, headers: Record<string, string>) =>
    call(
      method,
      path + suffix,
      method === 'PATCH' ? { description: 'x' } : undefined,
      undefined,
      headers,
    );
  for (const [method, suffix] of [
    ['PATCH', ''],
    ['POST', '/rotate-secret'],
    ['DELETE', ''],
  ] as const) {
    const stale = await send(method, suffix, { 'if-match': '"x"' });
    assert.deepEqual([stale.status, stale.value.code], [412, 'webhook_changed']);
    const weak = await send(method, suffix, { 'if-match': `W/${await etag()}` });
    assert.deepEqual([weak.status, weak.value.code], [400, 'parameter_invalid']);
    for (const tags of ['*', await etag()]) {
      const same = await send(method, suffix, { 'if-none-match': tags });
      assert.deepEqual([same.status, same.value.code], [412, 'precondition_failed']);
    }
    const before = await etag();
    const changed = await send(method, suffix, { 'if-match': before });
    assert.ok(changed.status < 300);
    if (method !== 'DELETE') assert.notEqual(await etag(), before);
  }
  const again = await created({ url: 'https://shop.example/hook' });
  assert.notEqual((await call('GET', `/${again.webhook.id}`)).headers.etag, first);
});

testService(
  'the ETag of a webhook changes with each of its settings, and when it is paused or resumed',
  async (t) => {
    const { service, call, created } = await startWithWebhooks(t);
    await service.store.apply([place({ id: 1n, petId: 7n, status: 'pending' })]);
    const { webhook } = await created({ url: 'https://shop.example/hook' });
    const etags: unknown[] = [(await call('GET', `/${webhook.id}`)).headers.etag];
    for (const changes of [
      ...[{ url: 'https://shop.example/other' }, { description: 'x' }, { description: 'y' }],
      ...[{ types: ['placed'] }, { types: ['shipped'] }, { petIds: [7] }, { petIds: [8] }],
      ...[{ after: 'start' }, { state: 'paused' }, { state: 'active' }],
    ]) {
      const changed = await call('PATCH', `/${webhook.id}`, changes);
      assert.notEqual(changed.headers.etag, etags.at(-1), JSON.stringify(changes));
      // What is the same as before is no change.
      const again = await call('PATCH', `/${webhook.id}`, changes);
      assert.equal(again.headers.etag, changed.headers.etag);
      assert.equal((await call('GET', `/${webhook.id}`)).headers.etag, changed.headers.etag);
      etags.push(changed.headers.etag);
    }
    // Resumed, it is in the state before the pause.
    assert.equal(new Set(etags).size, etags.length - 1);
  },
);

test('If-Match holds until the webhook is changed', async (t) => {
  let meanwhile: (() => Promise<unknown>) | undefined;
  const service = await startService(t, {}, (own) => ({
    ...own,
    webhooks: async () => {
      const found = await own.webhooks();
      await meanwhile?.();
      return found;
    },
  }));
  const { call, created } = callsOf(service);
  const { id } = (await created({ url: 'https://shop.example/hook' })).webhook;
  for (const [method, path] of [
    ['PATCH', ''],
    ['POST', '/rotate-secret'],
    ['DELETE', ''],
  ] as const) {
    const body = method === 'PATCH' ? { state: 'paused' } : undefined;
    const headers = { 'if-match': String((await call('GET', `/${id}`)).headers.etag) };
    const changes = { description: `before ${method}` };
    meanwhile = () =>
      service.store.apply([{ type: 'changeWebhook', id, changes, ifTag: undefined }]);
    const { status, value } = await call(method, `/${id}${path}`, body, undefined, headers);
    assert.deepEqual([status, value?.code], [412, 'webhook_changed'], method);
    meanwhile = undefined;
  }
});

test('ten webhooks are tested at the same time; a further test is 503 with Retry-After', async (t) => {
  const { call, created } = await startWithWebhooks(t);
  const secrets: string[] = [];
  const mayAnswer = Promise.withResolvers<void>();
  const areAllThere = Promise.withResolvers<void>();
  const receiver = await startReceiver(
    t,
    () => secrets,
    async (_, index) => {
      if (index === 9) areAllThere.resolve();
      await mayAnswer.promise;
      return 204;
    },
  );
  const { webhook, secret } = await created({ url: receiver.url });
  secrets.push(secret);
  const sendTest = () => call('POST', `/${webhook.id}/test`);
  const running = Array.from({ length: 10 }, sendTest);
  await areAllThere.promise;
  const { status, value, headers } = await sendTest();
  assert.deepEqual([status, value.code, headers['retry-after']], [503, 'too_many_tests', '1']);
  mayAnswer.resolve();
  for (const { value } of await Promise.all(running)) assert.equal(value.accepted, true);
});

testService(
  'a rotation that is repeated with its Idempotency-Key returns the same secret',
  async (t) => {
    const { service, call, created } = await startWithWebhooks(t);
    const [one, other] = [
      await created({ url: 'https://shop.example/hook' }),
      await created({ url: 'https://shop.example/other' }),
    ];
    const rotate = (id: string, key: string, conditions = {}) => {
      const headers = { 'idempotency-key': key, ...conditions };
      return call('POST', `/${id}/rotate-secret`, undefined, undefined, headers);
    };
    const first = await rotate(one.webhook.id, 'a');
    const again = await rotate(one.webhook.id, 'a');
    assert.equal(again.value.secret, first.value.secret);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.equal(first.headers['idempotent-replayed'], undefined);
    assert.notEqual((await rotate(one.webhook.id, 'b')).value.secret, first.value.secret);
    assert.equal((await rotate(one.webhook.id, 'a')).value.secret, first.value.secret);
    // The first request has changed what its precondition names; the repetition is the same request.
    for (const header of ['if-match', 'if-none-match']) {
      const { headers } = await call('GET', `/${one.webhook.id}`);
      const conditions = { [header]: header === 'if-match' ? headers.etag : '"other"' };
      const rotated = await rotate(one.webhook.id, header, conditions);
      const repeated = await rotate(one.webhook.id, header, conditions);
      assert.deepEqual([rotated.status, repeated.status], [200, 200]);
      assert.equal(repeated.value.secret, rotated.value.secret);
      const late = await rotate(one.webhook.id, `${header} late`.replace(' ', '-'), {
        'if-match': headers.etag,
      });
      assert.deepEqual([late.status, late.value.code], [412, 'webhook_changed']);
    }
    const reused = await rotate(other.webhook.id, 'a');
    assert.deepEqual([reused.status, reused.value.code], [422, 'idempotency_key_reused']);
    // All operations share their keys, but for placements.
    for (const [path, body, status] of [
      ['orders/cancel', '{"orders":[{"id":1}]}', 422],
      ['orders', '{"petId":1,"quantity":1}', 201],
    ] as const) {
      const headers = { ...JSON_BODY, 'idempotency-key': 'a' };
      const answer = await service.call('POST', `/v2/store/${path}`, headers, body);
      assert.equal(answer.status, status, path);
    }
    assert.equal((await rotate(one.webhook.id, 'a b')).status, 400);
    const without = await call('POST', `/${one.webhook.id}/rotate-secret`);
    assert.notEqual(without.value.secret, first.value.secret);
  },
);
