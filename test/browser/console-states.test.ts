import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, JSHandle, Page, Route } from 'playwright-core';
import { pending, place, startService } from '../http/harness.ts';
import { later } from '../later-release.ts';
import { startBrowser } from './chromium.ts';
import { cancelOpenOrder, inTime, listed, live, row, signedIn, typeKey } from './console-page.ts';

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
  await page.getByLabel('Find an order').fill('pet 2');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'All …' }).waitFor();
  await row(page, 1).waitFor({ state: 'detached' });
  await row(page, 2).waitFor();
  await listed(page, ['2']);
  await page.unroute('**/v2/store/counts?*');
  await page.getByRole('link', { name: 'All 1' }).waitFor();
});

test('orders, errors and a key of a later release of the service are shown as they are', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  await service.store.apply([{ type: 'cancel', id: 2n, reason: 'other' }]);
  const { page, problems } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await page.route(/\/v2\/(?!.*stream)/, async (route) => {
    if (route.request().method() !== 'GET') return route.fallback();
    const response = await route.fetch();
    const isJson = response.headers()['content-type'] === 'application/json';
    return isJson
      ? route.fulfill({ response, json: later(await response.json()) })
      : route.fulfill({ response });
  });
  await page.reload();
  await row(page, 1).getByText('returned').first().waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await page.reload();
  await row(page, 1).getByRole('link', { name: '1', exact: true }).click();
  for (const [status, code] of [
    [423, 'order_on_hold'],
    [409, 'order_on_hold'],
    [403, 'key_suspended'],
  ] as const) {
    await page.route('**/cancel', (route) =>
      route.fulfill({
        ...{ status, contentType: 'application/json' },
        headers: { 'x-request-id': route.request().headers()['x-request-id']! },
        body: JSON.stringify({ code, message: 'The reason of a later release.', status }),
      }),
    );
    await cancelOpenOrder(page);
    const dialog = page.getByRole('alertdialog');
    await dialog.getByText(`The reason of a later release. (${status} ${code})`).waitFor();
    await dialog.getByText('Not cancelled; safe to retry').waitFor();
    await page.unroute('**/cancel');
    await dialog.getByRole('button', { name: 'Keep order' }).click();
  }
  assert.deepEqual(problems, []);
});

test('a list that the service refuses to read is not tried again, and does not say so', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const search = `?reference=${'x'.repeat(300)}`;
  const { page } = await signedIn(t, browser, service, { search });
  const notice = page.getByRole('alert').filter({ hasText: 'The list could not be read' });
  await notice.waitFor();
  assert.doesNotMatch(await notice.innerText(), /tried again/);
});

test('counts that were asked for before another filter was chosen are not shown', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service);
  await page.getByRole('link', { name: 'All 2' }).waitFor();
  await live(page);
  const held = Promise.withResolvers<Route>();
  await page.route('**/v2/store', held.resolve, { times: 1 });
  await place(service.store, pending(3n));
  const unfiltered = await held.promise;
  await page.route('**/v2/store/counts?*', unavailable);
  await page.getByLabel('Find an order').fill('pet 2');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'All …' }).waitFor();
  const shown = await textsOfAll(page);
  // Of a response that must not be stored, the browser does not always report the end.
  await unfiltered.fulfill({ response: await unfiltered.fetch() });
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
  await page.getByRole('button', { name: 'Ship order…' }).dblclick();
  const dialog = page.getByRole('alertdialog');
  assert.equal(requests, 0);
  const field = dialog.getByLabel('Tracking number');
  assert.equal(await field.getAttribute('maxlength'), '128');
  await field.fill(' 1Z 999 ');
  await dialog.getByRole('button', { name: 'Ship order' }).dblclick();
  await page.getByRole('button', { name: 'Shipping…' }).waitFor();
  mayGoOn.resolve();
  await page.getByText('Order 1 was shipped').waitFor();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(requests, 1);
  assert.equal((await service.store.orders([1n]))[0]!.trackingNumber, '1Z 999');
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
  await first.page.getByRole('heading', { name: 'This key may not see orders' }).waitFor();
  assert.equal(await first.page.getByText(/Not live|Connecting/).count(), 0);
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
  // No action is offered that would be on a part of the orders.
  assert.equal(await page.getByRole('button', { name: 'Print slips' }).count(), 0);
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByLabel('What to do, or an order').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Print slips' }).count(), 0);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Stop' }).click();
  mayGoOn.resolve();
  await page.getByText(/^Selecting…/).waitFor({ state: 'detached' });
  assert.equal(await page.locator('.bulk').count(), 0);
});

