import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { Burst } from '../../console/browser/burst.ts';
import { SCOPES } from '../../src/domain/api-key.ts';
import { pending, place, type Service, startService } from '../http/harness.ts';
import { startBrowser } from './chromium.ts';
import { row, signedIn } from './console-page.ts';
import { scanAt, stopClock } from './scanner.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

const details = (page: Page, id: number) =>
  page.getByRole('heading', { name: `Order ${id}`, exact: true });
const question = (page: Page) => page.getByRole('alertdialog');
const box = (page: Page) => page.getByLabel('Find an order');
const found = (page: Page) => page.getByRole('search').getByRole('status');
/** Asks, and waits until Enter has an effect. */
const ask = async (page: Page, button: string) => {
  await page.getByRole('button', { name: button }).click();
  await page.locator('dialog.ask').waitFor();
  await page.clock.runFor(600);
};
const leave = async (page: Page) => {
  await page.keyboard.press('Escape');
  await page.locator('dialog.ask').waitFor({ state: 'detached' });
};
const press = async (page: Page, key: string, afterMs: number) => {
  await page.clock.runFor(afterMs);
  await page.keyboard.press(key);
};
/** A fast scan whose Enter comes after this. */
const late = (code: string, endMs: number) => [300, ...Array(code.length - 1).fill(10), endMs];
/** The orders 1, 2, 998, 1000, 1998, 2000 and three with references, with order 2 open; the clock stands still. */
async function opened(
  t: Parameters<typeof startService>[0],
  search = '?order=2',
  more: readonly bigint[] = [],
) {
  const service = await startService(t);
  const ids = [1n, 2n, 998n, 1000n, 1998n, 2000n, ...more].map(pending);
  const references = ['Web-2026-1', 'LOT-2026-5', 'WEB-1'].map((reference, index) => ({
    ...pending(BigInt(5_001 + index)),
    reference,
  }));
  await place(service.store, ...ids, ...references);
  const secret = await service.newKey({ scopes: SCOPES });
  const { page, problems } = await signedIn(t, browser, { ...service, secret }, { search });
  const isList = search === '';
  await (isList ? row(page, 5003) : page.locator('h2').first()).waitFor();
  // Until it is read, a letter does not act on it.
  if (search.includes('order=')) await page.getByRole('heading', { name: 'History' }).waitFor();
  await stopClock(page);
  return { service, page, problems };
}
/** Holds responses back. @returns lets those go that are asked for until then, and resolves when the page has them */
async function heldBack(page: Page, pattern: RegExp): Promise<() => Promise<void>> {
  let mayGoOn = Promise.withResolvers<void>();
  await page.route(pattern, async (route) => {
    await mayGoOn.promise;
    await route.continue();
  });
  return async () => {
    const response = page.waitForResponse(pattern);
    mayGoOn.resolve();
    mayGoOn = Promise.withResolvers();
    await response;
    // What this answers comes after it.
    await page.evaluate("fetch('/readyz').then((each) => each.text())");
  };
}
const changes = async ({ store }: Service) => {
  const { pending: _, ...others } = (await store.status()).orders;
  return { ...others, placed: (await store.status()).orders.pending - 9n };
};
const NONE = { shipped: 0n, cancelled: 0n, placed: 0n };

