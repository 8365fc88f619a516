import type { TestContext } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { Service } from '../http/harness.ts';
import { opened } from './page.ts';

/** Opens the console and signs in. */
export async function signedIn(
  t: TestContext,
  browser: Browser,
  { port, secret }: Pick<Service, 'port' | 'secret'>,
  { search = '', ...options }: { search?: string; colorScheme?: 'light' | 'dark' } = {},
) {
  const result = await opened(browser, `http://127.0.0.1:${port}/console${search}`, options);
  t.after(() => result.page.context().close());
  result.page.on('dialog', (dialog) => dialog.accept());
  await signIn(result.page, secret);
  return result;
}

export async function signIn(page: Page, secret: string): Promise<void> {
  await page.getByLabel('API key').fill(secret);
  await page.keyboard.press('Enter');
}

export const live = (page: Page) => page.getByText('Live', { exact: true }).waitFor();
export const row = (page: Page, id: bigint | number) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name: String(id), exact: true }) });
export const ids = (page: Page) => page.locator('tbody th').allInnerTexts();
