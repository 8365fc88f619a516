import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { pending, place, startService } from '../http/harness.ts';
import { freePort } from '../postgres.ts';
import { run, serve } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';
import { startBrowser } from './chromium.ts';
import {
  cancelOpenOrder,
  ids,
  inTime,
  listed,
  live,
  row,
  signedIn,
  signIn,
  signOut,
  typeKey,
} from './console-page.ts';
import { accessibilityFindings, opened } from './page.ts';

const BIG = 9007199254740993n;

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the console is accessible and loads nothing from another host (${colorScheme})`, async (t) => {
    const service = await startService(t);
    await place(service.store, pending(1n), pending(2n));
    const { page, problems } = await opened(browser, `http://127.0.0.1:${service.port}/console`, {
      colorScheme,
    });
    await page.getByLabel('API key').waitFor();
    assert.deepEqual(await accessibilityFindings(page), []);
    await signIn(page, service.secret);
    await row(page, 1).getByRole('checkbox').check();
    assert.deepEqual(await accessibilityFindings(page), []);
    await page.getByRole('link', { name: '2', exact: true }).click();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    assert.deepEqual(await accessibilityFindings(page), []);
    await page.getByRole('button', { name: 'Cancel order…' }).click();
    await page.getByRole('alertdialog').waitFor();
    assert.deepEqual(await accessibilityFindings(page), []);
    assert.deepEqual(problems, []);
    await page.close();
  });
}

test('the console is one script, of at most 70 KB, and one style, and reads its first page together with the key', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const loaded: string[] = [];
  const asked = new Set(['/key', '/store', '/store/orders']);
  const all = Promise.withResolvers<void>();
  page.on('request', (request) => loaded.push(request.resourceType()));
  const script = page.waitForEvent('requestfinished', (each) => each.resourceType() === 'script');
  await page.route('**/v2/**', async (route) => {
    asked.delete(new URL(route.request().url()).pathname.replace(/.*\/v2/, ''));
    if (asked.size === 0) all.resolve();
    // No response before all of them have been asked for.
    await all.promise;
    await route.continue();
  });
  await page.goto(`http://127.0.0.1:${service.port}/console`);
  await page.getByLabel('API key').waitFor();
  assert.deepEqual(
    ['document', 'stylesheet', 'script', 'fetch'].map(
      (type) => loaded.filter((each) => each === type).length,
    ),
    [1, 1, 1, 0],
  );
  const { responseBodySize } = await (await script).sizes();
  assert.ok(responseBodySize > 50_000 && responseBodySize <= 70_000, `${responseBodySize}`);
  await signIn(page, service.secret);
  await row(page, 1).waitFor();
});

test('a key that is not valid is refused, and a valid one is kept for the open tabs only', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, { ...service, secret: 'so_live_wrong' });
  await page.getByText('This key is not valid.').waitFor();
  await signIn(page, service.secret);
  await row(page, 1).waitFor();
  await page.reload();
  await row(page, 1).waitFor();
  const another = await page.context().newPage();
  await another.goto(page.url());
  await row(another, 1).waitFor();
  await signOut(page);
  await page.getByLabel('API key').waitFor();
  await another.getByText('You signed out in another tab.').waitFor();
  await page.reload();
  await page.getByLabel('API key').waitFor();
});

test('a key is accepted with what is pasted along, and nothing fails in the log of the browser', async (t) => {
  const service = await startService(t);
  const { page } = await opened(browser, `http://127.0.0.1:${service.port}/console`);
  t.after(() => page.context().close());
  const failed: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400) failed.push(response.url());
  });
  await signIn(page, `  Bearer ${service.secret}\u200b `);
  await page.getByText('No orders yet').waitFor();
  assert.deepEqual(failed, []);
});

