import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import {
  type ApiKey,
  newApiKey,
  newSecret,
  SCOPES,
  secretDigest,
} from '../../src/domain/api-key.ts';
import { pending, place, type Service, startService } from '../http/harness.ts';
import { startBrowser } from './chromium.ts';
import { live, signedIn, typeKey } from './console-page.ts';
import { accessibilityFindings, opened } from './page.ts';
import { scanAt, stopClock } from './scanner.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

const DAY_MS = 86_400_000;

/** Creates a key as operators do. */
async function keyOf({ store, key }: Service, details: Partial<ApiKey> = {}) {
  const secret = newSecret(key.environment);
  const { environment } = key;
  const made = newApiKey(secret, { name: 'other', environment, now: Date.now(), ...details });
  await store.apply([{ type: 'createKey', key: made }]);
  return { secret, key: made };
}

/** The page Keys, of a key that manages the others. */
async function keysPage(
  t: TestContext,
  service: Service,
  details: Partial<ApiKey> = {},
  options: Parameters<typeof signedIn>[3] = {},
) {
  const manager = await keyOf(service, { name: 'Kim, front desk', scopes: SCOPES, ...details });
  const { secret } = manager;
  const opening = { search: '?view=keys', ...options };
  const result = await signedIn(t, browser, { ...service, secret }, opening);
  return { ...result, manager };
}

const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) });

async function choose(page: Page, name: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click();
  await page.getByRole('button', { name: item }).click();
}

async function copied({ context }: { readonly context: BrowserContext }, page: Page) {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await page.getByText(/ copied$/).waitFor();
  return page.evaluate<string>('navigator.clipboard.readText()');
}

