import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { capital, count, day, orders, sentence, timeZone } from '../format.ts';
import { icon } from '../icons.ts';
import { COLUMNS, type Column, type NamedView, STANDARD_VIEWS } from '../preferences.ts';
import { hiddenIn, type State } from '../state.ts';
import {
  isFiltered,
  maySort,
  moreIn,
  onPage,
  STATUSES,
  searchOf,
  totalOf,
  type View,
  viewOf,
  withoutFilters,
} from './address.ts';
import { isEmptyStore } from './list-state.ts';
import { dayStart, daysOf, PRESETS, PRESETS_OF, type Range, type RangeName } from './range.ts';

const MAX_VIEW_NAME = 60;
const FILTERS = ['pet', 'ships', 'placed', 'changed', 'reference', 'status'];

/** The heading of the list, with its filters. */
export function filterBar(state: State, actions: Actions) {
  const { view, store } = state;
  const whole = store && totalOf(store.counts);
  const scan = onPage(view, 'scan');
  return html`<div class="head">
    <div class="head-row">
      <h1 tabindex="-1">Orders</h1>
      ${segments(state, actions)}
      <p class="whole">${isFiltered(view) && whole !== undefined ? `of ${count(whole)} in the whole store` : nothing}</p>
      <div class="tools">${isEmptyStore(state) ? nothing : html`${state.session!.may.place ? html`<button type="button" class="primary wide-only" @click=${actions.openForm()}>${icon('plus')}<span>Place order</span></button>` : nothing}<a class="button scan wide-only" href=${searchOf(scan)} @click=${actions.follow(scan)}>${icon('scan')}<span>Scan</span></a>${viewMenu(state, actions)} ${exportButton(state, actions)}`}</div>
    </div>
    ${isEmptyStore(state) ? nothing : filters(state, actions)}
  </div>`;
}

function filters(state: State, actions: Actions) {
  const { view } = state;
  const cleared = { ...withoutFilters(view), statuses: view.statuses };
  // On a phone they are behind a button, and without room for all, those that are not set.
  return html`<div class="filters ${state.isNarrow ? 'popover' : ''}" id="filters" popover=${state.isNarrow ? 'auto' : nothing} role="group" aria-label="Filters">
      ${state.isNarrow ? sheetTitle('Filters', 'filters') : nothing}
      ${petChip(state, actions)} ${rangeChip('ships', state, actions)} ${rangeChip('placed', state, actions)} ${rangeChip('changed', state, actions)} ${referenceChip(state, actions)} ${statusChip(state, actions)}
      <span class="chip any"><button type="button" popovertarget="any-filter">${icon('plus')}Filter</button></span>
      <div class="popover" id="any-filter" popover role="dialog" aria-label="More filters">${FILTERS.map((name) => html`<button type="button" class="item" popovertarget="filter-${name}">${capital(name)}</button>`)}</div>
      ${viewsChip(state, actions)}
      ${isFiltered(view) ? html`<a class="link clear-all" href=${searchOf(cleared)} @click=${actions.follow(cleared)}>Clear all</a>` : nothing}
      <p class="match" role="status">${matching(state)}</p>
    </div>`;
}

/** Beside the search of a phone: the page for scanning, and the filters, with how many are set. */
export function phoneTools(state: State, actions: Actions) {
  const { view } = state;
  // One status is a segment.
  const all = filterWords(view).length - (view.statuses.length === 1 ? 1 : 0);
  const scan = onPage(view, 'scan');
  return html`<a class="button icon-only scan" href=${searchOf(scan)} aria-label="Scan" @click=${actions.follow(scan)}>${icon('scan')}</a>
    ${isEmptyStore(state) ? nothing : html`<button type="button" class="icon-only" popovertarget="filters" aria-label=${all === 0 ? 'Filters' : `Filters, ${all} set`}>${icon('filter')}${all === 0 ? nothing : html`<b class="number">${all}</b>`}</button>`}`;
}

/** The head of a sheet at the bottom of a phone. */
const sheetTitle = (title: string, id: string) =>
  html`<div class="title"><h2>${title}</h2><button type="button" class="quiet icon-only" popovertarget=${id} aria-label="Close">${icon('cross')}</button></div>`;