test('the button that has the focus in a question shows it, also after a mouse', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Ship 1…' }).click();
  const button = page.getByRole('button', { name: 'Do not ship' });
  const outline = await button.evaluate((each) => getComputedStyle(each).outlineStyle);
  assert.deepEqual(
    [outline, await button.evaluate((each) => each.matches(':focus'))],
    ['auto', true],
  );
});

test('a question about an order that ships meanwhile has an answer', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  await live(page);
  await page.getByRole('button', { name: 'Cancel order…' }).click();
  const dialog = page.getByRole('alertdialog');
  await dialog.getByRole('button', { name: 'Cancel order' }).waitFor();
  assert.equal(await dialog.getByLabel('Reason').getAttribute('maxlength'), '64');
  await service.store.apply([{ type: 'ship', id: 1n, at: Date.now() }]);
  await dialog.getByText(/^Not cancelled: it was already shipped at /).waitFor();
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

/** The contrast of a button's text, by WCAG 2.2. */
function contrastOf(page: Page, selector: string): Promise<number> {
  return page.evaluate(`(() => {
    const { color, backgroundColor, opacity } = getComputedStyle(document.querySelector(${JSON.stringify(selector)}));
    const luminance = (text) => {
      const parts = text.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const [dark, light] = [color, backgroundColor].map(luminance).sort((a, b) => a - b);
    return Number(opacity) === 1 ? (light + 0.05) / (dark + 0.05) : 1;
  })()`);
}

for (const colorScheme of ['light', 'dark'] as const) {
  test(`buttons can be read while they are busy (${colorScheme})`, async (t) => {
    const service = await startService(t);
    await place(service.store, pending(1n), pending(2n));
    const { page } = await signedIn(t, browser, service, { search: '?order=1', colorScheme });
    await page.route(/\/orders\/1\/(ship|cancel)$/, () => {});
    for (const [name, doing, selector] of [
      ['Ship order', 'Shipping…', 'dialog .primary'],
      ['Cancel order', 'Cancelling…', 'dialog .danger'],
    ] as const) {
      await page.getByRole('button', { name: `${name}…` }).click();
      await page.getByRole('alertdialog').getByRole('button', { name }).click();
      await page.getByText(doing).waitFor();
      // Under the pointer, it has other colours.
      await page.mouse.move(0, 0);
      assert.ok((await contrastOf(page, selector)) > 4.5);
      await page.reload();
    }
  });
}

test('only a page that is live has a filled dot', async (t) => {
  const service = await startService(t);
  const fillOf = (page: Page) =>
    page.evaluate<string>("getComputedStyle(document.querySelector('.connection .icon')).fill");
  const { page } = await signedIn(t, browser, service);
  await live(page);
  assert.notEqual(await fillOf(page), 'none');
  await page.route('**/store/changes**', () => {});
  await page.reload();
  await page.getByRole('status').getByText('Connecting…').waitFor();
  assert.equal(await fillOf(page), 'none');
  const secret = await service.newKey({ scopes: ['orders:read'] });
  const second = await signedIn(t, browser, { ...service, secret });
  await second.page.getByRole('button', { name: /^Not live, as of .*: reload$/ }).waitFor();
  await second.page.getByText('This key reads. To ship or cancel, sign in with').waitFor();
  assert.equal(await fillOf(second.page), 'none');
});

test('the dialog of a cancel closes with its answer, although counts and history take longer', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  await page.getByRole('heading', { name: 'History' }).waitFor();
  await page.getByRole('button', { name: 'Cancel order…' }).click();
  await page.route(/\/store(\/counts|$)|\/history/, () => {});
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel order' }).click();
  await page.getByRole('alertdialog').waitFor({ state: 'detached' });
  await page.getByText('Order 1 was cancelled').waitFor();
});