/** Whether a request with a secret is answered with 200. */
async function isValid(service: Service, secret: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${secret}` };
  return (await service.call('GET', '/v2/key', headers)).status === 200;
}

/** Everything that the tab keeps of what it has shown. */
const kept = (page: Page) =>
  page.evaluate<string>(
    `[document.documentElement.outerHTML, ...[...document.querySelectorAll('input')].map((each) => each.value),
      document.title, location.href, JSON.stringify(history.state), JSON.stringify(localStorage), JSON.stringify(sessionStorage)].join('\\n')`,
  );

test('keys are listed with what they may do, their use and their ends; names are text', async (t) => {
  const service = await startService(t);
  const now = Date.now();
  await keyOf(service, { name: '<b>Web</b> shop', scopes: ['orders:read', 'orders:place'] });
  const soon = { expiresAt: now + 3 * DAY_MS, scopes: ['orders:read', 'orders:cancel'] } as const;
  await keyOf(service, { name: 'مفتاح الدعم', cancelsPerHour: 20, ...soon });
  await keyOf(service, { name: 'old', expiresAt: now - DAY_MS });
  const { page, problems, manager } = await keysPage(t, service);
  const own = rowOf(page, 'Kim, front desk');
  await own.getByText('You', { exact: true }).waitFor();
  await own.getByRole('button', { name: /^Actions/ }).click();
  await own.getByText('Another key can change your own.').waitFor();
  assert.equal(await own.locator('.popover').getByRole('button').count(), 0);
  await page.keyboard.press('Escape');
  assert.match(
    await own.innerText(),
    new RegExp(`${manager.key.id}[\\s\\S]*manages keys[\\s\\S]*just now`),
  );
  const odd = rowOf(page, '<b>Web</b> shop');
  assert.match(await odd.innerText(), /Reads, places\s+not yet\s+Never/);
  const ending = rowOf(page, 'مفتاح الدعم');
  assert.match(await ending.innerText(), /Reads, cancels up to 20 an hour[\s\S]*in 3 days/);
  assert.equal(await ending.locator('bdi').first().innerText(), 'مفتاح الدعم');
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.getByRole('link', { name: 'Expired 1' }).click();
  await rowOf(page, 'old').waitFor();
  assert.match(page.url(), /keys=expired/);
  assert.equal(await rowOf(page, 'Kim, front desk').count(), 0);
  await page.getByRole('link', { name: 'Revoked 0' }).click();
  await page.getByText('No key was revoked.').waitFor();
  await page.goBack();
  await rowOf(page, 'old').waitFor();
  assert.deepEqual(problems, []);
});

test('a program gets a secret, which is shown once', async (t) => {
  const service = await startService(t);
  const expiresAt = Date.now() + 60 * DAY_MS;
  const scopes = SCOPES.filter((scope) => scope !== 'webhooks:manage-all');
  const limits = { scopes, cancelsPerHour: 100, expiresAt };
  const { page, problems, manager } = await keysPage(t, service, limits);
  await rowOf(page, 'Kim, front desk').waitFor();
  await typeKey(page, 'n');
  await page.getByRole('heading', { name: 'Create key' }).waitFor();
  await page.getByText('Your key cannot, so this one cannot either').waitFor();
  await page.getByText(/^Not after your own key/).waitFor();
  // A character that is not seen is refused by the service, in words.
  await page.getByLabel('Name', { exact: true }).fill('shop\u200b');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('Not created. Name must be printable characters').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('<i>shop</i>');
  await page.getByText('Integrator').click();
  assert.equal(await page.getByLabel('A program').isChecked(), true);
  const limit = page.getByLabel(/^At most .*cancels/);
  assert.equal(await limit.inputValue(), '100');
  await limit.fill('101');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('cancels an hour: a number from 1 to 100.').waitFor();
  await limit.fill('30');
  await page.getByLabel(/Follow changes/).uncheck();
  await page.getByRole('heading', { name: 'What <i>shop</i> can do' }).waitFor();
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog', { name: '<i>shop</i> has its key' });
  assert.equal(await dialog.getByRole('heading').innerText(), '<i>shop</i> has its key');
  await dialog.waitFor();
  assert.deepEqual(await accessibilityFindings(page), []);
  const secret = await dialog.getByLabel('Secret', { exact: true }).inputValue();
  assert.equal(await copied({ context: page.context() }, page), secret);
  for (let press = 0; press < 3; press += 1) await page.keyboard.press('Escape');
  await page.mouse.click(5, 5);
  assert.equal(await dialog.getByLabel('Secret', { exact: true }).inputValue(), secret);
  await dialog.getByRole('button', { name: 'I have it, close' }).click();
  await rowOf(page, '<i>shop</i>').waitFor();
  assert.ok(!(await kept(page)).includes(secret));
  const made = (await service.store.keys()).find(({ name }) => name === '<i>shop</i>')!;
  assert.equal(made.cancelsPerHour, 30);
  assert.equal(made.createdBy, manager.key.id);
  // In 90 days, but the manager's key ends before.
  assert.equal(made.expiresAt, expiresAt);
  assert.deepEqual(made.scopes, [
    ...['orders:read', 'orders:place', 'orders:cancel', 'webhooks:manage'],
  ]);
  assert.ok(await isValid(service, secret));
  assert.deepEqual(problems, []);
});

test('a form whose answer was lost creates one key', async (t) => {
  const service = await startService(t);
  const { page } = await keysPage(t, service);
  await page.getByRole('button', { name: 'Create key…' }).click();
  await page.getByLabel('Name', { exact: true }).fill('twice');
  await page.getByLabel('A program').check();
  await page.route('**/v2/keys', async (route) => {
    await route.fetch();
    await route.abort();
  });
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText(/this form creates one key/).waitFor({ timeout: 60_000 });
  await page.unroute('**/v2/keys');
  await page.getByRole('button', { name: 'Create it again' }).click();
  const secret = await page.getByLabel('Secret', { exact: true }).inputValue();
  assert.ok(await isValid(service, secret));
  const made = (await service.store.keys()).filter(({ name }) => name === 'twice');
  assert.equal(made.length, 1);
});

/** Creates a key by an invitation. @returns its link */
async function invite(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: 'Create key…' }).click();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByRole('button', { name: 'Create key' }).click();
  const link = await page.getByLabel('Link', { exact: true }).inputValue();
  await page
    .getByRole('img', { name: `Code of the invitation of ${name}` })
    .locator('svg')
    .waitFor();
  await page.getByRole('button', { name: 'Hide the code' }).click();
  assert.equal(await page.locator('qr-code').count(), 0);
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.getByRole('button', { name: 'I have it, close' }).click();
  return link;
}

test('a person is invited: the secret is made once, in the browser that opens the link', async (t) => {
  const service = await startService(t);
  const { page } = await keysPage(t, service);
  const link = await invite(page, 'Noor, packing');
  const ticket = link.split('#invitation=')[1]!;
  await rowOf(page, 'Noor, packing').getByText('Invited until').waitFor();
  const guest = await opened(browser, link);
  t.after(() => guest.page.context().close());
  const requested: string[] = [];
  guest.page.on('request', (request) => requested.push(request.url()));
  await guest.page.getByText('reads, ships, cancels up to 20 an hour, follows changes').waitFor();
  assert.ok(!(await kept(guest.page)).includes(ticket));
  assert.deepEqual(await accessibilityFindings(guest.page), []);
  // To look at it does not use it.
  assert.notEqual((await keyNamed(service, 'Noor, packing')).ticket, undefined);
  await guest.page.getByRole('button', { name: 'Accept and sign in' }).click();
  await guest.page.getByRole('heading', { name: 'Your key is made' }).waitFor();
  assert.equal((await keyNamed(service, 'Noor, packing')).ticket, undefined);
  const secret = await guest.page.getByLabel('API key').inputValue();
  assert.notEqual(secret, ticket);
  assert.deepEqual(await accessibilityFindings(guest.page), []);
  await guest.page.getByRole('button', { name: 'Open the console' }).click();
  await guest.page.getByRole('button', { name: 'Signed in with the key Noor, packing' }).waitFor();
  assert.ok(!(await kept(guest.page)).includes(ticket));
  const inPage = (await kept(guest.page)).replace(/\n\{"store-orders-key":.*\}$/, '');
  assert.ok(!inPage.includes(secret));
  assert.ok(!requested.some((url) => url.includes(ticket)));
  assert.ok(!service.log().includes(ticket));
  await guest.page.goBack();
  assert.ok(!guest.page.url().includes(ticket));
  assert.deepEqual(guest.problems, []);
  const late = await opened(browser, link);
  t.after(() => late.page.context().close());
  await late.page.getByText(/was used, or its key was revoked\. Ask for another one\./).waitFor();
  assert.deepEqual(await accessibilityFindings(late.page), []);
  await late.page.getByRole('button', { name: 'Sign in with another key' }).click();
  await late.page.getByLabel('API key').waitFor();
});

async function keyNamed(service: Service, name: string): Promise<ApiKey> {
  return (await service.store.keys()).find((key) => key.name === name)!;
}

const linkOf = ({ port }: Service, ticket: string) =>
  `http://127.0.0.1:${port}/console#invitation=${ticket}`;

test('an invitation that has ended, and a link without one, say so', async (t) => {
  const service = await startService(t);
  const ticket = newSecret(service.key.environment);
  const until = Date.now() - 1_000;
  await keyOf(service, { ticket: { digest: secretDigest(ticket), until } });
  const { page } = await opened(browser, linkOf(service, ticket));
  t.after(() => page.context().close());
  await page.getByText(/it was good for an hour\. Ask for another one\./).waitFor();
  // The secret of a key is no ticket.
  await page.goto('about:blank');
  await page.goto(linkOf(service, service.secret));
  const accept = page.getByRole('button', { name: 'Accept and sign in' });
  // A scan accepts nothing, whatever its times are.
  await accept.focus();
  await stopClock(page);
  for (const [code, keyMs] of [
    ['998', [300, 10]],
    ['4006381333931', [1_100, ...Array(12).fill(60), 150]],
    ['998', [1_100, 10, 60, 120]],
    [' 998', [1_100, 10]],
  ] as const) {
    await scanAt(page, code, keyMs);
    assert.equal(await accept.isEnabled(), true, `${code} ${keyMs}`);
  }
  await page.clock.runFor(1_100);
  await page.keyboard.press(' ');
  await page.clock.runFor(210);
  await page.getByText(/Ask for another one\./).waitFor();
  assert.ok(!(await kept(page)).includes(service.secret));
});

test('a tab that is signed in asks before its key is replaced', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const ticket = newSecret(service.key.environment);
  const until = Date.now() + 60_000;
  const invited = { ticket: { digest: secretDigest(ticket), until }, name: 'new' };
  await keyOf(service, invited);
  const { page } = await signedIn(t, browser, service);
  await live(page);
  // The same document: the browser changes only the fragment.
  await page.goto(linkOf(service, ticket));
  await page.getByText('This browser is signed in with another key.').waitFor();
  await page.getByRole('button', { name: 'Keep the present key' }).click();
  await page.getByRole('button', { name: 'Signed in with the key test' }).waitFor();
  assert.notEqual((await keyNamed(service, 'new')).ticket, undefined);
  await page.goto(linkOf(service, ticket));
  await page.getByRole('button', { name: 'Accept, and replace the key in this tab' }).click();
  await page.getByRole('button', { name: 'Open the console' }).click();
  await page.getByRole('button', { name: 'Signed in with the key new' }).waitFor();
  assert.ok(await isValid(service, service.secret));
});

