import type { Change } from '@store-orders/client';
import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { clockTime, count, longDay, REASONS } from '../format.ts';
import { eventWords, icon } from '../icons.ts';
import { searchOf, type View } from '../list/address.ts';
import { dayStart, dayText, today } from '../list/range.ts';
import type { Screen } from '../screen.ts';
import type { ChangesOfKey, State } from '../state.ts';
import { TYPES } from './activity.ts';

/** Requests of one reading, each of which examines up to 5,000 changes of the store. */
const MAX_REQUESTS = 400;
/** Changes that are shown; all of them are exported. */
const MAX_SHOWN = 1_000;

/** When the day of the view begins, and the next one. */
function boundsOf({ day }: View): { readonly from: Date; readonly before: Date } {
  const from = dayStart(day) ?? today();
  return { from, before: new Date(from.getFullYear(), from.getMonth(), from.getDate() + 1) };
}

/** The view of the day before or after. */
function dayBeside(view: View, days: number): View {
  const { from } = boundsOf(view);
  const day = new Date(from.getFullYear(), from.getMonth(), from.getDate() + days);
  return { ...view, day: dayText(day) };
}

/** Reads what the key of the view did on its day, if the view has one: the changes of the store from that day on are examined, up to the next day. */
export async function readChangesOfKey(screen: Screen): Promise<void> {
  const { session, view, ofKey: before } = screen.state;
  before?.ending.abort();
  if (session?.may.follow !== true || view.page !== 'activity' || view.by === '') {
    screen.change((state) => (state.ofKey = undefined));
    return;
  }
  const { by } = view;
  const { from, before: end } = boundsOf(view);
  const ending = new AbortController();
  const signal = AbortSignal.any([session.ending.signal, ending.signal]);
  const begun: ChangesOfKey = {
    ...({ by, changes: [], waiting: [], state: 'reading' } as const),
    ...{ problem: undefined, ending },
  };
  screen.change((state) => (state.ofKey = begun));
  const show = (found: Partial<ChangesOfKey>) =>
    screen.change((state) => {
      if (state.ofKey?.ending === ending) state.ofKey = { ...state.ofKey, ...found };
    });
  let changes: readonly Change[] = [];
  try {
    // The first change of the next day, of any key: what follows it is not examined.
    const next = await session.client.listChanges({ since: end, limit: 1 }, { signal });
    const last = next.changes[0]?.revision;
    let page = await session.client.listChanges({ by, since: from, limit: 500 }, { signal });
    for (let request = 1; ; request += 1) {
      const isIn = ({ at }: Change) => Date.parse(at) < end.getTime();
      changes = [...changes, ...page.changes.filter(isIn)];
      show({ changes });
      // A cursor is a revision and its head.
      const isPast = last !== undefined && BigInt(page.next.split('-')[0]!) >= last;
      if (!page.more || isPast) {
        show({ changes: withLater(changes, begun.waiting), state: 'whole' });
        return;
      }
      if (request === MAX_REQUESTS) {
        show({ state: 'cut' });
        return;
      }
      page = await session.client.listChanges({ by, after: page.next, limit: 500 }, { signal });
    }
  } catch (error) {
    const problem = signal.aborted ? undefined : screen.problemOf(session, error);
    if (problem !== undefined) show({ state: 'failed', problem });
  }
}

/** Adds changes as they happen, if they are of the key and the day that are shown. */
export function followKey(screen: Screen, changes: readonly Change[]): void {
  const { ofKey, view } = screen.state;
  if (ofKey === undefined) return;
  const { from, before } = boundsOf(view);
  const added = changes.filter(({ by, at }) => {
    const time = Date.parse(at);
    return by === ofKey.by && time >= from.getTime() && time < before.getTime();
  });
  if (ofKey.state === 'reading') ofKey.waiting.push(...added);
  else if (ofKey.state === 'whole' && added.length > 0) {
    const all = withLater(ofKey.changes, added);
    screen.change((state) => (state.ofKey = { ...ofKey, changes: all }));
  }
}

