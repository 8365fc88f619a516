import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeySecret, ManagedKey } from '../../../protocol/generated/records.ts';
import { newSecret, SCOPES, secretDigest } from '../../../src/domain/api-key.ts';
import { startService, testService } from '../../http/harness.ts';
import { eventually } from '../../postgres.ts';
import { run } from '../../process/program.ts';
import { queryDatabase } from '../../store/engines.ts';
import { openStream } from './open-stream.ts';

const HOUR_MS = 3_600_000;
const AUDIT = 'SELECT command, os_user, what FROM audit';
const JSON_TYPE = { 'content-type': 'application/json' };
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

/** A service, and a client that manages keys with one that has `limits`. */
async function managing(
  t: Parameters<typeof startService>[0],
  limits: Parameters<Awaited<ReturnType<typeof startService>>['newKey']>[0] = { scopes: SCOPES },
) {
  const service = await startService(t);
  const own = await service.newKey(limits);
  const send = async (
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const sent = { ...(text === undefined ? {} : JSON_TYPE), ...bearer(own), ...headers };
    const answer = await service.call(method, path, sent, text);
    return { ...answer, json: JSON.parse(answer.body) };
  };
  const create = async (body: object): Promise<KeySecret> => {
    const { status, json } = await send('POST', '/v2/keys', body);
    assert.equal(status, 201, JSON.stringify(json));
    return json;
  };
  const meOf = async (secret: string) =>
    (await send('GET', '/v2/key', undefined, bearer(secret))).json;
  const ownId: string = (await meOf(own)).id;
  return { ...service, own, ownId, send, create, meOf };
}

const READS = { name: 'reader', scopes: ['orders:read'] };

testService(
  'a key creates another within itself, which works at once, and is listed',
  async (t) => {
    const { send, create, meOf, ownId, url } = await managing(t);
    const wanted = { name: 'web <b>shop</b> العربية', scopes: ['orders:cancel', 'orders:read'] };
    const made = await send('POST', '/v2/keys', { ...wanted, cancelsPerHour: 20 });
    assert.equal(made.headers.location, `/v2/keys/${made.json.key.id}`);
    const { key, secret } = made.json as KeySecret;
    const expected = {
      ...{ id: key.id, name: wanted.name, environment: 'production', state: 'valid' },
      ...{ scopes: ['orders:read', 'orders:cancel'], cancelsPerHour: 20 },
      ...{ createdAt: key.createdAt, createdBy: ownId, webhooks: 0 },
    };
    assert.deepEqual(key, expected);
    assert.equal((await meOf(secret!)).id, key.id);
    const got = await send('GET', `/v2/keys/${key.id}`);
    assert.equal(got.json.name, wanted.name);
    assert.equal(got.headers.etag, made.headers.etag);
    await create(READS);
    const list = (await send('GET', '/v2/keys')).json;
    assert.deepEqual(list.counts, { valid: 4, expired: 0, revoked: 0 });
    assert.equal(list.keys.find((each: ManagedKey) => each.id === key.id).createdBy, ownId);
    // Each act is recorded, with the API key of the request.
    const [latest] = await queryDatabase(url, `${AUDIT} ORDER BY id DESC LIMIT 1`);
    assert.deepEqual(latest!.slice(0, 2), ['keys create', ownId]);
  },
);

test('pages of keys have each key once, and a cursor belongs to its state', async (t) => {
  const { send, create } = await managing(t);
  for (const name of ['a', 'b', 'c', 'd', 'e']) await create({ ...READS, name });
  const names: string[] = [];
  for (let cursor = ''; ; ) {
    const { json } = await send(
      'GET',
      `/v2/keys?limit=2&state=valid${cursor && `&cursor=${cursor}`}`,
    );
    names.push(...json.keys.map((each: ManagedKey) => each.name));
    if (json.next === undefined) break;
    cursor = json.next;
    assert.equal(
      (await send('GET', `/v2/keys?state=revoked&cursor=${cursor}`)).json.code,
      'cursor_invalid',
    );
    assert.equal((await send('GET', `/v2/webhooks?cursor=${cursor}`)).json.code, 'cursor_invalid');
  }
  assert.deepEqual(names, ['test', 'test', 'a', 'b', 'c', 'd', 'e']);
});

