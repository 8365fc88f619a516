import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { extractText } from 'unpdf';
import { code128 } from '../../console/browser/printing/code128.ts';
import { pending, place, placeSamples, startService } from '../http/harness.ts';
import { startBrowser } from './chromium.ts';
import { row, signedIn } from './console-page.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

test('a text as Code 128 has a start, a symbol for each character or two digits, a check symbol and a stop', () => {
  const symbolsOf = (text: string) => {
    const widths = code128(text)!.join('');
    // The stop symbol has one more bar.
    return [...widths.slice(0, -7).match(/.{6}/g)!, widths.slice(-7)];
  };
  // Start B, P, J, J, 1, 2, 3, C, the check symbol 55 and the stop.
  assert.deepEqual(symbolsOf('PJJ123C'), [
    ...['211214', '313121', '112133', '112133', '123221', '223211', '221132', '131321'],
    ...['311321', '2331112'],
  ]);
  // Start C, 12, 34.
  assert.deepEqual(symbolsOf('1234').slice(0, 3), ['211232', '112232', '131123']);
  // Start B, 1, go on with digits, 23; an id of 19 digits is narrow enough for a sheet of A6.
  assert.deepEqual(symbolsOf('123').slice(0, 4), ['211214', '123221', '113141', '312131']);
  assert.equal(
    code128('8000000000000000001')!.reduce((sum, each) => sum + each),
    156,
  );
  assert.equal(code128('ü'), undefined);
  assert.equal(code128(''), undefined);
  assert.notEqual(code128('x'.repeat(48)), undefined);
  assert.equal(code128('x'.repeat(49)), undefined);
});

/** The texts of the pages of what the browser prints. */
async function printed(page: Page, options: Parameters<Page['pdf']>[0] = {}): Promise<string[]> {
  const bytes = await page.pdf({ preferCSSPageSize: false, ...options });
  const { text } = await extractText(new Uint8Array(bytes));
  return text;
}

test('slips and pick lists are printed of the selected orders only, with codes and dates', async (t) => {
  const service = await startService(t, { STORE_NAME: 'Pets of Berlin' });
  const shipDate = Date.UTC(2026, 11, 24, 12);
  await place(
    service.store,
    { ...pending(1n), petId: 8n, quantity: 2n, reference: 'PO-1', shipDate },
    { ...pending(2n), petId: 7n, quantity: 1n, reference: 'Grüße', shipDate },
    { ...pending(3n), petId: 8n, quantity: 5n, shipDate },
    pending(4n),
  );
  const { page, problems } = await signedIn(t, browser, service);
  // The page would wait for the dialog of the browser.
  await page.evaluate('globalThis.print = () => {}');
  for (const id of [1, 2, 3]) await row(page, id).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Print slips' }).click();
  const slips = page.locator('.slip');
  await slips.first().waitFor({ state: 'attached' });
  const codes = slips.locator('.code');
  assert.deepEqual(
    await codes.evaluateAll((all) => all.map((each) => each.getAttribute('aria-label'))),
    ['Code of 3', 'Code of 2', 'Code of 1', 'Code of PO-1'],
  );
  assert.equal(await slips.first().isVisible(), false);
  const sheets = await printed(page, { format: 'A6' });
  assert.deepEqual(
    sheets.map((text) => /Packing slip\s+(\d+)/.exec(text)?.[1]),
    ['3', '2', '1'],
  );
  assert.match(
    sheets[1]!.replaceAll(/\s+/g, ' '),
    /^Pets of Berlin Packing slip 2 Grüße Contents 1 × pet 7 Ships Dec 24, 2026, .* Placed .* Printed .*, 20\d\d, /,
  );
  // Printed, they are gone.
  await slips.first().waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Pick list' }).click();
  await page.locator('.pick-list').waitFor({ state: 'attached' });
  assert.equal(await page.locator('.pick-list .code').count(), 3);
  const [list, ...others] = await printed(page, { format: 'A4' });
  assert.deepEqual(others, []);
  const words = list!.replaceAll(/\s+/g, ' ');
  assert.match(
    words,
    /^Page 1 of 1 Pets of Berlin Production Printed .*, 20\d\d, .* by test Pick list of 3 orders 8 pieces, 2 pets Picked by Date/,
  );
  assert.match(
    words,
    /Done Pet Pieces Code Order Reference Ships 7 1 2 Grüße Dec 24, 2026 8 7 in 2 orders 8 5 3 Dec 24, 2026 8 2 1 PO-1 Dec 24, 2026 All 8 in 3 orders/,
  );
  assert.deepEqual(problems, []);
});

