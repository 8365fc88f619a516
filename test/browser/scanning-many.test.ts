import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { entriesOf, linesIn } from '../../console/browser/scanning/pasted.ts';
import { pending, place, startService } from '../http/harness.ts';
import { startBrowser } from './chromium.ts';
import { live, row, signedIn, signOut } from './console-page.ts';
import { accessibilityFindings } from './page.ts';
import { scan } from './scanner.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

const lines = (page: Page) => page.locator('.scanned tbody tr');
const textOf = async (page: Page) =>
  (await lines(page).allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim());
const last = (page: Page) => page.getByRole('status', { name: 'Last scan' });
const tally = (page: Page, name: string) =>
  page.getByRole('group', { name: 'What is listed' }).getByRole('button', { name });

/** Listens to the page. @returns the sounds since then */
async function heard(page: Page) {
  const sounds = await page.evaluateHandle(() => {
    const tones: string[] = [];
    const { start } = OscillatorNode.prototype;
    OscillatorNode.prototype.start = function (this: OscillatorNode) {
      tones.push(this.frequency.value > 400 ? 'high' : 'low');
      start.call(this);
    };
    return tones;
  });
  return () => sounds.jsonValue();
}

const entriesIn = (text: string, ...known: string[]) =>
  entriesOf(linesIn(text), (each) => known.includes(each));

test('a pasted line is one text if that names an order, otherwise what commas or blanks separate', () => {
  const texts = (text: string, ...known: string[]) =>
    entriesIn(text, ...known).map((each) => each.text);
  assert.deepEqual(texts(' 1\r\n\n A, b \n1\n', 'A, b'), ['1', 'A, b', '1']);
  assert.deepEqual(texts('1, 2;A b', 'A b', '2'), ['1', '2', 'A b']);
  assert.deepEqual(texts('1 2  X-3', 'X-3'), ['1', '2', 'X-3']);
  assert.deepEqual(texts('Fischer, phone', 'Fischer, phone'), ['Fischer, phone']);
  assert.deepEqual(texts('nothing of this'), ['nothing of this']);
  assert.deepEqual(texts('1,000'), ['1,000']);
  assert.deepEqual(texts('997 996', '997', '996'), ['997', '996']);
  assert.deepEqual(texts('997 996', '997 996', '997', '996'), ['997 996']);
  assert.deepEqual(texts('997 996', '997'), ['997 996']);
  // A reference can end like an empty column.
  assert.deepEqual(texts('217;\n217,\n04 ;;\nA b;\nA,', '217', '04', 'A b', 'A,'), [
    ...['217', '217', '04', 'A b', 'A,'],
  ]);
  assert.deepEqual(entriesIn('1;JJD-1\n2;JJD-2\n3;\n', '1', '2', '3').at(-1), {
    ...{ text: '3', trackingNumber: undefined },
  });
  // Not orders 1 and 2.
  assert.deepEqual(texts('1,000,2,000', '1', '2'), ['1,000,2,000']);
  assert.deepEqual(texts(' \n '), []);
  // A heading, unless it can be an order as well, or most lines name none.
  assert.deepEqual(texts('order\ttracking\n1\tT\nA\tU\nB', '1', 'A'), ['1', 'A', 'B']);
  assert.deepEqual(texts('order\tT\n1\tU', 'order', '1'), ['order', '1']);
  assert.deepEqual(texts('WEB-7\tT\n1\tU', '1'), ['WEB-7', '1']);
  assert.deepEqual(texts('A\tT\n1\tU\n2\tV', '1'), ['A', '1', '2']);
  assert.deepEqual(texts('A\tT\nB\tT\n1\n2\n3', '1', '2', '3'), ['B', '1', '2', '3']);
  assert.deepEqual(texts('A\n1', '1'), ['A', '1']);
  assert.deepEqual(texts('A\tT'), ['A']);
  assert.deepEqual(entriesIn('A b\t3SX 1\n7\t'), [
    { text: 'A b', trackingNumber: '3SX 1' },
    { text: '7', trackingNumber: undefined },
  ]);
});

