import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Locator, Page } from 'playwright-core';
import { extractText, getDocumentProxy } from 'unpdf';
import { pending, place, startService } from '../http/harness.ts';
import { run } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';
import { startBrowser } from './chromium.ts';
import { accessibilityFindings, opened } from './page.ts';

const BIG = 9007199254740993n;

const urlOf = ({ port }: { readonly port: number }) => `http://127.0.0.1:${port}/reference`;

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the reference is accessible and loads nothing from another host (${colorScheme})`, async (t) => {
    const service = await startService(t);
    const { page, problems } = await opened(browser, urlOf(service), { colorScheme });
    assert.deepEqual(await accessibilityFindings(page), []);
    assert.equal(await page.locator('article').count(), 33);
    assert.deepEqual(problems, []);
    await page.close();
  });
}

test('the reference can be read without scripts, on a phone too', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service), {
    ...{ javaScriptEnabled: false, viewport: { width: 375, height: 700 } },
  });
  assert.ok(await page.getByRole('heading', { name: /^Place an order/ }).isVisible());
  assert.equal(await page.getByRole('button').count(), 0);
  const cancel = page.locator('#v2-cancelOrder');
  await cancel.locator('summary', { hasText: 'fields of OrderRecord' }).click();
  assert.ok(await cancel.locator('.field .name', { hasText: 'placedAt' }).isVisible());
  await cancel.locator('label', { hasText: 'Python' }).click();
  assert.match(await cancel.locator('.panel.Python').innerText(), /urllib.request.urlopen/);
  const overflow = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
  assert.equal(await page.evaluate(overflow).catch(() => false), false);
  await page.close();
});

test('the reference has 34 KB on the wire, and every link within it has a target', async (t) => {
  const service = await startService(t);
  // A page that is loaded again has no body, but 304.
  const page = await browser.newPage();
  const response = await page.goto(urlOf(service));
  const { responseBodySize } = await response!.request().sizes();
  assert.ok(responseBodySize > 10 * 1024 && responseBodySize <= 34 * 1024, `${responseBodySize}`);
  const broken = await page.evaluate<string[]>(
    `[...document.querySelectorAll('a[href^="#"]')].map((link) => link.getAttribute('href').slice(1))
      .filter((id) => document.getElementById(id) === null)`,
  );
  assert.deepEqual(broken, []);
  await page.close();
});

test('the contents have the operations of version 2 in groups', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service));
  const contents = page.getByRole('navigation', { name: 'Contents' });
  for (const [group, operation] of [
    ['orders', 'Place an order'],
    ['changes', 'Stream changes'],
    ['store', 'Count the orders that match'],
    ['webhooks', 'Rotate the secret of a webhook'],
    ['keys', 'Revoke an API key'],
  ] as const) {
    const list = contents.getByRole('list', { name: `v2 ${group}` });
    await list.getByRole('link', { name: operation }).waitFor({ timeout: 5_000 });
  }
  await page.close();
});

test('operations, fields and errors are found, and a language is that of all samples', async (t) => {
  const service = await startService(t);
  const { page, problems } = await opened(browser, urlOf(service));
  await page.keyboard.press('/');
  await page.keyboard.type('idempotency');
  const found = page.getByRole('list', { name: 'Found' });
  await found.getByRole('link', { name: 'idempotency_key_reused error code' }).click();
  assert.equal(new URL(page.url()).hash, '#error-idempotency_key_reused');
  await page
    .getByRole('link', { name: 'Error codes', exact: true })
    .and(page.locator('[aria-current=true]'))
    .waitFor();
  await page.getByLabel('Find guides, operations, fields and errors').fill('place order');
  await page.keyboard.press('Enter');
  await page.waitForURL('**#v2-placeOrder');
  await page.locator('#v2-placeOrder').getByText('Python', { exact: true }).click();
  assert.ok(await page.getByLabel('With Python').nth(7).isVisible());
  assert.equal(await page.getByLabel('With curl').filter({ visible: true }).count(), 0);
  await page
    .getByRole('link', { name: 'v2 Stable' })
    .and(page.locator('[aria-current=true]'))
    .waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

test('Find stays above the contents, and the operation that is read is below it', async (t) => {
  const service = await startService(t);
  const viewport = { width: 1440, height: 900 };
  const { page } = await opened(browser, `${urlOf(service)}#v2-createWebhook`, { viewport });
  const find = page.getByLabel('Find guides, operations, fields and errors');
  for (const hash of ['v2-createWebhook', 'v2-getStore']) {
    await page.evaluate(`location.hash = '${hash}'`);
    const link = page.locator(`.contents [href="#${hash}"][aria-current=true]`);
    const [field, bar, { y }] = [
      (await find.boundingBox())!,
      (await page.locator('.bar').boundingBox())!,
      (await link.boundingBox())!,
    ];
    assert.ok(field.y >= bar.y + bar.height, `${hash}: Find at ${field.y}`);
    assert.ok(y >= field.y + field.height, `${hash}: at ${y}`);
  }
  await page.close();
});