for (const format of ['A4', 'Letter', 'A6']) {
  test(`a slip with 19 digits or a long reference is one page of ${format}`, async (t) => {
    const service = await startService(t);
    const order = { ...pending(8_000_000_000_000_000_001n), petId: 9_223_372_036_854_775_807n };
    await place(
      service.store,
      { ...order, reference: 'AMZ-302-7714509-2209' },
      { ...order, id: 1n, reference: LONG.repeat(6).slice(0, 255) },
    );
    const { page } = await signedIn(t, browser, service);
    await page.evaluate('globalThis.print = () => {}');
    for (const id of [order.id, 1n]) await row(page, id).getByRole('checkbox').check();
    const slip = page.locator('.slip').first();
    await page.getByRole('button', { name: 'Print slips' }).click();
    await slip.waitFor({ state: 'attached' });
    const sheets = await printed(page, { format });
    assert.equal(sheets.length, 2);
    assert.match(sheets[0]!, /^8000000000000000001$/m);
    await page.getByRole('button', { name: 'Print slips' }).click();
    await slip.waitFor({ state: 'attached' });
    await drawnForPaper(page, format === 'A6' ? 91 : 196);
    const parts = await slip.locator('> *').all();
    const [, , code, reference, another] = await Promise.all(
      parts.map((each) => each.boundingBox()),
    );
    assert.ok(code!.height > 65, 'the code is as high as it is drawn');
    assert.ok(reference!.y - code!.y - code!.height > 10);
    assert.ok(another!.y > reference!.y + reference!.height);
    for (const each of await modulesOf(page)) assert.ok(each >= 0.3, String(each));
  });
}

test('the list is printed with what it shows, how many it does not, and dates with their years', async (t) => {
  const service = await startService(t, { STORE_NAME: 'Pets of Berlin' });
  await placeSamples(service.store, 70);
  await place(service.store, {
    ...pending(71n),
    reference: 'PO-71',
    shipDate: Date.UTC(2025, 4, 6),
  });
  const shop = { ...pending(8_000_000_000_000_000_001n), petId: 9_007_199_254_740_993n };
  await place(
    service.store,
    { ...shop, reference: 'AMZ-302-7714510-2997' },
    { ...shop, id: 72n, reference: 'EU-CENTRAL-WAREHOUSE-NORTH-PALLET-Q4-BERLIN' },
  );
  const { page } = await signedIn(t, browser, service, { search: '?status=pending' });
  await row(page, 71).waitFor();
  const total = /([\d,]+) orders?/.exec(await page.locator('.match').innerText())![1]!;
  const pages = await printed(page, { format: 'A4' });
  const words = pages.join(' ').replaceAll(/\s+/g, ' ');
  assert.match(
    words,
    /^Page 1 of \d Pets of Berlin Production Printed .*, 20\d\d, .* by test Orders Pending\. 50 of/,
  );
  assert.ok(words.includes(`50 of ${total} orders · times in`));
  assert.match(words, /71 PO-71 Pending, overdue 71 1 May 6, 2025, \d+:\d\d [AP]M/);
  assert.match(words, /The others are not on this paper/);
  assert.doesNotMatch(words, /days overdue|in \d+ days/);
  assert.match(words, / AMZ-302-7714510-2997 Pending/, 'an ordinary reference is in one line');
  assert.match(words, /EU-CENTRAL-\s?WAREHOUSE-\s?NORTH-\s?PALLET-\s?Q4-\s?BERLIN /);
  assert.equal(pages.length, 2);
  for (const each of pages) assert.match(each, /Pets of Berlin.*\nOrders\nPending\./s);
  assert.ok(pages.at(-1)!.startsWith(`Page ${pages.length} of ${pages.length}`));
});

