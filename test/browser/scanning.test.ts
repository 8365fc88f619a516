import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { SCOPES } from '../../src/domain/api-key.ts';
import { pending, place, startService } from '../http/harness.ts';
import { startBrowser } from './chromium.ts';
import { row, signedIn, typeKey } from './console-page.ts';
import { scan, scanAt, stopClock } from './scanner.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

/** Once the order is read, it can be cancelled. */
const askToCancel = async (page: Page) => {
  await page.getByRole('button', { name: 'Cancel order…' }).waitFor();
  await typeKey(page, 'c');
};
const details = (page: Page, id: number) =>
  page.getByRole('heading', { name: `Order ${id}`, exact: true });
const found = (page: Page) => page.getByRole('search').getByRole('status');

test('a scanned code opens its order, whatever has the focus, and none of its characters acts', async (t) => {
  const service = await startService(t);
  await place(
    service.store,
    ...[pending(1n), pending(2n), { ...pending(3n), reference: 'n12-s' }, pending(4n)],
  );
  const { page, problems } = await signedIn(t, browser, service);
  await row(page, 4).waitFor();
  await typeKey(page, 'j');
  await scan(page, 'n12');
  await found(page).getByText('Reference begins with this').waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0);
  // The text is selected, so that the next code replaces it.
  await scan(page, 'n12-s');
  await details(page, 3).waitFor();
  await page.getByRole('button', { name: 'Cancel order…' }).focus();
  await scan(page, '1');
  await details(page, 1).waitFor();
  assert.equal(await page.getByRole('alertdialog').count(), 0);
  // Under a question nothing is opened, and its buttons are not pressed.
  await askToCancel(page);
  await page.getByRole('button', { name: 'Keep order' }).focus();
  await scan(page, '2');
  assert.equal(await page.getByRole('alertdialog').count(), 1);
  await page.keyboard.press('Escape');
  await details(page, 1).waitFor();
  assert.equal((await service.store.orders([1n, 2n, 3n, 4n])).length, 4);
  assert.deepEqual(problems, []);
});