/** What integrators ask, and the places that answer it. */
const QUESTIONS: readonly (readonly [asked: string, ...ids: string[]])[] = [
  ['how to authenticate', 'keys'],
  ['authentication', 'keys'],
  ['login', 'keys'],
  ['unauthorized', 'keys'],
  ['permission denied', 'error-scope_missing'],
  ['forbidden', 'error-scope_missing'],
  ['what can my key do', 'v2-getKey'],
  ['cors', 'keys-browsers'],
  ['webhok', 'webhooks'],
  ['cancle order', 'v2-cancelOrder'],
  ['refund', 'v2-cancelOrder'],
  ['delete order', 'v2-cancelOrder'],
  ['how do I ship many orders', 'v2-shipOrders'],
  ['cancel in bulk', 'v2-cancelOrders'],
  ['mark as shipped', 'v2-shipOrder'],
  ['tracking number', 'v2-shipOrder-body-trackingNumber'],
  ['list all orders of one pet', 'v2-listOrders-petId'],
  ['get orders of yesterday', 'v2-listOrders-placedFrom'],
  ['orders since a date', 'v2-listOrders-placedFrom'],
  ['how many orders are pending', 'v2-countOrders'],
  ['get order', 'v2-getOrder'],
  ['get pet', 'v1-getPet'],
  ['how do I start', 'first-request'],
  ['optimistic locking', 'error-precondition_failed'],
  ['what does 412 mean', 'error-precondition_failed'],
  ['429', 'error-place_limit_reached'],
  ['is there a rate limit', 'retries-there-is-no-rate-limit-on-requests'],
  ['how to retry', 'retries'],
  ['avoid duplicate orders', 'retries'],
  ['verify the signature of a webhook', 'webhooks-the-signature'],
  ['next page', 'pagination'],
  ['read all pages', 'pagination'],
  ['large ids in JavaScript', 'ids-javascript'],
  ['sse', 'v2-streamChanges'],
  ['poll for changes', 'v2-listChanges'],
  ['changelog', 'changelog'],
  ['listorders', 'v2-listOrders'],
  ['update an order', 'v2-cancelOrder'],
  ['updated orders', 'v2-listOrders-updatedFrom'],
  ['too_many_keys', 'error-too_many_keys'],
  ['orders of one pet', 'v2-listOrders-petId'],
  ['sort by date', 'v2-listOrders-sort'],
  ['javascript client library', 'first-request-client-library'],
  ['utc', 'v2-placeOrder-result-shipDate'],
  ['curl', 'first-request'],
  ['test without touching production', 'keys'],
  ['what happens when the outcome is unknown', 'retries-the-outcome-is-unknown'],
  ['export all orders', 'v2-listOrders'],
  ['cancel an order twice', 'error-order_already_cancelled'],
  ['timeout', 'retries-timeouts', 'retries'],
  ['how do I get a key', 'first-request-get-a-key'],
  ['too many requests', 'retries-there-is-no-rate-limit-on-requests'],
  ['how do I cancel an order', 'v2-cancelOrder'],
  ['replace my api key', 'v2-rotateKey'],
  ['how fast must my endpoint answer', 'webhooks-answer-within-15-seconds'],
  ['what happens if my server is down', 'webhooks', 'retries'],
  ['pause a webhook', 'v2-updateWebhook'],
  ['new secret for a webhook', 'v2-rotateWebhookSecret'],
  ['find an order by my own reference', 'v2-findOrders', 'v2-listOrders-reference'],
  ['my ids are rounded', 'ids'],
  ['how many orders were shipped last week', 'v2-getActivity'],
  ['is my order still pending', 'v2-getOrder'],
  ['call the api from a browser', 'keys-browsers'],
  ['why was an order cancelled', 'v2-getOrderHistory'],
  ['order was already shipped', 'error-order_already_shipped'],
  [
    'keep a copy of all orders in my database',
    'pagination-for-an-exact-copy',
    'v2-listChanges',
    'v2-streamChanges',
  ],
  ['how do I create an api key', 'v2-createKey'],
  ['revoke a leaked key', 'v2-revokeKey'],
  ['maximum page size', 'pagination'],
  ['which version should I use', 'first-request-which-version'],
  ['what does 503 mean', 'retries-the-outcome-is-unknown', 'error-store_unavailable'],
  ['send an alert when an order is cancelled', 'webhooks'],
  ['does a webhook arrive twice', 'webhooks-a-delivery-can-come-twice'],
  ['api key leaked', 'v2-rotateKey', 'v2-revokeKey'],
  ['difference between v1 and v2', 'first-request-which-version', 'changelog'],
  ['openapi file download', 'v2'],
  ['maximum length of a reference', 'v2-placeOrder-body-reference'],
  ['order of webhook events', 'webhooks-the-payload'],
  ['how long is a cursor valid', 'pagination-a-cursor'],
  ['what is in an error', 'errors-an-error'],
  ['clock skew of signatures', 'webhooks-the-signature'],
  ['authorization header', 'first-request-send-it-as-a-bearer-token'],
  ['can I edit an order', 'first-request-an-order-is-not-edited'],
  ['blocked by cors policy', 'keys-browsers'],
  ['parse ids in python', 'ids-python'],
  ['JSON.parse bigint', 'ids-javascript'],
  ['ids in excel', 'ids-spreadsheets'],
  ['why is a page empty', 'pagination-the-last-page'],
  ['orders move between pages while I read', 'pagination-changes-while-you-read'],
  ['store was restored from a backup', 'pagination-the-feed-of-changes', 'error-changes_gone'],
  ['how long is an idempotency key remembered', 'retries', 'v2-placeOrder-Idempotency-Key'],
  ['exponential backoff', 'retries'],
  ['how long to wait for a response', 'retries-timeouts'],
  ['502 bad gateway from a proxy', 'retries-answers-of-proxies'],
  [
    'limit of cancels per hour',
    'error-cancel_limit_reached',
    'retries-there-is-no-rate-limit-on-requests',
  ],
  ['size of a webhook payload', 'webhooks-the-payload'],
  ['webhooks on localhost', 'webhooks-trying-it'],
  ['which status must my webhook return', 'webhooks-answer-within-15-seconds'],
  ['failed webhook deliveries', 'webhooks-failed-deliveries'],
  ['webhook was paused', 'webhooks-failed-deliveries'],
  ['unknown error code', 'errors-an-error'],
  ['what is new in 2.1', 'changelog-2-1-0'],
];