test('adjacent ids above 2^53 stay distinct in the list, in the details and in what is cancelled', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(BIG - 1n), pending(BIG), pending(BIG + 1n));
  const { page, problems } = await signedIn(t, browser, service);
  await row(page, BIG).waitFor();
  await listed(page, [BIG + 1n, BIG, BIG - 1n].map(String));
  await page.getByLabel('Find an order').fill(` ${BIG} `);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: `Order ${BIG}` }).waitFor();
  await page.getByRole('button', { name: 'Cancel order…' }).click();
  const dialog = page.getByRole('alertdialog', { name: `Cancel order ${BIG}?` });
  await dialog.getByRole('button', { name: 'Cancel order' }).click();
  await page.getByText(`Order ${BIG} was cancelled`).waitFor();
  await row(page, BIG).getByText('Cancelled').waitFor();
  const orders = await Promise.all(
    [BIG - 1n, BIG, BIG + 1n].map(async (id) => (await service.store.orders([id]))[0]?.status),
  );
  assert.deepEqual(orders, ['pending', 'cancelled', 'pending']);
  await page.locator('.timeline').getByText('Cancelled').waitFor();
  assert.deepEqual(problems, []);
});

test('filters are in the URL, counts are links, and the list can be read to its end', async (t) => {
  const service = await startService(t);
  await place(service.store, ...Array.from({ length: 120 }, (_, id) => pending(BigInt(id + 1))));
  for (const id of [1n, 60n, 61n])
    await service.store.apply([{ type: 'ship', id, at: Date.now() }]);
  const { page } = await signedIn(t, browser, service);
  await page.getByRole('link', { name: 'Shipped 3' }).click();
  await row(page, 61).waitFor();
  assert.equal(new URL(page.url()).search, '?status=shipped');
  await listed(page, ['61', '60', '1']);
  await page.getByText('That is all.').waitFor();
  await page.goBack();
  await row(page, 120).waitFor();
  assert.equal((await ids(page)).length, 50);
  for (const count of [100, 120]) {
    await page.getByRole('button', { name: 'Show more' }).click();
    await page
      .locator('tbody tr')
      .nth(count - 1)
      .waitFor();
  }
  await page.getByText('That is all.').waitFor();
  assert.deepEqual(
    await ids(page),
    Array.from({ length: 120 }, (_, index) => String(120 - index)),
  );

  await page.goto(`${page.url().split('?')[0]}?status=pending,cancelled&pet=999`);
  await page.getByText('No order matches these filters').waitFor();
  await page.getByRole('button', { name: 'Pet 999' }).waitFor();
  await page.getByRole('link', { name: 'Clear filters' }).click();
  await row(page, 119).waitFor();
});

test('an order that ships meanwhile is not cancelled, and the page shows the reason', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  await page.route('**/cancel', async (route) => {
    await service.store.apply([{ type: 'ship', id: 1n, at: Date.now() }]);
    await route.continue();
  });
  await cancelOpenOrder(page);
  const dialog = page.getByRole('alertdialog');
  await dialog.getByText(/^Not cancelled: it was already shipped at /).waitFor();
  // Once: the details behind have it when the dialog is closed.
  assert.equal(await page.getByText(/^Not cancelled: it was already shipped at /).count(), 1);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page
    .locator('aside')
    .getByText(/^Not cancelled: it was already shipped at /)
    .waitFor();
  await row(page, 1).locator('.pill').getByText('Shipped').waitFor();
  assert.equal((await service.store.orders([1n]))[0]?.status, 'shipped');
});

test('a cancel without an answer is reported as safe to retry, after the order was read again', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  let isDown = true;
  await page.route('**/cancel', async (route) => {
    if (isDown) await route.abort();
    else await route.continue();
  });
  await page.clock.install();
  await cancelOpenOrder(page);
  const dialog = page.getByRole('alertdialog');
  await inTime(page, dialog.getByText('Not cancelled; safe to retry'));
  // It stays true once the store can be reached.
  await dialog
    .getByText(/The store did not answer in time\. Still pending when read again/)
    .waitFor();
  isDown = false;
  await dialog.getByRole('button', { name: 'Cancel order' }).click();
  await page.getByText('Order 1 was cancelled').waitFor();
});