test('a scan opens an id or a whole reference, never a part of one, in the search box too', async (t) => {
  const service = await startService(t);
  await place(service.store, { ...pending(1n), reference: 'WEB-2026-1' }, pending(2n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 2).waitFor();
  await page.getByLabel('Find an order').focus();
  await scan(page, 'WEB-2026');
  await found(page).getByRole('link', { name: 'WEB-2026-1' }).waitFor();
  assert.equal(new URL(page.url()).search, '');
  // Typed by a person, it opens the only order whose reference begins with it.
  await page.getByLabel('Find an order').fill('WEB-2026');
  while ((await details(page, 1).count()) === 0) await typeKey(page, 'Enter');
});

for (const [width, allKeyMs, allPauseMs] of [
  [1_440, [36, 60, 90, 130, 190], [60, 150]],
  [1_000, [90, 190], []],
  [390, [90, 190], []],
] as const) {
  test(`a scanner that is slow, or pauses, opens what it scans: none of its keys acts, and none is lost (${width} px)`, async (t) => {
    const service = await startService(t);
    const references = ['shop-2026-1', 'cs-77-10023', 'nx-55', 'ege-2026', 'WEB-2026-104990'];
    await place(
      service.store,
      ...references.map((reference, index) => ({ ...pending(BigInt(index + 1)), reference })),
      ...[pending(98n), pending(998n), pending(10_998n)],
    );
    const secret = await service.newKey({ scopes: SCOPES });
    const viewport = { width, height: 900 };
    const { page, problems } = await signedIn(t, browser, { ...service, secret }, { viewport });
    await row(page, 98).waitFor();
    await stopClock(page);
    for (const keyMs of allKeyMs) {
      for (const [index, reference] of references.entries()) {
        await scanAt(page, reference, [300, keyMs]);
        await details(page, index + 1).waitFor();
      }
    }
    for (const pauseMs of allPauseMs) {
      for (const [code, id] of [
        ['10998', 10_998],
        ['shop-2026-1', 1],
      ] as const) {
        for (let after = 1; after <= code.length; after += 1) {
          await scanAt(page, code, [300, ...Array(after - 1).fill(10), pauseMs, 10]);
          await details(page, id).waitFor();
        }
      }
    }
    const { orders } = await service.store.status();
    assert.deepEqual(orders, { pending: 8n, shipped: 0n, cancelled: 0n });
    assert.equal((await service.store.keys()).length, 2);
    assert.deepEqual(problems, []);
  });
}

test('a scan is known by its speed, although its Enter comes late, or twice, or after another text', async (t) => {
  const service = await startService(t);
  await place(
    service.store,
    ...[pending(998n), { ...pending(5n), reference: 'WEB-2026-104990' }, pending(1n)],
  );
  const secret = await service.newKey({ scopes: SCOPES });
  const { page } = await signedIn(t, browser, { ...service, secret }, { search: '?order=1' });
  await details(page, 1).waitFor();
  await stopClock(page);
  const late = (code: string) => [300, ...Array(code.length - 1).fill(10), 150];
  const scanLate = (code: string) => scanAt(page, code, late(code));
  // In a question and in a form.
  await page.getByRole('button', { name: 'Cancel order…' }).click();
  await page.getByLabel('Reason').waitFor();
  await page.clock.runFor(600);
  await scanLate('3SXYZ123');
  await page.clock.runFor(100);
  await page.getByRole('button', { name: 'Keep order' }).click();
  await page.getByRole('alertdialog').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Place order' }).click();
  const form = page.getByRole('dialog', { name: 'Place an order' });
  await form.getByLabel('Pet').focus();
  await page.clock.runFor(600);
  await scanLate('402');
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });
  // In the search box, where a part opens nothing, and after what was typed before.
  const box = page.getByLabel('Find an order');
  await box.focus();
  await scanLate('104990');
  await details(page, 1).waitFor({ state: 'detached' });
  assert.equal(new URL(page.url()).searchParams.get('order'), null);
  await box.fill('2');
  await scanLate('998');
  await details(page, 998).waitFor();
  // Among the commands, of which one has the number in its name.
  await page.keyboard.press('ControlOrMeta+k');
  await page.getByRole('dialog', { name: 'Commands' }).waitFor();
  await page.clock.runFor(600);
  await scanLate('998');
  await page.getByRole('dialog', { name: 'Commands' }).waitFor({ state: 'detached' });
  await details(page, 998).waitFor();
  // The second end presses no button.
  await page.getByRole('button', { name: 'Cancel order…' }).focus();
  await scanAt(page, '998', [300, 10]);
  await page.clock.runFor(5);
  await page.keyboard.press('Enter');
  await details(page, 998).waitFor();
  assert.equal(await page.getByRole('alertdialog').count(), 0);
  const { orders } = await service.store.status();
  assert.deepEqual(orders, { pending: 3n, shipped: 0n, cancelled: 0n });
});

test('what is open is closed if a scan is not looked up, or only after a while', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  await details(page, 1).waitFor();
  const mayGoOn = Promise.withResolvers<void>();
  await page.route('**/orders/find', async (route) => {
    await mayGoOn.promise;
    await route.continue();
  });
  await scan(page, '2');
  await details(page, 1).waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('Find an order').inputValue(), '2');
  mayGoOn.resolve();
  await details(page, 2).waitFor();
  await page.unroute('**/orders/find');
  await page.route('**/orders/find', (route) => route.fulfill({ status: 400, body: '' }));
  await scan(page, '1');
  await details(page, 2).waitFor({ state: 'detached' });
  await page.getByRole('search').getByText('Not looked up.').waitFor();
  // The next scan takes its place.
  await page.unroute('**/orders/find');
  await scan(page, '1');
  await details(page, 1).waitFor();
});