/** Questions whose answer is the first place. */
const ANSWERED_FIRST = [
  ['get notified when an order ships', 'webhooks'],
  ['how do I delete an order', 'v2-cancelOrder'],
  ['who changed an order', 'v2-getOrderHistory'],
  ['change quantity of an order', 'first-request-an-order-is-not-edited'],
  ['how long are webhooks retried', 'webhooks'],
  ['test mode', 'keys'],
  ['verify webhook signature', 'webhooks-the-signature'],
  ['webhooks', 'webhooks'],
  ['keys and scopes', 'keys'],
  ['changelog', 'changelog'],
  ['sdk', 'first-request-client-library'],
  ['time zone', 'v2-getActivity-boundaries'],
  ['tracking', 'v2-shipOrder'],
] as const;

/** Types texts into Find. @returns what is found for each: hashes of links; and how long the page takes, in ms */
const found = (page: Page, texts: readonly string[]) =>
  page.evaluate<{ links: string[]; ms: number }[]>(`${JSON.stringify(texts)}.map((text) => {
    const input = document.querySelector('#find');
    input.value = text;
    const start = performance.now();
    input.dispatchEvent(new Event('input'));
    const ms = performance.now() - start;
    return { ms, links: [...document.querySelectorAll('.found a')].map((link) => link.hash) };
  })`);

test('plain questions find their answer among the first three', async (t) => {
  const service = await startService(t);
  const { page, problems } = await opened(browser, urlOf(service));
  const answers = await found(
    page,
    QUESTIONS.map(([asked]) => asked),
  );
  const missed = QUESTIONS.flatMap(([asked, ...ids], index) => {
    const first = answers[index]!.links.slice(0, 3);
    const isFound = ids.some((id) => first.includes(`#${id}`));
    return isFound ? [] : [`${asked}: ${first.join(' ')}, not #${ids.join(' #')}`];
  });
  assert.deepEqual(missed, []);
  // What is only meant does not flood the list.
  assert.ok(answers[QUESTIONS.findIndex(([asked]) => asked === 'refund')]!.links.length <= 10);
  const asked = ANSWERED_FIRST.map(([question]) => question);
  const firsts = (await found(page, asked)).map(({ links }) => links[0]);
  assert.deepEqual(
    firsts,
    ANSWERED_FIRST.map(([, id]) => `#${id}`),
  );
  // The changelog has every word; it is found by its name.
  const changelogs = answers.filter(({ links }) => links[0] === '#changelog');
  assert.equal(changelogs.length, 1);
  assert.deepEqual(problems, []);
  await page.close();
});

test('the contents are offered if nothing is found', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service));
  const typed = QUESTIONS.flatMap(([asked]) =>
    [...asked].map((_, index) => asked.slice(0, index + 1)),
  );
  const times = (await found(page, typed))
    .map(({ ms }) => ms)
    .toSorted((one, other) => one - other);
  const median = times[times.length >> 1]!;
  t.diagnostic(`median ${median} ms, 99 % ${times[Math.floor(times.length * 0.99)]} ms`);
  assert.deepEqual((await found(page, ['zzyzx']))[0]!.links, []);
  await page.getByText('Nothing was found for “zzyzx”. These are all contents:').waitFor();
  await page.getByRole('link', { name: 'Keys and scopes', exact: true }).waitFor();
  await page.close();
});