test('a secret is replaced with an overlap, at once, or by an invitation', async (t) => {
  const service = await startService(t);
  const shop = await keyOf(service, { name: 'shop' });
  const { page } = await keysPage(t, service);
  await choose(page, 'shop', 'Replace the secret…');
  const question = page.getByRole('alertdialog', { name: 'Replace the secret of shop?' });
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Keep the secret');
  assert.deepEqual(await accessibilityFindings(page), []);
  await question.getByRole('button', { name: 'Replace the secret' }).click();
  const first = await page.getByLabel('Secret', { exact: true }).inputValue();
  await page.getByRole('button', { name: 'I have it, close' }).click();
  const badge = rowOf(page, 'shop').getByText('Old secret works until');
  for (const width of [1_440, 1_024, 390]) {
    await page.setViewportSize({ width, height: 900 });
    assert.ok((await badge.boundingBox())!.height < 24, `one line at ${width}`);
  }
  await rowOf(page, 'shop').getByRole('cell', { name: 'Last used: not yet' }).waitFor();
  await rowOf(page, 'shop').getByRole('cell', { name: 'Expires: Never' }).waitFor();
  await page.setViewportSize({ width: 1_440, height: 900 });
  assert.ok((await isValid(service, first)) && (await isValid(service, shop.secret)));
  await choose(page, 'shop', 'Replace the secret…');
  await page.getByText('The secret before that ends now.').waitFor();
  await page.getByLabel('no longer').check();
  await question.getByRole('button', { name: 'Replace the secret' }).click();
  const second = await page.getByLabel('Secret', { exact: true }).inputValue();
  await page.getByRole('button', { name: 'I have it, close' }).click();
  await rowOf(page, 'shop').getByText('Old secret works until').waitFor({ state: 'detached' });
  assert.ok(await isValid(service, second));
  await choose(page, 'shop', 'Replace the secret…');
  await page.getByLabel('until an invitation is accepted').check();
  await question.getByRole('button', { name: 'Replace the secret' }).click();
  const link = await page.getByLabel('Link', { exact: true }).inputValue();
  await page.getByRole('button', { name: 'I have it, close' }).click();
  assert.ok(await isValid(service, second));
  const guest = await opened(browser, link);
  t.after(() => guest.page.context().close());
  await guest.page.getByRole('button', { name: 'Accept and sign in' }).click();
  const third = await guest.page.getByLabel('API key').inputValue();
  assert.ok(await isValid(service, third));
  // An invitation that was lost is made again.
  const lost = await invite(page, 'Lee');
  await choose(page, 'Lee', 'Invite again…');
  await page.getByRole('button', { name: 'Invite again', exact: true }).click();
  assert.notEqual(await page.getByLabel('Link', { exact: true }).inputValue(), lost);
});

