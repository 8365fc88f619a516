// npm test -- screenshots: writes the pictures in docs/pages/ from sample data, so that they show the pages as they are.

import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { sampleOrders } from '../src/cli/orders/sample.ts';
import { type ApiKey, newApiKey, newSecret, SCOPES } from '../src/domain/api-key.ts';
import { startBrowser } from './browser/chromium.ts';
import { live, row, signIn } from './browser/console-page.ts';
import { place, startService } from './http/harness.ts';

const FOLDER = fileURLToPath(new URL('../docs/pages/', import.meta.url));
const DESK = { viewport: { width: 1440, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 };

/** A picture: its name, the address, the window, and what is done first. */
const PICTURES: readonly [string, string, BrowserContextOptions, (page: Page) => Promise<void>][] =
  [
    ['console', '/console', DESK, (page) => row(page, 1_000).waitFor()],
    [
      'console-dark',
      '/console?order=999&ships=next7',
      { ...DESK, colorScheme: 'dark' },
      (page) => page.getByRole('heading', { name: 'History' }).waitFor(),
    ],
    [
      'console-cancel',
      '/console?order=999',
      DESK,
      async (page) => {
        await page.getByRole('button', { name: 'Cancel order…' }).click();
        await page.getByRole('alertdialog').waitFor();
      },
    ],
    [
      'console-bulk',
      '/console?status=pending',
      DESK,
      (page) => page.getByLabel('Select all pending orders on this page').check(),
    ],
    [
      'console-scan',
      '/console?view=scan',
      DESK,
      async (page) => {
        await page
          .getByLabel('Or paste a list')
          .fill('999\t3SXYZ0044817\n998\n997 996 995\n04\n40\n994');
        await page.getByRole('button', { name: 'Add to the list' }).click();
        await page.getByRole('heading', { name: 'Scanned' }).waitFor();
      },
    ],
    ['console-phone', '/console', PHONE, (page) => row(page, 1_000).waitFor()],
    [
      'activity',
      '/console?view=activity',
      DESK,
      (page) => page.getByRole('heading', { name: 'Orders a day' }).waitFor(),
    ],
    [
      'activity-key',
      '/console?view=activity',
      DESK,
      async (page) => {
        await page.getByRole('link', { name: 'Lee, warehouse', exact: true }).click();
        await page.getByRole('heading', { name: 'Days' }).waitFor();
        await page.locator('.of-key').waitFor();
      },
    ],
    ['keys', '/console?view=keys', DESK, (page) => page.locator('main table').first().waitFor()],
    ['reference', '/reference', DESK, async () => {}],
  ];

test('the pictures in docs/pages/ are written', async (t) => {
  mkdirSync(FOLDER, { recursive: true });
  const service = await startService(t);
  const orders = sampleOrders(1_000, 1).map((order, index) => ({
    ...order,
    ...(index % 7 !== 2 && { reference: `WEB-2026-${104_000 + index}` }),
  }));
  await place(service.store, ...orders);
  for (const id of [3n, 12n, 40n]) {
    await service.store.apply([{ type: 'cancel', id, by: service.key.id }]);
  }
  const browser = await startBrowser();
  t.after(() => browser.close());
  const keyOf = async (name: string, details: Partial<ApiKey>) => {
    const secret = newSecret('production');
    const made = { name, environment: 'production', now: Date.now(), ...details } as const;
    const key = newApiKey(secret, made);
    await service.store.apply([{ type: 'createKey', key }]);
    return { secret, id: key.id };
  };
  const { secret } = await keyOf('Kim, front desk', { scopes: SCOPES });
  await keyOf('Web shop', { scopes: ['orders:read', 'orders:place'], placesPerHour: 500 });
  const clerk = ['orders:read', 'orders:ship', 'orders:cancel'] as const;
  const { id: lee } = await keyOf('Lee, warehouse', { scopes: clerk, cancelsPerHour: 20 });
  for (let order = 900n; order < 940n; order += 1n) {
    const what =
      order % 9n === 0n
        ? ({ type: 'cancel', reason: 'out_of_stock' } as const)
        : ({ type: 'ship', at: Date.now(), trackingNumber: `3SXYZ004${order}` } as const);
    await service.store.apply([{ ...what, id: order, by: lee }]);
  }
  for (const [name, path, options, prepare] of PICTURES) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${service.port}${path}`);
    if (path.startsWith('/console')) {
      await signIn(page, secret);
      await live(page);
    }
    await prepare(page);
    await page.screenshot({ path: `${FOLDER}${name}.png`, animations: 'disabled' });
    await context.close();
  }
});
