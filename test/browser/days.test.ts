import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { pending, place, type Service, startService } from '../http/harness.ts';
import { startBrowser } from './chromium.ts';
import { listed, live, row, signIn } from './console-page.ts';

let browser: Browser;
before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

const HOUR_MS = 3_600_000;

/** Days on which clocks change, at times at which UTC has another day. No other day around them has more or less than 24 hours. */
const ZONES = [
  {
    ...{ zone: 'America/New_York', shown: 'America/New_York, UTC−5', day: '2026-11-01' },
    ...{ now: '2026-11-02T02:30:00Z', begin: '2026-11-01T04:00:00Z', hours: 25 },
    // Of the day; in UTC, it is the next one.
    ...{ time: '22:00', at: '2026-11-02T03:00:00Z' },
  },
  {
    ...{ zone: 'Pacific/Auckland', shown: 'Pacific/Auckland, UTC+13', day: '2026-09-27' },
    ...{ now: '2026-09-26T20:00:00Z', begin: '2026-09-26T12:00:00Z', hours: 23 },
    ...{ time: '08:00', at: '2026-09-26T19:00:00Z' },
  },
] as const;
type Zone = (typeof ZONES)[number];

/** When a day begins, relative to the one of the zone, in milliseconds since the epoch. */
const dayStart = ({ begin, hours }: Zone, days: number): number =>
  Date.parse(begin) + (days < 1 ? days * 24 : hours + (days - 1) * 24) * HOUR_MS;

/** Signs in, in a time zone. @param ahead how far the clock of the service is ahead of that of the computer */
async function signedInAt(t: TestContext, { port, secret }: Service, zone: Zone, ahead = 0) {
  const context = await browser.newContext({
    ...{ timezoneId: zone.zone, viewport: { width: 1_440, height: 900 } },
  });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.clock.setFixedTime(Date.parse(zone.now) - ahead);
  await page.route('**/v2/store', async (route) => {
    // The service can stop first, at the end of a test.
    const response = await route.fetch().catch(() => undefined);
    if (response === undefined) return;
    await route.fulfill({ response, json: { ...(await response.json()), time: zone.now } });
  });
  const url = `http://127.0.0.1:${port}/console`;
  await page.goto(url);
  await signIn(page, secret);
  await page.getByRole('heading', { name: 'Orders', exact: true }).waitFor();
  return { page, show: (search: string) => page.goto(`${url}${search}`) };
}

for (const zone of ZONES) {
  const start = (days: number) => dayStart(zone, days);

  test(`days are those of the computer's time zone, also of ${zone.hours} hours (${zone.zone})`, async (t) => {
    const service = await startService(t);
    const dates = [start(0) - 1, start(0), start(1) - 1, start(1), start(7) - 1, start(7)];
    const orders = dates.map((shipDate, index) => ({ ...pending(BigInt(index + 1)), shipDate }));
    await place(service.store, ...orders, pending(7n));
    await service.store.apply([{ type: 'ship', id: 7n, at: start(-2) }]);
    const { page, show } = await signedInAt(t, service, zone);
    for (const [search, expected] of [
      ['?ships=today', ['3', '2']],
      [`?ships=${zone.day}..${zone.day}`, ['3', '2']],
      ['?ships=next7', ['5', '4', '3', '2']],
      ['?ships=overdue', ['1']],
      ['?status=pending&ships=overdue', ['1']],
      ['', ['7', '6', '5', '4', '3', '2', '1']],
    ] as const) {
      await show(search);
      await page.getByText('That is all.').waitFor();
      await listed(page, expected);
    }
    for (const [id, hint] of [
      ...([
        [1, '1 day overdue'],
        [2, 'today'],
        [3, 'today'],
        [4, 'tomorrow'],
      ] as const),
      ...([
        [5, 'in 6 days'],
        [6, 'in 7 days'],
        [7, '2 days ago'],
      ] as const),
    ]) {
      assert.match(await row(page, id).locator('.ships').innerText(), new RegExp(`${hint}$`));
    }
    // What arrives later is compared by the page.
    await show('?ships=today');
    await live(page);
    const later = dates.map((shipDate, index) => ({ ...pending(BigInt(index + 11)), shipDate }));
    await place(service.store, ...later);
    await page.getByRole('button', { name: '2 newer orders' }).click();
    await row(page, 13).waitFor();
    await listed(page, ['13', '12', '3', '2']);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    assert.equal((await download).suggestedFilename(), `orders-${zone.day}.csv`);
  });

  test(`the last days, and those of the activity, are of the computer's time zone (${zone.zone})`, async (t) => {
    const service = await startService(t);
    await place(service.store, pending(1n));
    const { page, show } = await signedInAt(t, service, zone);
    const text = (days: number) => new Date(start(days)).toISOString();
    for (const [name, from] of [
      ['today', 0],
      ['last7', -6],
      ['last30', -29],
    ] as const) {
      const asked = page.waitForRequest(/\/v2\/store\/orders\?.*placedFrom/);
      await show(`?placed=${name}`);
      const query = new URL((await asked).url()).searchParams;
      assert.deepEqual([query.get('placedFrom'), query.get('placedBefore')], [text(from), text(1)]);
    }
    const asked = page.waitForRequest('**/v2/store/activity?*');
    await show('?view=activity');
    const boundaries = new URL((await asked).url()).searchParams.get('boundaries');
    const expected = Array.from({ length: 15 }, (_, index) => text(index - 13));
    assert.deepEqual(boundaries?.split(','), expected);
    await page.getByText(`days of ${zone.shown}`).waitFor();
  });

  test(`an order is placed at the time of the computer's time zone, and placed again (${zone.zone})`, async (t) => {
    const service = await startService(t);
    const { page } = await signedInAt(t, service, zone);
    await page.getByRole('button', { name: 'Place order' }).click();
    const dialog = page.getByRole('dialog', { name: 'Place an order' });
    await dialog.getByLabel('Pet').fill('5');
    await dialog.getByLabel('Ships').fill(zone.day);
    await dialog.getByLabel('At').fill(zone.time);
    await dialog.getByRole('button', { name: 'Place order' }).click();
    await page.getByRole('button', { name: 'Cancel order…' }).click();
    assert.equal((await service.store.orders([1n]))[0]!.shipDate, Date.parse(zone.at));
    const question = page.getByRole('alertdialog');
    await question.getByLabel('Then place it again').check();
    await question.getByRole('button', { name: 'Cancel order' }).click();
    await dialog.getByText('Instead of order 1').waitFor();
    const values = ['Ships', 'At'].map((label) => dialog.getByLabel(label).inputValue());
    assert.deepEqual(await Promise.all(values), [zone.day, zone.time]);
  });
}

test('a clock that differs from the service is reported, and days are those of the service', async (t) => {
  const service = await startService(t);
  const [zone] = ZONES;
  await place(service.store, { ...pending(1n), shipDate: dayStart(zone, 0) });
  const banner = 'The clock of this computer is';
  for (const [ahead, expected] of [
    [4_000, undefined],
    [-4_000, undefined],
    [60_000, 'a minute behind'],
    [-48 * HOUR_MS, '48 h ahead'],
  ] as const) {
    const { page } = await signedInAt(t, service, zone, ahead);
    await row(page, 1).getByText('today').waitFor();
    const shown = page.getByText(banner);
    if (expected === undefined) assert.equal(await shown.count(), 0, String(ahead));
    else assert.ok((await shown.innerText()).startsWith(`${banner} ${expected};`));
  }
});