test('most lines of a list that are an order and a text that names none have a tracking number each', () => {
  const pairsIn = (text: string, ...known: string[]) =>
    entriesIn(text, ...known).map((each) => [each.text, each.trackingNumber]);
  assert.deepEqual(pairsIn('1 T-1\n2,  00340\nPO 3;T-3', '1', '2', 'PO 3'), [
    ['1', 'T-1'],
    ['2', '00340'],
    ['PO 3', 'T-3'],
  ]);
  // One without a number, and one that is not found.
  assert.deepEqual(pairsIn('1 T-1\n2 T-2\nPO 3\n9 T-9\n4 T-4', '1', '2', '4', 'PO 3'), [
    ['1', 'T-1'],
    ['2', 'T-2'],
    ['PO 3', undefined],
    ['9', 'T-9'],
    ['4', 'T-4'],
  ]);
  // Lists of orders, some of which are not found.
  for (const [text, ...known] of [
    ['1 T-1', '1'],
    ['1 2\n3 9\n4 8', '1', '2', '3', '4'],
    ['1 9\n2\n3', '1', '2', '3'],
    ['1 9\n2 8\n3\n4', '1', '2', '3', '4'],
    ['1,000\n2,000\n3,000', '1', '2', '3'],
  ] as const) {
    const numbers = entriesIn(text, ...known).map((each) => each.trackingNumber);
    assert.deepEqual(new Set(numbers), new Set([undefined]), text);
  }
});

test('codes that are scanned become lines, whatever they mean, and are kept until they are cleared', async (t) => {
  const service = await startService(t);
  await place(
    service.store,
    { ...pending(1n), reference: 'WEB-1', shipDate: undefined },
    { ...pending(2n), reference: '3' },
    pending(3n),
    pending(4n),
  );
  await service.store.apply([{ type: 'ship', id: 4n }]);
  const { page, problems } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await live(page);
  await page.getByRole('link', { name: 'Scan' }).click();
  await page.getByRole('heading', { name: 'Ready to scan' }).waitFor();
  assert.deepEqual(await accessibilityFindings(page), []);

  // A wireless scanner is slow. No letter has another meaning here.
  await scan(page, 'WEB-1', 120);
  await last(page).getByText('Ready').waitFor();
  for (const [code, words] of [
    ['04', 'Not found'],
    ['3', 'Two orders'],
    ['4', 'Already shipped just now'],
    ['nxsc', 'Not found'],
  ] as const) {
    await scan(page, code);
    await last(page).getByText(words).first().waitFor();
  }
  // By its id, it is the same order, which counts once.
  await scan(page, '1');
  await last(page).getByText('WEB-1').waitFor();
  assert.deepEqual(await textOf(page), [
    '5 Ready 1 WEB-1 × 2 1 × pet 1',
    '4 Not found nxsc No order has this id or reference. Search in references',
    '3 Already shipped just now 4 1 × pet 4 today',
    '2 Two orders 3 The id of one, the reference of another. Order 3 Order 2',
    '1 Not found 04 No order has this id or reference. An id never begins with 0. Search in references',
  ]);
  assert.deepEqual(await accessibilityFindings(page), []);
  // A result, and what can be done about it, are one line each.
  await page.setViewportSize({ width: 1_440, height: 900 });
  for (const words of ['Already shipped just now', 'Search in references']) {
    const { height } = (await lines(page).getByText(words).first().boundingBox())!;
    assert.ok(height < 25, `${words}: ${height}`);
  }
  await page.getByRole('button', { name: 'Order 2', exact: true }).click();
  assert.match((await textOf(page))[3]!, /^2 Ready 2 3/);
  await tally(page, 'To look at 3').click();
  assert.equal(await lines(page).count(), 3);
  await tally(page, 'Scanned 5').click();

  // Escape and a reload keep the list; another key does not see it.
  await page.keyboard.press('Escape');
  await row(page, 1).waitFor();
  await page.getByRole('link', { name: 'Scan' }).click();
  await page.reload();
  await last(page).getByText('WEB-1').waitFor();
  assert.match((await textOf(page))[3]!, /^2 Ready 2 3/);
  await page.keyboard.press('Control+z');
  await last(page).getByText('nxsc').waitFor({ state: 'hidden' });
  assert.doesNotMatch((await textOf(page))[0]!, /× 2/);
  await page.getByRole('button', { name: 'Remove 04' }).click();
  await signOut(page);
  await page.getByLabel('API key').fill(await service.newKey({ scopes: ['orders:read'] }));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Ready to scan' }).waitFor();
  assert.deepEqual(problems, []);
});

