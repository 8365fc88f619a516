import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { pending, place, startService } from '../http/harness.ts';
import { temporaryFolder } from '../temporary.ts';
import { startBrowser } from './chromium.ts';
import { listed, row, signedIn } from './console-page.ts';
import { accessibilityFindings } from './page.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

const DAY_MS = 86_400_000;

const openViews = (page: Page) => page.getByRole('button', { name: /^Views/ }).click();

test('a view is kept under its name in this browser, beside those that every browser has', async (t) => {
  const service = await startService(t);
  await place(
    service.store,
    { ...pending(1n), shipDate: Date.now() - 3 * DAY_MS },
    { ...pending(2n), shipDate: Date.now() + 3 * DAY_MS, petId: 7n },
    { ...pending(3n), status: 'shipped', shipDate: Date.now() - 3 * DAY_MS },
  );
  const { page, problems } = await signedIn(t, browser, service);
  await row(page, 2).waitFor();
  await openViews(page);
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.getByRole('link', { name: 'Overdue' }).click();
  await row(page, 2).waitFor({ state: 'detached' });
  await listed(page, ['1']);
  // The filters say it; no order that has ended is overdue.
  const overdue = new URL(page.url()).search;
  await page.getByRole('button', { name: 'Views', exact: true }).waitFor();
  for (const name of ['All 1', 'Pending 1', 'Shipped 0', 'Cancelled 0'])
    await page.getByRole('link', { name, exact: true }).waitFor();
  // What was not changed has nothing to apply.
  await page.getByRole('button', { name: 'Ships Overdue' }).click();
  const close = page.getByRole('dialog', { name: 'Ships' }).getByRole('button', { name: 'Close' });
  assert.doesNotMatch((await close.getAttribute('class')) ?? '', /primary/);
  await close.click();
  await close.waitFor({ state: 'hidden' });
  assert.equal(new URL(page.url()).search, overdue);
  await page.getByRole('link', { name: 'Shipped 0' }).click();
  await page.getByText('Shipped, to ship: Overdue. The store has 3 orders').waitFor();
  await page.getByRole('link', { name: 'All 1', exact: true }).click();
  await listed(page, ['1']);
  await page.goto(`${page.url().split('?')[0]}?pet=7&sort=shipDate`);
  await row(page, 2).waitFor();
  await openViews(page);
  await page.getByLabel('Keep what is shown now as').fill(' Seven ');
  await page.keyboard.press('Enter');
  await page.getByText('View Seven kept in this browser').waitFor();
  await page.getByRole('button', { name: 'Views Seven', exact: true }).waitFor();
  await page.goto(`${page.url().split('?')[0]}`);
  await row(page, 1).waitFor();
  await openViews(page);
  await page.getByRole('link', { name: 'Seven' }).click();
  await row(page, 1).waitFor({ state: 'detached' });
  assert.equal(new URL(page.url()).search, '?pet=7&sort=shipDate&without=none');
  await openViews(page);
  await page.getByRole('button', { name: 'Forget the view Seven' }).click();
  await page.getByRole('link', { name: 'Seven' }).waitFor({ state: 'detached' });
  assert.deepEqual(problems, []);
});

test('several statuses are shown at once', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n), pending(3n));
  await service.store.apply([
    { type: 'ship', id: 1n },
    { type: 'cancel', id: 2n },
  ]);
  const { page } = await signedIn(t, browser, service);
  await row(page, 3).waitFor();
  await page.getByRole('button', { name: 'Status' }).click();
  const box = (name: string) => page.getByRole('checkbox', { name, exact: true });
  await box('Cancelled').uncheck();
  await row(page, 2).waitFor({ state: 'detached' });
  assert.equal(new URL(page.url()).searchParams.get('status'), 'pending,shipped');
  await page.getByRole('button', { name: 'Status Pending or Shipped' }).waitFor();
  await box('Shipped').uncheck();
  await row(page, 1).waitFor({ state: 'detached' });
  await row(page, 3).waitFor();
  await listed(page, ['3']);
  await box('Pending').click();
  assert.equal(await box('Pending').isChecked(), true);
});

/** The lines of a file that a button writes. */
async function exported(t: Parameters<typeof temporaryFolder>[0], page: Page, name: string) {
  const begun = page.waitForEvent('download');
  await page.getByRole('button', { name, exact: true }).click();
  const download = await begun;
  const path = join(temporaryFolder(t), 'file.csv');
  await download.saveAs(path);
  return readFileSync(path, 'utf8').split('\r\n');
}

test('the selected orders are exported, and the activity with its totals', async (t) => {
  const service = await startService(t);
  await place(service.store, ...[1n, 2n, 3n, 4n].map(pending));
  await service.store.apply([{ type: 'cancel', id: 4n }]);
  const { page } = await signedIn(t, browser, service);
  for (const id of [1, 3]) await row(page, id).getByRole('checkbox').check();
  const orders = await exported(t, page, 'Export 2');
  assert.deepEqual(
    orders.map((line) => line.split(',')[0]),
    ['\ufefforderId', '3', '1', ''],
  );
  await page.getByRole('link', { name: 'Activity' }).click();
  const days = await exported(t, page, 'Export CSV');
  assert.equal(days.length, 17);
  assert.deepEqual(
    [days[0], days.at(-2)],
    ['\ufefffrom,before,placed,shipped,cancelled', 'total,,4,0,1'],
  );
  assert.match(days[14]!, /Z,4,0,1$/);
});

test('the columns are in the address, and those that are left out are not exported', async (t) => {
  const service = await startService(t);
  await place(service.store, { ...pending(1n), petId: 7n }, pending(2n));
  await service.store.apply([{ type: 'ship', id: 2n }]);
  const without = 'reference,quantity,ships,placed,changed';
  const search = `?status=pending&without=pet,${without}`;
  const { page, problems } = await signedIn(t, browser, service, { search });
  await row(page, 1).waitFor();
  assert.equal(await page.getByRole('columnheader', { name: 'Pet' }).isVisible(), false);
  await page.getByRole('button', { name: 'View 6 hidden' }).click();
  await page.getByRole('checkbox', { name: 'Pet' }).check();
  await page.getByRole('columnheader', { name: 'Pet' }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('without'), without);
  await page.keyboard.press('Escape');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const path = await (await download).path();
  // Only the orders that match, with the columns that no view leaves out.
  assert.deepEqual(readFileSync(path, 'utf8').split('\r\n'), [
    ...['\ufefforderId,petId,complete,status,reason,trackingNumber', '1,7,false,pending,,', ''],
  ]);
  assert.deepEqual(problems, []);
});
