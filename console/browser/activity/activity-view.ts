import type { Activity } from '@store-orders/client';
import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { count, day, LOCALE, longDay, timeZone, waiting } from '../format.ts';
import { eventWords, icon } from '../icons.ts';
import { DAY_COUNTS, searchOf, TYPES, type View } from '../list/address.ts';
import { dayStart, dayText, today } from '../list/range.ts';
import type { State } from '../state.ts';
import { sumOf } from './activity.ts';
import { barChart, dayTable } from './counts-view.ts';
import { keyPage } from './key-view.ts';

type Periods = Activity['periods'];
type Type = (typeof TYPES)[number];

const WEEKDAY = new Intl.DateTimeFormat(LOCALE, { weekday: 'short' });

/** The activity of the last days. */
export function activityPage(state: State, actions: Actions) {
  const { activity, view, ofKey } = state;
  if (ofKey !== undefined) return keyPage(state, ofKey, actions);
  const link = (days: number) => {
    const to = { ...view, days };
    return html`<a href=${searchOf(to)} aria-current=${days === view.days} @click=${actions.follow(to)}>${days} days</a>`;
  };
  const found = activity?.found;
  return html`<div class="head-row">
      <h1 tabindex="-1">Activity</h1>
      <nav class="segments" aria-label="Days to show">${DAY_COUNTS.map(link)}</nav>
      <p class="small">${found === undefined ? nothing : html`${day(found.periods[0]!.from)} – ${day(found.periods.at(-1)!.from)}, `}days of ${timeZone()}</p>
      ${found === undefined ? nothing : html`<button type="button" class="tools" @click=${actions.exportActivity}>${icon('download')}Export CSV</button>`}
    </div>
    <p role="status" class="small">${activity?.reading !== undefined && found === undefined ? waiting(state, 'Counting…') : nothing}</p>
    ${activity?.problem === undefined ? nothing : html`<p role="alert" class="notice">${icon('warning')}<span>${activity.problem}</span><button type="button" @click=${actions.readActivity}>Try again</button></p>`}
    ${found === undefined ? nothing : cards(found, state, actions)}`;
}

function cards(found: Activity, { activity, view }: State, actions: Actions) {
  const { periods, byKey } = found;
  const { marked, ofDay } = activity!;
  const shown = dayStart(view.day);
  const link = (to: View, content: unknown) =>
    html`<a href=${searchOf(to)} @click=${actions.follow(to)}>${content}</a>`;
  const dayLink = (day: Date, name: unknown) => link({ ...view, day: dayText(day) }, name);
  return html`<div class="cards">
    <section class="card" aria-labelledby="by-day">
      <div class="card-head"><h2 id="by-day">Orders a day</h2><span class="small">Each row has its own scale</span>${readout(periods, marked)}</div>
      <div class="charts" tabindex="0" role="group" aria-label="Charts; arrow keys mark a day" @keydown=${byArrows(periods, marked, actions)} @pointerleave=${actions.markDay(undefined)}>
        ${TYPES.map((type) => chart(periods, type, marked, actions))} ${axis(periods)}
      </div>
    </section>
    <section class="card days" aria-labelledby="days"><div class="card-head"><h2 id="days">Days</h2><span class="small choose">Choose one for its keys; today so far</span></div>
      <div class="scroll" tabindex="0" role="group" aria-label="Table of days">${dayTable(found, shown ?? today(), dayLink)}</div></section>
    <section class="card" aria-labelledby="by-key"><div class="card-head"><h2 id="by-key">By key</h2>
      <span class="small">Who did what ${shown === undefined ? `in ${periods.length} days` : `on ${longDay(shown)}`}<span class="choose">; choose one to see it day by day${shown === undefined ? nothing : html` · ${link({ ...view, day: '' }, `All ${periods.length} days`)}`}</span></span></div>
      ${shown !== undefined && ofDay === undefined ? html`<p class="small none">Counting…</p>` : keyTable(ofDay?.byKey ?? byKey, view, actions)}</section>
  </div>`;
}

