import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { Service } from '../http/harness.ts';
import { opened } from './page.ts';

/** Opens the console and signs in. */
export async function signedIn(
  t: TestContext,
  browser: Browser,
  { port, secret }: Pick<Service, 'port' | 'secret'>,
  { search = '', ...options }: { search?: string } & BrowserContextOptions = {},
) {
  const result = await opened(browser, `http://127.0.0.1:${port}/console${search}`, options);
  t.after(() => result.page.context().close());
  await signIn(result.page, secret);
  return result;
}

export async function signIn(page: Page, secret: string): Promise<void> {
  await page.getByLabel('API key').fill(secret);
  await page.keyboard.press('Enter');
}

/** A person presses a key: keys in quicker succession are a code, and Enter that comes sooner confirms nothing. */
export async function typeKey(page: Page, key: string): Promise<void> {
  await page.keyboard.press(key, { delay: 120 });
  await page.waitForTimeout(100);
}

export const live = (page: Page) => page.getByText('Live', { exact: true }).waitFor();
export const row = (page: Page, id: bigint | number) =>
  page
    .getByRole('row')
    .filter({ has: page.locator('th').getByRole('link', { name: String(id), exact: true }) });
export const ids = (page: Page) => page.locator('tbody th').allInnerTexts();

/** Waits for a list of these orders, in this order: while another list is read, there is none. */
export async function listed(page: Page, expected: readonly string[]): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if ((await ids(page)).join() === expected.join()) return;
    // A function that waits in the page would be evaluated there, against its policy.
    await page.waitForTimeout(50);
  }
  assert.deepEqual(await ids(page), expected);
}

export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Signed in with the key/ }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
}

/** Lets time pass on the clock of the page, which the test has installed, until a text is there. */
export async function inTime(page: Page, text: Locator): Promise<void> {
  for (let second = 0; second < 60 && !(await text.isVisible()); second += 1)
    await page.clock.runFor(1_000);
  await text.waitFor();
}

/** Cancels the order whose details are open, and confirms that. */
export async function cancelOpenOrder(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Cancel order…' }).click();
  const dialog = page.getByRole('alertdialog');
  await dialog.getByRole('button', { name: 'Cancel order' }).click();
}
