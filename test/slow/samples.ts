// Every sample of the reference, in all three languages, is run as the page shows it, against a store.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { eventually, freePort } from '../postgres.ts';
import { type Running, run, serve } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

const CLIENT = fileURLToPath(new URL('../../client/src/client.ts', import.meta.url));
const LIMIT_MS = 40_000;
/** Samples that are run at once, each with orders of its own. */
const AT_ONCE = 4;
const LANGUAGES = ['curl', 'JavaScript', 'Python'] as const;

interface Sample {
  /** Such as v2-cancelOrder. */
  readonly name: string;
  readonly language: (typeof LANGUAGES)[number];
  readonly text: string;
}

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" },
};

/** The text of an element. */
const textOf = (html: string): string =>
  html.replaceAll(/<[^>]*>/g, '').replaceAll(/&#?\w+;/g, (each) => ENTITIES[each]!);

const pageOf = async ({ origin }: Running) => (await fetch(`${origin}/reference`)).text();

/** Reads the samples out of the page, as they are copied from it. */
async function samplesOf(service: Running): Promise<Sample[]> {
  const page = await pageOf(service);
  const parts = page.split(/<(?:article|section)\b[^>]*? id="/).slice(1);
  return parts.flatMap((part) => {
    const name = part.slice(0, part.indexOf('"'));
    const panels = part.matchAll(/<pre class="panel (\w+)"[^>]*><code>(.*?)<\/code>/gs);
    return [...panels].map(([, language, html]) => ({
      name,
      language: language as Sample['language'],
      text: textOf(html!),
    }));
  });
}

async function placedOrder(service: Running): Promise<string> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() };
  const { body } = await service.call(
    'POST',
    '/v2/store/orders',
    headers,
    '{"petId":412,"quantity":1}',
  );
  return /"id":(\d+)/.exec(body)![1]!;
}

async function createdWebhook(service: Running): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const url = `https://shop.example/${crypto.randomUUID()}`;
  const { body } = await service.call('POST', '/v2/webhooks', headers, JSON.stringify({ url }));
  return /"id":"(wh_\w+)"/.exec(body)![1]!;
}

/** An URL has one webhook, so the next language could not create that of its sample. */
async function deleteWebhooks(service: Running): Promise<void> {
  const { body } = await service.call('GET', '/v2/webhooks');
  for (const [, id] of body.matchAll(/"id":"(wh_\w+)"/g)) {
    await service.call('DELETE', `/v2/webhooks/${id}`);
  }
}

/** Creates a key, and returns its id and the ticket of its invitation. */
async function invitedKey(service: Running): Promise<{ keyId: string; ticket: string }> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() };
  const wanted = '{"name":"Noor","scopes":["orders:read"],"invitation":true}';
  const { body } = await service.call('POST', '/v2/keys', headers, wanted);
  return {
    keyId: /"id":"(key_\w+)"/.exec(body)![1]!,
    ticket: /"invitation":"([^"]+)"/.exec(body)![1]!,
  };
}

/** A project in which JavaScript finds the client. */
function project(t: TestContext): string {
  const folder = temporaryFolder(t);
  const client = join(folder, 'client');
  for (const each of [client, join(folder, 'node_modules/@store-orders')]) {
    mkdirSync(each, { recursive: true });
  }
  writeFileSync(join(client, 'package.json'), '{"type":"module","exports":"./client.ts"}');
  writeFileSync(join(client, 'client.ts'), `export * from '${CLIENT}';`);
  symlinkSync(client, join(folder, 'node_modules/@store-orders/client'));
  return folder;
}