test('digits that are typed outside of a field begin a search', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(12n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 12).waitFor();
  await typeKey(page, '1');
  await page.locator('#jump:focus').waitFor();
  await typeKey(page, '2');
  assert.equal(await page.getByLabel('Find an order').inputValue(), '12');
  await typeKey(page, 'Enter');
  await details(page, 12).waitFor();
});

test('a number that is the id of one order and the reference of another opens neither', async (t) => {
  const service = await startService(t);
  await place(
    service.store,
    ...[pending(7n), { ...pending(8n), reference: '7' }],
    ...[pending(4n), { ...pending(5n), reference: '04' }],
  );
  const { page } = await signedIn(t, browser, service);
  await row(page, 8).waitFor();
  const box = page.getByLabel('Find an order');
  await box.fill('7');
  await typeKey(page, 'Enter');
  await found(page).getByText('7 is two orders.').waitFor();
  const hits = found(page).getByRole('link');
  assert.deepEqual(await hits.locator('b').allInnerTexts(), ['7', '8']);
  assert.equal(new URL(page.url()).search, '');
  await scan(page, '7');
  await found(page).getByText('7 is two orders.').waitFor();
  await hits.nth(1).click();
  await details(page, 8).waitFor();
  // An id never begins with 0.
  await scan(page, '04');
  await details(page, 5).waitFor();
  await scan(page, '007');
  await found(page).getByText('It is no id: an id never begins with 0.').waitFor();
});

test('Enter confirms a question in its text field, but not in the first half second', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  await details(page, 1).waitFor();
  const question = page.getByRole('alertdialog');
  await askToCancel(page);
  await question.waitFor();
  await page.keyboard.press('Enter');
  assert.equal(await question.count(), 1);
  assert.equal((await service.store.orders([1n]))[0]!.status, 'pending');
  for (const key of 'duplicate') await typeKey(page, key);
  while ((await question.count()) > 0) await typeKey(page, 'Enter');
  await page.getByText('Order 1 was cancelled').waitFor();
  const [order] = await service.store.orders([1n]);
  assert.deepEqual([order!.status, order!.reason], ['cancelled', 'duplicate']);
});

test('a tracking number ships an order by its scan, but not if it is the code of an order', async (t) => {
  const service = await startService(t);
  await place(service.store, { ...pending(1n), reference: 'WEB-1' }, pending(2n));
  const { page } = await signedIn(t, browser, service, { search: '?order=2' });
  await details(page, 2).waitFor();
  await page.getByRole('button', { name: 'Ship order…' }).click();
  const question = page.getByRole('alertdialog');
  const field = page.getByLabel('Tracking number');
  for (const [code, text] of [
    ['WEB-1', 'WEB-1 is the reference of order 1.'],
    ['web-1', 'web-1 is the reference of order 1.'],
    ['1', '1 is order 1.'],
  ] as const) {
    await field.fill(code);
    while ((await question.getByText(text).count()) === 0) await typeKey(page, 'Enter');
  }
  assert.equal((await service.store.orders([2n]))[0]!.status, 'pending');
  // The next scan is not appended to a slip, also with a pause in it.
  assert.equal(await field.inputValue(), '');
  await page.keyboard.type('3SXYZ');
  await scan(page, '0001');
  await page.getByText('Order 2 was shipped').waitFor();
  assert.equal((await service.store.orders([2n]))[0]!.trackingNumber, '3SXYZ0001');
});

