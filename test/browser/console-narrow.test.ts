import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { SCOPES } from '../../src/domain/api-key.ts';
import { pending, place, type Service, startService } from '../http/harness.ts';
import { startBrowser } from './chromium.ts';
import { row, signedIn } from './console-page.ts';
import { accessibilityFindings, opened } from './page.ts';
import { scan } from './scanner.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

/**
 * The texts with 19 digits that are shown, and how many pixels of each are outside of what cuts it off. The middle of a reference in the list may be,
 * while its end is in sight and its title is whole.
 */
function longIdsShown(page: Page): Promise<[text: string, cut: number][]> {
  return page.evaluate(`(() => {
    const found = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      if (!/\\d{19}/.test(node.data) || !node.parentElement.checkVisibility()) continue;
      const short = node.parentElement.closest('td.reference bdi');
      if (short?.title === node.data && getComputedStyle(short, '::after').right === '0px') continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const rects = [...range.getClientRects()];
      let cut = 0;
      for (let box = node.parentElement; box !== null; box = box.parentElement) {
        if (box !== document.documentElement && getComputedStyle(box).overflowX === 'visible') continue;
        const { left, right } = box.getBoundingClientRect();
        for (const rect of rects) cut = Math.max(cut, rect.right - right, left - rect.left);
      }
      found.push([node.data.trim(), Math.floor(cut)]);
    }
    return found;
  })()`);
}