/** Runs a sample. @returns what it has printed, also of errors; a stream is ended after its first change */
async function output(
  { name, language, text }: Sample,
  folder: string,
  env: Readonly<Record<string, string>>,
  expectedCode = 0,
): Promise<string> {
  const file = join(folder, `${name}.${{ curl: 'sh', JavaScript: 'mjs', Python: 'py' }[language]}`);
  writeFileSync(file, text);
  const command = { curl: 'sh', JavaScript: process.execPath, Python: 'python3' }[language];
  const child = spawn(command, [...(language === 'curl' ? ['-e'] : []), file], {
    cwd: folder,
    // With a group of its own, which is ended as a whole: the shell and curl.
    detached: true,
    env: { PATH: process.env.PATH!, PYTHONUNBUFFERED: '1', ...env },
  });
  let printed = '';
  let isEnded = false;
  const end = () => process.kill(-child.pid!);
  const limit = setTimeout(end, LIMIT_MS);
  child.stdout.on('data', (chunk) => {
    printed += chunk;
    if (name === 'v2-streamChanges' && printed.includes('placed') && !isEnded) {
      isEnded = true;
      end();
    }
  });
  let problems = '';
  child.stderr.on('data', (chunk) => {
    if (language !== 'curl') problems += chunk;
  });
  const [code] = await once(child, 'close');
  clearTimeout(limit);
  assert.ok(
    code === expectedCode || isEnded,
    `${name} in ${language}:\n${text}\n${printed}\n${problems}`,
  );
  return printed + problems;
}