test('a scan confirms no cancel, of one order or of several, and places nothing', async (t) => {
  const service = await startService(t);
  await place(service.store, { ...pending(1n), reference: 'WEB-1' }, pending(2n), pending(3n));
  const secret = await service.newKey({ scopes: SCOPES });
  const { page } = await signedIn(t, browser, { ...service, secret }, { search: '?order=2' });
  await details(page, 2).waitFor();
  const question = page.getByRole('alertdialog');
  await askToCancel(page);
  await question.waitFor();
  // Enter has no effect in the first half second.
  await page.waitForTimeout(600);
  for (const keyMs of [10, 60, 90]) {
    for (const code of ['WEB-404', '3']) {
      await scan(page, code, keyMs);
      assert.equal(await question.count(), 1);
      await question
        .getByText(code === '3' ? '3 is order 3.' : 'A scan does not confirm.')
        .waitFor();
      assert.equal(await page.getByLabel('Reason').inputValue(), code === '3' ? '' : code);
    }
  }
  // Of a scanner that is as slow as a person.
  await page.getByLabel('Reason').fill('WEB-1');
  while ((await question.getByText('this is an order’s reference').count()) === 0)
    await typeKey(page, 'Enter');
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });

  await page.getByLabel('Select all pending orders on this page').check();
  await page.getByRole('button', { name: 'Cancel 3…' }).click();
  await question.waitFor();
  await page.waitForTimeout(600);
  await scan(page, 'WEB-1');
  await page.getByLabel('Reason').focus();
  await scan(page, 'WEB-1');
  await typeKey(page, 'Enter');
  assert.equal(await question.count(), 1);
  await question.getByRole('button', { name: 'Keep orders' }).click();
  await question.waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Place order' }).click();
  const form = page.getByRole('dialog', { name: 'Place an order' });
  await form.getByLabel('Quantity').fill('1');
  await form.getByLabel('Pet').focus();
  await page.waitForTimeout(600);
  await scan(page, '402');
  assert.equal(await form.getByLabel('Pet').inputValue(), '402');
  assert.equal(await form.count(), 1);
  await page.keyboard.press('Escape');

  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('button', { name: 'Create key…' }).click();
  await page.getByLabel('Name', { exact: true }).focus();
  for (const keyMs of [10, 60]) await scan(page, 'WEB-1', keyMs);
  await page.getByRole('heading', { name: 'Create key' }).waitFor();
  assert.equal((await service.store.keys()).length, 2);
  const { orders } = await service.store.status();
  assert.deepEqual(orders, { pending: 3n, shipped: 0n, cancelled: 0n });
});

test('what is typed while a shipment waits for its answer changes nothing, and the question can be left', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  for (const [id, ends] of [
    [1, 'answered'],
    [2, 'left'],
  ] as const) {
    const { page } = await signedIn(t, browser, service, { search: `?order=${id}` });
    await details(page, id).waitFor();
    const mayGoOn = Promise.withResolvers<void>();
    await page.route('**/ship', async (route) => {
      await mayGoOn.promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Ship order…' }).click();
    const question = page.getByRole('alertdialog');
    await page.getByLabel('Tracking number').fill(`3S${id}`);
    while ((await question.getByText('Shipping…').count()) === 0) await typeKey(page, 'Enter');
    await page.keyboard.type('XYZ');
    await scan(page, '3SXYZ9');
    assert.equal(await page.getByLabel('Tracking number').inputValue(), `3S${id}`);
    if (ends === 'left') {
      await question.getByRole('button', { name: 'Leave it running' }).click();
      await question.waitFor({ state: 'detached' });
    }
    mayGoOn.resolve();
    await page.getByText(`Order ${id} was shipped`).waitFor();
    await question.waitFor({ state: 'detached' });
    assert.equal((await service.store.orders([BigInt(id)]))[0]!.trackingNumber, `3S${id}`);
  }
});

test('a scan that finds nothing closes the order that was scanned before', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await scan(page, '1');
  await details(page, 1).waitFor();
  await scan(page, 'WEB-404');
  await found(page).getByText('No order found.').waitFor();
  await details(page, 1).waitFor({ state: 'detached' });
});

test('a reason that begins a recommended one is recorded as that', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  await details(page, 1).waitFor();
  await askToCancel(page);
  await page.getByLabel('Reason').fill('out');
  await page.getByText('Recorded as: out of stock').waitFor();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel order' }).click();
  await page.getByText('Order 1 was cancelled').waitFor();
  assert.equal((await service.store.orders([1n]))[0]!.reason, 'out_of_stock');
});