test('no key gives what it does not have', async (t) => {
  const end = Date.now() + HOUR_MS;
  const { send, create, newKey, store } = await managing(t, {
    ...{
      scopes: ['keys:manage', 'orders:read', 'orders:cancel'],
      cancelsPerHour: 5,
      expiresAt: end,
    },
  });
  const later = new Date(end + 1).toISOString();
  for (const [more, pointers] of [
    [{ scopes: ['orders:ship'] }, ['/scopes']],
    [{ scopes: ['orders:cancel'], cancelsPerHour: 6 }, ['/cancelsPerHour']],
    [{ expiresAt: later }, ['/expiresAt']],
    [
      { scopes: ['webhooks:manage-all', 'changes:read'], expiresAt: later },
      ['/scopes', '/scopes', '/expiresAt'],
    ],
  ] as const) {
    const { status, json } = await send('POST', '/v2/keys', { ...READS, ...more });
    assert.deepEqual([status, json.code], [403, 'exceeds_own_key']);
    assert.deepEqual(
      json.errors.map((each: { pointer: string }) => each.pointer),
      pointers,
    );
  }
  // What is not named is that of the maker.
  const { key } = await create({ name: 'as wide', scopes: ['orders:cancel', 'keys:manage'] });
  assert.deepEqual([key.cancelsPerHour, key.expiresAt], [5, new Date(end).toISOString()]);
  // A wider key is neither changed, nor rotated, nor revoked.
  const wide = secretDigest(await newKey({ scopes: ['orders:ship'] }));
  const lasting = secretDigest(await newKey({ scopes: ['orders:read'] }));
  const [wideId, lastingId] = [
    (await store.keys([wide]))[0]!.id,
    (await store.keys([lasting]))[0]!.id,
  ];
  for (const [method, path, body] of [
    ['POST', `/v2/keys/${wideId}/revoke`],
    ['POST', `/v2/keys/${wideId}/rotate`],
    ['PATCH', `/v2/keys/${wideId}`, { name: 'mine' }],
    // It outlives the key of the request, which can end it, but not have its secret.
    ['POST', `/v2/keys/${lastingId}/rotate`],
    ['POST', `/v2/keys/${lastingId}/rotate`, { invitation: true }],
  ] as const) {
    assert.equal((await send(method, path, body)).json.code, 'exceeds_own_key', path);
  }
  assert.equal((await send('POST', `/v2/keys/${lastingId}/revoke`)).json.state, 'revoked');
});

test('a key is made narrower, renewed and renamed; no key makes its own end later', async (t) => {
  const { send, create, ownId, newKey, url } = await managing(t, {
    scopes: SCOPES,
    expiresAt: Date.now() + HOUR_MS,
  });
  const soon = new Date(Date.now() + 60_000).toISOString();
  const { key } = await create({
    ...{ name: 'shop', scopes: ['orders:read', 'orders:place'], placesPerHour: 9, expiresAt: soon },
  });
  const path = `/v2/keys/${key.id}`;
  const changed = await send('PATCH', path, {
    name: 'shop 2',
    scopes: ['orders:place'],
    placesPerHour: 3,
  });
  assert.deepEqual(
    [changed.json.name, changed.json.scopes, changed.json.placesPerHour],
    ['shop 2', ['orders:place'], 3],
  );
  // What is the same as before is no change, and leaves no record.
  const records = () => queryDatabase(url, AUDIT);
  const before = await records();
  const { name, scopes, placesPerHour, expiresAt } = changed.json;
  const same = await send('PATCH', path, { name, scopes, placesPerHour, expiresAt });
  assert.deepEqual([same.json, same.headers.etag], [changed.json, changed.headers.etag]);
  assert.deepEqual(await records(), before);
  for (const [body, pointer] of [
    [{ scopes: ['orders:read'] }, '/scopes'],
    [{ placesPerHour: 4 }, '/placesPerHour'],
    [{ expiresAt: null }, '/expiresAt'],
    [{ expiresAt: new Date(Date.now() + 2 * HOUR_MS).toISOString() }, '/expiresAt'],
  ] as const) {
    assert.equal((await send('PATCH', path, body)).json.errors[0].pointer, pointer);
  }
  const later = new Date(Date.now() + HOUR_MS / 2).toISOString();
  assert.equal((await send('PATCH', path, { expiresAt: later })).json.expiresAt, later);
  const own = `/v2/keys/${ownId}`;
  await newKey({ scopes: SCOPES });
  assert.equal((await send('PATCH', own, { expiresAt: later })).status, 200);
  const longer = new Date(Date.now() + HOUR_MS).toISOString();
  assert.equal((await send('PATCH', own, { expiresAt: longer })).json.code, 'exceeds_own_key');
  const past = { expiresAt: '2020-01-01T00:00:00Z' };
  assert.equal((await send('PATCH', path, past)).json.code, 'body_invalid');
  for (const name of [' ', 'a\u202eb', 'a\u2028b', '', 'x'.repeat(101), newSecret('production')]) {
    assert.equal((await send('PATCH', path, { name })).json.code, 'body_invalid', name);
  }
});