test('guides are found by what they are about', async (t) => {
  const service = await startService(t);
  const { page, problems } = await opened(browser, urlOf(service));
  const found = page.getByRole('list', { name: 'Found' });
  for (const [words, guide] of [
    ['webhook signature', 'Webhooks guide'],
    ['rate limit', 'Retries and limits guide'],
    ['changelog', 'Changelog of the contract guide'],
    ['retry', 'Retries and limits guide'],
    ['next page', 'Pages of a list guide'],
    ['pagination', 'Pages of a list guide'],
    ['authentication', 'Keys and scopes guide'],
    ['429', 'Retries and limits guide'],
    ['how to retry', 'Retries and limits guide'],
    ['delete order', 'Cancel an order v2 cancelOrder orders:cancel'],
    ['sse', 'Stream changes v2 streamChanges changes:read'],
    ['filter by date', 'shipDateFrom v2 listOrders'],
    ['listorders', 'List orders v2 listOrders orders:read'],
  ] as const) {
    await page.getByLabel('Find guides, operations, fields and errors').fill(words);
    await found.getByRole('link', { name: guide, exact: true }).waitFor();
  }
  assert.deepEqual(problems, []);
  await page.close();
});

test('a part of a guide has an address of its own, in view below the header', async (t) => {
  const service = await startService(t);
  for (const width of [1440, 1024, 390]) {
    const viewport = { width, height: 800 };
    const { page, problems } = await opened(browser, urlOf(service), { viewport });
    if (width < 928) await page.locator('.contents > summary').click();
    const find = page.getByLabel('Find guides, operations, fields and errors');
    await find.fill('verify webhook signature');
    await page.getByRole('link', { name: 'The signature Webhooks', exact: true }).click();
    const part = page.locator('#webhooks-the-signature:target');
    await t.waitFor(async () => {
      const above = (await page.locator(width < 928 ? '.contents' : '.bar').boundingBox())!;
      const { y, height } = (await part.boundingBox())!;
      const isInView = y >= above.y + above.height && y + height <= viewport.height;
      assert.ok(isInView, `${width}: from ${y}, ${height} high`);
    });
    assert.match(await part.innerText(), /^The signature is that of Standard Webhooks/);
    if (width >= 928) {
      // A letter in the bar scrolls nothing.
      const { y } = (await part.boundingBox())!;
      await page.getByLabel('API key').pressSequentially('so_');
      assert.equal((await part.boundingBox())!.y, y);
    }
    const ids = await page.evaluate<string[]>(
      "[...document.querySelectorAll('[id]')].map(({ id }) => id)",
    );
    assert.equal(new Set(ids).size, ids.length, 'each id is that of one element');
    assert.deepEqual(problems, []);
    await page.close();
  }
});

test('on a phone, the contents open above the text, which stays where it is', async (t) => {
  const service = await startService(t);
  const viewport = { width: 390, height: 800 };
  const { page } = await opened(browser, `${urlOf(service)}#v2-placeOrder`, { viewport });
  const places = await page.evaluate<number[]>(`new Promise((resolve) => {
    const [contents, article] = ['.contents', '#v2-placeOrder'].map((each) => document.querySelector(each));
    const places = [];
    const next = () => requestAnimationFrame(() => {
      places.push(article.getBoundingClientRect().top);
      if (places.length > 2) return resolve(places);
      contents.open = !contents.open;
      next();
    });
    next();
  })`);
  assert.equal(new Set(places).size, 1, places.join());
  const find = page.getByLabel('Find guides, operations, fields and errors');
  await page.evaluate("document.querySelector('.contents').open = false");
  await page.locator('.contents > summary').getByText('Find').click();
  assert.ok(await find.evaluate((each) => each === document.activeElement));
  // Each code of a response is named once.
  const row = page.locator('#v2-placeOrder .s400');
  for (const code of ['body_invalid', 'bad_request'])
    assert.equal(await row.getByRole('link', { name: code, exact: true }).count(), 1);
  assert.equal((await row.innerText()).split('body_invalid').length, 2);
  await page.close();
});

test('the place of what is found is one line below its name, however long it is', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service));
  await page.getByLabel('Find guides, operations, fields and errors').fill('rotate secret');
  const link = page.getByRole('link', { name: 'Rotate the secret of a webhook v2 rotate' });
  const [name, where] = [link.locator('span'), link.locator('small')];
  assert.match(await where.innerText(), /^v2 rotateWebhookSecret webhooks:manage$/);
  const [above, below] = [(await name.boundingBox())!, (await where.boundingBox())!];
  assert.ok(
    below.y >= above.y + above.height && below.height <= 20,
    JSON.stringify([above, below]),
  );
  assert.ok(above.height <= 24, 'the name does not wrap');
  await page.close();
});