test('what is ready ships together, with the tracking numbers of a pasted list', async (t) => {
  const service = await startService(t);
  const orders = [1n, 2n, 3n, 4n].map((id) => ({ ...pending(id), reference: `PO ${id}` }));
  await place(service.store, ...orders);
  const { page, problems } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await page.getByRole('link', { name: 'Scan' }).click();
  const list = page.getByLabel('Or paste a list');
  const numbered = ['PO 1\t3SX-1', '2\t3SX-2', '3\t3SX-2', '4\tPO 1', '99\t3SX-9'];
  // Typed by a script: a browser takes seconds to edit so many lines key by key.
  const many = Array.from({ length: 2_001 }, (_, index) => index).join('\n');
  await list.evaluate((field, text) => Object.assign(field, { value: text }), many);
  await page.getByRole('button', { name: 'Add to the list' }).click();
  await page.getByText('The list has room for 2,000 more; this text has 2,001.').waitFor();
  await list.fill(numbered.join('\n'));
  const finds: unknown[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/find')) finds.push(request);
  });
  await page.getByRole('button', { name: 'Add to the list' }).click();
  await tally(page, 'Ready 1').waitFor();
  assert.equal(await list.inputValue(), '');
  assert.ok(finds.length <= 2);
  const results = (await textOf(page)).map((text) => /^\d (\D+) /.exec(text)![1]);
  assert.deepEqual(results, [
    'Not found',
    'Not a tracking number',
    'Tracking number is there twice: remove the wrong line',
    'Tracking number is there twice: remove the wrong line',
    'Ready',
  ]);
  await page.getByRole('button', { name: 'Remove 3, 3SX-2' }).click();
  await page.getByRole('button', { name: 'Ship 2…' }).click();
  const dialog = page.getByRole('alertdialog');
  await dialog.getByText('2 of them have a tracking number').waitFor();
  await dialog.getByRole('button', { name: 'Ship 2 orders' }).click();
  await page.getByText('2 shipped').waitFor();
  await tally(page, 'Done 2').waitFor();
  const shipped = await service.store.orders([1n, 2n, 3n, 4n]);
  const numbers = new Map(shipped.map(({ id, trackingNumber }) => [id, trackingNumber]));
  assert.deepEqual(
    [...numbers],
    [
      ...new Map([
        [1n, '3SX-1'],
        [2n, '3SX-2'],
        [3n, undefined],
        [4n, undefined],
      ]),
    ],
  );
  assert.deepEqual(problems, []);
});

test('a tracking number of two orders, or two of an order, is used for none until a line is removed', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n), pending(3n));
  const { page } = await signedIn(t, browser, service, { search: '?view=scan' });
  const paste = async (text: string) => {
    await page.getByLabel('Or paste a list').fill(text);
    await page.getByRole('button', { name: 'Add to the list' }).click();
  };
  const twice = page.getByRole('row', { name: 'Tracking number is there twice' });
  const remove = (line: string) =>
    page.getByRole('button', { name: `Remove ${line}`, exact: true }).click();
  const isReady = (id: number, number: string) =>
    page.getByRole('row', { name: new RegExp(`Ready ${id} .* ${number}`) }).waitFor();
  for (const text of ['1\tJJD-1\n2\tJJD-1', '2\tJJD-1\n1\tJJD-1']) {
    await paste(text);
    await tally(page, 'To look at 2').waitFor();
    assert.equal(await twice.count(), 2);
    assert.equal(await page.getByRole('button', { name: /^Ship \d/ }).count(), 0);
    await page.getByText('Nothing is ready to ship.').waitFor();
    const { y } = (await page.getByRole('table').boundingBox())!;
    await remove('2, JJD-1');
    await isReady(1, 'JJD-1');
    assert.equal((await page.getByRole('table').boundingBox())!.y, y);
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
  }
  await paste('1\tJJD-1\n1\tJJD-2\n1');
  await tally(page, 'To look at 2').waitFor();
  assert.equal(
    await page.getByRole('row', { name: 'Two tracking numbers: remove the wrong line' }).count(),
    2,
  );
  await remove('1, JJD-2');
  await isReady(1, 'JJD-1');
  await page.getByRole('button', { name: 'Ship 1…' }).click();
  await page.getByRole('button', { name: 'Ship 1 order' }).click();
  await tally(page, 'Done 1').waitFor();
  await page.getByRole('row', { name: 'Shipped 1 ' }).waitFor();
  // Also one that is shipped already.
  await paste('2\tJJD-1\n1\tJJD-9');
  await page
    .getByRole('row', { name: 'shipped just now, with JJD-1; JJD-9 was not used' })
    .waitFor();
  assert.equal(await twice.count(), 1);
  await tally(page, 'Ready 0').waitFor();
});