for (const width of [1_440, 1_000, 700, 640, 390, 320]) {
  test(`no id is cut at ${width} px`, async (t) => {
    const service = await startService(t);
    const [one, other] = [9_223_372_036_854_775_800n, 9_223_372_036_854_775_799n];
    const reference = String(one);
    await place(
      service.store,
      { ...pending(one), petId: other, quantity: other, reference },
      { ...pending(other), petId: one },
    );
    const viewport = { width, height: 700 };
    const search = `?pet=${other}`;
    const { page } = await signedIn(t, browser, service, { viewport, search });
    await row(page, one).waitFor();
    const expectWhole = async (least: number) => {
      const shown = await longIdsShown(page);
      assert.ok(shown.length >= least, JSON.stringify(shown));
      assert.deepEqual(
        shown.filter(([, cut]) => cut > 0),
        [],
      );
    };
    // The filter and the row, with the id in one line.
    await expectWhole(2);
    const id = row(page, one).getByRole('link', { name: String(one), exact: true });
    assert.ok((await id.first().boundingBox())!.height < 36);
    await page.getByLabel('Find an order').fill(String(one));
    await page.getByText('Enter opens it.').waitFor();
    await expectWhole(5);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Order ${one}` }).waitFor();
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await expectWhole(3);
    const heading = page.getByRole('heading', { name: `Order ${one}` });
    assert.ok((await heading.boundingBox())!.height < 36);
    await page.getByRole('button', { name: 'Cancel order…' }).click();
    await page.getByRole('alertdialog').waitFor();
    await expectWhole(5);
  });
}

test('an id of 19 digits takes the room that it needs, all ids end below each other, and Placed stays at 1440 px', async (t) => {
  const service = await startService(t);
  const long = 8_000_000_000_000_000_001n;
  await place(service.store, pending(27n), { ...pending(long), petId: 402n });
  const viewport = { width: 1_440, height: 700 };
  const { page } = await signedIn(t, browser, service, { viewport });
  await row(page, long).waitFor();
  const boxOf = async (id: bigint) =>
    (await row(page, id)
      .getByRole('link', { name: String(id), exact: true })
      .boundingBox())!;
  const [wide, short] = [await boxOf(long), await boxOf(27n)];
  assert.equal(wide.x + wide.width, short.x + short.width);
  assert.equal(wide.height, short.height);
  const heading = page.getByRole('columnheader', { name: /^Order/ });
  assert.ok((await heading.boundingBox())!.width - wide.width < 64);
  assert.ok(await page.getByRole('columnheader', { name: 'Placed' }).isVisible());
  await page.setViewportSize({ width: 1_280, height: 700 });
  assert.ok(await page.getByRole('columnheader', { name: 'Placed' }).isVisible());
  // Beside details, pets and quantities come before blank room.
  await row(page, 27).click();
  await page.getByRole('heading', { name: 'Order 27' }).waitFor();
  for (const name of ['Pet', 'Quantity'])
    assert.ok(await page.getByRole('columnheader', { name }).isVisible(), name);
  await page.goto(`${new URL(page.url()).origin}/console?pet=27`);
  await row(page, long).waitFor({ state: 'detached' });
  const id = (await heading.boundingBox())!;
  const link = await boxOf(27n);
  // On the right, as beside a long one.
  assert.ok(link.x > id.x + id.width / 3);
});

test('on a phone the first order is in the upper third, and filters, sort and select all are within reach', async (t) => {
  const service = await startService(t, {
    STORE_NAME: 'Harbor Pets and Aquarium Supplies, Hamburg',
  });
  await place(service.store, { ...pending(1n), petId: 7n, reference: 'WEB-1' }, pending(2n));
  const viewport = { width: 390, height: 844 };
  const { page, problems } = await signedIn(t, browser, service, { viewport });
  await row(page, 1).waitFor();
  assert.match(await row(page, 1).innerText(), /WEB-1\s+Pending\s+1 × pet 7/);
  assert.ok((await row(page, 2).boundingBox())!.y < viewport.height / 3);
  // So is a box: a tap beside it opens no order.
  const box = (await row(page, 1).getByRole('checkbox').boundingBox())!;
  for (const [at, isChecked] of [
    [-11, true],
    [box.height + 11, false],
  ] as const) {
    await page.mouse.click(box.x + box.width / 2 + 11, box.y + at);
    assert.equal(await row(page, 1).getByRole('checkbox').isChecked(), isChecked);
  }
  const bar = page.locator('.bar');
  for (const button of await bar.locator('button:visible, a.button:visible').all()) {
    const { width, height } = (await button.boundingBox())!;
    assert.ok(
      Math.min(width, height) >= 44,
      `${await button.getAttribute('aria-label')} ${width} ${height}`,
    );
  }
  assert.deepEqual(await accessibilityFindings(page), []);
  await page.getByRole('button', { name: 'Filters', exact: true }).click();
  await page.getByRole('button', { name: 'Pet', exact: true }).click();
  await page.getByLabel('Orders of the pet').fill('7');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Filters, 1 set' }).waitFor();
  await page.getByText('Of pet 7.').waitFor();
  await row(page, 2).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Newest first' }).click();
  await page.getByRole('link', { name: 'Ships soonest' }).click();
  await page.getByRole('button', { name: 'Ships soonest' }).waitFor();
  await page.getByLabel('Select all pending orders on this page').check();
  // The bar of the selection is a footer, as that of details.
  const footer = (await page.getByRole('region', { name: 'Selected orders' }).boundingBox())!;
  assert.deepEqual([footer.x, footer.width, footer.y + footer.height], [0, 390, 844]);
  assert.equal(await page.locator('.bulk .primary').innerText(), 'Ship 1…');
  await page.getByRole('button', { name: 'More for the selected orders' }).click();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('button', { name: /^Signed in with the key/ }).click();
  await page.getByRole('link', { name: 'Activity' }).click();
  await page.getByRole('heading', { name: 'Activity' }).waitFor();
  const day = page.getByRole('row').getByRole('link', { name: 'Today' });
  assert.ok((await day.boundingBox())!.height >= 44, JSON.stringify(await day.boundingBox()));
  assert.deepEqual(problems, []);
});

test('on a tablet, and beside details, the head of a filtered list has two rows, and references are in one line', async (t) => {
  const service = await startService(t);
  await place(service.store, { ...pending(1n), reference: 'WEB-2026-104321' });
  for (const [width, search] of [
    [768, '?pet=1'],
    [1_280, '?pet=1&order=1'],
  ] as const) {
    const viewport = { width, height: 900 };
    const { page } = await signedIn(t, browser, service, { search, viewport });
    await row(page, 1).waitFor();
    await page.getByRole('link', { name: 'Clear all' }).waitFor();
    assert.ok((await page.locator('div.head').boundingBox())!.height < 110, String(width));
    const { y, height } = (await row(page, 1).boundingBox())!;
    assert.ok(y < 230 && height < 45, `${width}: ${y} ${height}`);
    assert.ok((await page.getByText('1 order', { exact: true }).boundingBox())!.width > 40);
  }
  // Beside the longest ids, a reference that is cut has an ellipsis, its end, and something before them.
  const reference = 'WEB-2026-AMSTERDAM-104322';
  await place(service.store, { ...pending(9_223_372_036_854_775_800n), reference });
  const viewport = { width: 1_100, height: 800 };
  const { page } = await signedIn(t, browser, service, { search: '?order=1', viewport });
  await page.getByRole('heading', { name: 'History' }).waitFor();
  const [room, end] = (await page
    .locator('td.reference bdi')
    .first()
    .evaluate((bdi) => {
      const { width, right } = getComputedStyle(bdi, '::after');
      return [bdi.clientWidth, right === '0px' ? Number.parseFloat(width) : 0];
    })) as [number, number];
  assert.ok(end > 0 && end + 20 < room, `${end} of ${room}`);
});

test('a long name of the store gives way to the search', async (t) => {
  const service = await startService(t, {
    STORE_NAME: 'Harbor Pets and Aquarium Supplies, Hamburg',
  });
  const secret = await service.newKey({ scopes: SCOPES });
  const viewport = { width: 1_024, height: 768 };
  const { page } = await signedIn(t, browser, { ...service, secret }, { viewport });
  await page.getByRole('link', { name: 'Webhooks' }).waitFor();
  assert.ok((await page.getByLabel('Find an order').boundingBox())!.width >= 180);
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 1_024);
  await page.setViewportSize({ width: 1_280, height: 768 });
  const field = (await page.getByLabel('Find an order').boundingBox())!;
  assert.ok(field.width >= 216);
  await page.getByLabel('Find an order').fill('1');
  assert.equal(Math.round((await page.locator('.found').boundingBox())!.x), Math.round(field.x));
  await page.getByRole('button', { name: /^Signed in with the key/ }).click();
  const menu = (await page.getByRole('dialog', { name: 'Key' }).boundingBox())!;
  assert.ok(menu.x + menu.width <= 1_272);
});

test('no row of the list moves when details open beside it', async (t) => {
  const service = await startService(t);
  const shipDate = Date.now() - 259_200_000;
  await place(service.store, { ...pending(1n), shipDate }, { ...pending(2n), shipDate, petId: 7n });
  const { page } = await signedIn(t, browser, service);
  await row(page, 2).waitFor();
  const top = async () => (await row(page, 2).boundingBox())!.y;
  for (const width of [1_440, 1_366, 1_280, 1_100, 1_024]) {
    await page.setViewportSize({ width, height: 700 });
    for (const search of [
      '?',
      '?status=pending&ships=overdue&sort=shipDate',
      '?pet=7&placed=last30',
    ]) {
      await page.goto(new URL(search, page.url()).href);
      await page.getByRole('link', { name: /^All \d/ }).waitFor();
      await row(page, 2).waitFor();
      const before = await top();
      // A number in a row is no link to other orders.
      await row(page, 2).getByRole('cell', { name: '7', exact: true }).click();
      await page.getByRole('heading', { name: 'Order 2' }).waitFor();
      assert.equal(await top(), before, `${search} at ${width}`);
    }
  }
  // Filters that are not set are in a menu, which their forms leave.
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  assert.deepEqual(await accessibilityFindings(page), []);
  const menu = page.getByRole('dialog', { name: 'More filters' });
  await menu.getByRole('button', { name: 'Ships' }).click();
  await page.getByRole('link', { name: /^Overdue/ }).click();
  await page.getByRole('link', { name: 'Remove the filter Ships' }).waitFor();
  await menu.waitFor({ state: 'hidden' });
});

test('keys, and what a key did, are lines with nothing cut off where columns have no room', async (t) => {
  const service = await startService(t);
  const { id: by } = service.key;
  await place(service.store, { ...pending(1n), reference: 'WEB-2026-104321-'.repeat(8) });
  await service.store.apply([{ type: 'cancel', id: 1n, by, reason: 'x'.repeat(128) }]);
  const secret = await service.newKey({ scopes: SCOPES });
  for (const [search, width, lines] of [
    ['?view=keys', 660, '.key-list tbody tr'],
    ['?view=keys', 880, '.key-list tbody tr'],
    [`?view=activity&by=${by}`, 390, '.of-key tbody tr'],
  ] as const) {
    const viewport = { width, height: 800 };
    const { page } = await signedIn(t, browser, { ...service, secret }, { search, viewport });
    await page.locator(lines).first().waitFor();
    const findings = await page.evaluate(
      `[...document.querySelectorAll('${lines}, ${lines} *')].map((each) => each.getBoundingClientRect())
        .filter(({ right, height }) => right > ${width} || height > 250).length`,
    );
    assert.equal(findings, 0, `${search} at ${width}`);
    assert.deepEqual(await accessibilityFindings(page), []);
  }
});

test('the button of the columns has how many are hidden, and its menu those without room', async (t) => {
  const service = await startService(t);
  const shipDate = Date.now() - 12 * 86_400_000;
  await place(service.store, { ...pending(4001n), shipDate, reference: 'AMZ-302-8866035-1029' });
  const { page } = await signedIn(t, browser, service, { viewport: { width: 1_440, height: 700 } });
  await row(page, 4001).waitFor();
  // Columns stay before there is blank room, and the first one goes before anything is cut.
  for (const [width, view] of [
    [1_440, 'View'],
    [1_280, 'View'],
    [1_100, 'View'],
    [1_024, 'View 1 hidden'],
  ] as const) {
    await page.setViewportSize({ width, height: 700 });
    await page.getByRole('button', { name: view, exact: true }).waitFor();
    const cells = await row(page, 4001)
      .getByRole('cell')
      .evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).length);
    const { right } = await row(page, 4001)
      .locator('.reference bdi')
      .evaluate((each) => ({ right: getComputedStyle(each, '::after').right }));
    assert.deepEqual([cells, right === '0px'], [0, false], `${width}`);
  }
  await page.setViewportSize({ width: 900, height: 700 });
  await page.getByRole('button', { name: 'View 2 hidden' }).click();
  await page.getByText('Placed no room').waitFor();
  await page.getByText('Changed no room').waitFor();
  // What the list is sorted by has a check.
  const isChecked = (name: string) =>
    page.getByRole('link', { name, exact: true }).locator('svg').isVisible();
  assert.ok(await isChecked('Newest first'));
  assert.equal(await isChecked('Placed, newest first'), false);
});

test('at 640 px and less each tab stop can be seen', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const viewport = { width: 640, height: 900 };
  const { page } = await signedIn(t, browser, service, { viewport });
  await row(page, 1).waitFor();
  const stops: string[] = [];
  for (let stop = 0; stop < 40; stop += 1) {
    await page.keyboard.press('Tab');
    const [name, isSeen] = await page.evaluate<[string, boolean]>(`(() => {
      const { activeElement: element } = document;
      const { width, height } = element.getBoundingClientRect();
      const clips = [];
      for (let box = element; box !== null; box = box.parentElement) clips.push(getComputedStyle(box).clipPath);
      const isSeen = width > 4 && height > 4 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
        && clips.every((each) => each === 'none');
      return [element.tagName + ' ' + (element.ariaLabel ?? element.textContent).trim().slice(0, 40), isSeen];
    })()`);
    if (name.startsWith('BODY')) break;
    assert.ok(isSeen, name);
    stops.push(name);
  }
  assert.ok(stops.includes('INPUT Select order 1'), stops.join('\n'));
});

/** 41 characters. */
const referenceOf = (id: number) => `PO/2026/11/CUSTOMER-ACME-INTERNATIONAL-77${100 + id}`;

/** Orders 1 and 2 with long references, and others. @returns the longer reference, of order 2 */
async function placeLong(
  { store }: Service,
  ...others: Parameters<typeof place>[1][]
): Promise<string> {
  const long = referenceOf(2).padEnd(210, 'abcdefghij');
  const shipDate = Date.now();
  await place(
    store,
    { ...pending(1n), shipDate, reference: referenceOf(1) },
    { ...pending(2n), shipDate, reference: long },
    ...others,
  );
  return long;
}

test('the reference is whole below the heading of an order, and so is its tracking number, at each width', async (t) => {
  const service = await startService(t);
  const long = await placeLong(service);
  await service.store.apply([{ type: 'ship', id: 2n, trackingNumber: '3SXYZ'.repeat(25) }]);
  for (const width of [1_440, 1_280, 1_100, 1_024, 768, 390]) {
    const viewport = { width, height: 900 };
    for (const [id, reference] of [
      [1, referenceOf(1)],
      [2, long],
    ] as const) {
      const search = `?order=${id}`;
      const { page } = await signedIn(t, browser, service, { search, viewport });
      const details = page.locator('.details');
      await details.getByRole('heading', { name: 'History' }).waitFor();
      assert.ok((await details.innerText()).includes(reference));
      const heading = (await details.getByRole('heading', { name: `Order ${id}` }).boundingBox())!;
      const { x, width: room } = (await details.boundingBox())!;
      const texts = details.locator('.exact');
      const first = (await texts.first().boundingBox())!;
      assert.ok(first.y - heading.y < 40, `${width}: ${first.y - heading.y}`);
      assert.equal(await texts.first().innerText(), reference);
      for (const text of await texts.all()) {
        const box = (await text.boundingBox())!;
        assert.ok(box.x + box.width <= x + room - 16, `${width}: ${await text.innerText()}`);
        assert.equal(await text.evaluate((each) => each.scrollWidth > each.clientWidth + 1), false);
      }
    }
  }
});

test('a long reference takes one line of the list, with its end in sight, and is whole in its title, for finding and for copying', async (t) => {
  const service = await startService(t);
  const long = await placeLong(service, { ...pending(3n), reference: 'WEB-2026-104321' });
  for (const [width, search] of [
    [1_440, '?order=1'],
    [1_280, ''],
    [1_280, '?order=1'],
    [1_024, ''],
    [768, ''],
    [390, ''],
  ] as const) {
    const viewport = { width, height: 900 };
    const { page } = await signedIn(t, browser, service, { search, viewport });
    await row(page, 2).waitFor();
    const end = (id: number) =>
      row(page, id)
        .locator('.reference bdi')
        .evaluate((each) => {
          const { content, right } = getComputedStyle(each, '::after');
          return [each.getAttribute('title'), content.includes(each.textContent.slice(-8)), right];
        });
    assert.deepEqual(await end(2), [long, true, '0px'], `${width}`);
    if (width > 390 && search !== '')
      assert.deepEqual(await end(1), [referenceOf(1), true, '0px'], `${width}`);
    // It fits, and has no other end above it.
    assert.match(String((await end(3))[2]), /^-/, `${width}`);
    for (const id of [1, 2])
      assert.ok((await row(page, id).boundingBox())!.height < (width > 390 ? 45 : 90), `${width}`);
    const copied = await row(page, 2)
      .locator('.reference bdi')
      .evaluate((each) => {
        getSelection()!.selectAllChildren(each);
        return String(getSelection());
      });
    assert.equal(copied, long);
    await page.evaluate('getSelection().removeAllRanges()');
    assert.equal(await page.evaluate(`window.find('${long.slice(20, 60)}')`), true);
  }
});

test('on a phone the filters use the width of their sheet', async (t) => {
  const service = await startService(t);
  await place(service.store, { ...pending(1n), petId: 7n, shipDate: Date.now() - 172_800_000 });
  const viewport = { width: 390, height: 844 };
  const touch = { viewport, hasTouch: true, isMobile: true };
  const { page } = await signedIn(t, browser, service, { ...touch, search: '?pet=7' });
  // There is no Enter on it that opens what was found.
  await page.getByLabel('Find an order').fill('1');
  await page.getByText(/^2 days overdue, placed/).waitFor();
  assert.equal(await page.getByText('Enter opens it.').isVisible(), false);
  await page.getByLabel('Find an order').fill('');
  await page.getByRole('button', { name: 'Filters, 1 set' }).click();
  const boxOf = async (name: string) =>
    (await page.locator('.chip').filter({ hasText: name }).boundingBox())!;
  for (const name of ['Pet', 'Ships', 'Placed']) assert.ok((await boxOf(name)).width > 300);
  await page.getByRole('heading', { name: 'Filters' }).waitFor();
  const backdrop = "getComputedStyle(document.querySelector('#filters'), '::backdrop')";
  assert.notEqual(await page.evaluate(`${backdrop}.backgroundColor`), 'rgba(0, 0, 0, 0)');
  const value = (await page.locator('.chip b').boundingBox())!;
  assert.ok(value.x + value.width > 290);
  assert.deepEqual(await accessibilityFindings(page), []);
  const sheet = page.getByRole('group', { name: 'Filters' });
  await sheet.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('heading', { name: 'Filters' }).waitFor({ state: 'hidden' });
  // The order of the list has a sheet of the same kind.
  await page.getByRole('button', { name: 'Newest first' }).click();
  await page.getByRole('heading', { name: 'Sort' }).waitFor();
  const sort = page.getByRole('navigation', { name: 'Sort' });
  const box = (await sort.boundingBox())!;
  assert.deepEqual([box.x, box.width, box.y + box.height], [0, 390, 844]);
  assert.notEqual(
    await page.evaluate(backdrop.replace('#filters', '#sort-menu').concat('.backgroundColor')),
    'rgba(0, 0, 0, 0)',
  );
  await sort.getByRole('button', { name: 'Close' }).click();
});

test('the pages have room beside the environment and the search in a window of 1,024 px', async (t) => {
  const service = await startService(t);
  const secret = await service.newKey({ scopes: SCOPES });
  const viewport = { width: 1_024, height: 768 };
  const { page } = await signedIn(t, browser, { ...service, secret }, { viewport });
  await page.getByRole('link', { name: 'Webhooks' }).waitFor();
  const boxOf = async (selector: string) => (await page.locator(selector).boundingBox())!;
  const [env, jump] = [await boxOf('.env'), await boxOf('.jump')];
  const first = (await page.getByRole('link', { name: 'Orders', exact: true }).boundingBox())!;
  const last = (await page.getByRole('link', { name: 'Webhooks' }).boundingBox())!;
  assert.ok(first.x - env.x - env.width >= 18);
  assert.ok(jump.x - last.x - last.width >= 18);
});

test('the row of an order that is opened by its address is in sight', async (t) => {
  const service = await startService(t);
  await place(
    service.store,
    ...Array.from({ length: 40 }, (_, index) => pending(BigInt(index + 1))),
  );
  // One that would be below the foot, and one that would be partly below it.
  for (const id of [5, 23, 24, 40]) {
    const viewport = { width: 1_280, height: 800 };
    const { page } = await signedIn(t, browser, service, { viewport, search: `?order=${id}` });
    await row(page, 40).waitFor({ state: 'attached' });
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await page.waitForTimeout(200);
    const box = (await row(page, id).boundingBox())!;
    const foot = (await page.locator('.hints').boundingBox())!;
    const head = (await page.locator('.list thead').boundingBox())!;
    assert.ok(box.y + box.height <= foot.y, `${id}: ${box.y}`);
    assert.ok(box.y >= head.y + head.height - 1, `${id}: ${box.y}`);
    // With others below it.
    assert.ok(box.y + 200 <= foot.y || id === 5, `${id}: ${box.y}`);
    // A letter in the bar scrolls nothing.
    await page.getByLabel('Find an order').pressSequentially('web', { delay: 120 });
    assert.equal((await row(page, id).boundingBox())!.y, box.y);
  }
});

test('the names of the store and of the key are whole where there is room, and each bar of a phone has its buttons in one row', async (t) => {
  const service = await startService(t, { STORE_NAME: 'Pets of Berlin' });
  await place(service.store, pending(1n));
  const scopes = SCOPES.filter((each) => each !== 'keys:manage');
  const secret = await service.newKey({ name: 'Anna Müller (warehouse)', scopes });
  const viewport = { width: 320, height: 700 };
  const { page } = await signedIn(t, browser, { ...service, secret }, { viewport });
  await row(page, 1).waitFor();
  const field = (await page.getByLabel('Find an order').boundingBox())!;
  const filters = (await page.getByRole('button', { name: 'Filters', exact: true }).boundingBox())!;
  assert.ok(filters.y < field.y + field.height);
  for (const [width, selector] of [
    [1_440, '.brand > span'],
    [1_440, '.who > span'],
    [1_024, '.brand > span'],
    [1_016, '.brand > span'],
  ] as const) {
    await page.setViewportSize({ width, height: 700 });
    await page.locator(selector).waitFor();
    // A text is cut if a fraction of a pixel is missing, too.
    const cut = await page.locator(selector).evaluate((each) => {
      const [whole, shown] = [each.firstElementChild!, each].map(
        (part) => part.getBoundingClientRect().width,
      );
      return whole! - shown!;
    });
    assert.equal(cut, 0, `${selector} at ${width}`);
  }
  await page.setViewportSize({ width: 768, height: 700 });
  await page.getByRole('button', { name: /^View \d hidden$/ }).waitFor();
  // What has no room for its word has it as its title.
  const scan = page.getByRole('link', { name: 'Scan', exact: true });
  await scan.hover();
  assert.equal(await scan.getAttribute('title'), 'Scan');
});

test('the eye is in the middle of the field of a key, also on a phone', async (t) => {
  const service = await startService(t);
  for (const width of [1_440, 390]) {
    const viewport = { width, height: 700 };
    const { page } = await opened(browser, `http://127.0.0.1:${service.port}/console`, {
      viewport,
    });
    t.after(() => page.context().close());
    const middleOf = async (label: string) => {
      const { y, height } = (await page.getByLabel(label, { exact: true }).boundingBox())!;
      return y + height / 2;
    };
    const [field, eye] = [await middleOf('API key'), await middleOf('Show the key')];
    assert.ok(Math.abs(field - eye) < 1, `${width}: ${field} ${eye}`);
  }
});