test('times relative to now and ranges of days go on by themselves', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const context = await browser.newContext({ viewport: { width: 1_440, height: 700 } });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.clock.install();
  await page.goto(`http://127.0.0.1:${service.port}/console?placed=today`);
  await page.getByLabel('API key').fill(service.secret);
  await page.keyboard.press('Enter');
  await row(page, 1).getByText('just now').waitFor();
  await page.clock.fastForward(61_000);
  await row(page, 1).getByText('1 min ago').waitFor();
  // Tomorrow, nothing was placed today.
  await page.clock.fastForward(86_400_000);
  await page.getByText('No order matches these filters').waitFor();
});

test('a search for a number finds the orders that have it as their reference', async (t) => {
  const service = await startService(t);
  await place(service.store, { ...pending(1n), reference: '4711' }, pending(2n));
  const { page } = await signedIn(t, browser, service);
  const box = page.getByLabel('Find an order');
  await box.fill('4711');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Order 1' }).waitFor();
  // An order that does not exist leads to its list.
  await page.goto(`${new URL('/console', page.url())}?order=4711`);
  const toReference = page.getByRole('link', { name: 'Orders with this reference' });
  await toReference.waitFor();
  const details = page.getByRole('complementary', { name: 'Order 4711' });
  assert.equal(await details.getByText(/Not in/).count(), 0);
  assert.equal(await details.locator('.disabled').count(), 0);
  await toReference.click();
  await row(page, 1).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('reference'), '4711');
});