test('a scan is known by the times between its keys', () => {
  const typed = (keys: string, gapsMs: readonly number[], endMs: number) => {
    const burst = new Burst();
    let at = 0;
    for (const [index, key] of [...keys].entries()) {
      at += gapsMs[index - 1] ?? gapsMs.at(-1) ?? 0;
      burst.add(key, at, null, 200);
    }
    return { burst, at, ...burst.end('Enter', at + endMs, 200) };
  };
  for (const [keys, gapsMs, endMs, text, isScanned] of [
    ['3SXYZ', [10], 10, '3SXYZ', true],
    ['3SXYZ', [10], 900, '3SXYZ', true],
    // A person reads it first.
    ['3SXYZ', [10], 1_100, '', false],
    ['3SXYZ', [60], 60, '3SXYZ', true],
    ['3SXYZ', [95], 95, '3SXYZ', true],
    ['3SXYZ', [10, 150, 10, 10], 150, '3SXYZ', true],
    ['04', [10], 10, '04', true],
    ['2', [], 50, '2', true],
    // People, of whom the fastest have single short times.
    ['lost', [120], 120, 'lost', false],
    ['lost', [120, 90, 140], 80, 'lost', false],
    ['lost', [80, 80, 80], 130, 'lost', false],
    ['lost', [120], 300, '', false],
    ['2', [], 150, '2', false],
  ] as const) {
    const end = typed(keys, gapsMs, endMs);
    assert.deepEqual([end.text, end.isScanned], [text, isScanned], `${keys} ${gapsMs} ${endMs}`);
  }
  // A late end that some people are as quick for: a question asks once more.
  for (const [keys, keyMs, endMs, isSwift] of [
    ['4006381333931', 60, 250, true],
    ['998', 100, 900, true],
    ['998', 60, 1_100, false],
    ['99', 60, 150, false],
    ['lost', 110, 150, false],
  ] as const) {
    assert.equal(typed(keys, [keyMs], endMs).isSwift, isSwift, `${keys} ${keyMs} ${endMs}`);
  }
  // A scanned code goes on after a pause; a text of a person, and one that was taken, do not.
  for (const [keyMs, isTaken, text] of [
    [10, false, 'AB12'],
    [60, false, 'AB12'],
    [110, false, '2'],
    [10, true, '2'],
  ] as const) {
    const { burst } = typed('', [], 0);
    for (const [index, key] of [...'AB1'].entries()) burst.add(key, index * keyMs, null, 200);
    burst.isTaken = isTaken;
    burst.add('2', 900, null, 200);
    assert.equal(burst.text, text);
  }
  // Further ends belong to the first, if they are soon.
  const { burst, at } = typed('04', [10], 10);
  for (const [afterMs, isFurther] of [
    [250, true],
    [300, true],
    [320, false],
  ] as const)
    assert.equal(burst.end('Enter', at + afterMs, 200).isFurther, isFurther);
  // Tab leads on.
  const { burst: other, at: otherAt } = typed('04', [10], 10);
  assert.equal(other.end('Tab', otherAt + 100, 200).isFurther, false);
  // A scanner can send Tab and Enter.
  for (const [keyMs, tabMs, isFurther] of [
    [60, 60, true],
    [60, 130, true],
    [60, 250, true],
    [120, 120, false],
  ] as const) {
    const burst = new Burst();
    for (const [index, key] of [...'998'].entries()) burst.add(key, index * keyMs, null, 200);
    burst.end('Tab', 2 * keyMs + tabMs, 200);
    assert.equal(burst.end('Enter', 3 * keyMs + tabMs, 200).isFurther, isFurther);
  }
});

test('an Enter that comes late, twice, or is held confirms nothing', async (t) => {
  const { service, page, problems } = await opened(t);
  await ask(page, 'Cancel order…');
  for (const [code, keyMs, second] of [
    ['4006381333931', late('4006381333931', 10), 101],
    ['3SXYZ123', late('3SXYZ123', 60), 199],
    ['3SXYZ123', late('3SXYZ123', 300), 290],
  ] as const) {
    await scanAt(page, code, keyMs);
    await press(page, 'Enter', second);
    await question(page).getByText('A scan does not confirm.').waitFor();
  }
  // A slow scanner, and one that pauses before the last character.
  await scanAt(page, '4006381333931', [300, ...Array(12).fill(60), 250]);
  await question(page).getByText('A scan does not confirm.').waitFor();
  for (const keyMs of [10, 60]) {
    await scanAt(page, '4006381333931', [1_100, ...Array(11).fill(keyMs), 250, 150]);
    await question(page).getByText('A scan does not confirm.').waitFor();
  }
  for (const place of [
    page.getByLabel('Then place it again'),
    question(page).getByRole('button', { name: 'Cancel order', exact: true }),
  ]) {
    for (const [code, keyMs] of [
      ['998', [...late('998', 210)]],
      ['49', [300, 10, 210]],
      ['998', [300, 60, 60, 900]],
    ] as const) {
      await place.focus();
      await scanAt(page, code, keyMs);
      await press(page, 'Enter', 230);
      // The refusal moves the cursor, which would be in the middle of the next scan.
      await page.locator('.given input:focus').waitFor();
    }
  }
  const danger = question(page).getByRole('button', { name: 'Cancel order', exact: true });
  for (const [code, keyMs] of [
    [' 998', late(' 998', 10)],
    [' 998', [1_100, 70]],
    ['PO 3', [1_100, 60, 250, 70, 60]],
    ['PO 3', [1_100, 60, 250, 250, 60]],
  ] as const) {
    await danger.focus();
    await scanAt(page, code, keyMs);
    await page.clock.runFor(300);
  }
  // An end of Tab and Enter.
  for (const place of [page.getByLabel('Reason'), danger]) {
    for (const keyMs of [10, 60]) {
      await place.focus();
      for (const key of '998') await press(page, key, keyMs);
      await press(page, 'Tab', keyMs);
      await press(page, 'Enter', keyMs);
      await page.clock.runFor(1_100);
    }
  }
  assert.deepEqual(await changes(service), NONE);
  await leave(page);
  await ask(page, 'Place order');
  const pet = page.getByRole('dialog', { name: 'Place an order' }).getByLabel('Pet');
  await pet.focus();
  await scanAt(page, '402', late('402', 230));
  await press(page, 'Enter', 150);
  await pet.focus();
  for (const key of '402') await press(page, key, 10);
  await press(page, 'Tab', 10);
  await press(page, 'Enter', 10);
  await leave(page);
  // A letter that is held opens a question, and writes nothing into it.
  const held = async (key: string, code: number) => {
    for (let step = 0; step < 30; step += 1) {
      await page.clock.runFor(33);
      await session.send('Input.dispatchKeyEvent', {
        ...{ type: 'keyDown', autoRepeat: step > 0, key, windowsVirtualKeyCode: code },
        text: key === 'Enter' ? '\r' : key,
      });
    }
    await session.send('Input.dispatchKeyEvent', {
      ...{ type: 'keyUp', key, windowsVirtualKeyCode: code },
    });
  };
  const session = await page.context().newCDPSession(page);
  await page.locator('body').press('Shift');
  await page.evaluate('document.activeElement.blur()');
  await held('s', 83);
  await question(page).waitFor();
  assert.equal(await page.getByLabel('Tracking number').inputValue(), '');
  await leave(page);
  // Held from the button on.
  await page.getByRole('button', { name: 'Ship order…' }).focus();
  await held('Enter', 13);
  await question(page).waitFor();
  assert.deepEqual(await changes(service), NONE);
  assert.deepEqual(problems, []);
});