test('a place whose name does not have the words has them marked in one line of its text', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service));
  const find = page.getByLabel('Find guides, operations, fields and errors');
  await find.fill('how long are webhooks retried');
  const guide = page.getByRole('link', {
    name: 'Webhooks guide',
    exact: true,
    description: /^… .{0,16}repeated after 5 s/,
  });
  const excerpt = guide.locator('.excerpt');
  assert.deepEqual(await excerpt.locator('mark').allInnerTexts(), ['repeated']);
  assert.ok((await excerpt.boundingBox())!.height <= 20);
  // Far into a long sentence, the excerpt begins shortly before the words.
  await find.fill('webhook secret');
  const rotate = page.getByRole('link', { description: /^… .{0,20}secret/ }).first();
  await rotate.waitFor();
  await find.fill('place an order');
  const place = page.getByRole('link', { name: 'Place an order v2 placeOrder orders:place' });
  assert.equal(await place.locator('.excerpt').count(), 0);
  await page.close();
});

test('of fields with the same name, one is found', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service));
  for (const name of ['webhookId', 'quantity']) {
    await page.getByLabel('Find guides, operations, fields and errors').fill(name);
    const found = page.getByRole('list', { name: 'Found' });
    const links = found.getByRole('link', { name: new RegExp(`^${name} `) });
    await links.first().waitFor();
    assert.equal(await links.count(), 1, name);
  }
  await page.close();
});

test('an address that was cut within an escape opens the page', async (t) => {
  const service = await startService(t);
  const { page, problems } = await opened(browser, `${urlOf(service)}#v2%`);
  await page.getByLabel('Find guides, operations, fields and errors').waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

test('the chosen language is that of the next visit', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service));
  await page.locator('#first-request').getByText('Python', { exact: true }).click();
  await page.reload();
  await page.locator('#first-request .panel.Python').waitFor();
  await page.close();
});

test('"try it" asks, cancels exactly the order whose id is entered, and shows every digit', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(BIG), pending(BIG - 1n));
  const { page, problems } = await opened(browser, urlOf(service));
  for (const input of await page.locator('.try input:not([data-generated])').all())
    assert.equal(await input.inputValue(), '');
  for (const text of await page.locator('.try textarea').all())
    assert.doesNotMatch(await text.inputValue(), /"id": ?\d/);
  const cancel = page.locator('#v2-cancelOrder .try');
  await cancel.locator('> summary').click();
  await cancel.getByLabel('orderId').fill(String(BIG));
  await cancel.getByRole('button', { name: 'Send POST' }).click();
  await cancel.getByText('Enter an API key at the top of the page first.').waitFor();

  await page.getByLabel('API key', { exact: true }).fill(service.secret);
  await cancel.getByRole('button', { name: 'Send POST' }).click();
  await cancel.getByText('this is done for real in production').waitFor();
  await cancel.getByRole('button', { name: 'Not now' }).click();
  assert.equal((await service.store.status()).orders.cancelled, 0n);
  await cancel.getByRole('button', { name: 'Send POST' }).click();
  await cancel.getByRole('button', { name: 'Cancel an order' }).click();
  await cancel.getByText(/^200 OK · \d+ ms$/).waitFor();
  const answer = await cancel.locator('.answer').innerText();
  assert.ok(answer.includes(`  "id": ${BIG},\n`), answer);
  assert.ok(answer.includes('  "status": "cancelled",\n'), answer);
  const curl = (await cancel.locator('.sent').textContent())!;
  assert.ok(curl.startsWith(`curl --request POST 'http://127.0.0.1:${service.port}/v2/`), curl);
  assert.ok(!curl.includes(service.secret), curl);
  const { orders } = await service.store.status();
  assert.deepEqual(orders, { pending: 1n, shipped: 0n, cancelled: 1n });

  const list = page.locator('#v1-listOrders .try');
  await list.locator('> summary').click();
  await list.getByRole('button', { name: 'Send GET' }).click();
  await list.locator('.answer', { hasText: `"id": ${BIG - 1n}` }).waitFor();
  assert.deepEqual(problems, []);
  const stored = await page.evaluate<string>(
    'JSON.stringify([localStorage, sessionStorage, document.cookie])',
  );
  assert.ok(!stored.includes(service.secret), 'the key stays in the page');
  await page.close();
});

