import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { pending, place, startService } from '../http/harness.ts';
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
    assert.equal(await page.locator('article').count(), 24);
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
  await page.locator('#v2-cancelOrder summary').first().click();
  assert.match(await page.locator('#v2-cancelOrder details').first().innerText(), /ETag/);
  const overflow = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
  assert.equal(await page.evaluate(overflow).catch(() => false), false);
  await page.close();
});

test('"try it" cancels exactly the order whose id is entered, and shows every digit', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(BIG), pending(BIG - 1n));
  const { page, problems } = await opened(browser, urlOf(service));
  for (const input of await page.locator('form input').all())
    assert.equal(await input.inputValue(), '');
  const cancel = page.locator('#v2-cancelOrder form');
  await cancel.getByLabel('orderId').fill(String(BIG));
  await cancel.getByRole('button').click();
  await cancel.locator('.answer', { hasText: 'Enter an API key' }).waitFor();

  await page.getByLabel('API key').fill(service.secret);
  await cancel.getByRole('button').click();
  const answer = cancel.locator('.answer', { hasText: '200' });
  await answer.waitFor();
  assert.match(await answer.innerText(), new RegExp(`"id":${BIG},.*"status":"cancelled"`));
  const { orders } = await service.store.status();
  assert.deepEqual(orders, { pending: 1n, shipped: 0n, cancelled: 1n });

  const list = page.locator('#v1-listOrders form');
  await list.getByRole('button').click();
  await list.locator('.answer', { hasText: `[{"id":${BIG - 1n}` }).waitFor();
  assert.deepEqual(problems, []);
  const stored = await page.evaluate<string>(
    'JSON.stringify([localStorage, sessionStorage, document.cookie])',
  );
  assert.ok(!stored.includes(service.secret), 'the key stays in the page');
  await page.close();
});

test('the reference has the dates of the configuration', async (t) => {
  const service = await startService(t, { PET_LOOKUP_SUNSET_AT: '2031-05-06' });
  const text = await (await fetch(urlOf(service))).text();
  assert.match(text, /deprecated, ends 2031-05-06/);
});

test('a call by curl has the query parameters that are required', async (t) => {
  const service = await startService(t);
  const text = await (await fetch(urlOf(service))).text();
  assert.match(
    text,
    /curl &quot;[^&]*\/v2\/store\/activity\?boundaries=2026-11-20T00:00:00Z,2026-/,
  );
  assert.match(text, /curl &quot;[^&]*\/v2\/store\/orders&quot;/);
});

test('"try it" shows text from the store as text', async (t) => {
  const service = await startService(t);
  await service.store.apply([
    { type: 'putPets', pets: [{ id: 1n, name: '<img src=x onerror=alert(1)>' }] },
  ]);
  const { page, problems } = await opened(browser, urlOf(service));
  await page.getByLabel('API key').fill(service.secret);
  const pet = page.locator('#v1-getPet form');
  await pet.getByLabel('petId').fill('1');
  await pet.getByRole('button').click();
  await pet.locator('.answer', { hasText: '<img src=x onerror=alert(1)>' }).waitFor();
  assert.equal(await pet.locator('img').count(), 0);
  assert.deepEqual(problems, []);
  await page.close();
});