test('a blank presses a button, if no key follows', async (t) => {
  const { page } = await opened(t);
  await page.getByRole('button', { name: 'Ship order…' }).focus();
  await scanAt(page, ' 998', late(' 998', 10));
  await details(page, 998).waitFor();
  assert.equal(await question(page).count(), 0);
  for (let time = 0; time < 2; time += 1) {
    await page.getByRole('button', { name: 'Ship order…' }).focus();
    await press(page, ' ', 300);
    await page.clock.runFor(210);
    await question(page).waitFor();
    await leave(page);
  }
});

test('a slip ships nothing: if it is not looked up, with Caps Lock, or as a reason for several', async (t) => {
  const { service, page } = await opened(t);
  await ask(page, 'Ship order…');
  await scanAt(page, 'wEB-2026-1', late('wEB-2026-1', 10));
  await question(page).getByText('wEB-2026-1 is the reference of order 5001.').waitFor();
  await page.route('**/orders/find', (route) => route.fulfill({ status: 400, body: '' }));
  await scanAt(page, 'WEB-1', late('WEB-1', 10));
  while ((await question(page).getByText('Not shipped; safe to retry').count()) === 0)
    await page.clock.runFor(5_000);
  await page.unroute('**/orders/find');
  await leave(page);
  // The scan that is refused in a question is explained.
  await ask(page, 'Cancel order…');
  await scanAt(page, 'WEB-1', late('WEB-1', 10));
  await question(page).getByText('WEB-1 is the reference of order 5003.').waitFor();
  await leave(page);
  await page.getByLabel('Select all pending orders on this page').check();
  await ask(page, 'Cancel 9…');
  await page.getByLabel('Reason').fill('WEB-1');
  await question(page).getByRole('button', { name: 'Cancel 9 orders' }).click();
  await page.getByText('Not cancelled: this is an order’s reference').waitFor();
  assert.equal(await question(page).count(), 1);
  assert.deepEqual(await changes(service), NONE);
});

test('a label that began outside of the question is no tracking number, and one that ends with Tab is', async (t) => {
  const { service, page } = await opened(t);
  for (const key of '3SXYZ0') await press(page, key, 60);
  await page.getByRole('button', { name: 'Ship order…' }).click();
  const field = page.getByLabel('Tracking number');
  await field.waitFor();
  for (const key of '0448171234') await press(page, key, 60);
  await press(page, 'Enter', 60);
  await question(page).getByText('Scan it again.').waitFor();
  assert.equal(await field.inputValue(), '');
  assert.deepEqual(await changes(service), NONE);
  for (const key of '3SXYZ1') await press(page, key, 10);
  await press(page, 'Tab', 10);
  await page.getByText('Order 2 was shipped').waitFor();
  assert.equal((await service.store.orders([2n]))[0]!.trackingNumber, '3SXYZ1');
});