test('a key is revoked after a question that says what stops; its console signs out', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n));
  const shop = await keyOf(service, { name: 'shop', scopes: SCOPES });
  await keyOf(service, { name: 'made by it', createdBy: shop.key.id });
  const { page, manager } = await keysPage(t, service);
  const victim = await signedIn(t, browser, { ...service, secret: shop.secret });
  await live(victim.page);
  await choose(page, 'shop', 'Revoke…');
  const question = page.getByRole('alertdialog', { name: 'Revoke shop?' });
  const text = await question.innerText();
  for (const part of [
    /within a second/,
    /Every request with it is refused/,
    /A change of many orders whose request has arrived is carried out/,
    /The key that it made goes on, until revoked/,
    /Its orders and history stay/,
  ]) {
    assert.match(text, part);
  }
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Keep key');
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  assert.ok(await isValid(service, shop.secret));
  await choose(page, 'shop', 'Revoke…');
  await question.getByRole('button', { name: 'Revoke key' }).click();
  await page.getByText('shop was revoked').waitFor();
  await victim.page.getByText('This key is no longer valid.').waitFor();
  await page.getByRole('link', { name: 'Revoked 1' }).click();
  await rowOf(page, 'shop').waitFor();
  // A key that may do more than one's own is not offered.
  await page.getByRole('link', { name: /^In use/ }).click();
  const low = await keyOf(service, { scopes: ['keys:manage', 'orders:read'], name: 'low' });
  const other = await signedIn(
    t,
    browser,
    { ...service, secret: low.secret },
    { search: '?view=keys' },
  );
  await other.page.getByRole('button', { name: `Actions for ${manager.key.name}` }).click();
  await other.page.getByRole('dialog').getByText('It may do more than your key').waitFor();
  assert.equal(await other.page.getByRole('button', { name: 'Revoke…' }).count(), 0);
});