test('a scanned order that was cancelled elsewhere is to be looked at; one that is cancelled from the page is done', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  await service.store.apply([{ type: 'cancel', id: 1n }]);
  const { page, problems } = await signedIn(t, browser, service, { search: '?view=scan' });
  await page.getByText('Nothing scanned yet').waitFor();
  const tones = await heard(page);
  await scan(page, '2');
  await last(page).getByText('Ready').waitFor();
  await page.getByRole('button', { name: 'Remove 2', exact: true }).click();
  await scan(page, '1');
  await last(page).getByText('Cancelled: do not ship').waitFor();
  await tally(page, 'To look at 1').waitFor();
  const [red, ground] = await page
    .getByRole('row', { name: 'Cancelled: do not ship' })
    .evaluate((each) => [
      getComputedStyle(each.querySelector('.result')!).color,
      getComputedStyle(each).backgroundColor,
    ]);
  await scan(page, 'nothing');
  const missing = page.getByRole('row', { name: 'Not found' });
  await missing.waitFor();
  assert.deepEqual(await tones(), ['high', 'low', 'low']);
  assert.deepEqual(
    await missing.evaluate((each) => [
      getComputedStyle(each.querySelector('.result')!).color,
      getComputedStyle(each).backgroundColor,
    ]),
    [red, ground],
  );
  await page.getByLabel('Or paste a list').fill('1\tJJD-1');
  await page.getByRole('button', { name: 'Add to the list' }).click();
  await page.getByRole('row', { name: 'Cancelled: do not ship; JJD-1 was not used' }).waitFor();
  await scan(page, '2');
  await page.getByRole('button', { name: 'Cancel 1…' }).click();
  await page.getByRole('button', { name: 'Cancel 1 order' }).click();
  await tally(page, 'Done 1').waitFor();
  // It is in somebody's hands again.
  await scan(page, '2');
  await last(page).getByText('Cancelled: do not ship').waitFor();
  await tally(page, 'To look at 3').waitFor();
  assert.deepEqual(await accessibilityFindings(page), []);
  assert.deepEqual(problems, []);
});

test('the example of a list, typed as it looks, ships two orders with tracking numbers', async (t) => {
  const service = await startService(t);
  for (const id of [1n, 2n])
    await place(service.store, { ...pending(id), reference: `WEB-2026-10432${id - 1n}` });
  const { page } = await signedIn(t, browser, service);
  await row(page, 2).waitFor();
  await page.getByRole('link', { name: 'Scan' }).click();
  const list = page.getByLabel('Or paste a list');
  await list.pressSequentially((await list.getAttribute('placeholder'))!);
  await page.getByRole('button', { name: 'Add to the list' }).click();
  await tally(page, 'Ready 2').waitFor();
  await page.getByRole('button', { name: 'Ship 2…' }).click();
  await page.getByRole('button', { name: 'Ship 2 orders' }).click();
  await tally(page, 'Done 2').waitFor();
  const shipped = await service.store.orders([1n, 2n]);
  const numbers = shipped.map(({ trackingNumber }) => trackingNumber);
  assert.deepEqual(numbers, ['3SXYZ0044816', '3SXYZ0044817']);
});

