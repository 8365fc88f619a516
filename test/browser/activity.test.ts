import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { pending, place, type Service, startService } from '../http/harness.ts';
import { startBrowser } from './chromium.ts';
import { live, signedIn } from './console-page.ts';
import { accessibilityFindings } from './page.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

/** Ten orders, of which 1 is shipped and 2 cancelled, and 3 cancelled with a key. */
async function busyService(t: TestContext): Promise<Service> {
  const service = await startService(t);
  const { store, key } = service;
  await place(store, ...Array.from({ length: 10 }, (_, id) => pending(BigInt(id + 1))));
  await store.apply([
    { type: 'ship', id: 1n },
    { type: 'cancel', id: 2n },
    { type: 'cancel', id: 3n, by: key.id },
  ]);
  return service;
}

const chart = (page: Page, name: string) => page.getByRole('img', { name }).waitFor();

for (const colorScheme of ['light', 'dark'] as const) {
  test(`charts show the activity of the last days, and are available as tables (${colorScheme})`, async (t) => {
    const service = await busyService(t);
    const { page, problems } = await signedIn(t, browser, service, { colorScheme });
    await page.getByRole('link', { name: 'Activity' }).click();
    await chart(page, '10 placed in 14 days, at most 10 in a day');
    await chart(page, '2 cancelled in 14 days, at most 2 in a day');
    assert.equal(new URL(page.url()).search, '?view=activity');
    await page.getByRole('link', { name: '90 days' }).click();
    await chart(page, '1 shipped in 90 days, at most 1 in a day');
    const days = page.getByRole('table', { name: 'Orders of each day' }).getByRole('row');
    assert.equal(await days.count(), 92, 'a head, the days, and their sum');
    assert.match(await days.nth(1).innerText(), /\t10\t1\t2$/);
    const keys = page.getByRole('table', { name: 'Changes of these days' });
    assert.deepEqual(await keys.locator('tbody tr').allInnerTexts(), [
      'operators of the store\t10\t1\t1',
      `${service.key.name}\n${service.key.id}\n\t0\t0\t1`,
    ]);
    assert.deepEqual(await accessibilityFindings(page), []);
    await page.getByRole('link', { name: 'Orders', exact: true }).click();
    await page.getByRole('img').first().waitFor({ state: 'detached' });
    assert.deepEqual(problems, []);
  });
}

test('what a key did on a day has an address, the latest first, with filters, and is exported', async (t) => {
  const service = await startService(t);
  const { id: by, name } = service.key;
  await place(service.store, pending(1n), { ...pending(2n), reference: 'A-2' }, pending(3n));
  await service.store.apply([
    { type: 'cancel', id: 1n, by, reason: 'out_of_stock' },
    { type: 'ship', id: 2n, at: Date.now(), by, trackingNumber: '3SX' },
  ]);
  await service.store.apply([{ type: 'cancel', id: 3n }]);
  const { page, problems } = await signedIn(t, browser, service, { search: '?view=activity' });
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByText('2 changes').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('by'), by);
  const rows = page.locator('.of-key tbody tr');
  const shown = async () =>
    (await rows.allInnerTexts()).map((text) => text.split('\t').slice(1).join('|').trim());
  assert.deepEqual((await shown()).toSorted(), [
    'Cancelled|1||1 × pet 1|out of stock',
    'Shipped|2|A-2|1 × pet 2|3SX',
  ]);
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.getByRole('link', { name: 'Shipped 1' }).click();
  await page.getByText('1 change', { exact: true }).waitFor();
  assert.deepEqual(await shown(), ['Shipped|2|A-2|1 × pet 2|3SX']);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  assert.match((await download).suggestedFilename(), /^changes-key_\w+-\d{4}-\d\d-\d\d\.csv$/);

  // What happens now is added; the day before has nothing.
  await page.getByRole('link', { name: 'All 2' }).click();
  await place(service.store, pending(4n));
  await live(page);
  await service.store.apply([{ type: 'cancel', id: 4n, by }]);
  await page.getByText('3 changes').waitFor();
  await page.getByRole('link', { name: 'The day before' }).click();
  await page.getByRole('heading', { name: 'Nothing on this day' }).waitFor();
  await page.getByRole('link', { name: 'The day after' }).click();
  await page.getByText('3 changes').waitFor();

  // The name in a history is a link to that day.
  await rows.getByRole('link', { name: '2', exact: true }).click();
  await page.getByRole('heading', { name: 'Order 2' }).waitFor();
  await page.locator('.timeline').getByRole('link', { name }).click();
  await page.getByText('3 changes').waitFor();
  assert.deepEqual(problems, []);
});