testService(
  'a repetition within an hour has the same secret, later none, and nothing is done twice',
  async (t) => {
    const { send, url, meOf, store } = await managing(t);
    const key = { 'idempotency-key': 'k' };
    const first = await send('POST', '/v2/keys', READS, key);
    const again = await send('POST', '/v2/keys', READS, key);
    assert.deepEqual(again.json, first.json);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.equal(
      (await send('POST', '/v2/keys', { ...READS, name: 'x' }, key)).json.code,
      'idempotency_key_reused',
    );
    const path = `/v2/keys/${first.json.key.id}`;
    const rotation = { 'idempotency-key': 'r', 'if-match': String(first.headers.etag) };
    const rotated = await send('POST', `${path}/rotate`, { overlapSeconds: 60 }, rotation);
    assert.deepEqual(
      (await send('POST', `${path}/rotate`, { overlapSeconds: 60 }, rotation)).json,
      rotated.json,
    );
    // Both secrets work during the overlap. The secret of the creation is no longer that of the key.
    assert.equal((await meOf(first.json.secret)).id, first.json.key.id);
    assert.equal((await meOf(rotated.json.secret)).id, first.json.key.id);
    assert.equal((await send('POST', '/v2/keys', READS, key)).json.secret, undefined);
    await queryDatabase(url, `UPDATE changed_all SET at = at - ${HOUR_MS}`);
    const late = await send('POST', `${path}/rotate`, { overlapSeconds: 60 }, rotation);
    assert.deepEqual(
      [late.status, late.json.key.id, late.json.secret],
      [200, first.json.key.id, undefined],
    );
    assert.equal((await store.keys()).length, 3);
    // No secret is in the database, nor the salt of one that can be made without that of the request.
    const rows = JSON.stringify(await queryDatabase(url, 'SELECT results FROM changed_all'));
    assert.doesNotMatch(rows, /so_live/);
  },
);

test('a rotation has an overlap, which ends by a change', async (t) => {
  const { send, create, meOf } = await managing(t);
  const { key, secret } = await create(READS);
  const path = `/v2/keys/${key.id}`;
  const rotated = (await send('POST', `${path}/rotate`)).json;
  const overlap = Date.parse(rotated.key.formerSecretUntil) - Date.now();
  assert.ok(Math.abs(overlap - 24 * HOUR_MS) < 60_000);
  await eventually(async () => {
    await meOf(secret!);
    assert.ok((await send('GET', path)).json.formerSecretLastUsedAt !== undefined);
  });
  const ended = await send('PATCH', path, { formerSecretUntil: null });
  assert.equal(ended.json.formerSecretUntil, undefined);
  await eventually(async () => assert.equal((await meOf(secret!)).code, 'api_key_invalid'));
  assert.equal((await meOf(rotated.secret)).id, key.id);
});

test('by a secret that was replaced, a key changes no key, itself included, and only repeats what replaced it', async (t) => {
  const { send, create } = await managing(t);
  const { key, secret } = await create({ name: 'manager', scopes: ['keys:manage', 'orders:read'] });
  const rotation = { 'idempotency-key': 'r', ...bearer(secret!) };
  const path = `/v2/keys/${key.id}`;
  const rotated = await send('POST', `${path}/rotate`, { overlapSeconds: 600 }, rotation);
  for (const [method, at, body] of [
    ['POST', '/v2/keys', READS],
    ['PATCH', path, { expiresAt: rotated.json.key.formerSecretUntil }],
    ['POST', `${path}/rotate`, {}],
    ['POST', `${path}/rotate`, { invitation: true }],
    ['POST', `${path}/revoke`, {}],
  ] as const) {
    const refused = await send(method, at, body, bearer(secret!));
    assert.deepEqual([refused.status, refused.json.code], [403, 'exceeds_own_key'], at);
  }
  const again = await send('POST', `${path}/rotate`, { overlapSeconds: 600 }, rotation);
  // The use of the key is recorded later than it was.
  const withoutUse = ({ key: { lastUsedAt: _, ...settings }, secret }: KeySecret) => [
    settings,
    secret,
  ];
  assert.deepEqual(withoutUse(again.json), withoutUse(rotated.json));
});

