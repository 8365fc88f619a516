import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { entriesIn } from '../../console/browser/list/address.ts';
import { pending, place, startService } from '../http/harness.ts';
import { startBrowser } from './chromium.ts';
import { live, row, signedIn } from './console-page.ts';
import { accessibilityFindings } from './page.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

test('the entries of a list are its lines and cells; of one line, what commas or blanks separate', () => {
  assert.deepEqual(entriesIn(' 1\r\n\n A, b \n1\n'), ['1', 'A, b']);
  assert.deepEqual(entriesIn('1\t2'), ['1', '2']);
  assert.deepEqual(entriesIn('1, 2;A b'), ['1', '2', 'A b']);
  assert.deepEqual(entriesIn('1 2  3'), ['1', '2', '3']);
  assert.deepEqual(entriesIn('A-1'), ['A-1']);
  assert.deepEqual(entriesIn(' \n '), []);
  assert.deepEqual(entriesIn('1,000'), ['1,000']);
  assert.deepEqual(entriesIn('order 7'), ['order 7']);
  // Not orders 1 and 2.
  assert.deepEqual(entriesIn('1,000,2,000'), ['1,000,2,000']);
});

test('a pasted list of ids and references selects what is pending, and names the rest', async (t) => {
  const service = await startService(t);
  await place(
    service.store,
    { ...pending(1n), reference: 'A-1' },
    { ...pending(2n), reference: '3' },
    pending(3n),
    pending(4n),
  );
  await service.store.apply([{ type: 'ship', id: 4n }]);
  const { page, problems } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await page.getByRole('button', { name: 'Select a list' }).click();
  const list = page.getByLabel(/^Ids or references/);
  await list.fill('A-1\n#3\n4\n99\nB-1');
  assert.deepEqual(await accessibilityFindings(page), []);
  const select = page.getByRole('button', { name: 'Select', exact: true });
  await select.click();
  await page.getByText('2 orders selected.').waitFor();
  const listed = (name: string) =>
    page.getByRole('list', { name, exact: true }).getByRole('listitem').allInnerTexts();
  assert.deepEqual(await listed('Not found'), ['99', 'B-1']);
  assert.deepEqual(await listed('Not pending'), ['4 shipped']);
  await page.getByRole('button', { name: 'Close' }).click();
  assert.ok(await page.getByLabel('Select order 1').isChecked());
  assert.ok(await page.getByLabel('Select order 3').isChecked());
  await page.getByRole('button', { name: /^Clear/ }).click();

  await page.getByRole('button', { name: 'Select a list' }).click();
  await list.fill('3');
  await page.getByLabel('Numbers are references, not ids').check();
  await select.click();
  await page.getByText('1 order of the list selected').waitFor();
  assert.ok(await page.getByLabel('Select order 2').isChecked());
  assert.deepEqual(problems, []);
});

test('a list that cannot be looked up selects nothing', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page, problems } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await page.getByRole('button', { name: 'Select a list' }).click();
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => i).join('\n');
  await page.getByLabel(/^Ids or references/).fill(numbers(1_001));
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await page.getByText('this one has 1,001').waitFor();
  await page.getByLabel(/^Ids or references/).fill(numbers(1_000));
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await page.getByText(/^Looking up \d+ of 1,000/).waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Select a list' }).click();
  await page.route('**/v2/store/orders/2', (route) =>
    route.fulfill({ status: 403, json: { status: 403, code: 'scope_missing', message: 'no' } }),
  );
  await page.getByLabel(/^Ids or references/).fill('1\n2');
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await page.getByText('Nothing was selected.').waitFor();
  assert.equal(await page.getByLabel('Select order 1').isChecked(), false);
  assert.deepEqual(problems, []);
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
  await page.getByRole('button', { name: 'Print slips' }).click();
  await page.getByText('Select up to 1,000 orders to print').waitFor();
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

test('a lookup ends with its dialog, also by the button Back, and selects nothing', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await page.getByRole('link', { name: /^Pending/ }).click();
  await row(page, 1).waitFor();
  const held = Promise.withResolvers<void>();
  await page.route('**/v2/store/orders/1', async (route) => {
    await held.promise;
    await route.continue().catch(() => {});
  });
  await page.getByRole('button', { name: 'Select a list' }).click();
  await page.getByLabel(/^Ids or references/).fill('1\n2');
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await page.getByText('Looking up').waitFor();
  await page.evaluate('history.back()');
  await page.getByRole('dialog', { name: 'Select the orders' }).waitFor({ state: 'detached' });
  held.resolve();
  await page.getByLabel('Select order 2').check();
  await page.getByText('1 selected').waitFor();
});

test('an order that ships during the lookup is not selected', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service);
  await live(page);
  const held = Promise.withResolvers<void>();
  await page.route('**/v2/store/orders/2', async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Select a list' }).click();
  await page.getByLabel(/^Ids or references/).fill('1\n2');
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await page.getByText('Looking up 1 of 2').waitFor();
  await service.store.apply([{ type: 'ship', id: 1n }]);
  await row(page, 1).getByText('Shipped').waitFor();
  held.resolve();
  await page.getByText('1 order selected.').waitFor();
  await page.getByText('changed meanwhile').waitFor();
});

test('orders of a list that do not match are not counted as matching', async (t) => {
  const service = await startService(t);
  for (let from = 1; from <= 60; from += 30) {
    const all = Array.from({ length: 30 }, (_, index) => ({
      ...pending(BigInt(from + index)),
      petId: 5n,
    }));
    await place(service.store, ...all);
  }
  await place(service.store, { ...pending(100n), petId: 6n });
  const { page } = await signedIn(t, browser, service, { search: '?pet=5' });
  await row(page, 60).waitFor();
  await page.getByRole('button', { name: 'Select a list' }).click();
  await page.getByLabel(/^Ids or references/).fill('100');
  await page.getByRole('button', { name: 'Select', exact: true }).click();
  await page.getByText('1 selected').waitFor();
  await page.getByLabel('Select all pending orders on this page').check();
  await page
    .getByText(
      'All 50 pending orders on this page are selected. 1 order that does not match is selected, too.',
    )
    .waitFor();
  await page.getByRole('button', { name: 'Select all 60 that match' }).click();
  await page
    .getByText('All 60 pending orders that match are selected. 1 order that does')
    .waitFor();
  await page.getByText('61 selected').waitFor();
});