test('a label of which a part is not in the field is no tracking number', async (t) => {
  const { service, page } = await opened(t);
  await ask(page, 'Ship order…');
  const field = page.getByLabel('Tracking number');
  // After what was typed.
  for (const key of '12') await press(page, key, 400);
  await scanAt(page, '3SXYZ12', [1_500, 10]);
  await question(page).getByText('Scan it again.').waitFor();
  assert.equal(await field.inputValue(), '');
  // It begins while a slip is looked up, when the field is fixed.
  const { promise: answer, resolve } = Promise.withResolvers<void>();
  await page.route('**/orders/find', (route) => answer.then(() => route.continue()));
  await scanAt(page, '998', [400, 10]);
  for (const key of '3SXYZ00') await press(page, key, 40);
  resolve();
  await question(page).getByText('998 is order 998.').waitFor();
  for (const key of '448171') await press(page, key, 40);
  await press(page, 'Enter', 40);
  await question(page).getByText('Scan it again.').waitFor();
  assert.equal(await field.inputValue(), '');
  assert.deepEqual(await changes(service), NONE);
  await scanAt(page, '3SXYZ00448171', [400, 40]);
  await page.getByText('Order 2 was shipped').waitFor();
  assert.equal((await service.store.orders([2n]))[0]!.trackingNumber, '3SXYZ00448171');
});

test('a code with a pause in it is whole, whatever is open', async (t) => {
  const { page } = await opened(t, '');
  await page.getByRole('button', { name: 'Reference' }).first().click();
  await page.getByRole('dialog', { name: 'Reference' }).waitFor();
  await page.getByRole('checkbox', { name: 'and those that begin with it' }).focus();
  await scanAt(page, '1998', [300, 300, 12, 12, 12]);
  await details(page, 1998).waitFor();
  // A letter without an action is its beginning.
  await press(page, 'Escape', 1_100);
  await scanAt(page, 'A998', [300, 300, 12, 12, 12]);
  await found(page).getByText('No order found.').waitFor();
  assert.equal(await box(page).inputValue(), 'A998');
});

test('a scan into the search box opens what was scanned, or nothing', async (t) => {
  const { page } = await opened(t, '');
  // With the cursor on a hit, and not at the end.
  await box(page).pressSequentially('WEB');
  await page.clock.runFor(200);
  await found(page).getByRole('link').first().waitFor();
  await press(page, 'ArrowDown', 300);
  await scanAt(page, '1998', late('1998', 10));
  await details(page, 1998).waitFor();
  await box(page).fill('1998');
  await press(page, 'Home', 300);
  await scanAt(page, '2000', late('2000', 10));
  await details(page, 2000).waitFor();
  // What is in the box means another order, of which the scan can be the end.
  for (const keyMs of [10, 60]) {
    await box(page).fill('1');
    await scanAt(page, '998', [300, keyMs]);
    await found(page).getByRole('link', { name: '1998' }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('order'), null);
  }
  // A slow scan with a late Enter is no part either.
  await box(page).fill('');
  await scanAt(page, 'LOT-2026', [300, ...Array(7).fill(60), 150]);
  await page.clock.runFor(500);
  await found(page).getByRole('link', { name: 'LOT-2026-5' }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('order'), null);
  // The next scan takes its place.
  await scanAt(page, '998', [300, 10]);
  await details(page, 998).waitFor();
  // Among the commands, where a part opens nothing either.
  for (const code of ['LOT-2026', '04', '199']) {
    await page.keyboard.press('ControlOrMeta+k');
    await scanAt(page, code, [300, 60]);
    await page.clock.runFor(200);
    await leave(page);
    assert.equal(new URL(page.url()).searchParams.get('order'), null, code);
  }
});

test('on the page for scanning, a scan into the search box is a line', async (t) => {
  const { page } = await opened(t, '?view=scan');
  await box(page).focus();
  await scanAt(page, '1', [300, 10]);
  await scanAt(page, '998', [300, 60]);
  await page.keyboard.press('ControlOrMeta+k');
  await scanAt(page, '2', [300, 10]);
  const lines = page.locator('.scanned tbody tr');
  await lines.nth(2).getByText('Ready').waitFor();
  await box(page).focus();
  await scanAt(page, '2000', [300, 75, 75, 75, 220]);
  await lines.nth(3).getByText('Ready').waitFor();
  // A person takes back a digit.
  for (const key of ['1', '9', '9', 'Backspace', '9', '8', 'Enter']) await press(page, key, 120);
  await lines.nth(4).getByText('Ready').waitFor();
  assert.deepEqual(await lines.locator('a').allInnerTexts(), ['1998', '2000', '2', '998', '1']);
  assert.equal(await page.getByRole('dialog').count(), 0);
});