test('Escape and "Keep order" change nothing, and the focus is where it was', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  const ask = page.getByRole('button', { name: 'Cancel order…' });
  const keep = page.getByRole('button', { name: 'Keep order' });
  for (const leave of [() => page.keyboard.press('Escape'), () => keep.click()]) {
    await ask.click();
    await keep.waitFor();
    const reason = page.getByLabel('Reason optional', { exact: true });
    assert.equal(await reason.evaluate((each) => each.matches(':focus')), true);
    await leave();
    await keep.waitFor({ state: 'detached' });
    assert.equal(await ask.evaluate((each) => each.matches(':focus')), true);
  }
  assert.equal((await service.store.orders([1n]))[0]?.status, 'pending');
});

test('several orders are cancelled at once, each with its result', async (t) => {
  const service = await startService(t);
  const orders = [1n, 2n, 3n].map((id) => ({ ...pending(id), reference: `PO-${id}` }));
  await place(service.store, ...orders);
  const secret = await service.newKey({ cancelsPerHour: 2 });
  const { page } = await signedIn(t, browser, { ...service, secret });
  for (const id of [1, 2, 3]) await row(page, id).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Cancel 3…' }).click();
  await page.getByRole('button', { name: 'Cancel 3 orders' }).click();
  await page.getByText('2 cancelled, 1 not').waitFor();
  await page.getByRole('button', { name: 'Retry 1' }).waitFor();
  assert.equal(await page.locator('.bulk').evaluate((bar) => bar.matches(':focus')), true);
  await page.getByRole('button', { name: 'Show the 1' }).click();
  await page
    .getByRole('dialog')
    .getByText(/PO-3 .*reached its limit of cancels/)
    .waitFor();
  assert.equal((await service.store.status()).orders.cancelled, 2n);
});

test('all pending orders that match are cancelled, shown or not, in requests of 1,000', async (t) => {
  const service = await startService(t);
  for (const from of [1, 1_101]) {
    const ids = Array.from({ length: 1_100 }, (_, index) => BigInt(from + index));
    await place(service.store, ...ids.map((id) => ({ ...pending(id), petId: id % 2n })));
  }
  await service.store.apply([{ type: 'ship', id: 2_000n }]);
  const { page, problems } = await signedIn(t, browser, service, { search: '?pet=0' });
  let requests = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/orders/cancel')) requests += 1;
  });
  await page.getByLabel('Select all pending orders on this page').check();
  await page.getByRole('button', { name: 'Select all 1,099 that match' }).click();
  await page.getByText('All 1,099 pending orders that match are selected.').waitFor();
  const { orders } = await service.store.status();
  assert.equal(orders.shipped, 1n);
  await page.getByRole('button', { name: 'Cancel 1,099…' }).click();
  await page.getByLabel('Type 1,099 to confirm').fill('1099');
  await page.getByRole('button', { name: 'Cancel 1,099 orders' }).click();
  await page.getByText('1,099 cancelled', { exact: true }).waitFor();
  await row(page, 2_200).getByText('Cancelled').waitFor();
  assert.equal(requests, 2);
  assert.equal((await service.store.status()).orders.cancelled, 1_099n);
  assert.deepEqual(problems, []);
});

test('changed orders are updated in place, and new orders are shown on request', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service);
  await live(page);
  await service.store.apply([{ type: 'ship', id: 1n, at: Date.now() }]);
  await row(page, 1).locator('.pill').getByText('Shipped').waitFor();
  await page.getByRole('link', { name: 'Shipped 1' }).waitFor();
  await place(service.store, pending(3n));
  await listed(page, ['2', '1']);
  await page.getByRole('button', { name: '1 newer order' }).click();
  await row(page, 3).waitFor();
  await listed(page, ['3', '2', '1']);
});

