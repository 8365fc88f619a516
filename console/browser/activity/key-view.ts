import type { Change } from '@store-orders/client';
import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { clockTime, count, LOCALE, longDay, REASONS } from '../format.ts';
import { eventWords, icon } from '../icons.ts';
import { searchOf, TYPES, type View } from '../list/address.ts';
import { dayStart, daysAfter, dayText, today } from '../list/range.ts';
import type { ChangesOfKey, State } from '../state.ts';
import { barChart, dayTable } from './counts-view.ts';

/** Changes that are shown; all of them are exported. */
const MAX_SHOWN = 200;
const HOURS = 24;
const HOUR = new Intl.DateTimeFormat(LOCALE, { hour: 'numeric' });

/** The page of what a key did on a day. Its address has both. */
export function keyPage(state: State, found: ChangesOfKey, actions: Actions) {
  const { view, activity, session } = state;
  const { by, changes, problem } = found;
  const from = dayStart(view.day) ?? today();
  const onDay = (day: Date): View => ({ ...view, day: dayText(day) });
  const link = (to: View, content: unknown, name?: string) =>
    html`<a class=${name === undefined ? '' : 'icon-only'} aria-label=${name ?? nothing} href=${searchOf(to)} @click=${actions.follow(to)}>${content}</a>`;
  const { key } = session!;
  const known = activity?.found?.byKey.find((each) => each.by === by)?.byName;
  const name = known ?? (by === key.id ? key.name : by);
  const isToday = from.getTime() === today().getTime();
  const of = (type: string) => changes.filter((each) => each.type === type);
  const segment = (type: View['type'], text: string, value: number) => {
    const to = { ...view, type, order: undefined };
    return html`<a href=${searchOf(to)} aria-current=${type === view.type} @click=${actions.follow(to)}>${text} <span class="number">${count(value)}</span></a>`;
  };
  const shown = view.type === '' ? changes : of(view.type);
  return html`<div class="head-row">
      <h1 tabindex="-1">${link({ ...view, by: '', type: '' }, 'Activity')} <span aria-hidden="true">›</span> <bdi>${name}</bdi></h1>
      <code>${by}</code>
      <div class="day-walk">${link(onDay(daysAfter(from, -1)), icon('left'), 'The day before')}
        <b>${isToday ? 'Today, ' : ''}${longDay(from)}</b>
        ${isToday ? nothing : link(onDay(daysAfter(from, 1)), icon('right'), 'The day after')}</div>
      <div class="tools">
        <button type="button" @click=${actions.copy(location.href, 'Address')}>${icon('link')}Copy link</button>
        ${changes.length === 0 ? nothing : html`<button type="button" @click=${actions.exportKey}>${icon('download')}Export CSV</button>`}</div>
    </div>
    <div class="head-row"><nav class="segments" aria-label="Changes">${segment('', 'All', changes.length)} ${TYPES.map((type) => segment(type, eventWords(type)[1], of(type).length))}</nav>
      <p role="status" class="small">${found.state === 'reading' ? `Reading: ${count(changes.length)} so far…` : `${count(shown.length)} ${shown.length === 1 ? 'change' : 'changes'}`}</p></div>
    ${found.state === 'cut' ? html`<p class="notice">${icon('warning')}<span>The store has more changes on that day than are read here: these are the first.</span></p>` : nothing}
    ${problem === undefined ? nothing : html`<p class="notice" role="alert">${icon('warning')}<span>Not all changes were read. ${problem}</span><button type="button" @click=${actions.readChangesOfKey}>Try again</button></p>`}
    <div class="cards">
      ${shown.length === 0 ? html`<div class="empty">${found.state === 'reading' ? nothing : html`${icon('clock')}<h2>Nothing on this day</h2>`}</div>` : table(view, shown, actions)}
      <div class="of-days">${shown.length === 0 ? nothing : hours(shown)} ${found.days === undefined ? nothing : html`<section class="card" aria-labelledby="days"><div class="card-head"><h2 id="days">Days</h2><span class="small choose">Choose one to see its changes</span></div>${dayTable(found.days, from, (day, name) => link(onDay(day), name))}</section>`}</div>
    </div>`;
}

/** The changes of each hour, on one scale. */
function hours(changes: readonly Change[]) {
  const counts = Array<bigint>(HOURS).fill(0n);
  for (const { at } of changes) counts[new Date(at).getHours()]! += 1n;
  const label = (most: string) => `${count(changes.length)} changes, at most ${most} in an hour`;
  return html`<section class="card hours" aria-labelledby="by-hour"><div class="card-head"><h2 id="by-hour">That day</h2><span class="small">Changes by hour</span></div>
    <div class="charts"><figure class="chart">${barChart(counts, label)}</figure>
    <div class="axis" aria-hidden="true"><span></span><div>${[0, 6, 12, 18].map((hour) => html`<span>${HOUR.format(new Date(2000, 0, 1, hour))}</span>`)}</div></div></div></section>`;
}

function table(view: View, changes: readonly Change[], actions: Actions) {
  const row = ({ type, at, order }: Change) => {
    const { id, reference, petId, quantity, reason, trackingNumber } = order;
    const to = { ...view, order: id };
    const [name, word] = eventWords(type);
    const detail = reason === undefined ? trackingNumber : (REASONS[reason] ?? reason);
    return html`<tr><td><time datetime=${at} title=${at}>${clockTime(at)}</time></td><td><span class="change ${type}">${icon(name)}${word}</span></td>
      <th scope="row" class="number"><a href=${searchOf(to)} @click=${actions.follow(to)}>${id}</a></th><td><bdi>${reference ?? nothing}</bdi></td>
      <td><span>${quantity === undefined ? nothing : `${count(quantity)} × `}${petId === undefined ? nothing : `pet ${petId}`}</span></td><td><bdi>${detail ?? nothing}</bdi></td></tr>`;
  };
  const latest = changes.slice(-MAX_SHOWN);
  return html`<div><div class="card"><table class="of-key"><caption class="hidden">Changes, the latest first</caption>
      <thead><tr><th scope="col">Time</th><th scope="col">What</th><th scope="col" class="number">Order</th><th scope="col">Reference</th><th scope="col">Contents</th><th scope="col">Tracking number or reason</th></tr></thead>
      <tbody>${latest.toReversed().map(row)}</tbody></table></div>
    ${changes.length > MAX_SHOWN ? html`<p class="small">The latest ${count(MAX_SHOWN)} of ${count(changes.length)}; the export has all.</p>` : nothing}</div>`;
}
