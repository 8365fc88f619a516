// Both pages on the real program, with a million orders, ids at the ends of int64, and hostile names.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../browser/chromium.ts';
import { cancelOpenOrder, ids, live, row, signedIn } from '../browser/console-page.ts';
import { opened } from '../browser/page.ts';
import { type Running, run, serve } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

const MILLION = 1_000_000;
const IDS = ['9223372036854775807', '9007199254740993', '9007199254740992', '-9223372036854775808'];
const NAMES = [
  '"><script>document.title = "owned"</script>',
  '<img src=x onerror="document.title = `owned`">',
  "'; DROP TABLE orders; --",
  '{{constructor.constructor("document.title = `owned`")()}}#{document.title = `owned`}',
  `javascript:alert(1) ${'w'.repeat(80)}`,
];

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

/** A service of a million orders and IDS, of which each key has cancelled one. */
async function largeService(t: TestContext): Promise<Running> {
  const database = `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  const { stdout: sample } = await run(['sample', String(MILLION)]);
  const others = IDS.map((id) => `{"id":${id},"petId":${IDS[1]},"quantity":${IDS[0]}}\n`).join('');
  for (const input of [sample, others]) {
    const { code, stderr } = await run(
      ['import', '-', '--allow-last-ids', '--database', database],
      {
        input,
      },
    );
    assert.equal(code, 0, stderr);
  }
  const service = await serve(t, [], { database });
  for (const [index, name] of NAMES.entries()) {
    const { stdout } = await run(['keys', 'create', '--name', name, '--database', database]);
    const url = `http://127.0.0.1:${service.port}/v2/store/orders?status=pending&direction=desc&limit=50`;
    const headers = { authorization: `Bearer ${stdout.trim()}` };
    const response = await fetch(url, { headers });
    const { orders } = (await response.json()) as { orders: readonly { id: number }[] };
    const { id } = orders.at(-1 - index)!;
    const path = `/v2/store/orders/${id}/cancel`;
    const { status } = await fetch(new URL(path, url), { method: 'POST', headers });
    assert.equal(status, 200);
  }
  return service;
}

/** What the pages must not do with names and ids. */
async function assertUnharmed(page: Page, problems: readonly string[]): Promise<void> {
  assert.deepEqual(problems, []);
  assert.notEqual(await page.title(), 'owned');
  assert.equal(await page.locator('img:not([src=""]), script:not([src]):not([type])').count(), 0);
}

test('the pages are exact and unharmed', { timeout: 240_000 }, async (t) => {
  const service = await largeService(t);

  await t.test('console', async (t) => {
    const { page, problems } = await signedIn(t, browser, service);
    await live(page);
    assert.deepEqual((await ids(page)).slice(0, 3), IDS.slice(0, 3));
    await page.getByLabel('Find an order').fill(IDS[3]!);
    await page.keyboard.press('Enter');
    const details = page.getByRole('complementary', { name: `Order ${IDS[3]}` });
    await details.getByText(BigInt(IDS[0]!).toLocaleString('en-US')).waitFor();
    await details.getByText(IDS[1]!).waitFor();
    await cancelOpenOrder(page);
    await page.getByText(`Order ${IDS[3]} was cancelled`).waitFor();
    await details.getByRole('button', { name: 'Close' }).click();

    await page.getByLabel('Find an order').fill(`pet ${IDS[1]}`);
    await page.keyboard.press('Enter');
    await row(page, BigInt(IDS[3]!)).getByText('Cancelled').waitFor();
    await page.getByText('That is all.').waitFor();
    assert.deepEqual(await ids(page), IDS);
    await row(page, BigInt(IDS[2]!)).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Ship 1…' }).click();
    await page.getByRole('button', { name: 'Ship 1 order' }).click();
    await row(page, BigInt(IDS[2]!)).getByText('Shipped', { exact: true }).waitFor();
    assert.equal(await row(page, BigInt(IDS[1]!)).getByText('Pending').count(), 1);

    await page.getByRole('link', { name: 'Activity' }).click();
    await page.getByRole('img', { name: '1,000,004 placed in 14 days' }).waitFor();
    const keys = await page.locator('.keys tbody th').allInnerTexts();
    for (const name of NAMES) {
      assert.ok(
        keys.some((text) => text.startsWith(`${name}\nkey_`)),
        `${name}: ${keys}`,
      );
    }
    await assertUnharmed(page, problems);
  });

  await t.test('reference', async () => {
    const url = `http://127.0.0.1:${service.port}/reference`;
    const { page, problems } = await opened(browser, url);
    await page.getByLabel('API key', { exact: true }).fill(service.secret);
    /** Tries an operation, and waits for a text in its answer. */
    const tried = async (operation: string, fields: Record<string, string>, text: string) => {
      const form = page.locator(`#v2-${operation} .try`);
      await form.evaluate((box) => box.setAttribute('open', ''));
      for (const [name, value] of Object.entries(fields)) {
        await form.getByLabel(name, { exact: true }).fill(value);
      }
      await form.getByRole('button', { name: /^Send/ }).click();
      const confirm = form.getByRole('button', { name: 'Cancel an order' });
      if (await confirm.isVisible()) await confirm.click();
      await form.locator('.answer', { hasText: text }).waitFor();
    };
    for (const id of IDS) {
      await tried('getOrder', { orderId: id }, `"id": ${id},\n  "petId": ${IDS[1]}`);
      await tried('getOrderHistory', { orderId: id }, '"type": "placed"');
    }
    await tried('cancelOrder', { orderId: IDS[1]! }, `"id": ${IDS[1]}`);
    await tried('cancelOrder', { orderId: IDS[2]! }, 'order_already_shipped');
    const [from, before] = [-1, 1].map((day) => new Date(Date.now() + day * 86_400_000));
    const boundaries = `${from!.toISOString()},${before!.toISOString()}`;
    await tried('getActivity', { boundaries }, '"placed": 50000');
    await assertUnharmed(page, problems);
    await page.context().close();
  });
});