testService('a stream ends within a second of its key losing the scope', async (t) => {
  const { send, create, port } = await managing(t);
  const { key, secret } = await create({ ...READS, scopes: ['orders:read', 'changes:read'] });
  const stream = await openStream(t, { port, secret: secret! });
  assert.equal(
    (await send('PATCH', `/v2/keys/${key.id}`, { scopes: ['orders:read'] })).status,
    200,
  );
  assert.deepEqual(await stream.take(1), []);
});

testService(
  'a revoked key ends within a second, with its streams; its webhooks and keys go on',
  async (t) => {
    const { send, create, meOf, port } = await managing(t);
    const { key, secret } = await create({
      name: 'manager',
      scopes: ['keys:manage', 'changes:read'],
    });
    const child = await send(
      'POST',
      '/v2/keys',
      { name: 'child', scopes: ['changes:read'] },
      bearer(secret!),
    );
    const stream = await openStream(t, { port, secret: secret! });
    const revoked = await send('POST', `/v2/keys/${key.id}/revoke`);
    assert.equal(revoked.json.state, 'revoked');
    assert.deepEqual(await stream.take(1), []);
    await eventually(async () => assert.equal((await meOf(secret!)).code, 'api_key_revoked'));
    assert.equal((await meOf(child.json.secret)).id, child.json.key.id);
    // A repetition changes nothing, and a revoked key stays as it is.
    const again = await send('POST', `/v2/keys/${key.id}/revoke`);
    assert.equal(again.json.revokedAt, revoked.json.revokedAt);
    for (const [method, action, body] of [
      ['POST', '/rotate', {}],
      ['PATCH', '', { name: 'x' }],
    ] as const) {
      const { status, json } = await send(method, `/v2/keys/${key.id}${action}`, body);
      assert.deepEqual([status, json.code], [409, 'key_ended']);
    }
  },
);

test('the last key that manages is not revoked, and of two that revoke each other, one remains', async (t) => {
  const { send, create, own, ownId } = await managing(t);
  assert.equal((await send('POST', `/v2/keys/${ownId}/revoke`)).json.code, 'last_key_manager');
  const soon = new Date(Date.now() + 60_000).toISOString();
  assert.equal(
    (await send('PATCH', `/v2/keys/${ownId}`, { expiresAt: soon })).json.code,
    'last_key_manager',
  );
  // An invitation that nobody has redeemed manages nothing yet.
  const invited = await create({ name: 'kim', scopes: [...SCOPES], invitation: true });
  assert.equal((await send('POST', `/v2/keys/${ownId}/revoke`)).json.code, 'last_key_manager');
  const redeemed = await send('POST', '/v2/key/redeem', {}, bearer(invited.invitation!));
  const answers = await Promise.all([
    send('POST', `/v2/keys/${ownId}/revoke`, {}, bearer(redeemed.json.secret)),
    send('POST', `/v2/keys/${redeemed.json.key.id}/revoke`, {}, bearer(own)),
  ]);
  const codes = answers.map(({ status, json }) => json.code ?? status).toSorted();
  assert.deepEqual(codes, [200, 'api_key_revoked']);
});

