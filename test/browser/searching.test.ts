import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { pending, place, startService } from '../http/harness.ts';
import { startBrowser } from './chromium.ts';
import { listed, live, row, signedIn, typeKey } from './console-page.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

const found = (page: Page) => page.getByRole('search').getByRole('status');
const box = (page: Page) => page.getByLabel('Find an order');
const details = (page: Page, id: number) =>
  page.getByRole('heading', { name: `Order ${id}`, exact: true });

test('a text finds any part of references, in any case, with the part marked', async (t) => {
  const service = await startService(t);
  const references = ['WEB-104321', 'Straße 4321', 'x-STRASSE', '4321-a', 'web-10'];
  await place(
    service.store,
    ...references.map((reference, index) => ({ ...pending(BigInt(index + 1)), reference })),
  );
  const { page, problems } = await signedIn(t, browser, service);
  await row(page, 5).waitFor();
  await box(page).fill('4321');
  const hits = found(page).getByRole('link');
  await found(page).getByText('Reference contains this, the newest first').waitFor();
  assert.deepEqual(await hits.locator('b').allInnerTexts(), ['4', '2', '1']);
  assert.deepEqual(await hits.locator('mark').allInnerTexts(), ['4321', '4321', '4321']);
  // Not by its colour alone.
  const weight = await hits
    .locator('mark')
    .first()
    .evaluate((mark) => getComputedStyle(mark).fontWeight);
  assert.equal(weight, '700');
  await box(page).fill('RASSE');
  await found(page).getByText('Straße').waitFor();
  assert.deepEqual(await hits.locator('mark').allInnerTexts(), ['RASSE', 'raße']);
  // Several hits are chosen from.
  await typeKey(page, 'Enter');
  assert.equal(new URL(page.url()).search, '');
  // The only hit is opened.
  await box(page).fill('b-1043');
  await typeKey(page, 'Enter');
  await details(page, 1).waitFor();
  // Two characters are too few for a part.
  await box(page).fill('x-');
  await found(page).getByText('Reference begins with this').waitFor();
  await box(page).fill('zz-zz');
  await found(page).getByText('and references that contain it, with any capitals').waitFor();
  // Lists that are known to be empty are not offered; that of a pet may not be.
  const lists = page.getByRole('search').getByRole('link');
  assert.equal(await lists.count(), 0);
  await box(page).fill('998877');
  await found(page).getByText('No order found.').waitFor();
  assert.match((await lists.allInnerTexts()).join(), /^Orders of pet\s998877$/);
  // On a phone a long reference takes two lines below its id, and the part is in sight.
  await place(service.store, {
    ...pending(6n),
    reference: `${'long-'.repeat(40)}tail-${'x'.repeat(40)}`,
  });
  await page.getByRole('button', { name: 'Close' }).click();
  await page.setViewportSize({ width: 390, height: 800 });
  await box(page).fill('-tail-');
  const name = (await hits.locator('bdi').filter({ hasText: '-tail-' }).boundingBox())!;
  const mark = (await hits.locator('mark').boundingBox())!;
  assert.ok(name.width > 280 && name.height < 45, JSON.stringify(name));
  assert.ok(mark.y + mark.height <= name.y + name.height, JSON.stringify([name, mark]));
  assert.deepEqual(problems, []);
});

test('hits that are not shown are found with more of the text', async (t) => {
  const service = await startService(t);
  const orders = [1n, 2n, 3n, 4n, 5n, 6n].map((id) => ({ ...pending(id), reference: `WEB-${id}` }));
  await place(service.store, ...orders);
  const { page } = await signedIn(t, browser, service);
  await row(page, 6).waitFor();
  await box(page).fill('WEB');
  await found(page).getByText('The first 5; type more of it for the others.').waitFor();
});

test('all orders whose references contain a text are a list, the newest first, with all that a list has', async (t) => {
  const service = await startService(t);
  const { store } = service;
  const orders = [1n, 2n, 3n, 4n, 5n, 6n].map((id) => ({
    ...{ ...pending(id), reference: `Web-0032-${id}`, shipDate: Date.now() + Number(id) },
  }));
  await place(store, ...orders, pending(7n), { ...pending(8n), reference: 'PO-8' });
  await store.apply([{ type: 'cancel', id: 2n }]);
  const { page } = await signedIn(t, browser, service, {
    search: '?sort=shipDate',
  });
  await row(page, 6).waitFor();
  await live(page);
  await box(page).fill('eb-0032');
  await page.getByRole('link', { name: 'All that contain eb-0032' }).click();
  assert.match(await page.getByRole('table').getByRole('mark').first().innerText(), /^eb-0032$/i);
  await listed(page, ['6', '5', '4', '3', '2', '1']);
  assert.equal(new URL(page.url()).search, '?contains=eb-0032');
  await page.getByRole('status').getByText('6 orders').waitFor();
  await page.getByRole('link', { name: 'Pending 5' }).click();
  await listed(page, ['6', '5', '4', '3', '1']);
  // There is no other order of them, also with an address that asks for one.
  assert.equal(
    await page.getByRole('columnheader', { name: 'Ships' }).getByRole('link').count(),
    0,
  );
  await page.getByRole('button', { name: 'Ships', exact: true }).click();
  await page.getByRole('link', { name: /^Next 7 days/ }).click();
  await page.getByRole('link', { name: 'Pending 5' }).waitFor();
  await listed(page, ['6', '5', '4', '3', '1']);
  await page.goto(`${page.url().split('?')[0]}?contains=EB-0032&status=pending&sort=placedAt`);
  await listed(page, ['6', '5', '4', '3', '1']);
  await page.getByRole('columnheader', { name: 'Order' }).getByRole('link').click();
  await listed(page, ['1', '3', '4', '5', '6']);
  await page.getByRole('columnheader', { name: 'Order' }).getByRole('link').click();
  await listed(page, ['6', '5', '4', '3', '1']);
  // Orders that come are counted if they match.
  await live(page);
  await place(store, { ...pending(9n), reference: 'x-wEB-0032' }, pending(10n));
  await page.getByRole('button', { name: '1 newer order' }).click();
  await listed(page, ['9', '6', '5', '4', '3', '1']);
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const csv = await readFile(await (await saved).path(), 'utf8');
  assert.deepEqual(csv.match(/^\d+/gm), ['9', '6', '5', '4', '3', '1']);
});