test('an order that cannot ship has its own tracking number beside it, not one of the list', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n), {
    ...pending(3n),
    shipDate: undefined,
  });
  await service.store.apply([
    { type: 'ship', id: 1n },
    { type: 'ship', id: 2n, trackingNumber: '3SX-2' },
  ]);
  const { page } = await signedIn(t, browser, service, { search: '?view=scan' });
  await page.getByLabel('Or paste a list').fill('1\t5\n2\t4\n3\t3SX-3');
  await page.getByRole('button', { name: 'Add to the list' }).click();
  await tally(page, 'Ready 1').waitFor();
  const numbers = (await textOf(page)).map((text) => text.split(' pet ')[1]);
  assert.deepEqual(numbers, ['3 3SX-3', '2 today 3SX-2', '1 today']);
  // Also after a reload, both are to be looked at.
  await page.reload();
  await tally(page, 'To look at 2').waitFor();
  await page.getByRole('row', { name: 'shipped just now, with 3SX-2; 4 was not used' }).waitFor();
  await page
    .getByRole('row', { name: 'shipped just now, with no tracking number; 5 was not used' })
    .waitFor();
  // What is scanned again can be a second parcel.
  await page.getByRole('button', { name: 'Remove 2, 4' }).click();
  await scan(page, '2');
  await page.getByRole('row', { name: 'Already shipped just now 2' }).waitFor();
  await tally(page, 'Done 0').waitFor();
  await tally(page, 'To look at 2').waitFor();
});

test('a list that was cleared comes back until the next scan, and not for another key', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service, { search: '?view=scan' });
  const paste = async () => {
    await page.getByLabel('Or paste a list').fill('1\t3SX-1\n2\t3SX-2');
    await page.getByRole('button', { name: 'Add to the list' }).click();
    await tally(page, 'Ready 2').waitFor();
  };
  const clear = () => page.getByRole('button', { name: 'Clear', exact: true }).click();
  const offer = page.getByText('2 lines cleared. Ctrl Z brings them back.');
  await paste();
  const before = await textOf(page);
  await clear();
  await offer.waitFor();
  // What has happened meanwhile is known.
  await service.store.apply([{ type: 'cancel', id: 2n }]);
  await page.keyboard.press('Control+z');
  await tally(page, 'To look at 1').waitFor();
  assert.equal((await textOf(page))[1], before[1]);
  await tally(page, 'Ready 1').waitFor();
  await clear();
  await page.getByRole('button', { name: 'Undo' }).click();
  await tally(page, 'Ready 1').waitFor();
  await clear();
  await scan(page, '1');
  await tally(page, 'Scanned 1').waitFor();
  await page.keyboard.press('Control+z');
  await page.getByText('Nothing scanned yet').waitFor();
  assert.equal(await offer.count(), 0);
  await page.keyboard.press('Control+z');
  assert.equal(await lines(page).count(), 0);
  await scan(page, '1');
  await tally(page, 'Ready 1').waitFor();
  await clear();
  await page.getByText('1 line cleared. Ctrl Z brings it back.').waitFor();
  assert.deepEqual(await accessibilityFindings(page), []);
  await signOut(page);
  await page.getByLabel('API key').fill(await service.newKey({ scopes: ['orders:read'] }));
  await page.keyboard.press('Enter');
  await page.getByText('Nothing scanned yet').waitFor();
  await page.keyboard.press('Control+z');
  assert.equal((await page.getByText('cleared').count()) + (await lines(page).count()), 0);
});

test('while the store cannot be reached, codes wait, and are looked up when it can', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await page.getByRole('link', { name: 'Scan' }).click();
  await page.route('**/v2/store/orders/find', (route) => route.abort());
  await scan(page, '1');
  await scan(page, '2');
  await last(page).getByText('Waiting').waitFor();
  assert.equal(await lines(page).count(), 2);
  await page.unroute('**/v2/store/orders/find');
  await tally(page, 'Ready 2').waitFor();
});

test('a list is pasted on the page for scanning wherever the focus is, except in a text field', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n), pending(3n));
  const { page } = await signedIn(t, browser, service, { search: '?view=scan' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const copy = (text: string) => page.evaluate((it) => navigator.clipboard.writeText(it), text);
  await page.getByText('Nothing scanned yet').waitFor();
  await copy('1\tJJD-1\n217;');
  await page.keyboard.press('Control+v');
  await tally(page, 'Scanned 2').waitFor();
  await page.getByRole('row', { name: /Ready 1 .* JJD-1/ }).waitFor();
  await copy('2');
  await page.getByRole('checkbox', { name: 'Sound' }).focus();
  await page.keyboard.press('Control+v');
  await tally(page, 'Ready 2').waitFor();
  await copy('3');
  for (const name of ['Or paste a list', 'Find an order']) {
    await page.getByLabel(name).focus();
    await page.keyboard.press('Control+v');
    assert.equal(await page.getByLabel(name).inputValue(), '3');
  }
  await page.getByRole('search').getByRole('link', { name: '3' }).first().waitFor();
  await tally(page, 'Scanned 3').waitFor();
});