/** Selecting all, and the order of the list, for which a phone has no heads of columns. */
export function phoneHead(state: State, box: unknown, actions: Actions) {
  const current = SORTINGS.find(([, each]) => isSorted(state.view, each))?.[0] ?? 'Sorted';
  const cleared = withoutFilters(state.view);
  return html`${isFiltered(state.view) ? html`<p class="phone-filters"><bdi>${filtersInWords(state.view)}</bdi> <a href=${searchOf(cleared)} @click=${actions.follow(cleared)}>Clear</a></p>` : nothing}<div class="phone-head">${box}
    <button type="button" class="quiet" popovertarget="sort-menu">${current}${icon('down')}</button>
    <nav class="popover" id="sort-menu" popover aria-label="Sort">${sheetTitle('Sort', 'sort-menu')}${sortLinks(state.view, actions)}</nav></div>`;
}

const isSorted = (view: View, sorting: View['sorting']) =>
  searchOf({ ...view, sorting, order: undefined }) === searchOf({ ...view, order: undefined });

function sortLinks(view: View, actions: Actions) {
  const offered = SORTINGS.filter(([, { by }]) => maySort(by, view.contains));
  return offered.map(([name, sorting]) => {
    const to = { ...view, sorting, order: undefined };
    return html`<a class="item" href=${searchOf(to)} aria-current=${isSorted(view, sorting)} @click=${actions.follow(to)}>${icon('check')}${name}</a>`;
  });
}

/** How many orders match the filters and the status. */
function matching({ counts, view }: State) {
  if (counts === undefined) return nothing;
  const total = totalOf(counts.counts, view.statuses);
  const word = total === 1n && counts.exact ? 'order' : 'orders';
  return html`<b>${count(total)}${moreIn(counts)}</b> ${word}`;
}

/** The statuses, with counts that follow the other filters. */
function segments({ counts, view }: State, actions: Actions) {
  const more = moreIn(counts);
  const link = (name: string, statuses: View['statuses'], value: bigint | undefined) => {
    const to = { ...view, statuses, order: undefined };
    const isCurrent = statuses.join() === view.statuses.join();
    return html`<a href=${searchOf(to)} aria-current=${isCurrent} @click=${actions.follow(to)}>${name} <span class="number">${value === undefined ? '…' : count(value) + more}</span></a>`;
  };
  const found = counts?.counts;
  return html`<nav class="segments" aria-label="Status">
    ${link('All', [], found && totalOf(found))} ${STATUSES.map((each) => link(STATUS_NAMES[each], [each], found?.[each]))}
  </nav>`;
}

interface Chip {
  readonly name: string;
  /** Undefined if it is not set. */
  readonly value: string | undefined;
  readonly without: View;
  readonly opened?: (event: Event) => void;
}

/** A filter: a button that opens its form, and a button that removes it if it is set. */
function chip({ name, value, without, opened }: Chip, form: unknown, actions: Actions) {
  const label = capital(name);
  const isSet = value !== undefined;
  return html`<span class="chip ${isSet ? 'set' : 'add'}">
    <button type="button" popovertarget="filter-${name}">${isSet ? nothing : icon('plus')}${label}${isSet ? html` <b title=${value}><bdi>${value}</bdi></b>` : nothing}</button>
    ${isSet ? html`<a class="remove" href=${searchOf(without)} aria-label="Remove the filter ${label}" @click=${actions.follow(without)}>${icon('cross')}</a>` : nothing}
  </span><div class="popover form" id="filter-${name}" popover role="dialog" aria-label=${label} @toggle=${opened}>${form}</div>`;
}

/** The views that have names. */
function viewsChip(state: State, actions: Actions) {
  const { preferences } = state;
  const view = { ...state.view, order: undefined };
  // A view is kept with its columns.
  const here = [view, { ...view, without: hiddenIn(state) }].map(searchOf);
  // The others are what the filters beside them say.
  const own = preferences.views.find(({ search }) => here.includes(search));
  const link = (each: NamedView) =>
    html`<a class="item" href=${each.search} aria-current=${here.includes(each.search)} @click=${actions.follow(viewOf(each.search))}><bdi>${each.name}</bdi></a>`;
  return html`<span class="chip ${own === undefined ? '' : 'set'}"><button type="button" popovertarget="views">${icon('eye')}Views${own === undefined ? nothing : html` <b><bdi>${own.name}</bdi></b>`}</button></span>
    <div class="popover form views" id="views" popover role="dialog" aria-label="Views">
      <ul>
        ${STANDARD_VIEWS.map((each) => html`<li>${link(each)}</li>`)}
        ${preferences.views.map((each) => html`<li>${link(each)}<button type="button" class="icon-only" aria-label="Forget the view ${each.name}" @click=${actions.forgetView(each.name)}>${icon('cross')}</button></li>`)}
      </ul>
      <form @submit=${actions.keepView}>
        <label for="view-name">Keep what is shown now as</label>
        <input id="view-name" name="name" maxlength=${MAX_VIEW_NAME} autocomplete="off" dir="auto" required />
        <div class="end"><button class="primary">Keep</button></div>
      </form>
    </div>`;
}

