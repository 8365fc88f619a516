import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { pending, place, startService } from '../http/harness.ts';
import { startBrowser } from './chromium.ts';
import { listed, row, signedIn } from './console-page.ts';
import { accessibilityFindings } from './page.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

for (const colorScheme of ['light', 'dark'] as const) {
  test(`an order is placed once, however often the button is pressed, and opens (${colorScheme})`, async (t) => {
    const service = await startService(t);
    const { page, problems } = await signedIn(t, browser, service, { colorScheme });
    await page.getByRole('button', { name: 'Place order' }).click();
    const dialog = page.getByRole('dialog', { name: 'Place an order' });
    await dialog.getByRole('button', { name: 'Place order' }).click();
    await dialog.getByText('Pet: enter its id, a number from 1.').waitFor();
    assert.deepEqual(await accessibilityFindings(page), []);
    await dialog.getByLabel('Quantity').fill('3');
    assert.equal(
      await dialog.getByRole('alert').innerText(),
      'Pet: enter its id, a number from 1.',
    );
    await dialog.getByLabel('Pet').fill('9,007,199,254,740,993');
    await dialog.getByText('Pet: enter its id').waitFor({ state: 'detached' });
    for (const quantity of ['0', '2147483648', '']) {
      await dialog.getByLabel('Quantity').fill(quantity);
      await dialog.getByRole('button', { name: 'Place order' }).click();
      await dialog.getByText('Quantity: enter a number from 1.').waitFor();
    }
    await dialog.getByLabel('Quantity').fill('2');
    await dialog.getByLabel('Ships').fill('2026-12-24');
    await dialog.getByLabel('Reference').fill('by phone');
    await dialog.getByRole('button', { name: 'Place order' }).dblclick();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Placed just now.').waitFor();
    const [order] = await service.store.orders([1n]);
    assert.equal(order!.petId, 9007199254740993n);
    assert.equal(order!.quantity, 2n);
    assert.equal(order!.reference, 'by phone');
    assert.equal(order!.shipDate, new Date('2026-12-24T12:00').getTime());
    assert.equal((await service.store.status()).orders.pending, 1n);
    await page.getByRole('button', { name: 'Place another' }).click();
    assert.equal(await dialog.getByLabel('Pet').inputValue(), '');
    await dialog.getByLabel('Pet').fill('5');
    // Not in the first half second.
    while ((await dialog.count()) > 0) await page.keyboard.press('Enter', { delay: 70 });
    await page.getByRole('heading', { name: 'Order 2' }).waitFor();
    assert.deepEqual(problems, []);
  });
}

test('a form whose answer is lost places one order, also after a reload', async (t) => {
  const service = await startService(t);
  const { page } = await signedIn(t, browser, service);
  await page.route('**/v2/store/orders', async (route) => {
    if (route.request().method() === 'POST') {
      await route.fetch();
      await route.abort();
    } else await route.continue();
  });
  await page.getByRole('button', { name: 'Place order' }).click();
  const dialog = page.getByRole('dialog', { name: 'Place an order' });
  await dialog.getByLabel('Pet').fill('412');
  await dialog.getByRole('button', { name: 'Place order' }).click();
  await dialog.getByText(/may have been placed/).waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Place order' }).click();
  assert.equal(await dialog.getByLabel('Pet').inputValue(), '412');
  await page.reload();
  await dialog.getByText(/may have been placed/).waitFor();
  assert.equal(await dialog.getByLabel('Pet').inputValue(), '412');
  assert.equal(await dialog.getByLabel('Pet').isDisabled(), true);
  await dialog.getByRole('button', { name: 'Place it again' }).click();
  await page.getByRole('heading', { name: 'Order 1' }).waitFor();
  await listed(page, ['1']);
  assert.equal((await service.store.status()).orders.pending, 1n);
  await page.reload();
  await page.getByRole('heading', { name: 'Order 1' }).waitFor();
  assert.equal(await dialog.count(), 0);
});

test('a reference that was used is refused in the form', async (t) => {
  const service = await startService(t);
  const { page } = await signedIn(t, browser, service);
  const dialog = page.getByRole('dialog', { name: 'Place an order' });
  for (const pet of ['1', '2']) {
    await page.getByRole('button', { name: 'Place order' }).click();
    await dialog.getByLabel('Pet').fill(pet);
    await dialog.getByLabel('Reference optional, must be new').fill('PO-1');
    await dialog.getByRole('button', { name: 'Place order' }).click();
    if (pet === '1') await page.getByRole('heading', { name: 'Order 1' }).waitFor();
  }
  await dialog.getByText('Reference: this key has placed another order with it.').waitFor();
  await dialog.getByLabel('Reference').fill('PO-2');
  await dialog.getByRole('button', { name: 'Place order' }).click();
  await page.getByRole('heading', { name: 'Order 2' }).waitFor();
});

test('an order is cancelled and placed again with other values', async (t) => {
  const service = await startService(t);
  const shipDate = new Date('2026-12-24T09:30').getTime();
  await place(service.store, { ...pending(1n), petId: 7n, quantity: 3n, shipDate, reference: 'A' });
  const { page } = await signedIn(t, browser, service, { search: '?order=1' });
  await page.getByRole('button', { name: 'Cancel order…' }).click();
  const question = page.getByRole('alertdialog');
  await question.getByLabel('Then place it again').check();
  await question.getByRole('button', { name: 'Cancel order' }).click();
  const dialog = page.getByRole('dialog', { name: 'Place an order' });
  await dialog
    .getByText('Instead of order 1, which was cancelled. Its reference A stays')
    .waitFor();
  const values = ['Pet', 'Quantity', 'Ships', 'At', 'Reference'].map((label) =>
    dialog.getByLabel(label).inputValue(),
  );
  assert.deepEqual(await Promise.all(values), ['7', '3', '2026-12-24', '09:30', '']);
  await dialog.getByLabel('Quantity').fill('4');
  await dialog.getByRole('button', { name: 'Place order' }).click();
  await page.getByRole('heading', { name: 'Order 2' }).waitFor();
  await row(page, 1).getByText('Cancelled').waitFor();
  const [, order] = await service.store.orders([1n, 2n]);
  assert.deepEqual([order!.petId, order!.quantity, order!.shipDate], [7n, 4n, shipDate]);

  // Also later, from the cancelled order.
  await row(page, 1).getByText('Cancelled').click();
  await page.getByRole('button', { name: 'Place again…' }).click();
  assert.equal(await dialog.getByLabel('Quantity').inputValue(), '3');
});

test('a key without the scope of placing is not offered it', async (t) => {
  const service = await startService(t);
  const secret = await service.newKey({ scopes: ['orders:read', 'orders:cancel'] });
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, { ...service, secret }, { search: '?order=1' });
  await page.getByRole('button', { name: 'Cancel order…' }).click();
  await page.getByRole('alertdialog').waitFor();
  assert.equal(await page.getByText('Then place it again').count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Place order' }).count(), 0);
});