test('the filter Reference finds parts of three characters or more', async (t) => {
  const service = await startService(t);
  const references = ['Web-0032-1', '0032', 'PO-1'];
  await place(
    service.store,
    ...references.map((reference, index) => ({ ...pending(BigInt(index + 1)), reference })),
  );
  const { page } = await signedIn(t, browser, service);
  await row(page, 3).waitFor();
  await page.getByRole('button', { name: 'Reference', exact: true }).click();
  const form = page.getByRole('dialog', { name: 'Reference' });
  const part = form.getByRole('checkbox', { name: 'and those that contain it' });
  await part.check();
  await form.getByRole('textbox').fill('03');
  await form.getByRole('button', { name: 'Show orders' }).click();
  await form.getByText('A part has three characters at least.').waitFor();
  await form.getByRole('textbox').fill(' 032 ');
  await form.getByRole('button', { name: 'Show orders' }).click();
  await listed(page, ['2', '1']);
  const chip = page.getByRole('button', { name: 'Reference …032…' });
  await chip.click();
  assert.equal(await form.getByRole('textbox').inputValue(), '032');
  await part.uncheck();
  await form.getByRole('textbox').fill('0032');
  await form.getByRole('button', { name: 'Show orders' }).click();
  await listed(page, ['2']);
  assert.equal(new URL(page.url()).search, '?reference=0032');
  await page.goto(`${page.url().split('?')[0]}?contains=032`);
  await listed(page, ['2', '1']);
  await page.getByRole('link', { name: 'Remove the filter Reference' }).click();
  await listed(page, ['3', '2', '1']);
  // What begins no reference can be in the middle of one.
  await page.goto(`${page.url().split('?')[0]}?prefix=eb-0`);
  await page.getByRole('link', { name: 'Search inside references' }).click();
  await listed(page, ['1']);
});

test('the end of a reference that is also an id finds both, and Enter opens the id', async (t) => {
  const service = await startService(t);
  const references = { 321: 'A', 7: 'WEB-2026-104321', 8: 'B-321-321' };
  await place(
    service.store,
    ...Object.entries(references).map(([id, reference]) => ({ ...pending(BigInt(id)), reference })),
  );
  const { page } = await signedIn(t, browser, service);
  await row(page, 8).waitFor();
  await box(page).fill('321');
  const hits = found(page).getByRole('link');
  await found(page).getByText('Reference contains this').waitFor();
  assert.deepEqual(await hits.locator('b').allInnerTexts(), ['321', '8', '7']);
  await typeKey(page, 'Enter');
  await details(page, 321).waitFor();
});

test('the search ends after the newest 50,000 orders, and goes on by a button', async (t) => {
  const service = await startService(t);
  const { store } = service;
  await place(store, { ...pending(1n), reference: 'WEB-104321' });
  for (let from = 2n; from <= 110_001n; from += 2_000n) {
    const ids = Array.from({ length: 2_000 }, (_, index) => from + BigInt(index));
    await place(
      store,
      ...ids.map((id) => ({ ...pending(id), reference: `PO-${id + 5_000_000n}` })),
    );
  }
  await place(store, { ...pending(200_000n), reference: 'x-104321-y' });
  const { page, problems } = await signedIn(t, browser, service);
  await row(page, 200_000).waitFor();
  await box(page).fill('-104321');
  await found(page).getByText('1 found in the newest 50,000 orders.').waitFor();
  // It is not the only one as long as older orders are left.
  await typeKey(page, 'Enter');
  assert.equal(new URL(page.url()).search, '');
  await found(page).getByRole('button', { name: 'Search older orders' }).click();
  await found(page).getByText('WEB-104321').waitFor();
  assert.deepEqual(await found(page).getByRole('link').locator('b').allInnerTexts(), [
    '200000',
    '1',
  ]);
  assert.equal(await found(page).getByRole('button').count(), 0);
  await typeKey(page, 'ArrowDown');
  await typeKey(page, 'ArrowDown');
  await typeKey(page, 'Enter');
  await details(page, 1).waitFor();
  assert.deepEqual(problems, []);
});