test('a key is renamed and renewed, and its old secret ended; an expired one is renewed', async (t) => {
  const service = await startService(t);
  const shop = await keyOf(service, { name: 'shop', expiresAt: Date.now() - DAY_MS });
  const { page } = await keysPage(t, service);
  await page.getByRole('link', { name: 'Expired 1' }).click();
  await choose(page, 'shop', 'Edit…');
  const dialog = page.getByRole('alertdialog', { name: 'Edit shop' });
  await dialog.getByLabel('Name').fill('web shop');
  await dialog.getByLabel('in 30 days').check();
  assert.deepEqual(await accessibilityFindings(page), []);
  await dialog.getByRole('button', { name: 'Change key' }).click();
  await page.getByText('web shop was changed').waitFor();
  await page.getByRole('link', { name: /^In use/ }).click();
  assert.match(await rowOf(page, 'web shop').innerText(), /in 30 days/);
  assert.ok(await isValid(service, shop.secret));
  await choose(page, 'web shop', 'Replace the secret…');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Replace the secret' }).click();
  await page.getByRole('button', { name: 'I have it, close' }).click();
  await choose(page, 'web shop', 'Edit…');
  await page.getByLabel(/End the old secret now/).check();
  await page.getByLabel('never', { exact: true }).check();
  await page.getByRole('button', { name: 'Change key' }).click();
  await rowOf(page, 'web shop').getByText('Never').waitFor();
  const { former, expiresAt } = await keyNamed(service, 'web shop');
  assert.deepEqual([former, expiresAt], [undefined, undefined]);
  await page.getByRole('button', { name: 'Actions for web shop' }).click();
  const menu = page.getByRole('dialog', { name: 'Actions for web shop' });
  const activity = await menu.getByRole('link', { name: 'Activity' }).getAttribute('href');
  assert.match(activity!, /view=activity&by=key_/);
});

test('a refusal is shown in the question', async (t) => {
  const service = await startService(t);
  await keyOf(service, { name: 'shop' });
  const { page } = await keysPage(t, service);
  await choose(page, 'shop', 'Revoke…');
  await page.route('**/revoke', (route) =>
    route.fulfill({
      ...{ status: 409, contentType: 'application/json' },
      headers: { 'x-request-id': route.request().headers()['x-request-id']! },
      body: '{"code":"last_key_manager","message":"x","status":409}',
    }),
  );
  await page.getByRole('button', { name: 'Revoke key' }).click();
  const alert = page.getByRole('alertdialog').getByRole('alert');
  await alert
    .getByText('Not done. No other key could manage keys then; create one before.')
    .waitFor();
});

