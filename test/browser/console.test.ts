import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { pending, place, startService } from '../http/harness.ts';
import { freePort } from '../postgres.ts';
import { run, serve } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';
import { startBrowser } from './chromium.ts';
import { ids, live, row, signedIn, signIn } from './console-page.ts';
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
    await page.getByText('What happened').waitFor();
    assert.deepEqual(await accessibilityFindings(page), []);
    assert.deepEqual(problems, []);
    await page.close();
  });
}

test('a key that is not valid is refused, and a valid one is kept for the tab only', async (t) => {
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
  await another.getByLabel('API key').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.reload();
  await page.getByLabel('API key').waitFor();
});

test('what the key may not do is not offered', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const secret = await service.newKey({ scopes: ['orders:read', 'orders:ship'] });
  const { page } = await signedIn(t, browser, { ...service, secret }, { search: '?order=1' });
  await page.getByRole('button', { name: 'Ship this order' }).waitFor();
  assert.equal(await page.getByRole('button', { name: /Cancel/ }).count(), 0);
  await page.getByText('Not live').waitFor();
});

test('adjacent ids above 2^53 stay distinct in the list, in the details and in what is cancelled', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(BIG - 1n), pending(BIG), pending(BIG + 1n));
  const { page, problems } = await signedIn(t, browser, service);
  await row(page, BIG).waitFor();
  assert.deepEqual(await ids(page), [BIG + 1n, BIG, BIG - 1n].map(String));
  await page.getByLabel('Order', { exact: true }).fill(` ${BIG} `);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: `Order ${BIG}` }).waitFor();
  let asked = '';
  page.on('dialog', (dialog) => {
    asked = dialog.message();
  });
  await page.getByRole('button', { name: 'Cancel this order' }).click();
  await row(page, BIG).getByText('It is cancelled now.').waitFor();
  assert.equal(asked, `Cancel order ${BIG}? This cannot be undone.`);
  const orders = await Promise.all(
    [BIG - 1n, BIG, BIG + 1n].map(async (id) => (await service.store.record(id))?.status),
  );
  assert.deepEqual(orders, ['pending', 'cancelled', 'pending']);
  await page.locator('.timeline').getByText('cancelled').waitFor();
  assert.deepEqual(problems, []);
});

test('filters are in the URL, counts are links, and the list can be read to its end', async (t) => {
  const service = await startService(t);
  await place(service.store, ...Array.from({ length: 120 }, (_, id) => pending(BigInt(id + 1))));
  for (const id of [1n, 60n, 61n])
    await service.store.apply([{ type: 'ship', id, at: Date.now() }]);
  const { page } = await signedIn(t, browser, service);
  await page.getByRole('link', { name: '3 shipped' }).click();
  await row(page, 61).waitFor();
  assert.equal(new URL(page.url()).search, '?status=shipped');
  assert.deepEqual(await ids(page), ['61', '60', '1']);
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
  await page.getByText('No orders match.').waitFor();
  assert.equal(await page.getByLabel('Pet').inputValue(), '999');
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await row(page, 119).waitFor();
});

test('an order that ships meanwhile is not cancelled, and the page shows the reason', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  const cancel = page.getByRole('button', { name: 'Cancel this order' });
  await cancel.waitFor();
  await page.route('**/cancel', async (route) => {
    await service.store.apply([{ type: 'ship', id: 1n, at: Date.now() }]);
    await route.continue();
  });
  await cancel.click();
  await row(page, 1).getByText('It has already shipped.').waitFor();
  await page.locator('aside').getByText('It has already shipped.').waitFor();
  assert.equal((await service.store.record(1n))?.status, 'shipped');
});

test('several orders are cancelled at once, each with its result', async (t) => {
  const service = await startService(t);
  await place(service.store, ...[1n, 2n, 3n].map((id) => pending(id)));
  const secret = await service.newKey({ cancelsPerHour: 2 });
  const { page } = await signedIn(t, browser, { ...service, secret });
  for (const id of [1, 2, 3]) await row(page, id).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Cancel 3 orders' }).click();
  await page
    .locator('td')
    .getByText(/has reached its limit of cancels/)
    .waitFor();
  assert.equal(await page.locator('td').getByText('It is cancelled now.').count(), 2);
  await page.getByText('2 cancelled, 1 not').waitFor();
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
    if (request.url().endsWith('/cancellations')) requests += 1;
  });
  await row(page, 2_200).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Select all pending that match' }).click();
  const { orders } = await service.store.status();
  assert.equal(orders.shipped, 1n);
  await page.getByRole('button', { name: 'Cancel 1099 orders' }).click();
  await page.getByText('1099 cancelled', { exact: true }).waitFor();
  await row(page, 2_200).getByText('It is cancelled now.').waitFor();
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
  await row(page, 1).getByText('shipped').waitFor();
  await page.getByRole('link', { name: '1 shipped' }).waitFor();
  await place(service.store, pending(3n));
  assert.deepEqual(await ids(page), ['2', '1']);
  await page.getByRole('button', { name: 'Show 1 new order' }).click();
  await row(page, 3).waitFor();
  assert.deepEqual(await ids(page), ['3', '2', '1']);
});