test('without room beside the list, details are a sheet at its right edge, over the full height', async (t) => {
  const service = await startService(t);
  await place(service.store, pending(1n), pending(2n));
  const viewport = { width: 1_024, height: 768 };
  const { page } = await signedIn(t, browser, service, { search: '?order=1', viewport });
  const sheet = page.getByRole('dialog', { name: 'Order 1' });
  await page.getByRole('heading', { name: 'History' }).waitFor();
  assert.deepEqual(await sheet.boundingBox(), { x: 604, y: 0, width: 420, height: 768 });
  await page.setViewportSize({ width: 390, height: 768 });
  assert.deepEqual(await sheet.boundingBox(), { x: 0, y: 0, width: 390, height: 768 });
});

test('on a phone, the ring around the link that has the focus after details is whole', async (t) => {
  const service = await startService(t);
  await place(service.store, { ...pending(1n), reference: 'WEB-1' });
  const viewport = { width: 390, height: 844 };
  const { page } = await signedIn(t, browser, service, { viewport });
  const link = row(page, 1).getByRole('link', { name: '1', exact: true });
  await link.click();
  await page.getByRole('heading', { name: 'History' }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('tbody :focus').waitFor();
  // Drawn above what follows it.
  const [cell, next] = await row(page, 1)
    .locator('.id, .reference')
    .evaluateAll((both) => both.map((each) => Number(getComputedStyle(each).zIndex) || 0));
  assert.ok(cell! > next!);
});

test('a long reference is cut between two letters, before its end', async (t) => {
  const service = await startService(t);
  const reference = 'EU-CENTRAL-WAREHOUSE-2026/11/ONLINE-SHOP-100329-318';
  await place(service.store, { ...pending(1n), reference });
  const viewport = { width: 390, height: 844 };
  const { page } = await signedIn(t, browser, service, { viewport });
  await row(page, 1).waitFor();
  const [text, end] = await row(page, 1)
    .locator('.reference bdi')
    .evaluate((bdi) => {
      const { content, width, right } = getComputedStyle(bdi, '::after');
      const { paddingInlineEnd, textJustify } = getComputedStyle(bdi.firstElementChild!);
      // What is left of the line would look like a blank.
      return [
        `${textJustify} ${paddingInlineEnd}`,
        right === '0px' ? `${content[1]} ${width}` : '',
      ];
    });
  assert.deepEqual([text, end], [`inter-character ${end!.slice(2)}`, `… ${end!.slice(2)}`]);
});

test('at 400 %, a question is in sight with its field, and each scan with its result', async (t) => {
  const service = await startService(t);
  await place(service.store, { ...pending(1n), petId: 7n, quantity: 2n, reference: 'WEB-1' });
  const viewport = { width: 320, height: 256 };
  const { page } = await signedIn(t, browser, service, { viewport, search: '?order=1' });
  for (const [button, label] of [
    ['Ship order…', 'Tracking number'],
    ['Cancel order…', 'Reason'],
  ] as const) {
    await page.getByRole('button', { name: button }).click();
    const question = page.getByRole('alertdialog');
    const field = (await question.getByLabel(label).boundingBox())!;
    assert.ok((await question.getByRole('heading').boundingBox())!.y >= 0);
    assert.ok(field.y + field.height <= 256, JSON.stringify(field));
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
  }
  // So is the result of each scan.
  await page.goto(new URL('?view=scan', page.url()).href);
  await page.getByText('Waiting for the first code').waitFor();
  for (const [code, result] of [
    ['1', 'Ready'],
    ['NOPE-1', 'Not found'],
  ] as const) {
    await scan(page, code);
    const shown = page.locator('.last').getByText(result);
    await shown.waitFor();
    const { y, height } = (await shown.boundingBox())!;
    assert.ok(y >= 0 && y + height <= 256, `${code}: ${y}`);
    const above = await page.evaluate(`document.elementFromPoint(60, ${y + height / 2}).className`);
    assert.doesNotMatch(String(above), /buttons/);
    await page.evaluate('scrollTo(0, 400)');
  }
});