test('an open order is printed as one page, with its codes, dates and history', async (t) => {
  const service = await startService(t);
  await placeSamples(service.store, 60);
  await place(service.store, { ...pending(61n), reference: 'WEB-61' });
  await service.store.apply([
    { type: 'cancel', id: 61n, by: service.key.id, reason: 'out_of_stock' },
  ]);
  const { page } = await signedIn(t, browser, service, { search: '?order=61' });
  await page.getByRole('heading', { name: 'History' }).waitFor();
  // What integrators need is below what clerks do.
  await page.getByText(/^For integrators: revision 3, not complete$/).waitFor();
  const pages = await printed(page, { format: 'A4' });
  assert.equal(pages.length, 1);
  const words = pages[0]!.replaceAll(/\s+/g, ' ');
  assert.match(words, /Order 61 WEB-61 Cancelled 61 WEB-61 Pet 61 Quantity 1/);
  assert.match(words, /Reason out of stock History When What By .*, \d{4}, .* Cancelled test/);
  const small = await printed(page, { format: 'A6' });
  assert.match(small[0]!, /^Order 61$/m);
  assert.match(small.at(-1)!, /Cancelled test/);
  await drawnForPaper(page, 182);
  const [code, another] = await page.locator('.paper figure').all();
  const { x, y, width, height } = (await code!.boundingBox())!;
  const head = (await page.locator('.record header').boundingBox())!;
  assert.ok(Math.abs(x + width - head.x - head.width) < 1, 'codes end where the lines end');
  assert.ok((await another!.boundingBox())!.y - y - height > 30, 'a scanner meets one of them');
});

test('a cancelled order does not ship: it has a ship date, on the screen and on paper', async (t) => {
  const service = await startService(t);
  await place(service.store, { ...pending(1n), shipDate: Date.UTC(2099, 11, 11, 12) });
  await service.store.apply([{ type: 'cancel', id: 1n, at: Date.now() }]);
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  const term = (name: string) => page.getByRole('term').getByText(name, { exact: true });
  await page.getByRole('heading', { name: 'History' }).waitFor();
  assert.deepEqual([await term('Ship date').count(), await term('Ships').count()], [1, 0]);
  const [text] = await printed(page, { format: 'A4' });
  assert.match(text!.replaceAll(/\s+/g, ' '), /Quantity 1 Ship date Dec 11, 2099, /);
});

test('a shipped order is printed with its ship date, which can be in the future', async (t) => {
  const service = await startService(t);
  const shipDate = Date.UTC(2099, 11, 11, 12);
  await place(service.store, { ...pending(1n), status: 'shipped', shipDate, complete: true });
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  await page.getByRole('heading', { name: 'History' }).waitFor();
  const [text] = await printed(page, { format: 'A4' });
  assert.match(text!.replaceAll(/\s+/g, ' '), /Quantity 1 Ship date planned for Dec 11, 2099, /);
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'Order 1' }).waitFor({ state: 'detached' });
  const [list] = await printed(page, { format: 'A4' });
  assert.match(list!, /1 Shipped 1 1 planned for\nDec 11, 2099/);
});

test('the activity is printed with the bars of its charts, the store and the time', async (t) => {
  const service = await startService(t, { STORE_NAME: 'Pets of Berlin' });
  await placeSamples(service.store, 60);
  const { page } = await signedIn(t, browser, service, { search: '?view=activity' });
  await page.getByRole('heading', { name: 'Orders a day' }).waitFor();
  const sheets = await printed(page, { format: 'A4' });
  assert.equal(sheets.length, 1, 'the keys are on the page of the days');
  await page.emulateMedia({ media: 'print' });
  const bar = page.locator('.chart.placed .bar').last();
  const fill = await bar.evaluate((each) => getComputedStyle(each).fill);
  assert.notEqual(fill, 'rgb(255, 255, 255)');
  assert.ok((await bar.boundingBox())!.height > 0);
  const words = (await printed(page)).join(' ').replaceAll(/\s+/g, ' ');
  assert.match(
    words,
    /Pets of Berlin Production Printed .*, 20\d\d, .* by test [A-Z].* \d+, 20\d\d – [A-Z].* \d+, 20\d\d, days of .* Activity Orders a day/,
  );
  assert.doesNotMatch(words, /choose one/i);
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  const heading = (await page.getByRole('heading', { name: 'Activity' }).boundingBox())!;
  const dates = (await page.locator('.paper-head > p').boundingBox())!;
  assert.ok(heading.y - dates.y < 12, `beside the heading: ${heading.y - dates.y}`);
});