test('a reference is found with the blanks around it, and without those that were pasted along', async (t) => {
  const service = await startService(t);
  const reference = ' PO 7 ';
  await place(service.store, { ...pending(1n), reference }, { ...pending(2n), reference: 'PO 8' });
  const { page } = await signedIn(t, browser, service);
  const box = page.getByLabel('Find an order');
  for (const [text, id] of [
    [' PO 7 ', 1],
    [' PO 8 ', 2],
  ] as const) {
    await box.fill(text);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Order ${id}` }).waitFor();
  }
  await page.getByRole('button', { name: 'Reference', exact: false }).first().click();
  await page.getByLabel('Orders with the reference').fill(' PO 7 ');
  await page.keyboard.press('Enter');
  await row(page, 1).waitFor();
});

test('a day that does not exist is no filter', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  for (const range of ['2026-13-45..', '..2026-02-30', '2027-02-29..2027-02-29']) {
    const { page } = await signedIn(t, browser, service, { search: `?ships=${range}` });
    await row(page, 1).waitFor();
    assert.equal(await page.getByLabel('Remove the filter Ships').count(), 0);
  }
});

test('a key that may not read has the frame of every page', async (t) => {
  const service = await startService(t);
  const secret = await service.newKey({ scopes: ['orders:cancel'] });
  const { page } = await signedIn(t, browser, { ...service, secret });
  await page.getByRole('heading', { name: 'This key may not see orders' }).waitFor();
  const box = async (name: string) => (await page.locator(name).boundingBox())!;
  const { width } = page.viewportSize()!;
  const [heading, key] = [await box('h1'), await box('.who')];
  assert.ok(heading.x >= 16 && key.x + key.width > width - 40);
});

test('a key that may only place orders is offered that first, and is not said to be not live', async (t) => {
  const service = await startService(t);
  const secret = await service.newKey({ scopes: ['orders:place'] });
  const { page } = await signedIn(t, browser, { ...service, secret });
  await page.getByRole('heading', { name: 'This key may not see orders' }).waitFor();
  assert.equal(await page.locator('.primary').innerText(), 'Place an order');
  assert.equal(await page.getByText('Not live').count(), 0);
  await page.locator('.empty').getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: /^Sign in/ }).waitFor();
});

test('the first order of an empty store appears by itself', async (t) => {
  const service = await startService(t);
  const { page } = await signedIn(t, browser, service);
  await page.getByText('No orders yet').waitFor();
  await live(page);
  await place(service.store, pending(1n));
  await row(page, 1).waitFor();
});

test('a change of more than 1,000 orders is confirmed by their number', async (t) => {
  const service = await startService(t);
  for (let from = 1; from <= 1_001; from += 143) {
    const ids = Array.from({ length: 143 }, (_, index) => BigInt(from + index));
    await place(service.store, ...ids.map((id) => pending(id)));
  }
  const { page, problems } = await signedIn(t, browser, service);
  await row(page, 1001).waitFor();
  await page.getByLabel('Select all pending orders on this page').check();
  await page.getByRole('button', { name: 'Select all 1,001 that match' }).click();
  await page.getByRole('button', { name: 'Cancel 1,001…' }).waitFor();
  await page.getByRole('button', { name: 'Print slips' }).click();
  await page.getByText('Choose up to 1,000 orders to print').waitFor();
  await row(page, 1001).getByRole('checkbox').uncheck();
  await page.getByRole('button', { name: 'Cancel 1,000…' }).click();
  assert.ok(await page.getByRole('button', { name: 'Cancel 1,000 orders' }).isEnabled());
  await page.getByRole('button', { name: 'Keep orders' }).click();
  await row(page, 1001).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Cancel 1,001…' }).click();
  const confirm = page.getByRole('button', { name: 'Cancel 1,001 orders' });
  assert.ok(await confirm.isDisabled());
  await page.getByLabel('Type 1,001 to confirm').fill('1000');
  assert.ok(await confirm.isDisabled());
  await page.getByLabel('Type 1,001 to confirm').fill('1,001');
  await confirm.click();
  await page.getByText('1,001 cancelled').waitFor();
  assert.deepEqual(problems, []);
});

/** The service carries out what is asked, but no answer of it arrives. */
async function withoutAnswer(page: Page, pattern: string): Promise<void> {
  await page.route(pattern, async (route) => {
    await route.fetch();
    await route.abort();
  });
}
const OUTAGE_MS = 30_000;

for (const [action, verb, done, ends] of [
  ['ship', 'Ship', 'shipped', 'read'],
  ['cancel', 'Cancel', 'cancelled', 'tried again'],
] as const) {
  test(`orders that were ${done} without an answer count as ${done} once they are ${ends}`, async (t) => {
    const service = await startService(t);
    await place(service.store, pending(1n), pending(2n));
    const { page } = await signedIn(t, browser, service);
    await row(page, 1).waitFor();
    await live(page);
    await page.getByLabel('Select all pending orders on this page').check();
    await withoutAnswer(page, `**/orders/${action}`);
    await page.route('**/orders/find', (route) => route.abort());
    await page.clock.install();
    await page.getByRole('button', { name: `${verb} 2…` }).click();
    await page.getByRole('button', { name: `${verb} 2 orders` }).click();
    const bar = page.getByRole('region', { name: 'Result' });
    await inTime(page, bar.getByText(`0 ${done}, 2 not known yet`));
    await bar.getByRole('button', { name: 'Show the 2' }).click();
    const results = page.getByRole('dialog', { name: `0 ${done}, 2 not known yet` });
    await results.getByText('The outcome is looked up as soon as').first().waitFor();
    await results.getByRole('button', { name: 'Close' }).click();
    if (ends === 'read') await page.unroute('**/orders/find');
    else {
      await page.unroute(`**/orders/${action}`);
      await bar.getByRole('button', { name: 'Retry 2' }).click();
    }
    await inTime(page, bar.getByText(`2 ${done}`, { exact: true }));
    assert.doesNotMatch(await bar.innerText(), /not|ended|Safe/);
    assert.equal(await page.locator('.row-result').count(), 0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });
}

test('the bar says that a request of an action on several orders has no answer', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await page.getByLabel('Select all pending orders on this page').check();
  await page.route('**/orders/ship', () => {});
  await page.getByRole('button', { name: 'Ship 2…' }).click();
  await page.getByRole('button', { name: 'Ship 2 orders' }).click();
  const bar = page.getByRole('region', { name: 'Progress' });
  await bar.waitFor();
  const { width } = (await bar.boundingBox())!;
  const words = bar.getByText('No answer yet. It is asked again by itself.');
  assert.equal(await words.isVisible(), false);
  await words.waitFor();
  assert.equal(await words.evaluate((each) => getComputedStyle(each).animationDelay), '5s');
  assert.ok((await bar.boundingBox())!.width > width);
});

test('a shipped order with a ship date in the future was planned for it', async (t) => {
  const service = await startService(t);
  const shipDate = Date.now() + 13 * 86_400_000;
  await place(service.store, { ...pending(1n), status: 'shipped', shipDate, complete: true });
  await place(service.store, { ...pending(2n), shipDate });
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  const day = /[A-Z][a-z]{2} \d+(, \d{4})?/.source;
  const details = page.getByRole('complementary', { name: 'Order 1' });
  await details.getByText(new RegExp(`^Shipped, planned for ${day}$`)).waitFor();
  assert.match(
    await details.innerText(),
    new RegExp(`Ship date\\s+${day}, .*\\s+planned for ${day}`),
  );
  const shipsOf = (id: number) => row(page, id).locator('.ships');
  assert.match(await shipsOf(1).innerText(), new RegExp(`planned for ${day}$`));
  assert.match(await shipsOf(2).innerText(), /in 13 days$/);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.setViewportSize({ width: 390, height: 800 });
  await shipsOf(1).getByText('Shipped, planned').waitFor();
  assert.equal(await shipsOf(2).innerText(), 'Ships in 13 days');
});

test('an action that did not reach the store is reported as not done, after the orders were read', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await page.getByLabel('Select all pending orders on this page').check();
  await page.route('**/orders/ship', (route) => route.abort());
  await page.clock.install();
  await page.getByRole('button', { name: 'Ship 2…' }).click();
  await page.getByRole('button', { name: 'Ship 2 orders' }).click();
  const bar = page.getByRole('region', { name: 'Result' });
  await inTime(page, bar.getByText(/^0 shipped, 2 not$/));
  await bar.getByText(/Still pending when read again at .* Safe to retry\.$/).waitFor();
  // By another key, or by a request that was on its way.
  await service.store.apply([{ type: 'ship', id: 1n, at: Date.now() }]);
  await bar.getByText('1 shipped, 1 not').waitFor();
  await page.unroute('**/orders/ship');
  await bar.getByRole('button', { name: 'Retry 1' }).click();
  await bar.getByText('1 shipped', { exact: true }).waitFor();
});

for (const ends of ['read as pending', 'read as shipped', 'shipped again'] as const) {
  test(`the outcome of a shipment without an answer is known once the order is ${ends}`, async (t) => {
    const service = await startService(t);
    await place(service.store, pending(1n));
    const { page } = await signedIn(t, browser, service, { search: '?order=1' });
    await live(page);
    await page.clock.install();
    await page.getByRole('button', { name: 'Ship order…' }).click();
    if (ends === 'read as pending') await page.route('**/ship', (route) => route.abort());
    else await withoutAnswer(page, '**/ship');
    const reads = /\/v2\/store\/orders\/(find|1)$/;
    await page.route(reads, (route) => route.abort());
    const question = page.getByRole('alertdialog');
    await question.getByRole('button', { name: 'Ship order' }).click();
    await question.getByText('It is asked again for up to 40 seconds, and done once.').waitFor();
    await inTime(page, question.getByText('Not known whether it was shipped'));
    if (ends === 'shipped again') {
      // It is not read before.
      await page.unroute('**/ship');
      const answered = page.waitForResponse('**/ship');
      await question.getByRole('button', { name: 'Ship order' }).click();
      assert.equal((await answered).status(), 409);
    }
    await page.unroute(reads);
    if (ends === 'shipped again') await page.getByText('Order 1 was shipped').waitFor();
    if (ends === 'read as pending') {
      await inTime(page, question.getByText('Not shipped; safe to retry'));
      await question.getByText('Still pending when read again').waitFor();
    } else await question.waitFor({ state: 'detached', timeout: OUTAGE_MS });
    assert.equal(await page.getByText('Not known whether').count(), 0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });
}

test('during an outage an order is asked for as long as the question has it, also if connections are refused at once', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  await live(page);
  // The shortest waits between attempts.
  await page.evaluate('Math.random = () => 0');
  await page.getByRole('button', { name: 'Ship order…' }).click();
  const question = page.getByRole('alertdialog');
  await question.getByLabel('Tracking number').fill('1Z 999');
  // More than the client library makes by itself.
  const enough = 7;
  const refused = { find: 0, ship: 0 };
  for (const last of ['find', 'ship'] as const)
    await page.route(`**/${last}`, async (route) => {
      refused[last] += 1;
      await route.abort();
    });
  await question.getByRole('button', { name: 'Ship order' }).click();
  for (const last of ['find', 'ship'] as const) {
    for (let wait = 0; wait < 100 && refused[last] < enough; wait += 1)
      await page.waitForTimeout(100);
    assert.equal(refused[last], enough);
    await page.unroute(`**/${last}`);
  }
  await page.getByText('Order 1 was shipped').waitFor();
  assert.equal((await service.store.orders([1n]))[0]!.trackingNumber, '1Z 999');
});

test('during an outage the orders of a request are asked for as long as one order is', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  // The shortest waits between attempts.
  await page.evaluate('Math.random = () => 0');
  await page.getByLabel('Select all pending orders on this page').check();
  let refused = 0;
  await page.route('**/orders/ship', async (route) => {
    refused += 1;
    // More than the client library makes by itself.
    await (refused > 6 ? route.continue() : route.abort());
  });
  await page.getByRole('button', { name: 'Ship 2…' }).click();
  await page.getByRole('button', { name: 'Ship 2 orders' }).click();
  await page.getByRole('region', { name: 'Result' }).getByText('2 shipped').waitFor();
});

test('a message does not cover the bar of the selected orders, and texts about several orders do not speak of one', async (t) => {
  const service = await startService(t);
  await place(service.store, ...[1n, 2n, 3n, 4n].map(pending));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await page.getByLabel('Select all pending orders on this page').check();
  await page.route('**/orders/ship', (route) => route.abort());
  await page.clock.install();
  await page.getByRole('button', { name: 'Ship 4…' }).click();
  await page.getByRole('button', { name: 'Ship 4 orders' }).click();
  const bar = page.getByRole('region', { name: 'Result' });
  await inTime(page, bar.getByText('0 shipped, 4 not'));
  await bar.getByText('Still pending when read again').waitFor();
  assert.doesNotMatch(await bar.innerText(), /\bit\b|The order/);
  const toast = page
    .getByRole('status')
    .getByText(/^Id copied|^The browser does not permit copying/);
  await typeKey(page, 'j');
  for (const width of [1_440, 1_024, 390]) {
    await page.setViewportSize({ width, height: 800 });
    await typeKey(page, 'y');
    await toast.waitFor();
    const [above, below] = [(await toast.boundingBox())!, (await bar.boundingBox())!];
    assert.ok(above.y + above.height <= below.y, `${width}: ${JSON.stringify([above, below])}`);
  }
});

test('in a question about several orders, a long id does not spread the others', async (t) => {
  const service = await startService(t);
  const long = 8_000_000_000_000_000_001n;
  await place(service.store, ...[335n, 334n, 329n, long].map(pending));
  const { page } = await signedIn(t, browser, service);
  await row(page, long).waitFor();
  await page.getByLabel('Select all pending orders on this page').check();
  await page.getByRole('button', { name: 'Ship 4…' }).click();
  const ids = page.getByRole('group', { name: 'Ids of the orders' });
  const right = async (id: bigint) => {
    const { x, width } = (await ids.getByText(String(id), { exact: true }).boundingBox())!;
    return x + width;
  };
  assert.ok((await right(334n)) - (await right(335n)) < 100);
});

test('an imported order says so, a shipped one in the past, and one that does not exist in a sentence', async (t) => {
  const service = await startService(t);
  const shipDate = Date.now() - 172_800_000;
  await place(service.store, { ...pending(1n), status: 'shipped', shipDate, reference: 'A-10' });
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  await page.getByText('Imported as shipped').waitFor();
  const ships = row(page, 1).locator('.ships');
  // The time of day goes first, then the day.
  assert.match(await ships.innerText(), /^\w{3} \d+\s*2 days ago$/);
  await page.setViewportSize({ width: 768, height: 720 });
  assert.match(await ships.innerText(), /^Shipped 2 days ago$/);
  await page.setViewportSize({ width: 1_280, height: 720 });
  // Until the sheet is closed, nothing below it takes the focus.
  await page.getByRole('complementary', { name: 'Order 1' }).waitFor();
  await page.getByLabel('Find an order').fill('A-10');
  await page.getByText(/^Shipped 2 days ago, placed .* Enter opens it\.$/).waitFor();
  await page.goto(new URL('?order=2', page.url()).href);
  await page.getByText('There is no such order.').waitFor();
  assert.equal(await page.getByRole('button', { name: /Try again|Print the slip/ }).count(), 0);
});
