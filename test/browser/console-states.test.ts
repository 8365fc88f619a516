import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, JSHandle, Page, Route } from 'playwright-core';
import { pending, place, startService } from '../http/harness.ts';
import { startBrowser } from './chromium.ts';
import { ids, live, row, signedIn } from './console-page.ts';

const unavailable = (route: Route) =>
  route.fulfill({
    status: 503,
    contentType: 'application/json',
    body: '{"code":"store_unavailable","message":"x","status":503}',
  });

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

/** The texts that the link to all orders has from now on. */
function textsOfAll(page: Page): Promise<JSHandle<string[]>> {
  return page.evaluateHandle(`(() => {
    const texts = [];
    const link = [...document.links].find((each) => each.textContent.startsWith('All '));
    new MutationObserver(() => {
      const text = link.textContent.trim();
      if (text !== texts.at(-1)) texts.push(text);
    }).observe(link, { subtree: true, childList: true, characterData: true });
    return texts;
  })()`);
}

test('counts of another filter are not shown, and failed counts are read again', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n), pending(3n));
  const { page } = await signedIn(t, browser, service);
  await page.getByRole('link', { name: 'All 3' }).waitFor();
  await page.route('**/v2/store/counts?*', unavailable);
  await page.getByLabel('Go to an order').fill('pet 2');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'All …' }).waitFor();
  await row(page, 1).waitFor({ state: 'detached' });
  assert.deepEqual(await ids(page), ['2']);
  await page.unroute('**/v2/store/counts?*');
  await page.getByRole('link', { name: 'All 1' }).waitFor();
});

test('counts that were asked for before another filter was chosen are not shown', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service);
  await page.getByRole('link', { name: 'All 2' }).waitFor();
  await live(page);
  const held = Promise.withResolvers<Route>();
  await page.route('**/v2/store/summary', held.resolve, { times: 1 });
  await place(service.store, pending(3n));
  const unfiltered = await held.promise;
  await page.route('**/v2/store/counts?*', unavailable);
  await page.getByLabel('Go to an order').fill('pet 2');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'All …' }).waitFor();
  const shown = await textsOfAll(page);
  const response = page.waitForResponse((each) => each.request() === unfiltered.request());
  await unfiltered.continue();
  await (await response).finished();
  await page.unroute('**/v2/store/counts?*');
  await page.getByRole('link', { name: 'All 1' }).waitFor();
  assert.deepEqual(await shown.jsonValue(), ['All 1']);
});

test('an order is shipped once, however often the button is pressed', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  let requests = 0;
  const mayGoOn = Promise.withResolvers<void>();
  await page.route('**/ship', async (route) => {
    requests += 1;
    await mayGoOn.promise;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Ship order' }).dblclick();
  await page.getByRole('button', { name: 'Shipping…' }).waitFor();
  mayGoOn.resolve();
  await page.getByText('Order 1 was shipped').waitFor();
  assert.equal(requests, 1);
  assert.equal(await page.getByText(/^Not shipped/).count(), 0);
});

test('details that could not be read are read again on request', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await page.route('**/v2/store/orders/1', unavailable);
  await row(page, 1).click();
  const again = page.locator('aside').getByRole('button', { name: 'Try again' });
  await again.waitFor();
  await page.unroute('**/v2/store/orders/1');
  await again.click();
  await page.getByRole('heading', { name: 'History' }).waitFor();
});

test('a reload during an outage keeps the key, and goes on when the service is back', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await page.route('**/v2/**', (route) => route.abort());
  await page.reload();
  await page.getByText('The service cannot be reached.').waitFor();
  assert.equal(await page.getByLabel('API key').count(), 0);
  await page.unroute('**/v2/**');
  await page.getByRole('button', { name: 'Try now' }).click();
  await row(page, 1).waitFor();
});

test('keys with few scopes have states that end', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const cancelling = await service.newKey({ scopes: ['orders:cancel'] });
  const first = await signedIn(t, browser, { ...service, secret: cancelling });
  await first.page.getByRole('heading', { name: 'This key may not read orders' }).waitFor();
  await first.page.getByRole('status').getByText('Not live').waitFor();
  const following = await service.newKey({ scopes: ['changes:read'] });
  const second = await signedIn(t, browser, { ...service, secret: following });
  await second.page.getByRole('link', { name: 'Activity' }).click();
  await second.page.getByRole('img', { name: /^1 placed in 14 days/ }).waitFor();
});

test('a selection stays when newer orders are shown, and shortcuts act on a list in sight only', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service);
  await live(page);
  await row(page, 1).getByRole('checkbox').check();
  await place(service.store, pending(3n));
  await page.getByRole('button', { name: '1 newer order' }).click();
  await row(page, 3).waitFor();
  await page.getByText('1 selected').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('link', { name: 'Activity' }).click();
  await page.getByRole('heading', { name: 'Orders a day' }).waitFor();
  for (const key of ['j', 'x', 'Enter']) await page.keyboard.press(key);
  await page.getByRole('link', { name: 'Orders', exact: true }).click();
  await row(page, 3).waitFor();
  assert.equal(await page.getByText('1 selected').count(), 0);
  assert.equal(await page.locator('aside').count(), 0);
});

test('selecting all that match can be stopped, and selects nothing then', async (t) => {
  const service = await startService(t);
  await place(service.store, ...Array.from({ length: 700 }, (_, id) => pending(BigInt(id + 1))));
  const { page } = await signedIn(t, browser, service);
  await row(page, 700).waitFor();
  await page.getByLabel('Select all pending orders on this page').check();
  const mayGoOn = Promise.withResolvers<void>();
  await page.route('**/v2/store/orders?*limit=500*cursor*', async (route) => {
    await mayGoOn.promise;
    await route.continue().catch(() => {});
  });
  await page.getByRole('button', { name: 'Select all 700 that match' }).click();
  await page.getByText('Selecting… 500 so far').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  mayGoOn.resolve();
  await page.getByText(/^Selecting…/).waitFor({ state: 'detached' });
  assert.equal(await page.locator('.bulk').count(), 0);
});

test('a question about an order that ships meanwhile has an answer', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  await live(page);
  await page.getByRole('button', { name: 'Cancel order…' }).click();
  const dialog = page.getByRole('alertdialog');
  await dialog.getByRole('button', { name: 'Cancel order' }).waitFor();
  await service.store.apply([{ type: 'ship', id: 1n, at: Date.now() }]);
  await dialog.getByText(/^Not cancelled: it is shipped since/).waitFor();
  assert.equal(await dialog.getByRole('button', { name: 'Cancel order' }).count(), 0);
});

for (const width of [1_440, 390, 320]) {
  test(`nothing needs sideways scrolling at ${width} px`, async (t) => {
    const service = await startService(t);
    const big = 2n ** 63n - 1n;
    await place(service.store, { ...pending(big), petId: big, quantity: big }, pending(1n));
    const { page } = await signedIn(
      t,
      browser,
      { ...service, secret: 'so_live_wrong' },
      {
        viewport: { width, height: 700 },
      },
    );
    const overflow = () =>
      page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    await page.getByText('This key is not valid.').waitFor();
    assert.equal(await overflow(), 0);
    await page.getByLabel('API key').fill(service.secret);
    await page.keyboard.press('Enter');
    await row(page, 1).waitFor();
    assert.equal(await overflow(), 0);
    await page.goto(`${page.url()}?order=${big}`);
    await page.getByRole('heading', { name: 'History' }).waitFor();
    assert.equal(await overflow(), 0);
  });
}