test('long references give way to ids, contents, days and tracking numbers, which are one line each', async (t) => {
  const service = await startService(t);
  const shipDate = Date.now() + 16 * 86_400_000;
  const reference = 'EU-CENTRAL-WAREHOUSE-2026/11/ONLINE-SHOP-100329';
  const orders = [335n, 8_000_000_000_000_000_001n, 337n].map((id) => ({
    ...{ ...pending(id), petId: 402n, quantity: 151n, reference: `${reference}-${id}`, shipDate },
  }));
  await place(service.store, ...orders);
  await service.store.apply([{ type: 'ship', id: 337n, trackingNumber: '00340434161094021234' }]);
  const { page } = await signedIn(t, browser, service, { search: '?view=scan' });
  const numbers = [335n, 337n, 8_000_000_000_000_000_001n].map(
    (id, index) => `${id}\t0034043416109402123${index}`,
  );
  await page.getByLabel('Or paste a list').fill(numbers.join('\n'));
  await page.getByRole('button', { name: 'Add to the list' }).click();
  await tally(page, 'Ready 2').waitFor();
  const areWrapped = (selector: string) =>
    page.locator(selector).evaluateAll((all) =>
      all.map((each) => {
        const range = document.createRange();
        range.selectNodeContents(each);
        return range.getBoundingClientRect().height > 1.5 * range.getClientRects()[0]!.height;
      }),
    );
  const none = [false, false, false];
  for (const width of [1_440, 1_280]) {
    await page.setViewportSize({ width, height: 900 });
    assert.deepEqual(await areWrapped('.last .which bdi'), [false]);
    assert.deepEqual(await areWrapped('.scanned tbody td:nth-child(3) a'), none);
    for (const column of [5, 6, 7])
      assert.deepEqual(await areWrapped(`.scanned tbody td:nth-child(${column})`), none);
    const end = await page.getByText(`${reference}-335`).last().boundingBox();
    const remove = (await page.getByRole('button', { name: 'Remove 335' }).boundingBox())!;
    assert.ok(end!.x + end!.width < remove.x && remove.x + remove.width < width);
  }
});

test('a list of several lines that is pasted into the search box goes to the page for scanning', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  const box = page.getByLabel('Find an order');
  await box.focus();
  await box.evaluate((field) => {
    const data = new DataTransfer();
    data.setData('text/plain', '1\n2\n');
    field.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
    );
  });
  await tally(page, 'Ready 2').waitFor();
  assert.equal(await box.inputValue(), '');
});

const WIDTHS = [320, 390, 640, 660, 720, 768, 800, 900, 1_000, 1_024, 1_100, 1_270, 1_280, 1_440];
const ONE = 'EU-CENTRAL-WAREHOUSE-2026/11/ONLINE-100329-45';
for (const [what, ids, reference] of [
  ['ordinary orders', [331n, 332n, 333n, 334n], 'WEB-10331'],
  ['references of 45 characters', [331n, 332n, 333n, 334n], ONE],
  ['references of 45 characters and ids of 19 digits', [8_000_000_000_000_000_001n], ONE],
] as const) {
  test(`the page for scanning has no line wider than the window, with ${what}`, async (t) => {
    const service = await startService(t);
    const shipDate = Date.now() + 16 * 86_400_000;
    const all = ids.map((id) => ({ ...pending(id), petId: 402n, quantity: 151n, shipDate }));
    await place(service.store, ...all.map((each) => ({ ...each, reference })));
    const { page } = await signedIn(t, browser, service, { search: '?view=scan' });
    await page
      .getByLabel('Or paste a list')
      .fill(
        `99999\tJJD7\n${ids.map((id, index) => `${id}\tJJD00039007772558${index}`).join('\n')}`,
      );
    await page.getByRole('button', { name: 'Add to the list' }).click();
    await tally(page, `Ready ${ids.length}`).waitFor();
    const remove = page.getByRole('button', { name: /^Remove/ });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const whole = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(whole <= width, `${whole} at ${width}`);
      for (const each of await remove.all()) {
        const box = (await each.boundingBox())!;
        assert.ok(box.x > 0 && box.x + box.width <= width, `${JSON.stringify(box)} at ${width}`);
      }
    }
  });
}