test('"try it" begins with an example and a fresh Idempotency-Key', async (t) => {
  const service = await startService(t);
  const { page, problems } = await opened(browser, urlOf(service));
  await page.getByLabel('API key', { exact: true }).fill(`Bearer ${service.secret}`);
  const form = page.locator('#v2-placeOrder .try');
  await form.locator('> summary').click();
  const key = await form.getByLabel('Idempotency-Key').inputValue();
  assert.match(key, /^[0-9a-f]{32}$/);
  await form.getByRole('button', { name: 'Another key' }).click();
  assert.notEqual(await form.getByLabel('Idempotency-Key').inputValue(), key);
  await form.getByRole('button', { name: 'Send POST' }).click();
  await form.getByRole('button', { name: 'Place an order' }).click();
  await form.getByText(/^201 Created/).waitFor();
  assert.equal((await service.store.status()).orders.pending, 1n);
  const filters = page.locator('#v2-listOrders .try');
  await filters.locator('> summary').click();
  await filters.getByLabel('sort').selectOption('shipDate');
  await filters.getByRole('button', { name: 'Send GET' }).click();
  await filters.getByText('Request as curl').click();
  await filters.locator('.sent', { hasText: '?sort=shipDate' }).waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

for (const reducedMotion of ['no-preference', 'reduce'] as const) {
  test(`the form and the answer of "try it" come into view (motion: ${reducedMotion})`, async (t) => {
    const service = await startService(t);
    await place(service.store, pending(1n));
    const viewport = { width: 1440, height: 900 };
    const { page } = await opened(browser, urlOf(service), { viewport, reducedMotion });
    await page.locator('#v2-getOrder').getByText('Python', { exact: true }).click();
    await page.getByLabel('API key', { exact: true }).fill(service.secret);
    await page.goto(`${urlOf(service)}#v2-getOrder`);
    const order = page.locator('#v2-getOrder .try');
    const isInView = (part: Locator) =>
      t.waitFor(async () => {
        const { y, height } = (await part.boundingBox())!;
        assert.ok(y >= 0 && y + height <= viewport.height, `from ${y}, ${height} high`);
      });
    await order.locator('> summary').click();
    await isInView(order.getByRole('button', { name: 'Send GET' }));
    await order.getByLabel('orderId').fill('1');
    // An animation has many positions.
    await page.evaluate('window.positions = new Set()');
    await page.evaluate("addEventListener('scroll', () => window.positions.add(scrollY))");
    await order.getByLabel('orderId').press('Enter');
    await order.getByText(/^200 OK/).waitFor();
    await isInView(order.locator('figure'));
    const positions = await page.evaluate<number>('window.positions.size');
    assert.ok(reducedMotion === 'no-preference' || positions <= 2, `${positions} positions`);
    await page.close();
  });
}

test('the file of the reference command has links that work anywhere, and no scripts', async (t) => {
  const file = join(temporaryFolder(t), 'reference.html');
  const { stdout } = await run(['reference', '--base-url', 'https://api.store.example']);
  writeFileSync(file, stdout);
  const { page } = await opened(browser, pathToFileURL(file).href);
  const hrefs = await page.evaluate<string[]>(
    `[...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href'))`,
  );
  for (const href of hrefs) assert.match(href, /^(?:#|https:)/);
  assert.equal(await page.locator('script').count(), 0);
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.close();
});

test('on paper the fields of records are open, columns are full, and pages have numbers', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service));
  const { totalPages, text } = await extractText(
    new Uint8Array(await page.pdf({ format: 'A4', preferCSSPageSize: false })),
  );
  assert.ok(totalPages <= 56, `${totalPages} pages`);
  assert.match(text.at(-1)!, /[a-z]{3}.*\.$/s, 'the last page is not blank');
  for (const [index, each] of text.entries())
    assert.ok(each.includes(`${index + 1} / ${totalPages}`));
  const own = text
    .slice(1)
    .join(' ')
    .split('Get an order')[1]!
    .split('Get the history of an order')[0]!;
  assert.doesNotMatch(text[0]!, /OpenAPI|Console/);
  assert.match(own, /13 fields of OrderRecord.*placedAt date-time.*revision int64/s);
  const several = text.slice(1).join(' ').split('Ship several orders')[1]!;
  assert.match(several, /without order\..*order OrderRecord.*13 fields of OrderRecord\s+errors/s);
  assert.ok(text[0]!.includes('Rotate the secret of a webhook'), 'the contents come first');
  assert.doesNotMatch(own, /api_key_malformed/);
  assert.match(own, /401 and 500: see the error codes/);
  assert.ok(text.some((each) => /orders:read list,.*keys:manage\slist,/s.test(each)));
  await page.emulateMedia({ media: 'print' });
  const frames = ['.samples', '.response', '.samples .s', '.response .s'].map((part) =>
    page
      .locator(`#v2-getOrder ${part}`)
      .first()
      .evaluate((each) =>
        [getComputedStyle(each).borderColor, getComputedStyle(each).color].join(),
      ),
  );
  const [sample, response, inSample, inResponse] = await Promise.all(frames);
  assert.deepEqual([sample, inSample], [response, inResponse], 'one style of code');
  const [prose, aside] = ['.text', '.aside'].map((part) => page.locator(`#v2-getOrder ${part}`));
  assert.ok((await prose!.boundingBox())!.width > 500, 'the text has both columns');
  assert.ok(await aside!.isVisible());
  await page.close();
});

/** Texts of this size, in points, are headings. */
const HEADING_SIZE = 10;
/** In points from the foot of a page; its number is below. */
const FOOT = 45;

test('on paper each heading has text below it, in its column', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service));
  const file = await getDocumentProxy(new Uint8Array(await page.pdf({ format: 'A4' })));
  let headings = 0;
  for (let number = 1; number <= file.numPages; number++) {
    const { items } = await (await file.getPage(number)).getTextContent();
    const texts = items
      .filter((each) => 'str' in each && each.str.trim() !== '')
      .map((each) => each as { str: string; height: number; transform: number[] })
      .map(({ str, height, transform: [, , , , x, y] }) => ({ str, height, x: x!, y: y! }))
      .filter(({ y }) => y > FOOT);
    for (const heading of texts.filter(({ height }) => height > HEADING_SIZE)) {
      headings += 1;
      const hasText = texts.some(
        ({ height, x, y }) =>
          height < HEADING_SIZE && y < heading.y && Math.abs(x - heading.x) < 250,
      );
      assert.ok(hasText, `page ${number}: ${heading.str}`);
    }
    const xOf = (text: string) => Math.round(texts.find(({ str }) => str === text)!.x);
    if (number === 1) assert.equal(xOf('Version 2'), xOf('Get the store'));
  }
  assert.ok(headings > 40, `${headings} headings`);
  await page.close();
});