test('keys are printed as a table on A4 and Letter, and each in one column on A6', async (t) => {
  const service = await startService(t);
  const secret = await service.newKey({ scopes: ['keys:manage'] });
  const { page } = await signedIn(t, browser, { ...service, secret }, { search: '?view=keys' });
  const may = page.getByRole('cell', { name: 'Reads, places, ships, cancels, follows changes' });
  await may.waitFor();
  for (const format of ['A4', 'Letter']) {
    const [sheet] = await printed(page, { format });
    assert.match(sheet!.replaceAll(/\s+/g, ' '), /Key Permissions Last used Expires test/);
  }
  await drawnForPaper(page, 77);
  assert.ok((await may.boundingBox())!.width > 200);
});

/** As the browser draws it for printing, in so many millimetres. */
async function drawnForPaper(page: Page, millimetres: number): Promise<void> {
  await page.emulateMedia({ media: 'print' });
  await page.setViewportSize({ width: Math.round((millimetres / 25.4) * 96), height: 900 });
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
}

/** The widths of the modules of all codes that are printed, in millimetres. */
const modulesOf = (page: Page) =>
  page
    .locator('.code:visible')
    .evaluateAll((all) =>
      all.map(
        (each) =>
          (each.getBoundingClientRect().width / (each as SVGSVGElement).viewBox.baseVal.width) *
          (25.4 / 96),
      ),
    );

const LONG = 'PO/2026/11/CUSTOMER-ACME-INTERNATIONAL-77111';

test('a long reference leaves the title of a printed order its width; its code is wide enough for scanners, or left out', async (t) => {
  const service = await startService(t);
  await place(service.store, { ...pending(5003n), reference: LONG });
  const { page } = await signedIn(t, browser, service, { search: '?order=5003' });
  await page.getByRole('heading', { name: 'History' }).waitFor();
  const [sheet] = await printed(page, { format: 'A4' });
  const reference = page.locator('.paper .name').getByText(LONG);
  assert.match(sheet!, /^Order 5003$/m);
  assert.match(sheet!, new RegExp(`^${LONG}$`, 'm'));
  for (const [millimetres, codes] of [
    [182, 2],
    [77, 1],
  ] as const) {
    await drawnForPaper(page, millimetres);
    assert.ok((await page.locator('.paper h1').boundingBox())!.height < 40);
    // A longer one fills its first line, too, instead of breaking after a hyphen.
    const style = await reference.evaluate((each) => getComputedStyle(each).wordBreak);
    assert.equal(style, 'break-all');
    const modules = await modulesOf(page);
    assert.equal(modules.length, codes);
    for (const each of modules) assert.ok(each >= 0.25, String(each));
  }
});

test('a pick list has its title in one line and its first orders on the first page of A6, with codes for scanners', async (t) => {
  const service = await startService(t);
  const ids = [5001, 5002, 5003, 5004];
  await place(
    service.store,
    ...ids.map((id) => ({ ...pending(BigInt(id)), petId: 7n, reference: LONG })),
  );
  const { page } = await signedIn(t, browser, service);
  await page.evaluate('globalThis.print = () => {}');
  for (const id of ids) await row(page, id).getByRole('checkbox').check();
  const prepare = async () => {
    await page.getByRole('button', { name: 'Pick list' }).click();
    await page.locator('.pick-list').waitFor({ state: 'attached' });
  };
  await prepare();
  const [first] = await printed(page, { format: 'A6' });
  assert.match(first!, /^Pick list of 4 orders$/m);
  assert.match(first!.replaceAll(/\s+/g, ' '), /Pet 7 .*Order 5004 .*Order 5003 /);
  for (const millimetres of [182, 77]) {
    await prepare();
    await drawnForPaper(page, millimetres);
    const modules = await modulesOf(page);
    assert.equal(modules.length, 4);
    for (const each of modules) assert.ok(each >= 0.25, String(each));
    await page.emulateMedia({ media: 'screen' });
    await page.setViewportSize({ width: 1_280, height: 720 });
  }
});