test('on a phone, the results of lines end below each other, and ship date and tracking number are named', async (t) => {
  const service = await startService(t);
  const shipDate = Date.now() + 7 * 86_400_000;
  await place(service.store, { ...pending(1n), shipDate }, pending(2n));
  await service.store.apply([{ type: 'cancel', id: 2n }]);
  const viewport = { width: 390, height: 844 };
  const { page } = await signedIn(t, browser, service, { search: '?view=scan', viewport });
  // One heading says that nothing was scanned.
  await page.getByRole('heading', { name: 'Waiting for the first code' }).waitFor();
  assert.equal(await page.getByText('Nothing scanned yet').isVisible(), false);
  await page.getByLabel('Or paste a list').fill('1\tJJD-1\n2\n99\tJJD-9');
  await page.getByRole('button', { name: 'Add to the list' }).click();
  await tally(page, 'Scanned 3').waitFor();
  const ends = ['Ready', 'Cancelled: do not ship', 'Not found'].map(async (result) => {
    const { x, width } = (await lines(page).getByText(result, { exact: true }).boundingBox())!;
    return Math.round(x + width);
  });
  assert.equal(new Set(await Promise.all(ends)).size, 1);
  await page.getByRole('cell', { name: 'Ships in 7 days' }).waitFor();
  await page.getByRole('cell', { name: 'Tracking number JJD-1' }).waitFor();
});

test('a question about several orders counts those that are pending, and names what another key has ended', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n), pending(3n), pending(4n));
  const { page, problems } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await live(page);
  const question = page.getByRole('alertdialog');
  const button = (name: string) => question.getByRole('button', { name, exact: true });
  await page.getByLabel('Select all pending orders on this page').check();
  await page.getByRole('button', { name: 'Ship 4…' }).click();
  await button('Ship 4 orders').waitFor();
  await service.store.apply([{ type: 'cancel', id: 4n }]);
  await button('Ship 3 orders').waitFor();
  await question.getByRole('heading', { name: 'Ship 3 orders?' }).waitFor();
  const ended = question.getByRole('status').filter({ hasText: 'no longer pending' });
  assert.equal(await ended.innerText(), '1 is no longer pending: 4');
  assert.equal(
    (await question.getByRole('group', { name: 'Ids of the orders' }).innerText()).replaceAll(
      /\s+/g,
      ' ',
    ),
    '3 2 1',
  );
  assert.deepEqual(await accessibilityFindings(page), []);
  await button('Do not ship').click();

  await page.goto(`${page.url()}?view=scan`);
  await page.getByLabel('Or paste a list').fill('1\tJJD-1\n2\tJJD-2\n3');
  await page.getByRole('button', { name: 'Add to the list' }).click();
  await live(page);
  await page.getByRole('button', { name: 'Ship 3…' }).click();
  await service.store.apply([{ type: 'cancel', id: 2n }]);
  await button('Ship 2 orders').waitFor();
  await question.getByText('1 of them has a tracking number.').waitFor();
  await service.store.apply([{ type: 'ship', id: 3n }]);
  await question.getByText('2 are no longer pending: 2, 3').waitFor();
  // The answer can be sooner than the change.
  await page.route('**/v2/store/orders/ship', async (route) => {
    await service.store.apply([{ type: 'cancel', id: 1n }]);
    await route.continue();
  });
  await button('Ship 1 order').click();
  await page.getByText('0 shipped, 1 not · Order 1: It is already cancelled.').waitFor();
  assert.deepEqual(problems, []);
});

test('a question none of whose orders is pending any more ships nothing', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service);
  await live(page);
  await page.getByLabel('Select order 1').check();
  await page.getByRole('button', { name: 'Ship 1…' }).click();
  await service.store.apply([{ type: 'cancel', id: 1n }]);
  await page.getByText('1 is no longer pending: 1').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Ship 0 orders' }).isDisabled());
});