test('on paper the error codes begin on the page of their sample', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service));
  await page.evaluate(
    "for (const each of document.querySelectorAll('main > :not(#errors), .contents')) each.remove()",
  );
  for (const above of [600, 750, 900]) {
    await page.evaluate(`document.querySelector('.bar').style.height = '${above}px'`);
    const bytes = new Uint8Array(await page.pdf({ format: 'A4' }));
    const { text } = await extractText(bytes);
    const first = text.find((each) => each.includes('Error codes'))!;
    // Samples are drawn after the table.
    assert.match(first, /bad_request.*too late, it has shipped/s, `${above} px above`);
  }
  await page.close();
});

test('the reference has the dates of the configuration', async (t) => {
  const service = await startService(t, { PET_LOOKUP_SUNSET_AT: '2031-05-06' });
  const text = await (await fetch(urlOf(service))).text();
  assert.match(text, /Deprecated, ends 2031-05-06/);
});

test('a call by curl has the query parameters that are required', async (t) => {
  const service = await startService(t);
  const text = await (await fetch(urlOf(service))).text();
  const shown = text.replaceAll(/<[^>]*>/g, '');
  assert.match(
    shown,
    /curl &quot;[^&]*\/v2\/store\/activity\?boundaries=2026-11-20T00:00:00Z,2026-/,
  );
  assert.match(shown, /curl &quot;[^&]*\/v2\/store\/orders&quot;/);
});

test('"try it" shows text from the store as text', async (t) => {
  const service = await startService(t);
  await service.store.apply([
    { type: 'putPets', pets: [{ id: 1n, name: '<img src=x onerror=alert(1)>' }] },
  ]);
  const { page, problems } = await opened(browser, urlOf(service));
  await page.getByLabel('API key', { exact: true }).fill(service.secret);
  const pet = page.locator('#v1-getPet .try');
  await pet.locator('> summary').click();
  await pet.getByLabel('petId').fill('1');
  await pet.getByRole('button', { name: 'Send GET' }).click();
  await pet.locator('.answer', { hasText: '<img src=x onerror=alert(1)>' }).waitFor();
  assert.equal(await pet.locator('img').count(), 0);
  assert.deepEqual(problems, []);
  await page.close();
});

/** Variables of the environment that samples read. */
const VARIABLES = ['KEY', 'orderId', 'otherId', 'webhookId', 'keyId', 'WEBHOOK_SECRET'];

test('samples in JavaScript are whole programs, and name no order', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service));
  const samples = await page.locator('.panel.JavaScript').allTextContents();
  await page.close();
  assert.equal(samples.length, 36);
  const folder = temporaryFolder(t);
  for (const [index, sample] of samples.entries()) {
    writeFileSync(join(folder, `${index}.mts`), sample);
    assert.doesNotMatch(sample, /orderId = \d/);
  }
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const compilerOptions = {
    ...{ target: 'esnext', module: 'nodenext', noEmit: true, strict: true, types: ['node'] },
    ...{ allowImportingTsExtensions: true, lib: ['esnext', 'dom', 'dom.iterable'] },
    typeRoots: [join(root, 'node_modules/@types')],
    paths: { '@store-orders/client': [join(root, 'client/src/client.ts')] },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  // A variable that is not set is refused by the library, or by BigInt().
  writeFileSync(
    join(folder, 'node.d.ts'),
    `declare namespace NodeJS { interface ProcessEnv { ${VARIABLES.map((name) => `${name}: string`)} } }`,
  );
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const checked = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
  assert.equal(checked.status, 0, checked.stdout);
});

test('the table of error codes begins below the sample, and names the version of a code beside it', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service), {
    viewport: { width: 1440, height: 900 },
  });
  const sample = (await page.locator('#errors .aside').boundingBox())!;
  const table = (await page.locator('#errors table').boundingBox())!;
  const blank = table.y - sample.y - sample.height;
  assert.ok(blank >= 16 && blank <= 32, `${blank} px`);
  const row = page.locator('#error-cursor_invalid');
  assert.equal(await row.getByRole('rowheader').innerText(), 'cursor_invalid v2');
  assert.match(await row.getByRole('cell').nth(1).innerText(), /another sort order\.$/);
  await page.close();
});