test('without the scope, the page says what the own key may do, and whom to ask', async (t) => {
  const service = await startService(t);
  const scopes = ['orders:read', 'orders:cancel', 'changes:read'] as const;
  const { secret } = await keyOf(service, { name: 'Support', scopes, cancelsPerHour: 50 });
  const search = '?view=keys';
  const { page } = await signedIn(t, browser, { ...service, secret }, { search });
  await page.getByText('Ask whoever gave you yours.').waitFor();
  await page.getByText('reads, cancels up to 50 an hour, follows changes').last().waitFor();
  assert.equal(await page.getByRole('link', { name: 'Keys' }).count(), 0);
  assert.deepEqual(await accessibilityFindings(page), []);
});

test('the page is found by its tab, its keys and the commands; loading, failing and empty say so', async (t) => {
  const service = await startService(t);
  const { secret } = await keyOf(service, { name: 'only', scopes: SCOPES });
  await service.store.apply([{ type: 'revokeKey', id: service.key.id, at: Date.now() }]);
  const { page } = await signedIn(t, browser, { ...service, secret });
  await page.getByRole('heading', { name: 'Orders', exact: true }).waitFor();
  let isAnswered = false;
  await page.route('**/v2/keys?*', async (route) => {
    while (!isAnswered) await new Promise((resolve) => setTimeout(resolve, 20));
    await route.fulfill({
      ...{ status: 500, contentType: 'application/json' },
      body: '{"code":"internal_error","message":"x","status":500}',
    });
  });
  await typeKey(page, 'g');
  await typeKey(page, 'k');
  await page.getByText('Loading…').waitFor();
  await page.getByRole('columnheader', { name: 'Last used' }).waitFor();
  isAnswered = true;
  await page.getByText('The keys could not be read').waitFor({ timeout: 60_000 });
  await page.getByText('store-orders keys revoke KEY_ID').waitFor();
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.unroute('**/v2/keys?*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('link', { name: 'Orders', exact: true }).click();
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await rowOf(page, 'only').waitFor();
});

test('a store with one key offers the presets', async (t) => {
  const service = await startService(t);
  const { page } = await keysPage(t, service);
  await rowOf(page, 'Kim, front desk').waitFor();
  await page.route('**/v2/keys?*', async (route) => {
    const response = await route.fetch();
    const { keys, ...rest } = JSON.parse(await response.text());
    const own = keys.filter(({ name }: { name: string }) => name === 'Kim, front desk');
    await route.fulfill({ response, body: JSON.stringify({ ...rest, keys: own }) });
  });
  await page.reload();
  await page.getByText('Only your key has access').waitFor();
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.getByRole('button', { name: 'Support' }).click();
  assert.equal(await page.getByRole('radio', { name: 'Support' }).isChecked(), true);
  await page.keyboard.press('Control+k');
  await page.getByLabel('What to do, or an order').fill('keys');
  await page.getByRole('button', { name: 'Keys', exact: true }).click();
  await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
});

test('on a phone, keys have three lines, and actions are within reach', async (t) => {
  const service = await startService(t);
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };
  const { page } = await keysPage(t, service, {}, phone);
  await rowOf(page, 'test').waitFor();
  assert.deepEqual(await accessibilityFindings(page), []);
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await choose(page, 'test', 'Revoke…');
  await page.getByRole('button', { name: 'Keep key' }).click();
  const box = await page.getByRole('button', { name: 'Create key…' }).boundingBox();
  assert.ok(box!.y > 700 && box!.height >= 44);
  await page.getByRole('button', { name: 'Create key…' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Noor');
  assert.deepEqual(await accessibilityFindings(page), []);
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Link', { exact: true }).waitFor();
  assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
});