test('a code that is scanned again is looked up again', async (t) => {
  const { service, page } = await opened(t, '');
  await scanAt(page, 'WEB-8', [300, 10]);
  await found(page).getByText('No order found.').waitFor();
  await place(service.store, { ...pending(6000n), reference: 'WEB-8' });
  await page.clock.runFor(3_000);
  await scanAt(page, 'WEB-8', [300, 10]);
  await details(page, 6000).waitFor();
});

test('a slow code that begins with a shortcut leaves no trace of it', async (t) => {
  const { page } = await opened(t, '');
  await press(page, 'j', 300);
  await page.clock.runFor(300);
  for (const code of ['x998', 'xk-12', 'gs-77']) {
    await scanAt(page, code, [300, 70]);
    await page.clock.runFor(300);
    await found(page).getByText(code, { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await page.getByText('1 selected').count(), 0);
    await page.getByRole('heading', { name: 'Orders' }).waitFor();
  }
});

test('letters and Enter that a person types quickly have their actions', async (t) => {
  const { page } = await opened(t);
  await press(page, 's', 300);
  await press(page, 'Enter', 150);
  await question(page).waitFor();
  await leave(page);
  await press(page, 'Escape', 300);
  await details(page, 2).waitFor({ state: 'detached' });
  await press(page, 'j', 300);
  await press(page, 'Enter', 40);
  await details(page, 1).waitFor();
});

test('a scanner that pauses after a letter, or in the middle, changes and opens nothing else', async (t) => {
  const { service, page } = await opened(t);
  // The letter has opened the question.
  for (const [pauseMs, keyMs, end, endMs, middleMs = 0] of [
    [210, 12, 'Tab', 12],
    [240, 60, 'Enter', 60],
    [300, 60, 'Enter', 250],
    [260, 10, 'Enter', 10, 420],
    // Before Enter has an effect.
    [210, 10, 'Enter', 10],
  ] as const) {
    await press(page, 's', 300);
    await page.clock.runFor(pauseMs);
    await question(page).waitFor();
    for (const key of 'hop') await press(page, key, keyMs);
    await page.clock.runFor(middleMs);
    for (const key of '-2026-000001') await press(page, key, keyMs);
    await press(page, end, endMs);
    await question(page).getByText('Scan it again.').waitFor();
    assert.equal(await page.getByLabel('Tracking number').inputValue(), '');
    await leave(page);
  }
  assert.deepEqual(await changes(service), NONE);
  // Neither is the end of a code that no order has.
  for (const end of ['Enter', 'Tab']) {
    await page.clock.runFor(300);
    for (const key of 'WEB-') await press(page, key, 15);
    await page.clock.runFor(215);
    for (const key of '2000') await press(page, key, 15);
    await press(page, end, 15);
    await found(page).getByText('No order found.').waitFor();
    assert.equal(new URL(page.url()).searchParams.get('order'), null);
    await page.keyboard.press('Escape');
  }
});

test('a person types, pauses, and goes on with Tab', async (t) => {
  const { service, page } = await opened(t);
  await ask(page, 'Ship order…');
  const type = async (text: string, keyMs: number) => {
    for (const key of text) await press(page, key, keyMs);
  };
  await type('3SXYZ00112', 85);
  await press(page, 'Tab', 90);
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Do not ship');
  await leave(page);
  // In two parts, it is asked for once more, and stays.
  await ask(page, 'Ship order…');
  await type('1Z999', 90);
  await page.clock.runFor(1_500);
  await type('AA10', 90);
  await press(page, 'Enter', 300);
  await question(page).getByText('Scan it again.').waitFor();
  assert.equal(await page.getByLabel('Tracking number').inputValue(), '1Z999AA10');
  await leave(page);
  await ask(page, 'Cancel order…');
  await type('damaged', 75);
  await press(page, 'Tab', 80);
  await press(page, ' ', 150);
  await press(page, 'Tab', 120);
  assert.equal(await page.getByLabel('Reason').inputValue(), 'damaged');
  assert.equal(await page.getByLabel('Then place it again').isChecked(), true);
  assert.equal(await question(page).getByRole('alert').innerText(), '');
  await leave(page);
  assert.deepEqual(await changes(service), NONE);
  // What is typed quickly needs Enter once more, and stays.
  await press(page, 'c', 300);
  await page.clock.runFor(250);
  await question(page).waitFor();
  await page.clock.runFor(150);
  await type('damaged', 75);
  await press(page, 'Enter', 400);
  await question(page).getByText('A scan does not confirm.').waitFor();
  assert.equal(await page.getByLabel('Reason').inputValue(), 'damaged');
  await leave(page);
  const shipping = page.getByRole('button', { name: 'Ship order…' });
  await shipping.focus();
  for (const _ of 'ab') await press(page, ' ', 150);
  await page.clock.runFor(210);
  await question(page).waitFor();
  await leave(page);
  // Enter after Tab is not the second one of a scan.
  await press(page, 'n', 300);
  await page.clock.runFor(600);
  await type('412', 120);
  await press(page, 'Tab', 100);
  await press(page, 'Enter', 220);
  await details(page, 5004).waitFor();
  // A quick beginning of a form is not that of a code.
  await press(page, 'n', 300);
  await press(page, '7', 430);
  await press(page, 'Tab', 90);
  await press(page, '2', 200);
  await press(page, 'Enter', 450);
  await page.getByText(/^Order \d+ was placed/).waitFor();
  await details(page, 5005).waitFor();
  const { petId, quantity } = (await service.store.orders([5005n]))[0]!;
  assert.deepEqual([petId, quantity], [7n, 2n]);
  // Enter soon after a blank finds the box checked, and a reason is as long as its field.
  await page.keyboard.press('Escape');
  await scanAt(page, '998', [1_200, 10]);
  await details(page, 998).waitFor();
  await ask(page, 'Cancel order…');
  await type(`${'the blue collar '.repeat(4)}and another day`, 150);
  await press(page, 'Tab', 200);
  await press(page, ' ', 300);
  await press(page, 'Enter', 150);
  await page.getByRole('dialog', { name: 'Place an order' }).waitFor();
  const [cancelled] = await service.store.orders([998n]);
  assert.equal(cancelled!.reason, 'the blue collar '.repeat(4).trim());
  await leave(page);
  // A text that begins with g is no page.
  await page.keyboard.press('Escape');
  await type('g-19', 250);
  await page.clock.runFor(210);
  assert.equal(await box(page).inputValue(), 'g-19');
  await page.keyboard.press('Escape');
  // A reference in two parts, of which the second is an id.
  await press(page, '/', 300);
  await page.clock.runFor(100);
  await type('lot-2026-', 150);
  await page.clock.runFor(260);
  await press(page, '5', 0);
  await page.clock.runFor(300);
  await found(page).getByText('Enter opens it.').waitFor();
  await press(page, '5', 300);
  await page.keyboard.press('Backspace');
  await press(page, 'Enter', 90);
  await details(page, 5002).waitFor();
});

test('an answer that comes late takes neither the cursor nor a form from a person', async (t) => {
  const more = Array.from({ length: 120 }, (_, index) => BigInt(100 + index));
  const { page } = await opened(t, '', more);
  const answer = await heldBack(page, /orders(\?|\/find)/);
  const rows = page.locator('tbody tr');
  const goOn = async (there: Locator) => {
    await answer();
    await there.waitFor();
  };
  const type = async (text: string) => {
    for (const key of text) await press(page, key, 300);
    await page.clock.runFor(300);
  };
  await page
    .getByRole('columnheader', { name: /^Order/ })
    .getByRole('link')
    .click();
  await type('/we');
  await goOn(page.locator('th[aria-sort="ascending"]'));
  await type('b-n');
  assert.equal(await box(page).inputValue(), 'web-n');
  await press(page, 'Escape', 300);
  await page.getByRole('button', { name: 'Show more' }).click();
  await type('/we');
  await goOn(rows.nth(60));
  await type('b-n');
  assert.equal(await box(page).inputValue(), 'web-n');
  await press(page, 'Escape', 300);
  for (let step = 0; step < 101; step += 1) await press(page, 'j', 300);
  await type('/we');
  await goOn(rows.nth(110));
  await type('b-n');
  assert.equal(await box(page).inputValue(), 'web-n');
  await press(page, 'Escape', 300);
  // A form that is opened while a scan is looked up.
  await scanAt(page, '998', [1_200, 10]);
  await page.clock.runFor(300);
  await page.getByRole('heading', { name: 'Orders' }).click();
  await ask(page, 'Place order');
  const pet = page.getByRole('dialog').getByLabel('Pet');
  await pet.pressSequentially('41');
  await answer();
  await page.keyboard.press('2');
  assert.equal(await pet.inputValue(), '412');
  await leave(page);
  // What was looked for stays in the box, and what was typed in a form does not go there.
  await ask(page, 'Place order');
  for (const key of '4125') await press(page, key, 90);
  await page.clock.runFor(400);
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await press(page, 'k', 450);
  await page.clock.runFor(210);
  assert.equal(await box(page).inputValue(), '998');
});

test('an answer that comes late to a search, or to a refused scan, leaves what a person types meanwhile', async (t) => {
  const { service, page } = await opened(t);
  const answer = await heldBack(page, /orders\/find/);
  const type = async (text: string, keyMs = 250) => {
    for (const key of text) await press(page, key, keyMs);
  };
  // A label that is refused, and the same field again.
  await ask(page, 'Cancel order…');
  await type('3SXYZ', 10);
  await press(page, 'Enter', 10);
  await type('too');
  await answer();
  await type(' small');
  assert.equal(await page.getByLabel('Reason').inputValue(), 'too small');
  await leave(page);
  // Among the commands, while an order is open.
  await press(page, 'Control+k', 1_100);
  await page.locator('.palette').waitFor();
  await type('998');
  await press(page, 'Enter', 250);
  await page.clock.runFor(200);
  await details(page, 2).waitFor({ state: 'detached' });
  await answer();
  await details(page, 998).waitFor();
  await press(page, 'Escape', 300);
  // A form of a page.
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await page.getByRole('button', { name: 'Create key…' }).click();
  const name = page.getByLabel('Name', { exact: true });
  await name.waitFor();
  await box(page).click();
  await type('1000');
  await press(page, 'Enter', 250);
  await page.clock.runFor(200);
  await name.click();
  await type('de');
  await answer();
  await type('cember');
  assert.equal(await name.inputValue(), 'december');
  assert.deepEqual(await changes(service), NONE);
});

test('a letter with Alt has no action', async (t) => {
  const { page } = await opened(t);
  await press(page, 'Alt+s', 300);
  await press(page, 'Enter', 500);
  assert.equal(await question(page).count(), 0);
});

test('a slip that was refused is not part of the next scan', async (t) => {
  const { service, page } = await opened(t);
  await ask(page, 'Ship order…');
  await scanAt(page, '998', [300, 10]);
  await question(page).getByText('998 is order 998.').waitFor();
  await page.getByLabel('Tracking number').click();
  await scanAt(page, '3SXYZ00112', [400, 10]);
  await page.getByText('Order 2 was shipped').waitFor();
  assert.equal((await service.store.orders([2n]))[0]!.trackingNumber, '3SXYZ00112');
});

test('on the page for scanning, the order that is open gives way to the next scan', async (t) => {
  const { page } = await opened(t, '?view=scan&order=2');
  await details(page, 2).waitFor();
  await scanAt(page, '998', [300, 10]);
  await page.locator('.scanned tbody tr').getByText('Ready').waitFor();
  await details(page, 2).waitFor({ state: 'detached' });
});

test('on the page for scanning, what is typed is one text until Enter, also if it is corrected', async (t) => {
  const { service, page } = await opened(t, '?view=scan');
  await place(service.store, pending(199n), pending(1_997n));
  const newest = page.locator('.scanned tbody tr').first();
  for (const [keys, keyMs, id] of [
    ['1998', [200, 200, 200, 520, 250], '1998'],
    ['1998', [1_200, 30, 30, 520, 30], '1998'],
    // Without an end.
    ['199', [1_200, 30], '199'],
  ] as const) {
    for (const [index, key] of [...keys].entries()) await press(page, key, keyMs[index] ?? 30);
    if (id === '1998') await press(page, 'Enter', keyMs[4]!);
    else await page.clock.runFor(1_000);
    await newest.getByText(id).first().waitFor();
  }
  for (const key of ['1', '9', '9', '8', 'Backspace', '7', 'Enter']) await press(page, key, 280);
  await newest.getByText('1997').first().waitFor();
  // A person pauses in an id; a scan stands alone.
  for (const [index, key] of ['2', '0', '0', '0', 'Enter'].entries())
    await press(page, key, index === 2 ? 1_300 : 300);
  await newest.getByText('2000').first().waitFor();
  await press(page, '1', 300);
  await scanAt(page, '998', [1_300, 10]);
  await newest.getByText('998').first().waitFor();
  const lines = await page.locator('.scanned tbody tr').allInnerTexts();
  assert.equal(lines.length, 5);
  // In the list that can be pasted, a scanner that ends with Tab writes lines.
  const list = page.getByRole('textbox', { name: 'Paste a list' });
  await list.focus();
  await page.clock.runFor(1_100);
  for (const code of ['998', '1000'])
    for (const key of [...code, 'Tab']) await press(page, key, 10);
  assert.equal(await list.inputValue(), '998\n1000\n');
});

test('on the page for scanning, a code has nothing of what acted or was typed elsewhere, and waits for its Enter', async (t) => {
  const { page } = await opened(t);
  const newest = page.locator('.scanned tbody tr').first();
  const heading = page.getByRole('heading', { name: /^Ready to scan$|^Scanned / });
  /** A person types a code. */
  const type = async (code: string, endMs = 300) => {
    await press(page, code[0]!, 700);
    for (const key of code.slice(1)) await press(page, key, 250);
    await press(page, 'Enter', endMs);
    await newest.getByText(code, { exact: true }).first().waitFor();
  };
  for (const key of ['j', 'j', 'g', 's']) await press(page, key, 220);
  await page.clock.runFor(220);
  await heading.waitFor();
  await type('998');
  await page.getByRole('link', { name: 'Orders', exact: true }).click();
  for (const key of ['g', 's']) await press(page, key, 220);
  await page.clock.runFor(220);
  await heading.waitFor();
  await scanAt(page, '999', [300, 10]);
  await newest.getByText('999', { exact: true }).first().waitFor();
  for (const [field, text] of [
    [page.getByRole('textbox', { name: 'Paste a list' }), '12'],
    [page.getByLabel('Find an order'), '1'],
  ] as const) {
    await field.focus();
    for (const key of text) await press(page, key, 250);
    await heading.click();
    await page.clock.runFor(1_200);
    await type('998');
  }
  // A person checks the code before Enter, which is no press of a button then.
  await page.getByRole('button', { name: 'Clear', exact: true }).focus();
  await type('1998', 1_400);
  for (const key of ['1', '9']) await press(page, key, 250);
  await press(page, '9', 1_300);
  for (const key of ['8', 'Backspace', 'Backspace', 'Backspace']) await press(page, key, 250);
  for (const key of ['0', '0', '0', 'Enter']) await press(page, key, 250);
  await newest.getByText('1000', { exact: true }).first().waitFor();
  // With a prompt Enter after a pause, too.
  for (const [index, key] of ['1', '9', '9', '8', 'Enter'].entries())
    await press(page, key, [900, 250, 250, 1_200, 90][index]!);
  await newest.getByText('1998', { exact: true }).first().waitFor();
  // A text in a field is no code if Enter follows elsewhere.
  const lines = await page.locator('.scanned tbody tr').count();
  const list = page.getByRole('textbox', { name: 'Paste a list' });
  await list.focus();
  for (const key of '2000') await press(page, key, 250);
  await page.getByRole('button', { name: 'Clear', exact: true }).focus();
  await press(page, 'Enter', 1_500);
  await page.getByText(`${lines} lines cleared.`).waitFor();
});

test('on the page for scanning, a tracking number that a person types is kept, also after a click in it', async (t) => {
  const { service, page } = await opened(t, '?view=scan&order=2');
  await press(page, '1', 300);
  await page.clock.runFor(100);
  await page.getByRole('button', { name: 'Ship order…' }).click();
  const field = question(page).getByLabel('Tracking number');
  await field.waitFor();
  await page.clock.runFor(500);
  for (const key of '3SXYZ') await press(page, key, 150);
  await page.clock.runFor(500);
  await field.dblclick();
  for (const key of '1Z999') await press(page, key, 150);
  await press(page, 'Enter', 400);
  await page.getByText('Order 2 was shipped').waitFor();
  assert.equal((await service.store.orders([2n]))[0]!.trackingNumber, '1Z999');
});

test('the Enters of a scanner that sends several after Tab place no order', async (t) => {
  const { service, page } = await opened(t, '');
  await press(page, 'n', 300);
  await page.clock.runFor(800);
  for (const key of [...'998', 'Tab', 'Enter', 'Enter']) await press(page, key, 10);
  await page.clock.runFor(1_000);
  await page.locator('dialog.place').waitFor();
  assert.deepEqual(await changes(service), NONE);
});