export const STATUS_NAMES = {
  pending: 'Pending',
  shipped: 'Shipped',
  cancelled: 'Cancelled',
} as const;

/** Two statuses at once; one alone is a segment. */
function statusChip({ view }: State, actions: Actions) {
  const { statuses } = view;
  const without = { ...view, statuses: [], order: undefined };
  const value =
    statuses.length > 1 ? statuses.map((each) => STATUS_NAMES[each]).join(' or ') : undefined;
  return chip(
    { name: 'status', value, without },
    html`${STATUSES.map((each) => html`<label class="item"><input type="checkbox" .checked=${statuses.length === 0 || statuses.includes(each)} @change=${actions.toggleStatus(each)} />${STATUS_NAMES[each]}</label>`)}`,
    actions,
  );
}

function petChip({ view }: State, actions: Actions) {
  const { petId } = view;
  const without = { ...view, petId: undefined, order: undefined };
  return chip(
    { name: 'pet', value: petId?.toString(), without },
    html`<form @submit=${actions.filter('pet')}>
      <label for="pet">Orders of the pet</label>
      <input id="pet" name="pet" inputmode="numeric" autocomplete="off" placeholder="Id, such as 412" autofocus .value=${String(petId ?? '')} />
      <p class="problem" role="alert"></p>
      <div class="end"><button class="primary">Show orders</button></div>
    </form>`,
    actions,
  );
}

function referenceChip({ view }: State, actions: Actions) {
  const { reference, prefix, contains } = view;
  const without = { ...view, reference: '', prefix: '', contains: '', order: undefined };
  const value = prefix === '' ? reference || (contains && `…${contains}…`) : `${prefix}…`;
  return chip(
    { name: 'reference', value: value || undefined, without },
    html`<form @submit=${actions.filter('reference')}>
      <label for="reference">Orders with the reference</label>
      <input id="reference" name="reference" maxlength="255" autocomplete="off" dir="auto" autofocus .value=${reference || prefix || contains} />
      <label class="item"><input type="checkbox" name="prefix" .checked=${reference === '' && contains === ''} />and those that begin with it</label>
      <label class="item"><input type="checkbox" name="contains" .checked=${contains !== ''} />and those that contain it, with any capitals</label>
      <p class="problem" role="alert"></p>
      <div class="end"><button class="primary">Show orders</button></div>
    </form>`,
    actions,
  );
}

function rangeChip(name: RangeName, state: State, actions: Actions) {
  const { view, rangeCounts } = state;
  const range = view[name];
  const without = { ...view, [name]: '', order: undefined };
  const value = range === '' ? undefined : rangeName(range);
  const preset = (each: string) => {
    const sorted =
      name === 'ships' && maySort(SOONEST.by, view.contains) ? { sorting: SOONEST } : {};
    const to = { ...view, ...sorted, [name]: each, order: undefined };
    const found = rangeCounts.get(`${name} ${each}`);
    const many = found && count(totalOf(found.counts, view.statuses)) + moreIn(found);
    return html`<a class="item" href=${searchOf(to)} aria-current=${each === range} @click=${actions.follow(to)}>${PRESETS[each]!.name} <span class="number">${many ?? '…'}</span></a>`;
  };
  const [from, to] = daysOf(range);
  const shown = rangeCounts.get(`${name} draft`);
  const draft = shown && orders(totalOf(shown.counts, view.statuses), moreIn(shown));
  return chip(
    { name, value, without, opened: actions.openRange(name) },
    html`<form class="range" @input=${actions.preview(name)} @submit=${actions.filter(name)}>
      ${PRESETS_OF[name].map(preset)}
      <hr />
      <div class="days">
        <label>From <input type="date" name="from" .value=${from} min="1900-01-01" max="9998-12-31" /></label>
        <label>To, inclusive <input type="date" name="to" .value=${to} min="1900-01-01" max="9998-12-31" /></label>
      </div>
      <p class="small">Days of ${timeZone()}</p>
      <p class="problem" role="alert"></p>
      <div class="end"><button class=${draft === undefined ? '' : 'primary'}>${draft === undefined ? 'Close' : `Show ${draft}`}</button></div>
    </form>`,
    actions,
  );
}

