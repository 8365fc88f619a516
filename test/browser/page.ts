import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Opens a page in a context of its own, and collects what must not happen: errors, CSP violations, other hosts. */
export async function opened(
  browser: Browser,
  url: string,
  options: Parameters<Browser['newContext']>[0] = {},
) {
  const context = await browser.newContext(options);
  // Browsers do not have them in pages over HTTP, which are served in local networks.
  await context.addInitScript('delete Crypto.prototype.randomUUID; delete Crypto.prototype.subtle');
  const page = await context.newPage();
  const problems: string[] = [];
  const { origin } = new URL(url);
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    // Refused and failed requests are shown in the page, and by the browser here.
    const isExpected = /status of [45]\d\d|net::ERR_/.test(message.text());
    if (message.type() === 'error' && !isExpected) problems.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) problems.push(`a request to ${request.url()}`);
  });
  await page.goto(url);
  return { page, problems };
}

/** The findings of axe, https://github.com/dequelabs/axe-core, each with the first element. */
export async function accessibilityFindings(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which the page's policy does not concern.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html.slice(0, 200)}`);
  });
}