test('the page reports a lost connection, and catches up after it is restored', async (t) => {
  const database = `sqlite:${join(temporaryFolder(t), 'a.db')}`;
  const port = await freePort();
  const first = await serve(t, ['--sample', '10', '--port', String(port)], { database });
  const { page } = await signedIn(t, browser, { port, secret: first.secret });
  await live(page);
  await first.stop();
  await page.getByRole('status').getByText('Not live').waitFor();
  await page.getByText(/^The list is as of|The list is as of/).waitFor();
  // A page that is opened now says so, too.
  await page.getByRole('link', { name: 'Activity' }).click();
  await page.getByText('The service does not answer; it is tried again by itself.').waitFor();
  await run(['cancel', '10', '--database', database]);
  await serve(t, ['--port', String(port)], { database, expectsKey: false });
  await live(page);
  await page.getByRole('heading', { name: 'Orders a day' }).waitFor();
  await page.getByRole('link', { name: 'Orders', exact: true }).click();
  await row(page, 10).getByText('Cancelled').waitFor();
});

test('a change that arrives while a page is read is not lost', async (t) => {
  const service = await startService(t);
  await place(service.store, ...Array.from({ length: 60 }, (_, id) => pending(BigInt(id + 1))));
  const { page } = await signedIn(t, browser, service);
  await live(page);
  const isRead = Promise.withResolvers<void>();
  const mayGoOn = Promise.withResolvers<void>();
  await page.route('**/v2/store/orders?*cursor*', async (route) => {
    const response = await route.fetch();
    isRead.resolve();
    await mayGoOn.promise;
    await route.fulfill({ response });
  });
  await page.getByRole('button', { name: 'Show more' }).click();
  await isRead.promise;
  await service.store.apply([
    { type: 'ship', id: 60n, at: Date.now() },
    { type: 'ship', id: 5n, at: Date.now() },
  ]);
  await page.getByRole('link', { name: 'Shipped 2' }).waitFor();
  mayGoOn.resolve();
  await row(page, 5).locator('.pill').getByText('Shipped').waitFor();
  await row(page, 60).locator('.pill').getByText('Shipped').waitFor();
});

test('signing out aborts pending requests, and their responses do not end the next session', async (t) => {
  const service = await startService(t);
  await place(service.store, ...Array.from({ length: 20 }, (_, id) => pending(BigInt(id + 1))));
  const { page } = await signedIn(t, browser, service);
  await live(page);
  let sent = 0;
  const isSent = Promise.withResolvers<void>();
  await page.route('**/orders/cancel', () => {
    sent += 1;
    isSent.resolve();
  });
  for (const box of await page.locator('tbody').getByRole('checkbox').all()) await box.check();
  await page.getByRole('button', { name: 'Cancel 20…' }).click();
  await page.getByRole('button', { name: 'Cancel 20 orders' }).click();
  await isSent.promise;
  await signOut(page);
  await page.unroute('**/orders/cancel');
  await signIn(page, service.secret);
  await live(page);
  assert.equal(sent, 1);
  // The request may have been on its way; no other one is sent.
  assert.ok([0n, 20n].includes((await service.store.status()).orders.cancelled));
});

test('an order that matches the filters after a change is shown on request', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service, { search: '?status=shipped' });
  await page.getByText('No order matches these filters').waitFor();
  await live(page);
  await service.store.apply([{ type: 'ship', id: 1n, at: Date.now() }]);
  await page.getByRole('button', { name: '1 newer order' }).click();
  await row(page, 1).waitFor();
});

test('a list that could not be read is read again, and followed', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  let requests = 0;
  const { page } = await opened(browser, `http://127.0.0.1:${service.port}/console`);
  t.after(() => page.context().close());
  await page.route('**/v2/store/orders?*', async (route) => {
    requests += 1;
    // Not repeated by the client library.
    const body = '{"code":"parameter_invalid","message":"x","status":400}';
    if (requests === 1) await route.fulfill({ status: 400, body });
    else await route.continue();
  });
  await signIn(page, service.secret);
  await page.getByRole('button', { name: 'Try again' }).click();
  await row(page, 1).waitFor();
  await live(page);
});