test('on A4 the status of an overdue order is in one line, 31 orders take one sheet, and a pick list has room for long references', async (t) => {
  const service = await startService(t);
  const shipDate = Date.UTC(2025, 10, 23, 12);
  const orders = Array.from({ length: 31 }, (_, index) => ({
    ...{ ...pending(BigInt(index + 1)), shipDate },
    reference: index % 8 === 0 ? `EU-CENTRAL-WAREHOUSE-2026/11/ONLINE-SHOP-1002${index + 10}` : 'A',
  }));
  const long = { ...pending(8_000_000_000_000_000_003n), reference: orders[0]!.reference };
  await place(service.store, ...orders);
  const { page } = await signedIn(t, browser, service);
  await page.evaluate('globalThis.print = () => {}');
  await row(page, 31).waitFor();
  const sheets = await printed(page, { format: 'A4' });
  assert.equal(sheets.length, 1);
  assert.equal([...sheets[0]!.matchAll(/Pending, overdue/g)].length, 31);
  await place(service.store, long);
  await page.reload();
  for (const id of [1n, long.id]) await row(page, id).getByRole('checkbox').check();
  await page.evaluate('globalThis.print = () => {}');
  await page.getByRole('button', { name: 'Pick list' }).click();
  await page.locator('.pick-list').waitFor({ state: 'attached' });
  await drawnForPaper(page, 182);
  const reference = page.locator('.pick-list').getByText(long.reference).first();
  const lines = await reference.evaluate((each) => each.getClientRects().length);
  assert.ok(lines <= 2, String(lines));
  for (const each of await modulesOf(page)) assert.ok(each >= 0.25, String(each));
  const list = await page.locator('.pick-list').innerText();
  assert.equal([...list.matchAll(/Nov 23, 2025\noverdue/g)].length, 1);
  const cell = page.locator('.order td:has(bdi)').first();
  const gap = await cell.evaluate((each) => getComputedStyle(each).paddingLeft);
  assert.ok(Number.parseFloat(gap) > 12, gap);
});

test('on A6 each date of a list is in one line, and the heading of the history is on the page of its first change', async (t) => {
  const service = await startService(t);
  const lengths = [1, 26, 42, 90, 150];
  await place(
    service.store,
    ...lengths.map((length, index) => ({
      ...pending(BigInt(index + 1)),
      shipDate: Date.UTC(2025, 4, 6),
      reference: `${index}${'x'.repeat(length)}`,
    })),
  );
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  const list = (await printed(page, { format: 'A6' })).join('\n');
  assert.equal([...list.matchAll(/Ships May 6, 2025, \d+:\d\d [AP]M(?: Placed .*)?$/gm)].length, 5);
  for (const id of [1, 2, 3, 4, 5]) {
    await row(page, id)
      .getByRole('link', { name: String(id), exact: true })
      .first()
      .click();
    await page.getByRole('heading', { name: `Order ${id}` }).waitFor();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    const pages = await printed(page, { format: 'A6' });
    const history = pages.find((each) => each.includes('History'))!;
    assert.match(history, /History\s+When\s+What\s+By\s/, `order ${id}`);
  }
});

test('the page for scanning is printed with its lines, and without its controls', async (t) => {
  const service = await startService(t);
  const shipDate = Date.UTC(2099, 11, 11, 12);
  await place(service.store, { ...pending(1n), reference: LONG }, { ...pending(2n), shipDate });
  const { page } = await signedIn(t, browser, service, { search: '?view=scan' });
  await page.getByLabel('Or paste a list').fill('1, 2, 999');
  await page.getByRole('button', { name: 'Add to the list' }).click();
  await page.getByRole('button', { name: 'Ship 2…' }).waitFor();
  const words = (await printed(page, { format: 'A4' })).join(' ').replaceAll(/\s+/g, ' ');
  assert.match(
    words,
    /Scanned 3 Ready 2 Done 0 To look at 1 No\. .* 3 Not found 999 No order has this id or reference\. 2 Ready 2 1 × pet 2 Dec 11, 2099 1 Ready 1 .*Jan 1, 1970, overdue/,
  );
  assert.ok(words.replaceAll(' ', '').includes(LONG));
  assert.doesNotMatch(
    words,
    /just now|years|Ship 2|Print 2|Clear|paste|Add to|AMZ-302|Search in|Cancel/,
  );
  await page.emulateMedia({ media: 'print' });
  const decoration = await page
    .getByRole('link', { name: '1', exact: true })
    .evaluate((each) => getComputedStyle(each).textDecorationLine);
  assert.equal(decoration, 'none');
  // What is listed alone is said by its tab.
  await page.emulateMedia({ media: null });
  await page.getByRole('button', { name: 'To look at 1' }).click();
  const [open] = await printed(page, { format: 'A4' });
  assert.match(open!.replaceAll(/\s+/g, ' '), /Scanned 3 To look at 1 No\./);
});