test('a day has the counts of its keys, in its address and as they happen', async (t) => {
  const service = await busyService(t);
  const { page, problems } = await signedIn(t, browser, service);
  await live(page);
  await page.getByRole('link', { name: 'Activity' }).click();
  const days = page.getByRole('table', { name: 'Orders of each day' });
  await days.getByRole('link').nth(1).click();
  await page.getByText('Nothing happened then.').waitFor();
  await days.getByRole('link', { name: 'Today' }).click();
  const keys = page.getByRole('table', { name: 'Changes of these days' });
  await keys.getByRole('row', { name: 'operators of the store 10 1 1' }).waitFor();
  assert.match(new URL(page.url()).search, /^\?view=activity&day=\d{4}-\d\d-\d\d$/);
  await service.store.apply([{ type: 'cancel', id: 4n }]);
  await keys.getByRole('row', { name: 'operators of the store 10 1 2' }).waitFor();
  assert.deepEqual(await accessibilityFindings(page), []);
  // The page of a key is that of the day, and the way back leads there.
  await keys.getByRole('link', { name: service.key.name }).click();
  await page.getByText('1 change', { exact: true }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Activity' }).click();
  await page.getByRole('link', { name: 'All 14 days' }).click();
  assert.equal(new URL(page.url()).search, '?view=activity');
  assert.deepEqual(problems, []);
});

test('the label of an hour has a tick at the left edge of its bar', async (t) => {
  const service = await busyService(t);
  const search = `?view=activity&by=${service.key.id}`;
  const { page } = await signedIn(t, browser, service, { search });
  const label = page.locator('.hours .axis').getByText('6 PM', { exact: true });
  const bar = (await page.locator('.hours .ground').nth(18).boundingBox())!;
  assert.ok(Math.abs((await label.boundingBox())!.x - bar.x) < 1.5);
  assert.equal(await label.evaluate((each) => getComputedStyle(each).borderLeftWidth), '1px');
});

test('counts and changes that could not be read are read again once the page is live again', async (t) => {
  const service = await busyService(t);
  const { page } = await signedIn(t, browser, service);
  await live(page);
  const outage = /\/activity|\/changes\?.*by=/;
  const fail = () => page.route(outage, (route) => route.fulfill({ status: 400, body: '' }));
  /** The stream ends while the tab is hidden, and begins when it is shown. */
  const restore = async () => {
    await page.unroute(outage);
    for (const isHidden of [true, false])
      await page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
  };
  const again = page.getByRole('button', { name: 'Try again' });
  await fail();
  await page.getByRole('link', { name: 'Activity' }).click();
  await again.waitFor();
  await restore();
  await chart(page, '10 placed in 14 days, at most 10 in a day');
  await fail();
  await page.getByRole('link', { name: service.key.name, exact: true }).click();
  await again.waitFor();
  await restore();
  await page.getByText('1 change', { exact: true }).waitFor();
  assert.equal(await again.count(), 0);
});

test('what a key does while its day is read is there, once', async (t) => {
  const service = await startService(t);
  const { id: by } = service.key;
  await place(service.store, pending(1n), pending(2n));
  await service.store.apply([{ type: 'cancel', id: 1n, by }]);
  const { page } = await signedIn(t, browser, service);
  await live(page);
  const [isRead, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route(/changes\?.*by=/, async (route) => {
    const response = await route.fetch();
    isRead.resolve();
    await mayGoOn.promise;
    await route.fulfill({ response });
  });
  await page.getByRole('link', { name: 'Activity' }).click();
  await page.getByRole('link', { name: service.key.name, exact: true }).click();
  await isRead.promise;
  await service.store.apply([{ type: 'cancel', id: 2n, by }]);
  // The stream has it once the counts of all keys do.
  await page.waitForResponse('**/v2/store');
  mayGoOn.resolve();
  await page.getByText('2 changes').waitFor();
  assert.equal(await page.locator('.of-key tbody tr').count(), 2);
  await page.unrouteAll({ behavior: 'wait' });
});

test('charts count each change once, including changes during the initial count', async (t) => {
  const service = await busyService(t);
  const { page } = await signedIn(t, browser, service);
  await live(page);
  const isRead = Promise.withResolvers<void>();
  const mayGoOn = Promise.withResolvers<void>();
  await page.route('**/v2/store/activity?*', async (route) => {
    // Between the two, the feed brings a change that the count has, and one that it has not.
    await service.store.apply([{ type: 'cancel', id: 4n, by: service.key.id }]);
    const response = await route.fetch();
    await service.store.apply([{ type: 'cancel', id: 5n }]);
    isRead.resolve();
    await mayGoOn.promise;
    await route.fulfill({ response });
  });
  // The counts are read again because of changes of the feed.
  const isFollowed = Promise.withResolvers<void>();
  await page.route('**/v2/store', async (route) => {
    const response = await route.fetch();
    const { counts } = await response.json();
    await route.fulfill({ response });
    if (counts.cancelled === 4) isFollowed.resolve();
  });
  await page.getByRole('link', { name: 'Activity' }).click();
  await isRead.promise;
  await isFollowed.promise;
  mayGoOn.resolve();
  // Until here and not later: a request of a handler would fail once the service has stopped.
  await page.unrouteAll({ behavior: 'wait' });
  await chart(page, '4 cancelled in 14 days');
  await service.store.apply([{ type: 'ship', id: 6n }]);
  await chart(page, '2 shipped in 14 days');
  const keys = page.getByRole('table', { name: 'Changes of these days' });
  const counts = await keys.locator('td.number').allInnerTexts();
  assert.deepEqual(counts, ['10', '2', '2', '0', '0', '2']);
});

test('a failed count is retried', async (t) => {
  const service = await busyService(t);
  const { page } = await signedIn(t, browser, service);
  await live(page);
  await page.route('**/v2/store/activity?*', (route) => route.fulfill({ status: 400, body: '{}' }));
  await page.getByRole('link', { name: 'Activity' }).click();
  const again = page.getByRole('button', { name: 'Try again' });
  await again.waitFor();
  await page.unroute('**/v2/store/activity?*');
  await again.click();
  await chart(page, '10 placed in 14 days');
});

test('a change of a new day begins one new count, even if the clock of the reader is behind', async (t) => {
  const service = await busyService(t);
  const { page } = await signedIn(t, browser, service);
  await live(page);
  let counts = 0;
  page.on('request', (request) => {
    if (request.url().includes('/store/activity')) counts += 1;
  });
  await page.clock.setFixedTime(Date.now() - 2 * 86_400_000);
  await page.getByRole('link', { name: 'Activity' }).click();
  await chart(page, '0 placed in 14 days');
  for (const id of [6n, 7n, 8n]) {
    await service.store.apply([{ type: 'ship', id }]);
    await chart(page, `${id - 4n} shipped in 14 days`);
  }
  await chart(page, '10 placed in 14 days');
  assert.equal(counts, 2);
});

test('a key that acts for the first time has its name, and the busiest key comes first', async (t) => {
  const service = await busyService(t);
  const { page } = await signedIn(t, browser, service, { search: '?view=activity' });
  await live(page);
  await chart(page, '2 cancelled in 14 days');
  const secret = await service.newKey({ scopes: ['orders:cancel'] });
  for (const id of [6, 7, 8]) {
    const authorization = `Bearer ${secret}`;
    const { status } = await service.call('POST', `/v2/store/orders/${id}/cancel`, {
      authorization,
    });
    assert.equal(status, 200);
  }
  await chart(page, '5 cancelled in 14 days');
  const keys = page.getByRole('table', { name: 'Changes of these days' });
  const [, second] = await keys.locator('tbody tr').allInnerTexts();
  assert.match(second!, /^\S+\nkey_\S+\n\t0\t0\t3$/);
});

test('a key that may not read changes is not offered the activity; its address says why', async (t) => {
  const service = await busyService(t);
  const secret = await service.newKey({ scopes: ['orders:read'] });
  const { page } = await signedIn(
    t,
    browser,
    { ...service, secret },
    { search: '?view=activity&days=30' },
  );
  await page.getByRole('heading', { name: 'This key may not see activity' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Activity' }).count(), 0);
  assert.equal(await page.getByRole('img').count(), 0);
});

test('what a key did has one line for each change at 1440 px, with long references and reasons', async (t) => {
  const service = await startService(t);
  const { id: by } = service.key;
  const orders = Array.from({ length: 20 }, (_, index) => ({
    ...{ ...pending(BigInt(index + 100)), petId: 401n, quantity: 62n },
    reference: index % 4 === 0 ? `EU-CENTRAL-WAREHOUSE-2026/11/ONLINE-SHOP-100${index + 100}` : 'A',
  }));
  await place(service.store, ...orders);
  const reason = 'Customer moved to Lisbon, wants pick-up';
  await service.store.apply(orders.map(({ id }) => ({ type: 'cancel', id, by, reason })));
  const viewport = { width: 1_440, height: 900 };
  const search = `?view=activity&by=${by}`;
  const { page } = await signedIn(t, browser, service, { search, viewport });
  await page.getByText('20 changes').waitFor();
  const rows = page.getByRole('table', { name: 'Changes, the latest first' }).getByRole('row');
  const heights = await rows.evaluateAll((all) =>
    all.map((each) => each.getBoundingClientRect().height),
  );
  assert.ok(Math.max(...heights) < 40, heights.join());
  const { y, height } = (await rows.last().boundingBox())!;
  assert.ok(y + height <= viewport.height, String(y + height));
});
