import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page, Route } from 'playwright-core';
import { pending, place, startService } from '../http/harness.ts';
import { startBrowser } from './chromium.ts';
import { listed, live, row, signedIn, signIn, signOut, typeKey } from './console-page.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

/** Holds the answers to getKey back. @returns waits for one, and lets it go on */
async function holdKey(page: Page) {
  const held: Route[] = [];
  let onHeld = () => {};
  await page.route('**/v2/key', (route) => {
    held.push(route);
    onHeld();
  });
  const next = async () => {
    while (held.length === 0) await new Promise<void>((resolve) => (onHeld = resolve));
    return held.shift()!;
  };
  return { next, end: () => page.unroute('**/v2/key') };
}

test('an attempt to sign in that was given up does not replace the session of another key', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const other = await service.newKey({ scopes: ['orders:read'] });
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  const key = await holdKey(page);
  await page.reload();
  const late = await key.next();
  const another = await page.context().newPage();
  await another.goto(page.url());
  await row(another, 1).waitFor();
  await signOut(another);
  await page.getByLabel('API key').waitFor();
  await key.end();
  await signIn(page, other);
  await row(page, 1).waitFor();
  await late.continue().catch(() => {});
  // Another round trip, after which a late answer would have been handled.
  await page.getByRole('link', { name: /^Shipped/ }).click();
  await page.getByText('No order matches').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Place order' }).count(), 0);
  const stored = await page.evaluate<string>("sessionStorage.getItem('store-orders-key')");
  assert.equal(stored, other);
});

test('the first page is not shown under filters that were chosen while signing in', async (t) => {
  const service = await startService(t);
  await place(service.store, { ...pending(1n), petId: 5n }, { ...pending(2n), petId: 6n });
  const { page } = await signedIn(t, browser, service, { search: '?pet=5' });
  await row(page, 1).waitFor();
  await page.getByRole('button', { name: 'Pet 5', exact: true }).waitFor();
  await page.goto(`${page.url().split('?')[0]}?pet=5`);
  await row(page, 1).waitFor();
  await page.evaluate("history.pushState(null, '', '?pet=6')");
  const key = await holdKey(page);
  await page.reload();
  const held = await key.next();
  await page.evaluate('history.back()');
  await page.waitForURL('**?pet=5');
  await held.continue();
  await row(page, 1).waitFor();
  await listed(page, ['1']);
});

test('what the key may not do is not offered', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  for (const [scope, expected] of [
    ['orders:read', []],
    ['orders:place', ['Place order']],
    ['orders:cancel', ['Cancel order…', 'Select order 1']],
    ['orders:ship', ['Ship order…', 'Select order 1']],
    ['changes:read', ['Activity']],
    ['webhooks:manage', ['Webhooks']],
    ['keys:manage', ['Keys']],
  ] as const) {
    const secret = await service.newKey({ scopes: ['orders:read', scope] });
    const { page } = await signedIn(t, browser, { ...service, secret }, { search: '?order=1' });
    await page.getByRole('heading', { name: 'History' }).waitFor();
    const controls = {
      button: ['Place order', 'Cancel order…', 'Ship order…'],
      ...{ checkbox: ['Select order 1'], link: ['Activity', 'Keys', 'Webhooks'] },
    } as const;
    const offered: string[] = [];
    for (const [role, names] of Object.entries(controls)) {
      for (const name of names) {
        if ((await page.getByRole(role as 'link', { name }).count()) > 0) offered.push(name);
      }
    }
    assert.deepEqual(offered, expected, scope);
    if (scope === 'changes:read') await live(page);
    else await page.getByRole('button', { name: /^Not live, as of .*: reload$/ }).waitFor();
    // Nor by shortcuts.
    for (const key of ['c', 's', 'n'].slice(offered.length === 0 ? 0 : 3)) {
      await typeKey(page, key);
      assert.equal(await page.locator('dialog.ask').count(), 0, key);
    }
  }
});

test('another page of the origin gets no key, and signs no tab out, whatever it sends, and to whatever address it changes', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  const foreign = await page.context().newPage();
  await foreign.goto(`http://127.0.0.1:${service.port}/reference`);
  await foreign.evaluate(`(async () => {
    globalThis.received = [];
    const keep = ({ data }) => received.push(data);
    navigator.serviceWorker.addEventListener('message', keep);
    navigator.serviceWorker.startMessages();
    const channel = new BroadcastChannel('store-orders');
    channel.addEventListener('message', keep);
    history.pushState(null, '', '/console');
    const registered = await navigator.serviceWorker.getRegistration('/console/relay.js');
    for (const message of [{ type: 'asked' }, null, 'asked', { type: 'signed-out' }]) {
      registered.active.postMessage(message);
      channel.postMessage(message);
    }
  })()`);
  // Its messages come after those, in the same order.
  const another = await page.context().newPage();
  await another.goto(page.url());
  await row(another, 1).waitFor();
  assert.deepEqual(await foreign.evaluate('received'), []);
  await row(page, 1).waitFor();
  assert.equal(await page.getByLabel('API key').count(), 0);
});

test('named views of another program are no links to elsewhere', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const { page } = await signedIn(t, browser, service);
  await row(page, 1).waitFor();
  const views = [
    'javascript:alert(1)',
    '//evil.example/',
    'https://evil.example',
    '?status=shipped',
  ];
  const stored = { views: views.map((search, index) => ({ name: `view ${index}`, search })) };
  await page.evaluate(
    `localStorage.setItem('store-orders-view', ${JSON.stringify(JSON.stringify(stored))})`,
  );
  await page.reload();
  await row(page, 1).waitFor();
  await page.getByRole('button', { name: 'Views', exact: true }).click();
  await page.getByRole('link', { name: 'view 3' }).waitFor();
  assert.equal(await page.locator('a[href*="evil"], a[href^="javascript"]').count(), 0);
});