/** The filters of a view as a sentence; empty if there is none. */
export function filtersInWords(view: View): string {
  const words = filterWords(view).join(', ');
  return words && sentence(words);
}

/** Each filter of a view. */
function filterWords(view: View) {
  const { petId, reference, prefix, contains, ships, placed, changed, statuses } = view;
  return [
    statuses.length > 0 && statuses.join(' or '),
    petId !== undefined && `of pet ${petId}`,
    reference !== '' && `with the reference ${reference}`,
    prefix !== '' && `with a reference that begins with ${prefix}`,
    contains !== '' && `with a reference that contains ${contains}`,
    ships !== '' && `to ship: ${rangeName(ships)}`,
    placed !== '' && `placed: ${rangeName(placed)}`,
    changed !== '' && `changed: ${rangeName(changed)}`,
  ].filter(Boolean);
}

/** The name of a range: "Next 7 days", "Nov 22 to Nov 28". */
function rangeName(range: Range): string {
  const preset = PRESETS[range];
  if (preset !== undefined) return preset.name;
  const [from, to] = daysOf(range).map((each) => dayStart(each));
  if (from === undefined) return `until ${day(to!)}`;
  if (to === undefined) return `from ${day(from)}`;
  return from.getTime() === to.getTime() ? day(from) : `${day(from)} to ${day(to)}`;
}

const SOONEST = { by: 'shipDate', isDescending: false } as const;

const SORTINGS = [
  ['Newest first', { by: 'id', isDescending: true }],
  ['Oldest first', { by: 'id', isDescending: false }],
  ['Ships soonest', SOONEST],
  ['Ships latest', { by: 'shipDate', isDescending: true }],
  ['Placed, newest first', { by: 'placedAt', isDescending: true }],
  ['Placed, oldest first', { by: 'placedAt', isDescending: false }],
  ['Changed, newest first', { by: 'updatedAt', isDescending: true }],
] as const;

function viewMenu(state: State, actions: Actions) {
  const { preferences, view, unseen } = state;
  const hidden = hiddenIn(state);
  const kept = { ...view, without: hidden };
  const hasNoRoom = (each: Column) => unseen.includes(each) && !hidden.includes(each);
  const box = (each: Column) =>
    html`<label class="item"><input type="checkbox" .checked=${!hidden.includes(each)} @change=${actions.toggleColumn(each)} />${capital(each)}${hasNoRoom(each) ? html` <span class="hint">no room</span>` : nothing}</label>`;
  return html`<button type="button" class="wide-only" popovertarget="view-menu">${icon('columns')}<span>View</span>${unseen.length === 0 ? nothing : html` <span class="hint">${unseen.length}<span> hidden</span></span>`}</button>
    <div class="popover" id="view-menu" popover role="dialog" aria-label="View">
      <fieldset><legend>Columns</legend>${COLUMNS.map(box)}
        ${view.without === undefined ? html`<a class="item" href=${searchOf(kept)} @click=${actions.follow(kept)}>${icon('link')}Keep these columns in the link</a>` : nothing}</fieldset>
      <fieldset><legend>Rows</legend>
        <label class="item"><input type="radio" name="density" .checked=${preferences.isCompact} @change=${actions.prefer({ isCompact: true })} />Compact</label>
        <label class="item"><input type="radio" name="density" .checked=${!preferences.isCompact} @change=${actions.prefer({ isCompact: false })} />Comfortable</label>
      </fieldset>
      <nav aria-label="Sort"><p class="head">Sort</p>${sortLinks(view, actions)}</nav>
    </div>`;
}

function exportButton({ exported }: State, actions: Actions) {
  if (exported === undefined)
    return html`<button type="button" class="wide-only export" @click=${actions.exportCsv()}>${icon('download')}<span>Export CSV</span></button>`;
  return html`<button type="button" class="wide-only export" @click=${actions.stopExport}>Stop <span>at ${orders(exported)}</span></button>`;
}