testService('an invitation is good once, for an hour, and opens nothing else', async (t) => {
  const { send, create, meOf, url, log } = await managing(t);
  const { key, invitation, secret } = await create({ ...READS, name: 'Kim', invitation: true });
  assert.equal(secret, undefined);
  const ticket = bearer(invitation!);
  assert.equal((await meOf(invitation!)).name, 'Kim');
  assert.equal(
    (await send('GET', '/v2/store/orders', undefined, ticket)).json.code,
    'api_key_invalid',
  );
  const [one, other] = await Promise.all([
    send('POST', '/v2/key/redeem', {}, ticket),
    send('POST', '/v2/key/redeem', {}, ticket),
  ]);
  const [won, lost] = one!.status === 200 ? [one!, other!] : [other!, one!];
  assert.deepEqual([won.json.key.id, lost.json.code], [key.id, 'no_invitation']);
  assert.equal(
    (await send('GET', '/v2/store/orders', undefined, bearer(won.json.secret))).status,
    200,
  );
  await eventually(async () => assert.equal((await meOf(invitation!)).code, 'api_key_invalid'));
  assert.equal((await send('POST', '/v2/key/redeem')).json.code, 'no_invitation');
  // One that was not redeemed within the hour has expired, and another one takes its place.
  const late = await create({ ...READS, invitation: true });
  await queryDatabase(url, `UPDATE api_keys SET ticket_until = ticket_until - ${HOUR_MS}`);
  const expired = await send('POST', '/v2/key/redeem', {}, bearer(late.invitation!));
  assert.deepEqual([expired.status, expired.json.code], [401, 'api_key_expired']);
  const next = (await send('POST', `/v2/keys/${late.key.id}/rotate`, { invitation: true })).json;
  assert.equal((await send('POST', '/v2/key/redeem', {}, bearer(next.invitation))).status, 200);
  // Neither tickets nor secrets are logged or stored.
  for (const each of [invitation!, won.json.secret, late.invitation!]) {
    assert.ok(!log().includes(each));
    assert.ok(!JSON.stringify(await queryDatabase(url, AUDIT)).includes(each));
  }
});

test('If-Match and If-None-Match of changes of a key hold', async (t) => {
  const { send, create } = await managing(t);
  const { key } = await create(READS);
  const path = `/v2/keys/${key.id}`;
  const { etag } = (await send('GET', path)).headers;
  const named = await send('PATCH', path, { name: 'a' }, { 'if-match': String(etag) });
  assert.equal(named.status, 200);
  for (const [method, action] of [
    ['PATCH', ''],
    ['POST', '/rotate'],
    ['POST', '/revoke'],
  ] as const) {
    const stale = await send(method, path + action, {}, { 'if-match': String(etag) });
    assert.deepEqual([stale.status, stale.json.code], [412, 'key_changed']);
    const same = await send(
      method,
      path + action,
      {},
      { 'if-none-match': String(named.headers.etag) },
    );
    assert.deepEqual([same.status, same.json.code], [412, 'precondition_failed']);
  }
  const any = await send('POST', '/v2/keys', READS, { 'if-none-match': '*' });
  assert.equal(any.json.code, 'precondition_failed');
});

test('one manager changes a hundred keys in an hour, and all together five hundred', async (t) => {
  const { send, create: createOne, ownId, newKey, url } = await managing(t);
  const { key } = await createOne(READS);
  for (let index = 1; index < 100; index++) {
    assert.equal((await send('PATCH', `/v2/keys/${key.id}`, { name: `n${index}` })).status, 200);
  }
  const refused = await send('PATCH', `/v2/keys/${key.id}`, { name: 'n100' });
  assert.deepEqual([refused.status, refused.json.code], [429, 'key_change_limit_reached']);
  // What ends access is not limited.
  assert.equal((await send('POST', `/v2/keys/${key.id}/revoke`)).status, 200);
  const seconds = Number(refused.headers['retry-after']);
  assert.ok(seconds > 3_500 && seconds <= 3_600, String(seconds));
  const other = await newKey({ scopes: SCOPES });
  const create = () => send('POST', '/v2/keys', READS, bearer(other));
  assert.equal((await create()).status, 201);
  const at = Date.now();
  const rows = Array.from(
    { length: 500 },
    (_, index) => `(${1_000 + index}, ${at}, 'c', 'key_${index}', 'h', 'w')`,
  );
  await queryDatabase(
    url,
    `INSERT INTO audit (id, at, command, os_user, host, what) VALUES ${rows.join()}`,
  );
  assert.equal((await create()).json.code, 'key_change_limit_reached');
  assert.equal((await send('POST', `/v2/keys/${ownId}/revoke`, {}, bearer(other))).status, 200);
});