test('the page reports a lost connection, and catches up after it is restored', async (t) => {
  const database = `sqlite:${join(temporaryFolder(t), 'a.db')}`;
  const port = await freePort();
  const first = await serve(t, ['--sample', '10', '--port', String(port)], { database });
  const { page } = await signedIn(t, browser, { port, secret: first.secret });
  await live(page);
  await first.stop();
  await page.getByText('Connection lost; trying again').waitFor();
  await run(['cancel', '10', '--database', database]);
  await serve(t, ['--port', String(port)], { database, expectsKey: false });
  await live(page);
  await row(page, 10).getByText('cancelled').waitFor();
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
  await page.getByRole('link', { name: '2 shipped' }).waitFor();
  mayGoOn.resolve();
  await row(page, 5).getByText('shipped').waitFor();
  await row(page, 60).getByText('shipped').waitFor();
});

test('signing out aborts pending requests, and their responses do not end the next session', async (t) => {
  const service = await startService(t);
  await place(service.store, ...Array.from({ length: 20 }, (_, id) => pending(BigInt(id + 1))));
  const { page } = await signedIn(t, browser, service);
  await live(page);
  let sent = 0;
  const isSent = Promise.withResolvers<void>();
  await page.route('**/cancellations', () => {
    sent += 1;
    isSent.resolve();
  });
  for (const box of await page.locator('tbody').getByRole('checkbox').all()) await box.check();
  await page.getByRole('button', { name: 'Cancel 20 orders' }).click();
  await isSent.promise;
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.unroute('**/cancellations');
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
  await page.getByText('No orders match.').waitFor();
  await live(page);
  await service.store.apply([{ type: 'ship', id: 1n, at: Date.now() }]);
  await page.getByRole('button', { name: 'Show 1 new order' }).click();
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
  await page.getByLabel('Reference').fill(reference);
  await page.keyboard.press('Enter');
  await page.getByText('That is all.').waitFor();
  await row(page, 3).waitFor({ state: 'detached' });
  assert.deepEqual(await ids(page), ['2']);
  assert.equal(new URL(page.url()).searchParams.get('reference'), reference);
  await page.getByRole('link', { name: '2', exact: true }).click();
  await page.locator('aside').getByText(reference, { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await row(page, 3).waitFor();
  assert.deepEqual(problems, []);
});

test('a text that is not an id is not used as a filter, and the page reports it', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await page.getByLabel('Pet').fill('12a');
  await page.keyboard.press('Enter');
  assert.match(
    await page
      .getByLabel('Pet')
      .evaluate((field) => (field as unknown as { validationMessage: string }).validationMessage),
    /not an id/,
  );
  assert.equal(new URL(page.url()).search, '');
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
  await row(page, 2).getByRole('link').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Order 2' }).waitFor();
  await page.getByText('What happened').waitFor();
  assert.equal(await page.locator('aside').evaluate((aside) => aside.matches(':focus')), true);
  await page.keyboard.press('Escape');
  await page.locator('aside').waitFor({ state: 'detached' });
  assert.equal(
    await row(page, 2)
      .getByRole('link')
      .evaluate((link) => link.matches(':focus')),
    true,
  );
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
  const all = page.getByLabel('Select all pending orders shown');
  await row(page, 1).getByRole('checkbox').check();
  assert.equal(await page.evaluate("document.querySelector('thead input').indeterminate"), true);
  await all.check();
  await page.getByRole('button', { name: 'Cancel 2 orders' }).waitFor();
  await all.uncheck();
  await page.getByRole('button', { name: /^Cancel/ }).waitFor({ state: 'detached' });
  await all.check();
  await page.getByRole('button', { name: 'Ship 2 orders' }).click();
  // Not the count above the list, which is 2 between the two.
  await page.getByRole('status').filter({ hasText: '2 shipped' }).waitFor();
  assert.equal((await service.store.status()).orders.shipped, 3n);
});