test('orders are found by their reference, which is text whatever it contains', async (t) => {
  const service = await startService(t);
  const reference = '<b>&amp;"\u202eפ/ü';
  await place(service.store, pending(1n), { ...pending(2n), reference }, pending(3n));
  const { page, problems } = await signedIn(t, browser, service);
  await page.getByRole('button', { name: 'Reference', exact: true }).click();
  await page.getByLabel('and those that begin with it').uncheck();
  await page.getByLabel('Orders with the reference').fill(reference);
  await page.keyboard.press('Enter');
  await page.getByText('That is all.').waitFor();
  await row(page, 3).waitFor({ state: 'detached' });
  await listed(page, ['2']);
  assert.equal(new URL(page.url()).searchParams.get('reference'), reference);
  await page.getByRole('link', { name: '2', exact: true }).first().click();
  await page.locator('aside').getByText(reference, { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('link', { name: 'Clear all' }).click();
  await row(page, 3).waitFor();
  assert.deepEqual(problems, []);
});

test('orders are found by the first characters of their references, and stay sorted while they change', async (t) => {
  const service = await startService(t);
  const references = ['PO-2', 'PO-10', undefined, 'PX-1', 'PO-1'];
  await place(
    service.store,
    ...references.map((reference, index) => ({ ...pending(BigInt(index + 1)), reference })),
  );
  const { page } = await signedIn(t, browser, service);
  await row(page, 5).getByText('PO-1', { exact: true }).waitFor();
  await row(page, 1).getByRole('button', { name: 'Copy the reference PO-2' }).waitFor();
  await page.getByLabel('Find an order').fill('PO-');
  await page.keyboard.press('Enter');
  await row(page, 4).waitFor({ state: 'detached' });
  assert.equal(new URL(page.url()).search, '?prefix=PO-');
  await listed(page, ['1', '2', '5']);
  await page.getByRole('link', { name: 'Pending 3' }).waitFor();
  await live(page);
  await place(service.store, { ...pending(6n), reference: 'PO-3' }, pending(7n));
  await page.getByRole('button', { name: '1 newer order' }).click();
  await row(page, 6).waitFor();
  await listed(page, ['6', '1', '2', '5']);
});

test('orders are sorted by their latest change, and filtered by it', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n), pending(3n));
  const [{ updatedAt } = { updatedAt: 0 }] = await service.store.orders([3n]);
  while (Date.now() <= updatedAt) await nextTurn();
  await service.store.apply([{ type: 'cancel', id: 1n }]);
  const { page } = await signedIn(t, browser, service);
  await page.getByRole('link', { name: 'Changed', exact: true }).click();
  await page.locator('th.changed[aria-sort="descending"]').waitFor();
  await page.getByText('That is all.').waitFor();
  await listed(page, ['1', '3', '2']);
  await page.getByRole('button', { name: 'Changed' }).click();
  await page.getByRole('link', { name: 'Today 3' }).click();
  await page.getByRole('button', { name: 'Changed Today' }).waitFor();
  assert.equal(new URL(page.url()).search, '?changed=today&sort=-updatedAt');
  await page.getByText('That is all.').waitFor();
  await listed(page, ['1', '3', '2']);
});