/** The counts of the marked day. */
function readout(periods: Periods, marked: number | undefined) {
  const period = marked === undefined ? undefined : periods[marked];
  if (period === undefined) return html`<p class="readout" role="status"></p>`;
  return html`<p class="readout" role="status"><b>${longDay(new Date(period.from))}</b>
    ${TYPES.map((type) => html`<span class=${type}><i></i>${eventWords(type)[1]} <b>${count(period[type])}</b></span>`)}</p>`;
}

function byArrows(periods: Periods, marked: number | undefined, actions: Actions) {
  return (event: KeyboardEvent) => {
    const last = periods.length - 1;
    const to = {
      ArrowLeft: marked === undefined ? last : Math.max(marked - 1, 0),
      ArrowRight: marked === undefined ? 0 : Math.min(marked + 1, last),
      Home: 0,
      End: last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    actions.markDay(to)(event);
  };
}

function chart(periods: Periods, type: Type, marked: number | undefined, actions: Actions) {
  const counts = periods.map((period) => period[type]);
  const total = count(sumOf(periods, type));
  const label = (most: string) =>
    `${total} ${type} in ${periods.length} days, at most ${most} in a day`;
  return html`<figure class="chart ${type}">
    <figcaption><span><i></i>${eventWords(type)[1]}</span><strong class="total">${total}</strong></figcaption>
    ${barChart(counts, label, marked, actions.markDay)}
  </figure>`;
}

/** Days under all charts, as many as there is room for. */
function axis(periods: Periods) {
  const isLong = periods.length > 31;
  const every = isLong ? 14 : periods.length > 14 ? 3 : 1;
  const labels = periods.map(({ from }, index) => {
    const isNamed = (periods.length - 1 - index) % every === 0;
    if (!isNamed) return html`<span></span>`;
    const at = new Date(from);
    const name = at.getTime() === today().getTime() ? 'Today' : WEEKDAY.format(at);
    return html`<span><span>${isLong ? nothing : name}</span><span>${every === 1 ? at.getDate() : day(at)}</span></span>`;
  });
  return html`<div class="axis" aria-hidden="true"><span></span><span></span><div>${labels}</div></div>`;
}

/** Every key that did anything, the busiest first, as links to what it did. */
function keyTable(byKey: Activity['byKey'], view: View, actions: Actions) {
  const totalOf = (each: Activity['byKey'][number]) =>
    TYPES.reduce((sum, type) => sum + each[type], 0n);
  const active = byKey
    .filter((each) => totalOf(each) > 0n)
    .sort((one, other) => Number(totalOf(other) - totalOf(one)));
  // Once for the table: every cell needs it.
  const most = TYPES.map((type) =>
    active.reduce((top, each) => (each[type] > top ? each[type] : top), 1n),
  );
  const cell = (each: Activity['byKey'][number]) => (type: Type, at: number) => {
    const part = Number((each[type] * 100n) / most[at]!);
    return html`<td class="number ${type} ${each[type] === 0n ? 'none' : ''}">${count(each[type])}<span class="part" .style=${`--part:${part}%`}></span></td>`;
  };
  if (active.length === 0) return html`<p class="small none">Nothing happened then.</p>`;
  const name = ({ by, byName }: Activity['byKey'][number]) => {
    if (by === undefined) return 'operators of the store';
    const to = { ...view, by };
    return html`<a href=${searchOf(to)} @click=${actions.follow(to)}><bdi>${byName ?? by}</bdi></a>${byName === undefined ? nothing : html`<code>${by}</code>`}`;
  };
  return html`<table class="keys">
    <caption class="hidden">Changes of these days by API key</caption>
    <thead><tr><th scope="col">Key</th>${TYPES.map((type) => html`<th scope="col" class="number ${type}"><i></i>${eventWords(type)[1]}<span class="part"></span></th>`)}</tr></thead>
    <tbody>${active.map(
      (each) => html`<tr><th scope="row">${name(each)}</th>${TYPES.map(cell(each))}</tr>`,
    )}</tbody>
  </table>`;
}
