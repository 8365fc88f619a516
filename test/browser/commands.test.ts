import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { newApiKey, newSecret } from '../../src/domain/api-key.ts';
import { pending, place, placeSamples, startService } from '../http/harness.ts';
import { startBrowser } from './chromium.ts';
import { live, row, signedIn, typeKey } from './console-page.ts';
import { accessibilityFindings } from './page.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

test('Ctrl K finds actions and orders; actions that ask still ask', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), { ...pending(2n), reference: 'WEB-77' }, pending(3n));
  const lee = newApiKey(newSecret('production'), {
    ...{ name: 'Lee, warehouse', environment: 'production', now: Date.now() },
  });
  await service.store.apply([{ type: 'createKey', key: lee }]);
  await service.store.apply([{ type: 'cancel', id: 3n, by: lee.id }]);
  const { page, problems } = await signedIn(t, browser, service);
  await row(page, 2).click();
  await page.getByRole('button', { name: 'Ship order…' }).waitFor();
  const commands = page.getByRole('dialog', { name: 'Commands' });
  const open = async () => {
    await page.keyboard.press('Control+k');
    await commands.waitFor();
    await page.waitForTimeout(600);
  };
  await open();
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.keyboard.type('ship', { delay: 70 });
  await page.keyboard.press('Enter');
  const question = page.getByRole('alertdialog', { name: 'Ship order 2?' });
  await question.waitFor();
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });

  // What a colleague did.
  await open();
  for (const group of ['Order 2', 'Orders', 'Go to', 'Console'])
    await commands.locator('p').getByText(group, { exact: true }).waitFor();
  await page.keyboard.type('lee', { delay: 70 });
  await commands.getByRole('button', { name: 'Activity of Lee, warehouse' }).waitFor();
  assert.equal(await commands.locator('mark').innerText(), 'Lee');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Lee, warehouse' }).waitFor();
  await page.goBack();

  // Views, by that word.
  await open();
  await page.keyboard.type('view', { delay: 70 });
  await commands.getByRole('button', { name: 'View: Overdue' }).waitFor();
  await page.keyboard.press('Escape');
  await commands.waitFor({ state: 'detached' });

  // What is selected.
  await page.getByLabel('Select order 1', { exact: true }).check();
  await open();
  await commands.locator('p').getByText('1 selected', { exact: true }).waitFor();
  await page.keyboard.type('clear', { delay: 70 });
  await page.keyboard.press('Enter');
  await page
    .getByLabel('Select order 1', { exact: true })
    .and(page.locator(':not(:checked)'))
    .waitFor();

  // Enter opens none of the orders of two keys with one reference, and chooses none.
  const body = JSON.stringify({ petId: 5, quantity: 1, reference: 'TWICE' });
  for (const secret of [service.secret, await service.newKey({})]) {
    const headers = {
      ...{ authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      'idempotency-key': `placed-${secret.slice(-12)}`,
    };
    assert.equal((await service.call('POST', '/v2/store/orders', headers, body)).status, 201);
  }
  await open();
  await page.keyboard.type('TWICE', { delay: 70 });
  await commands.getByText('More than one key has used this reference. Enter, or a').waitFor();
  const twice = commands.getByRole('link', { name: 'TWICE' });
  const grounds = await twice.evaluateAll((all) =>
    all.map((each) => getComputedStyle(each).backgroundColor),
  );
  assert.deepEqual(grounds, Array(2).fill('rgba(0, 0, 0, 0)'));
  await page.keyboard.press('ArrowDown');
  assert.ok(await twice.first().evaluate((each) => each.matches(':focus')));
  await page.keyboard.press('Escape');

  // A whole reference, and a page.
  await open();
  await page.keyboard.type('WEB-77', { delay: 70 });
  await commands.getByRole('link', { name: 'WEB-77' }).waitFor();
  await page.keyboard.press('Escape');
  await commands.waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel('Find an order').inputValue(), '');
  await open();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.type('scan', { delay: 70 });
  assert.equal(await commands.getByRole('textbox').inputValue(), 'scan');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Ready to scan' }).waitFor();
  assert.deepEqual(problems, []);
});

test('a key that is held loses no step, also where a page has to be read', async (t) => {
  const service = await startService(t);
  await placeSamples(service.store, 120);
  const { page } = await signedIn(t, browser, service);
  await row(page, 120).waitFor();
  await typeKey(page, 'j');
  await row(page, 120).and(page.locator('.current')).waitFor();
  const session = await page.context().newCDPSession(page);
  const key = { key: 'j', text: 'j', windowsVirtualKeyCode: 74 };
  for (let step = 0; step < 60; step += 1) {
    await session.send('Input.dispatchKeyEvent', { type: 'keyDown', autoRepeat: step > 0, ...key });
  }
  await session.send('Input.dispatchKeyEvent', { type: 'keyUp', ...key });
  await row(page, 60).and(page.locator('.current')).waitFor();
});

test('the first Tab leads past the bar, and an order placed here is in the list', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  await live(page);
  // Of 1970: more than a year is not counted by the day.
  assert.match(await row(page, 1).locator('.ships').innerText(), /\d\d years overdue$/);
  await page.locator('.brand').focus();
  await page.keyboard.press('Shift+Tab');
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the orders');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate('document.activeElement.tagName'), 'H1');

  // Another key's order waits behind a button, which covers neither the list nor a filter.
  await page.setViewportSize({ width: 1_440, height: 700 });
  await place(service.store, pending(2n));
  const newer = page.getByRole('button', { name: '1 newer order' });
  await newer.waitFor();
  const head = await page.getByRole('columnheader', { name: 'Reference' }).boundingBox();
  const button = await newer.boundingBox();
  assert.ok(button!.y + button!.height <= head!.y);
  const views = await page.getByRole('button', { name: 'Views' }).boundingBox();
  assert.ok(button!.x > views!.x + views!.width);
  await page.getByRole('button', { name: 'Place order' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Pet').fill('7');
  await dialog.getByLabel('Quantity').fill('1');
  await dialog.getByRole('button', { name: 'Place order' }).click();
  await row(page, 3).waitFor();
});