/** Adds changes of the stream, some of which can have been read. */
function withLater(changes: readonly Change[], more: readonly Change[]): readonly Change[] {
  const last = changes.at(-1)?.revision ?? 0n;
  return [...changes, ...more.filter(({ revision }) => revision > last)];
}

/** The page of what a key did on a day. Its address has both. */
export function keyPage(state: State, found: ChangesOfKey, actions: Actions) {
  const { view, activity, session } = state;
  const { by, changes, problem } = found;
  const { from } = boundsOf(view);
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
      <h1 tabindex="-1">${link({ ...view, by: '', day: '', type: '' }, 'Activity')} <span aria-hidden="true">›</span> <bdi>${name}</bdi></h1>
      <code>${by}</code>
      <div class="day-walk">${link(dayBeside(view, -1), icon('left'), 'The day before')}
        <b>${isToday ? 'Today, ' : ''}${longDay(from)}</b>
        ${isToday ? nothing : link(dayBeside(view, 1), icon('right'), 'The day after')}</div>
      <div class="tools">
        <button type="button" @click=${actions.copy(location.href, 'Address')}>${icon('link')}Copy link</button>
        ${changes.length === 0 ? nothing : html`<button type="button" @click=${actions.exportKey}>${icon('download')}Export CSV</button>`}</div>
    </div>
    <div class="head-row"><nav class="segments" aria-label="Changes">${segment('', 'All', changes.length)} ${TYPES.map((type) => segment(type, eventWords(type)[1], of(type).length))}</nav>
      <p role="status" class="small">${found.state === 'reading' ? `Reading: ${count(changes.length)} so far…` : `${count(shown.length)} ${shown.length === 1 ? 'change' : 'changes'}`}</p></div>
    ${found.state === 'cut' ? html`<p class="notice">${icon('warning')}<span>The store has more changes on that day than are read here: these are the first ones.</span></p>` : nothing}
    ${problem === undefined ? nothing : html`<p class="notice" role="alert">${icon('warning')}<span>Not all changes were read. ${problem}</span><button type="button" @click=${actions.readChangesOfKey}>Try again</button></p>`}
    ${shown.length === 0 ? (found.state === 'reading' ? nothing : html`<div class="empty">${icon('clock')}<h2>Nothing on this day</h2></div>`) : table(view, shown, actions)}`;
}

function table(view: View, changes: readonly Change[], actions: Actions) {
  const row = ({ type, at, order }: Change) => {
    const { id, reference, petId, quantity, reason, trackingNumber } = order;
    const to = { ...view, order: id };
    const [name, word] = eventWords(type);
    const detail =
      type === 'cancelled'
        ? reason && (REASONS[reason] ?? reason)
        : type === 'shipped'
          ? trackingNumber
          : undefined;
    return html`<tr><td><time datetime=${at} title=${at}>${clockTime(new Date(at))}</time></td><td><span class="change ${type}">${icon(name)}${word}</span></td>
      <th scope="row" class="number"><a href=${searchOf(to)} @click=${actions.follow(to)}>${id}</a></th><td><bdi>${reference ?? nothing}</bdi></td>
      <td>${quantity === undefined ? nothing : `${count(quantity)} × `}${petId === undefined ? nothing : `pet ${petId}`}</td><td><bdi>${detail ?? nothing}</bdi></td></tr>`;
  };
  const latest = changes.slice(-MAX_SHOWN);
  return html`<div class="card"><table class="of-key"><caption class="hidden">Changes, the latest first</caption>
      <thead><tr><th scope="col">Time</th><th scope="col">What</th><th scope="col" class="number">Order</th><th scope="col">Reference</th><th scope="col">Contents</th><th scope="col">Tracking number or reason</th></tr></thead>
      <tbody>${latest.toReversed().map(row)}</tbody></table></div>
    ${changes.length > MAX_SHOWN ? html`<p class="small">The latest ${count(MAX_SHOWN)} of ${count(changes.length)}; the export has all.</p>` : nothing}`;
}
