import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { code128 } from '../../console/browser/code128.ts';
import { pending, place, startService } from '../http/harness.ts';
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
  assert.equal(code128('ü'), undefined);
  assert.equal(code128(''), undefined);
  assert.notEqual(code128('x'.repeat(48)), undefined);
  assert.equal(code128('x'.repeat(49)), undefined);
});

test('slips and pick lists are printed of the selected orders only', async (t) => {
  const service = await startService(t, { STORE_NAME: 'Pets of Berlin' });
  await place(
    service.store,
    { ...pending(1n), petId: 8n, quantity: 2n, reference: 'PO-1' },
    { ...pending(2n), petId: 7n, quantity: 1n, reference: 'Grüße' },
    { ...pending(3n), petId: 8n, quantity: 5n },
    pending(4n),
  );
  const { page, problems } = await signedIn(t, browser, service);
  // The page would wait for the dialog of the browser.
  await page.evaluate('globalThis.print = () => {}');
  for (const id of [1, 2, 3]) await row(page, id).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Print slips' }).click();
  await page.emulateMedia({ media: 'print' });
  const slips = page.locator('.slip');
  await slips.first().waitFor();
  assert.deepEqual(await slips.getByRole('heading').allInnerTexts(), [
    ...['Order 3', 'Order 2', 'Order 1'],
  ]);
  const codes = slips.getByRole('img');
  assert.deepEqual(
    await codes.evaluateAll((all) => all.map((each) => each.getAttribute('aria-label'))),
    ['Code of 3', 'Code of 2', 'Code of 1', 'Code of PO-1'],
  );
  assert.match(await slips.nth(1).innerText(), /^Pets of Berlin\n+Order 2\n(?:.|\n)*Grüße/);
  assert.equal(await page.locator('header.bar').isVisible(), false);
  assert.equal(await page.locator('.list').isVisible(), false);
  await page.emulateMedia({ media: 'screen' });
  assert.equal(await slips.first().isVisible(), false);
  await page.evaluate("dispatchEvent(new Event('afterprint'))");
  await slips.first().waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Pick list' }).click();
  await page.emulateMedia({ media: 'print' });
  const lines = page.locator('.pick-list tr');
  await lines.first().waitFor();
  const texts = (await lines.allInnerTexts()).map((text) => text.split('\t').slice(0, 3));
  assert.deepEqual(
    texts.map((cells) => cells.map((cell) => cell.trim())),
    [
      ['Pet', 'Quantity', 'Order'],
      ['7', '1', '1 order'],
      ['', '1', '2'],
      ['8', '7', '2 orders'],
      ['', '5', '3'],
      ['', '2', '1'],
      ['All', '8', ''],
    ],
  );
  assert.deepEqual(problems, []);
});

test('the list is printed without what only the screen needs', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.locator('td.ships time').isVisible(), true);
  for (const hidden of ['.bar', '.filters', '.tools', 'td.check']) {
    assert.equal(await page.locator(hidden).first().isVisible(), false, hidden);
  }
});