testService(
  'an operator who gives a key another secret ends its invitation, and the use of the secret before',
  async (t) => {
    const { send, create, meOf, store } = await managing(t);
    const { key, secret } = await create(READS);
    const path = `/v2/keys/${key.id}`;
    const { invitation } = (await send('POST', `${path}/rotate`, { invitation: true })).json;
    assert.equal((await meOf(secret!)).id, key.id);
    const digest = secretDigest(newSecret('production'));
    const rotation = { type: 'rotateKey', id: key.id, digest } as const;
    await store.apply([{ ...rotation, formerUntil: Date.now() + HOUR_MS }]);
    await eventually(async () => assert.equal((await meOf(invitation)).code, 'api_key_invalid'));
    await eventually(async () => {
      await meOf(secret!);
      assert.ok((await send('GET', path)).json.formerSecretLastUsedAt !== undefined);
    });
    const next = secretDigest(newSecret('production'));
    await store.apply([{ ...rotation, digest: next, formerUntil: Date.now() + HOUR_MS }]);
    const { json } = await send('GET', path);
    assert.equal(json.formerSecretLastUsedAt, undefined);
    assert.ok(json.formerSecretUntil !== undefined);
  },
);

test('a manager with an open invitation is a manager by its secret, and one without a secret is none', async (t) => {
  const { send, create, own, ownId, newKey, url } = await managing(t);
  assert.equal((await send('POST', `/v2/keys/${ownId}/rotate`, { invitation: true })).status, 200);
  assert.equal((await send('POST', `/v2/keys/${ownId}/revoke`)).json.code, 'last_key_manager');
  const invited = await create({ name: 'b', scopes: [...SCOPES], invitation: true });
  assert.equal((await send('POST', `/v2/keys/${ownId}/revoke`)).json.code, 'last_key_manager');
  await send('POST', `/v2/keys/${invited.key.id}/rotate`, { invitation: true });
  assert.equal((await send('POST', `/v2/keys/${ownId}/revoke`)).json.code, 'last_key_manager');
  // With an invitation that has ended unredeemed, the other one still manages by its secret.
  const other = await newKey({ scopes: SCOPES });
  const { id } = (await send('GET', '/v2/key', undefined, bearer(other))).json;
  await send('POST', `/v2/keys/${id}/rotate`, { invitation: true });
  await queryDatabase(url, `UPDATE api_keys SET ticket_until = ticket_until - ${2 * HOUR_MS}`);
  const narrower = await send(
    'PATCH',
    `/v2/keys/${ownId}`,
    { scopes: ['orders:read'] },
    bearer(own),
  );
  assert.equal(narrower.status, 200, narrower.body);
});

testService(
  'the command that revokes a leaked manager also revokes what it has created, and whose secrets it has made',
  async (t) => {
    const { send, create, newKey, url, store } = await managing(t);
    const leaked = await create({ name: 'leaked', scopes: ['keys:manage', 'orders:read'] });
    const by = bearer(leaked.secret!);
    const idOf = async (secret: string) => (await store.keys([secretDigest(secret)]))[0]!.id;
    const victim = await idOf(await newKey({ scopes: ['orders:read', 'keys:manage'] }));
    const invited = await idOf(await newKey({ scopes: ['orders:read'] }));
    const other = await idOf(await newKey({ scopes: ['orders:read'] }));
    const taken = (await send('POST', `/v2/keys/${victim}/rotate`, {}, by)).json.secret;
    const child = (await send('POST', '/v2/keys', READS, bearer(taken))).json;
    const { invitation } = (
      await send('POST', `/v2/keys/${invited}/rotate`, { invitation: true }, by)
    ).json;
    const { secret } = (await send('POST', '/v2/key/redeem', {}, bearer(invitation))).json;
    const args = ['keys', 'revoke', leaked.key.id, '--with-created', '--database', url];
    const { stderr } = await run(args);
    const revoked = [...stderr.matchAll(/Revoked (key_\w+)\./g)].map(([, id]) => id);
    assert.deepEqual(revoked.toSorted(), [leaked.key.id, victim, invited, child.key.id].toSorted());
    for (const each of [leaked.secret!, taken, secret, child.secret]) {
      const found = await store.keys([secretDigest(each)]);
      assert.ok(found[0]!.revokedAt !== undefined);
    }
    assert.equal((await store.key(other))!.revokedAt, undefined);
  },
);
