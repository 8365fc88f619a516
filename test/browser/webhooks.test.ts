import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { startReceiver } from '../feed/receiver.ts';
import { startService } from '../http/harness.ts';
import { temporaryFolder } from '../temporary.ts';
import { startBrowser } from './chromium.ts';
import { signedIn } from './console-page.ts';
import { accessibilityFindings } from './page.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

test('webhooks are shown with their lag, paused, resumed and tested', async (t) => {
  const keyFile = join(temporaryFolder(t), 'webhook.key');
  writeFileSync(keyFile, `${randomBytes(32).toString('base64')}\n`);
  const service = await startService(t, {
    WEBHOOK_KEY_FILE: keyFile,
    WEBHOOK_ALLOW: '127.0.0.1,http',
  });
  const secrets: string[] = [];
  const receiver = await startReceiver(t, () => secrets);
  const { status, body } = await service.call(
    'POST',
    '/v2/webhooks',
    { 'content-type': 'application/json' },
    JSON.stringify({ url: receiver.url, description: '<b>the shop</b>' }),
  );
  assert.equal(status, 201, body);
  secrets.push(JSON.parse(body).secret);
  const { page, problems } = await signedIn(t, browser, service, { search: '?view=webhooks' });
  await page.getByText('<b>the shop</b>').waitFor();
  await page.getByText('none: everything is delivered').waitFor();
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('on request').waitFor();
  assert.equal((await service.store.webhooks())[0]?.pauseReason, 'requested');
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('Active', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText(/^Test accepted: status 20\d, after \d+ ms\.$/).waitFor();
  assert.deepEqual(problems, []);
});

test('a key without the scope of webhooks is not offered them; their address says why', async (t) => {
  const service = await startService(t);
  const secret = await service.newKey({ scopes: ['orders:read'] });
  const { page } = await signedIn(t, browser, { ...service, secret }, { search: '?view=webhooks' });
  await page.getByText('This key may not see webhooks').waitFor();
  assert.equal(await page.getByRole('link', { name: 'Webhooks' }).count(), 0);
});