test('every sample of the reference runs as it is', { timeout: 240_000 }, async (t) => {
  const database = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  // The page shows the address of the service, which it knows before it listens only by a port of its own.
  const service = await serve(t, ['--port', String(await freePort())], { database });
  const pets = await run(['pets', 'import', '-', '--database', database], {
    input: '{"id":412,"name":"Rex"}\n',
  });
  assert.equal(pets.code, 0, pets.stderr);
  await placedOrder(service);
  const all = await samplesOf(service);
  // 33 calls, and two guides; that of webhooks has no curl, and is a server.
  assert.equal(all.length, 35 * LANGUAGES.length + 2);
  const samples = all.filter(({ name }) => name !== 'webhooks');
  const folder = project(t);
  for (const language of LANGUAGES) {
    const left = samples.filter((each) => each.language === language);
    const work = async () => {
      for (let sample = left.pop(); sample !== undefined; sample = left.pop()) {
        const ids = [await placedOrder(service), await placedOrder(service)];
        const isOfWebhook = /webhookId/.test(sample.text);
        const isOfInvitation = sample.name === 'v2-redeemInvitation';
        const { keyId, ticket } =
          isOfInvitation || /keyId/.test(sample.text)
            ? await invitedKey(service)
            : { keyId: '', ticket: '' };
        const printed = await output(sample, folder, {
          KEY: isOfInvitation ? ticket : service.secret,
          keyId,
          orderId: ids[0]!,
          otherId: ids[1]!,
          petId: '412',
          ...(isOfWebhook && { webhookId: await createdWebhook(service) }),
        });
        const what = `${sample.name} in ${sample.language}`;
        // curl exits with 0, whatever the response is.
        assert.doesNotMatch(printed, /^\{"code":/, what);
        const isEmpty = sample.language === 'curl' && /cancelOrder|deleteWebhook/.test(sample.name);
        if (!isEmpty) assert.match(printed, /\S/, what);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    await deleteWebhooks(service);
  }
  const { body } = await service.call('GET', '/v2/store');
  // cancelOrder of both versions, cancelOrders and the guide of errors, shipOrder and shipOrders, each in three languages.
  assert.match(body, /"shipped":9,"cancelled":15/);
});

test('samples print the code and the message of an error, and no trace', async (t) => {
  const service = await serve(t, ['--port', String(await freePort())]);
  const folder = project(t);
  const samples = await samplesOf(service);
  for (const sample of samples.filter(({ name }) => name === 'v2-getOrder')) {
    const failed = sample.language === 'curl' ? 0 : 1;
    const printed = await output(sample, folder, { KEY: service.secret, orderId: '9' }, failed);
    assert.match(printed, /order_not_found/);
    assert.match(printed, /There is no order with this id/);
    assert.doesNotMatch(printed, /Traceback|^ +at /m);
  }
});

test('the samples of the guides read all pages, and tell errors from each other', async (t) => {
  const service = await serve(t, ['--port', String(await freePort())]);
  const folder = project(t);
  const samples = await samplesOf(service);
  const ids = await Promise.all(Array.from({ length: 5 }, () => placedOrder(service)));
  for (const { text, ...sample } of samples.filter(({ name }) => name === 'pagination')) {
    assert.match(text, /500/);
    // 5 orders are 3 pages.
    const small = { ...sample, text: text.replace('500', '2') };
    const printed = await output(small, folder, { KEY: service.secret });
    for (const id of ids) assert.match(printed, new RegExp(`(?:"id":|^)${id}\\b`, 'm'), printed);
    const refused = await output(
      small,
      folder,
      { KEY: 'so_live_x' },
      sample.language === 'curl' ? 0 : 1,
    );
    assert.match(refused, /401|api_key_invalid/);
  }
  const [shipped, ...others] = ids;
  await service.call('POST', `/v2/store/orders/${shipped}/ship`);
  for (const sample of samples.filter(({ name }) => name === 'errors')) {
    const of = (orderId: string) => output(sample, folder, { KEY: service.secret, orderId });
    assert.match(await of(shipped!), /^too late, it has shipped$/m);
    const orderId = others.pop()!;
    assert.match(await of(orderId), /\bcancelled\b/);
    assert.match(await of(orderId), /^it was cancelled before$/m);
  }
});

test('the samples of webhooks accept what is signed alone', async (t) => {
  const port = await freePort();
  const service = await serve(t, ['--port', String(await freePort())]);
  const folder = project(t);
  const page = await pageOf(service);
  const samples = (await samplesOf(service)).filter(({ name }) => name === 'webhooks');
  const sampleIn = (language: string) => samples.find((each) => each.language === language)!.text;
  const body = textOf(/Body of a delivery"><code>(.*?)<\/code>/s.exec(page)![1]!);
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const signature = new StandardWebhook(secret).sign('msg_1', new Date(), body);
  const signed = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
    // After a rotation there are two.
    'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')} ${signature}`,
  };
  const forged = { ...signed, 'webhook-id': 'msg_2' };
  const old = { ...signed, 'webhook-timestamp': '1700000000' };

  const [, inNode] = /<pre tabindex="0"><code>([^\0]*?isSigned[^\0]*?)<\/code>/.exec(
    page.slice(page.indexOf('id="webhooks"')),
  )!;
  writeFileSync(join(folder, 'signed.mjs'), textOf(inNode!));
  const { isSigned } = await import(pathToFileURL(join(folder, 'signed.mjs')).href);
  writeFileSync(join(folder, 'signed.py'), sampleIn('Python'));
  const script =
    'import json, sys, signed; print(signed.is_signed(json.loads(sys.argv[1]), sys.argv[2].encode(), sys.argv[3]))';
  const env = { ...process.env, WEBHOOK_SECRET: secret };
  writeFileSync(join(folder, 'server.mjs'), sampleIn('JavaScript').replace('3000', String(port)));
  const server = spawn(process.execPath, ['server.mjs'], { cwd: folder, env });
  t.after(() => server.kill());
  let printed = '';
  server.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  const send = async (headers: Readonly<Record<string, string>>) => {
    const url = `http://127.0.0.1:${port}/`;
    return (await fetch(url, { method: 'POST', headers, body })).status;
  };
  await eventually(() => send(forged));
  for (const [headers, isGood] of [
    [signed, true],
    [forged, false],
    [old, false],
  ] as const) {
    assert.equal(isSigned(headers, body, secret), isGood);
    const given = ['-c', script, JSON.stringify(headers), body, secret];
    const { stdout } = spawnSync('python3', given, { cwd: folder, encoding: 'utf8' });
    assert.equal(stdout.trim(), isGood ? 'True' : 'False');
    assert.equal(await send(headers), isGood ? 204 : 400);
  }
  assert.match(printed, /^(?:placed|cancelled|shipped) \d+n$/m);
});