test('the search box takes ids as people write them, and a reference', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(998n), { ...pending(1_000n), reference: 'PO 7' });
  const { page } = await signedIn(t, browser, service);
  await row(page, 998).waitFor();
  const box = page.getByLabel('Find an order');
  for (const [text, id] of [
    ['998', 998],
    ['#998', 998],
    ['1,000', 1_000],
    ['order 998', 998],
  ] as const) {
    await box.fill(text);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Order ${id}` }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('aside').waitFor({ state: 'detached' });
  }
  // An impossible number is searched as a reference, and the box goes on.
  await box.fill('99999999999999999999');
  await page.keyboard.press('Enter');
  await page.getByText('No order found. Looked for the reference 99999999999999999999').waitFor();
  await box.fill('PO 7');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Order 1000' }).waitFor();
});

test('a text that is not an id is not used as a filter, and the page reports it', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await page.getByRole('button', { name: 'Pet', exact: true }).click();
  await page.getByLabel('Orders of the pet').fill('12a');
  await page.keyboard.press('Enter');
  await page.getByText('This is no id of a pet: up to 19 digits.').waitFor();
  assert.equal(new URL(page.url()).search, '');
});

test('ranges of days are inclusive and counted, a year can be typed, and Back undoes a filter', async (t) => {
  const service = await startService(t);
  const noon = (day: number) => new Date(2026, 10, day, 12).getTime();
  await place(
    service.store,
    ...[20, 21, 22, 23].map((day) => ({ ...pending(BigInt(day)), shipDate: noon(day) })),
  );
  const { page } = await signedIn(t, browser, service);
  await row(page, 23).waitFor();
  await page.getByRole('button', { name: 'Ships' }).click();
  const form = page.getByRole('dialog', { name: 'Ships' });
  // Without days, there is nothing to show.
  await form.getByRole('button', { name: 'Close' }).click();
  await form.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Ships' }).click();
  await form.getByLabel('From').focus();
  await page.keyboard.type('11212026');
  assert.equal(await form.getByLabel('From').inputValue(), '2026-11-21');
  await form.getByLabel('To, inclusive').fill('2026-11-22');
  await form.getByRole('button', { name: 'Show 2 orders' }).click();
  await page.getByText('Nov 21 to Nov 22').waitFor();
  await page.getByRole('link', { name: 'Pending 2' }).waitFor();
  await row(page, 23).waitFor({ state: 'detached' });
  await listed(page, ['22', '21']);
  await page.getByText('of 4 in the whole store').waitFor();
  await page.goBack();
  await row(page, 23).waitFor();
  await page.getByRole('link', { name: /^Ships/ }).click();
  await page
    .getByRole('columnheader', { name: 'Ships' })
    .and(page.locator('[aria-sort=ascending]'))
    .waitFor();
  await page
    .locator('tbody tr:first-child th')
    .filter({ hasText: /^\s*20/ })
    .waitFor();
});

test('the list is exported as CSV, with ids and formulas that spreadsheets keep', async (t) => {
  const service = await startService(t);
  const many = Array.from({ length: 600 }, (_, id) => pending(BigInt(id + 1)));
  await place(service.store, ...many, { ...pending(BIG), reference: '=1+1, "x"' });
  const { page } = await signedIn(t, browser, service);
  await row(page, BIG).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ]);
  const path = join(temporaryFolder(t), 'orders.csv');
  await download.saveAs(path);
  const lines = readFileSync(path, 'utf8').split('\r\n');
  assert.equal(lines.length, 603);
  assert.match(lines[0] ?? '', /^\ufefforderId,petId,quantity,shipDate,complete,status,/);
  const line = lines[1] ?? '';
  assert.ok(line.startsWith(`"=""${BIG}""","=""${BIG}""",1,`), line);
  assert.ok(line.includes(`"'=1+1, ""x"""`), line);
  assert.ok(lines.at(-2)!.startsWith('1,1,1,'));
});

test('letters are shortcuts outside of fields, and can be turned off', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n), pending(3n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 3).waitFor();
  await typeKey(page, 'j');
  await typeKey(page, 'x');
  await typeKey(page, 'j');
  await typeKey(page, 'Shift+X');
  await page.getByText('2 selected').waitFor();
  await typeKey(page, '/');
  await page.keyboard.type('jx1');
  assert.equal(await page.getByLabel('Find an order').inputValue(), 'jx1');
  await page.keyboard.press('Escape');
  await row(page, 2).getByRole('link').first().focus();
  await page.keyboard.press('Escape');
  await page.getByText('2 selected').waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Order 2' }).waitFor();
  await typeKey(page, 'c');
  await page.getByRole('alertdialog').waitFor();
  await page.keyboard.press('Escape');
  await typeKey(page, '?');
  assert.match(await page.getByRole('dialog').innerText(), /Commands\s+Ctrl\s*K\s/);
  await page.getByLabel('Letters are shortcuts').uncheck();
  await page.getByRole('button', { name: 'Close' }).last().click();
  await typeKey(page, 'c');
  await typeKey(page, 'j');
  assert.equal(await page.getByRole('alertdialog').count(), 0);
});

test('j goes on beyond the page, and the search is left for the list', async (t) => {
  const service = await startService(t);
  await place(service.store, ...Array.from({ length: 60 }, (_, id) => pending(BigInt(id + 1))));
  const { page } = await signedIn(t, browser, service);
  await row(page, 60).waitFor();
  for (let pressed = 0; pressed < 51; pressed += 1) await typeKey(page, 'j');
  await page.locator('tr.current').getByRole('link', { name: '10', exact: true }).waitFor();
  const focused = () => page.evaluate<string>('document.activeElement.textContent.trim()');
  await page
    .locator(':focus')
    .filter({ hasText: /^\s*10\s*$/ })
    .waitFor();
  await typeKey(page, '/');
  await page.keyboard.type('998');
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), 'Orders of pet 998');
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), 'References that begin with 998');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Escape');
  assert.equal(await page.getByLabel('Find an order').inputValue(), '');
  assert.equal(await focused(), '10');
});

test('below 1,100 px the details are a modal dialog', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page, problems } = await signedIn(t, browser, service, {
    viewport: { width: 390, height: 844 },
  });
  await row(page, 2).click();
  const dialog = page.getByRole('dialog', { name: 'Order 2' });
  await dialog.getByRole('button', { name: 'Ship order…' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Ship order' }).click();
  await dialog.getByText('Shipped').first().waitFor();
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual(await accessibilityFindings(page), []);
  assert.deepEqual(problems, []);
});

test('a key that is revoked ends the session', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service);
  await live(page);
  await service.store.apply([{ type: 'revokeKey', id: service.key.id, at: Date.now() }]);
  await page.getByText('This key is no longer valid.').waitFor();
  assert.equal(await page.getByRole('table').count(), 0);
});

test('orders are opened and closed with the keyboard, and the focus follows', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 2).getByRole('link', { name: '2', exact: true }).first().focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Order 2' }).waitFor();
  await page.getByRole('heading', { name: 'History' }).waitFor();
  assert.equal(await page.locator('aside h2').evaluate((each) => each.matches(':focus')), true);
  await page.keyboard.press('Escape');
  await page.locator('aside').waitFor({ state: 'detached' });
  assert.equal(
    await row(page, 2)
      .getByRole('link', { name: '2', exact: true })
      .first()
      .evaluate((link) => link.matches(':focus')),
    true,
  );
});

test('the bar and the title have the name of the store', async (t) => {
  const service = await startService(t, { STORE_NAME: 'Pets of Berlin' });
  const { page } = await signedIn(t, browser, service);
  await page.getByRole('link', { name: 'Pets of Berlin' }).waitFor();
  assert.equal(await page.title(), 'Orders · Pets of Berlin');
});

test('CONSOLE=off disables the console', async (t) => {
  const service = await startService(t, { CONSOLE: 'off' });
  const { status } = await fetch(`http://127.0.0.1:${service.port}/console`);
  assert.equal(status, 404);
});

test('all shown pending orders can be selected and deselected at once', async (t) => {
  const service = await startService(t);
  await place(service.store, ...[1n, 2n, 3n].map((id) => pending(id)));
  await service.store.apply([{ type: 'ship', id: 2n, at: Date.now() }]);
  const { page } = await signedIn(t, browser, service);
  const all = page.getByLabel('Select all pending orders on this page');
  await row(page, 1).getByRole('checkbox').check();
  assert.equal(await page.evaluate("document.querySelector('thead input').indeterminate"), true);
  await all.check();
  await page.getByRole('button', { name: 'Cancel 2…' }).waitFor();
  await all.uncheck();
  await page.getByRole('button', { name: /^Cancel/ }).waitFor({ state: 'detached' });
  await all.check();
  await page.getByRole('button', { name: 'Ship 2…' }).click();
  await page.getByRole('button', { name: 'Ship 2 orders' }).click();
  await page.getByRole('status').filter({ hasText: '2 shipped' }).waitFor();
  assert.equal((await service.store.status()).orders.shipped, 3n);
});