test('the samples of placing an order have the same body in each language', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service));
  for (const sample of await page.locator('#v2-placeOrder .panel').allTextContents())
    assert.match(sample, /412.*2026-12-01T09:30:00Z.*PO-2026-0815/s);
  const curl = await page.locator('#v2-placeOrder .panel.curl').textContent();
  assert.match(curl!, /\n {2}--data '\{\n {4}"petId": 412,.*\n {2}\}'$/s);
  await page.close();
});

test('samples with several orders name different ones, and a repeated call has the same key', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service));
  const sampleOf = async (operation: string) =>
    (await page.locator(`#v2-${operation} .panel.curl`).textContent())!;
  await place(service.store, pending(1n), pending(2n), pending(3n), pending(4n));
  for (const [operation, orderId, otherId] of [
    ['cancelOrders', 1, 2],
    ['shipOrders', 3, 4],
  ] as const) {
    const script = (await sampleOf(operation)).replace(
      '127.0.0.1:8080',
      `127.0.0.1:${service.port}`,
    );
    // With the commands of a minimal system alone, besides curl.
    const lines = `set -e; uuidgen() { exit 9; }\n${script}\n${script.slice(script.indexOf('curl'))}`;
    const ids = { orderId: String(orderId), otherId: String(otherId) };
    const env = { ...process.env, KEY: service.secret, ...ids };
    const { stdout } = await promisify(execFile)('sh', ['-c', lines], { env });
    // The second answer is that of the first call.
    const answer = stdout.slice(0, stdout.length / 2);
    assert.equal(stdout, answer + answer);
    assert.deepEqual(
      JSON.parse(answer).results.map(({ id }: { id: number }) => id),
      [orderId, otherId],
    );
    assert.doesNotMatch(stdout, /"code"/);
  }
  await page.close();
});

test('the example of a request without a key is what the service answers', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service));
  const shown = await page.locator('#first-request .response').last().locator('pre').innerText();
  const response = await fetch(`http://127.0.0.1:${service.port}/v2/store/orders`);
  assert.deepEqual(JSON.parse(shown), await response.json());
  await page.close();
});

test('a copied answer is its body alone, which can be parsed', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(BIG));
  const context = { permissions: ['clipboard-read', 'clipboard-write'] };
  const { page } = await opened(browser, urlOf(service), context);
  await page.getByLabel('API key', { exact: true }).fill(service.secret);
  const order = page.locator('#v2-getOrder .try');
  await order.locator('> summary').click();
  await order.getByLabel('orderId').fill(String(BIG));
  await order.getByRole('button', { name: 'Send GET' }).click();
  await order.locator('.result summary', { hasText: 'Headers of the response' }).click();
  await order.locator('.headers', { hasText: 'etag: ' }).waitFor();
  await order.locator('.answer + .copy').click();
  await order.getByRole('button', { name: 'Copied' }).waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  assert.equal(JSON.parse(copied).status, 'pending');
  assert.ok(copied.includes(String(BIG)));
  await page.close();
});

test('samples in Python are valid and name no order, and axe has no findings with everything open', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service));
  const samples = await page.locator('.panel.Python').allTextContents();
  assert.equal(samples.length, 36);
  for (const sample of samples) {
    assert.doesNotMatch(sample, /"id": ?\d/);
    // Their ids are text.
    assert.doesNotMatch(sample, /int\(os\.environ\["(?:key|webhook)Id/);
    const checked = spawnSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], {
      input: sample,
      encoding: 'utf8',
    });
    assert.equal(checked.status, 0, `${sample}\n${checked.stderr}`);
  }
  for (const sample of await page.locator('.panel.curl').allTextContents()) {
    assert.doesNotMatch(sample, /"id": ?\d/);
  }
  await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.close();
});

test('fields and parameters have their lengths, counts and ranges', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service));
  for (const [field, type] of [
    ['v2-placeOrder-body-reference', 'string, 1 to 255 characters'],
    ['v2-listOrders-referenceContains', 'string, 3 to 255 characters'],
    ['v2-listOrders-cursor', 'string, at most 2000 characters'],
    ['v2-listOrders-limit', 'int32, from 1 to 500'],
    ['v2-cancelOrder-body-reference', 'string, 1 to 255 characters'],
    ['v2-findOrders-body-references', 'array of string, 1 to 255 characters; at most 250 items'],
    ['v2-listOrders-shipDateFrom', 'date-time'],
  ] as const)
    assert.equal(await page.locator(`#${field} > p > .type`).textContent(), type, field);
  await page.close();
});

test('a long call in JavaScript has its fields in lines', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, urlOf(service));
  const sample = await page.locator('#v2-placeOrder .panel.JavaScript').textContent();
  assert.ok(
    sample!.includes("placeOrder({\n    petId,\n    quantity: 1n,\n    shipDate: '2026"),
    sample!,
  );
  for (const each of await page.locator('.panel.JavaScript').allTextContents())
    for (const line of each.split('\n')) assert.ok(line.length <= 100, line);
  await page.close();
});
