import type { OrderRecord } from '@store-orders/client';
import { html, nothing } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { ref } from 'lit-html/directives/ref.js';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Actions } from '../actions.ts';
import { ago, count, day, marked, orders as ordersText, shipHint, time } from '../format.ts';
import { icon } from '../icons.ts';
import { hiddenIn, type State } from '../state.ts';
import { isPart, maySort, moreIn, searchOf, totalOf, withoutFilters, withPart } from './address.ts';
import { filtersInWords, phoneHead, STATUS_NAMES } from './filters-view.ts';
import { isEmptyList, isEmptyStore, maySelect, selectable } from './list-state.ts';

/** Columns have room for so many characters at least, so that they do not become wider with each page. */
const LEAST_DIGITS = 6;
/** Ids with more digits than this leave less room for other columns; only quantities have separators. */
const SHORT_DIGITS = 10;

/** With more rows than this, those out of sight are not laid out, and have no text for a script that asks for what is rendered. */
const MANY_ROWS = 500;

/** The last characters of a reference, which tell it from others, stay in sight. */
const END = 8;

const STATUS_ICONS = { pending: 'clock', shipped: 'truck', cancelled: 'crossed' } as const;

/** @param status one of a later release is shown as it is */
export function pill(status: OrderRecord['status']) {
  const name = STATUS_ICONS[status as 'pending'] ?? 'box';
  return html`<span class="pill ${status}">${icon(name)}${STATUS_NAMES[status as 'pending'] ?? status}</span>`;
}

/** The list, or the reason why there is none. */
export function ordersList(state: State, actions: Actions) {
  const { orders, next, isLoading, isSlow, problem, newer } = state;
  return html`
    <p class="newer" role="status">${newer.size === 0 ? nothing : html`<button type="button" @click=${actions.reload}>${icon('up')}${ordersText(newer.size).replace('order', 'newer order')}</button>`}</p>
    ${selectAllBanner(state, actions)}
    ${orders.length > 0 || (isLoading && isSlow) ? table(state, actions) : nothing}
    ${isEmptyList(state) ? emptyList(state, actions) : nothing}
    ${
      problem === undefined
        ? nothing
        : html`<p class="notice" role="alert">${icon('warning')}<span><b>The list could not be read.</b> ${problem}</span>
        <button type="button" @click=${actions.more}>Try again</button></p>`
    }
    <div class="more">
      ${next !== undefined && problem === undefined && orders.length > 0 ? html`<button type="button" aria-disabled=${isLoading} @click=${actions.more}>${isLoading && isSlow ? 'Loading…' : 'Show more'}</button>` : nothing}
      ${next === undefined && orders.length > 0 && !isLoading ? html`<p class="small">That is all.</p>` : nothing}
    </div>
  `;
}

function selectAllBanner(state: State, actions: Actions) {
  const { selected, selecting, counts, next, view } = state;
  const { pending, isAll } = selectable(state);
  const isOffered = view.statuses.length === 0 || view.statuses.includes('pending');
  if (selecting !== undefined) {
    return html`<p class="select-all" role="status"><span>Selecting… ${count(selecting.count)} so far</span>
      <button type="button" class="link" @click=${actions.clearSelection}>Stop</button></p>`;
  }
  if (!isAll || next === undefined || !isOffered) return nothing;
  const matching = counts?.counts.pending;
  const isEvery = counts?.exact === true && selected.size >= counts.counts.pending;
  const isMore = selected.size > pending.length;
  const many = ordersText(selected.size);
  const all = `All ${many.replace('order', 'pending order')} ${isEvery ? 'that match' : 'on this page'}`;
  return html`<p class="select-all"><span>${isMore && !isEvery ? many : all} are selected.</span>
    ${
      matching === undefined || isMore || isEvery
        ? nothing
        : html`<button type="button" class="link" @click=${actions.selectMatching}>Select all ${count(matching)}${moreIn(counts)} that match</button>`
    }</p>`;
}

function table(state: State, actions: Actions) {
  const { view, preferences, orders } = state;
  const canAct = maySelect(state);
  const [id, pet, quantity] = (['id', 'petId', 'quantity'] as const).map((name) =>
    Math.max(LEAST_DIGITS, ...orders.map((order) => String(order[name] ?? '').length)),
  ) as [number, number, number];
  const heading = (name: string, className: string, by?: typeof view.sorting.by, begins = true) => {
    if (by === undefined || !maySort(by, view.contains))
      return html`<th scope="col" role="columnheader" class=${className}>${name}</th>`;
    const isCurrent = view.sorting.by === by;
    const isDescending = isCurrent ? !view.sorting.isDescending : begins;
    const to = { ...view, sorting: { by, isDescending }, order: undefined };
    const sort = isCurrent ? (view.sorting.isDescending ? 'descending' : 'ascending') : 'none';
    return html`<th scope="col" role="columnheader" class=${className} aria-sort=${sort}><a href=${searchOf(to)} @click=${actions.follow(to)}>${name}</a></th>`;
  };
  // What all rows depend on; a row that depends on nothing else that has changed is not drawn again.
  const shown = `${searchOf({ ...view, order: undefined })} ${canAct} ${state.isNarrow}`;
  const classes = [
    preferences.isCompact ? 'compact' : 'comfortable',
    ...hiddenIn(state).map((each) => `without-${each}`),
    Math.max(pet, quantity) > SHORT_DIGITS ? 'long-ids' : id > SHORT_DIGITS ? 'long-id' : '',
    orders.length > MANY_ROWS ? 'many' : '',
  ].join(' ');
  return html`${state.isNarrow ? phoneHead(state, canAct ? html`<label>${selectAll(state, actions)} Select all</label>` : nothing, actions) : nothing}<div class="list"><table role="table" class=${classes} .style=${`--id:${id}ch;--pet:${pet}ch;--quantity:${quantity * (4 / 3)}ch`}>
    <caption class="hidden">Orders</caption>
    <thead role="rowgroup" ${ref(actions.observeHead)}><tr role="row">
      <th scope="col" role="columnheader" class="check">${canAct && !state.isNarrow ? selectAll(state, actions) : html`<span class="hidden">Selection</span>`}</th>
      ${heading('Order', 'id number', 'id')} ${heading('Reference', 'reference')} ${heading('Status', 'status')}
      ${heading('Pet', 'pet number')} ${heading('Quantity', 'quantity number')} ${heading('Ships', 'ships', 'shipDate', false)} ${heading('Placed', 'placed', 'placedAt')}
      ${heading('Changed', 'changed', 'updatedAt')}
    </tr></thead>
    <tbody role="rowgroup">${
      orders.length === 0
        ? WAITING_ROWS
        : repeat(
            orders,
            ({ id }) => id,
            (order) =>
              guard([shown, order, ...marksOf(state, order)], () =>
                row(state, order, shown, actions),
              ),
          )
    }</tbody>
  </table>${orders.length === 0 ? html`<p class="hidden" role="status">Loading…</p>` : nothing}</div>`;
}

function selectAll(state: State, actions: Actions) {
  const { pending, isAll } = selectable(state);
  if (pending.length === 0) return html`<span class="hidden">Selection</span>`;
  return html`<input type="checkbox" aria-label="Select all pending orders on this page" .checked=${isAll}
    .indeterminate=${!isAll && state.selected.size > 0} @change=${actions.selectAll} />`;
}

/** What a row shows besides its order; all values are compared by identity. */
function marksOf({ selected, current, detail, changed, bulk }: State, order: OrderRecord) {
  const { id, updatedAt } = order;
  return [
    ...[selected.has(id), current === id, detail?.id === id, changed.has(id)],
    // Its words change during the first day, and then each day at midnight, as those for the ship date do.
    ...[bulk?.results.get(id), ago(updatedAt)],
  ] as const;
}

/** @param shown what all rows depend on */
function row(state: State, order: OrderRecord, shown: string, actions: Actions) {
  const { id, status } = order;
  const [isSelected, isCurrent, isOpen, isChanged, ...others] = marksOf(state, order);
  const classes = [
    status,
    isSelected ? 'selected' : '',
    isCurrent ? 'current' : '',
    isOpen ? 'open' : '',
    isChanged ? 'changed-now' : '',
  ].join(' ');
  return html`<tr role="row" class=${classes} aria-current=${isCurrent} @click=${actions.open(id)}>
    <td role="cell" class="check">${maySelect(state) && status === 'pending' ? html`<label><input type="checkbox" aria-label="Select order ${id}" .checked=${isSelected} @change=${actions.select(id)} /></label>` : nothing}</td>
    ${guard([shown, order, ...others], () => cells(state, order, actions))}</tr>`;
}

/** The other cells, which need not be drawn again when all rows are selected. */
function cells(state: State, order: OrderRecord, actions: Actions) {
  const { id, status, petId, reference, quantity, placedAt, updatedAt } = order;
  const { view, isNarrow } = state;
  const [, , , , result, age] = marksOf(state, order);
  const to = { ...view, order: id };
  return html`<th scope="row" role="rowheader" class="id number"><a href=${searchOf(to)} @click=${actions.follow(to)}>${id}</a><button type="button" class="copy icon-only" aria-label="Copy id ${id}" @click=${actions.copy(String(id), 'Id')}>${icon('copy')}</button></th>
    <td role="cell" class="reference">${reference === undefined ? nothing : html`<bdi title=${reference} data-end=${[...reference].slice(-END).join('')}><span>${marked(reference, view.contains)}</span></bdi><button type="button" class="copy icon-only" aria-label="Copy the reference ${reference}" @click=${actions.copy(reference, 'Reference')}>${icon('copy')}</button>`}</td>
    <td role="cell" class="status">${pill(status)}${result === undefined || result.kind === 'done' ? nothing : html`<span class="row-result" title=${result.text}>${icon('warning')}<span class="hidden">${result.text}</span></span>`}</td>
    <td role="cell" class="pet number">${petId === undefined ? nothing : html`${isNarrow && quantity !== undefined ? `${count(quantity)} × ` : nothing}${isNarrow ? 'pet ' : nothing}${petId}`}</td>
    <td role="cell" class="quantity number">${quantity === undefined ? nothing : count(quantity)}</td>
    <td role="cell" class="ships">${shipsCell(order, isNarrow)}</td>
    <td role="cell" class="placed">${when(placedAt)}</td>
    <td role="cell" class="changed"><time datetime=${updatedAt} title=${updatedAt}>${age}</time></td>`;
}

/** The time at which an order ships; only in words if there is no room for the time. */
function shipsCell(order: OrderRecord, isNarrow: boolean) {
  const { shipDate } = order;
  if (shipDate === undefined)
    return html`<span class="none">${isNarrow ? 'No ship date' : 'none'}</span>`;
  // An order can be imported as shipped with a later date.
  const isPast = order.status === 'shipped' && shipDate <= order.updatedAt;
  return isNarrow ? shipHint(order, true) : html`${when(shipDate)}${shipHint(order, isPast)}`;
}

/** A time, and its day for where the time of day has no room. */
const when = (at: string) =>
  html`<span class="at">${time(at)}</span><span class="day">${day(at)}</span>`;

/** Rows while the list is read. */
const WAITING_ROWS = Array(14).fill(
  html`<tr class="waiting" aria-hidden="true"><td class="check"></td>${['id number', 'reference', 'status', 'pet number', 'quantity number', 'ships', 'placed', 'changed'].map((name) => html`<td class=${name}><i></i></td>`)}</tr>`,
);

const IMPORT = 'npx store-orders import orders.csv';

/** The texts for an empty store, and for filters that match no order. */
function emptyList(state: State, actions: Actions) {
  const { view, store } = state;
  const whole = store === undefined ? 0n : totalOf(store.counts);
  if (isEmptyStore(state)) {
    return html`<div class="empty">${icon('box')}<h2>No orders yet</h2>
      <p>An order appears here within a second of being placed.<br />Leave this page open: it is live.</p>
      ${state.session!.may.place ? html`<button type="button" class="primary" @click=${actions.openForm()}>${icon('plus')}Place order</button>` : nothing}
      <a class="button" href="/reference#v2-placeOrder">${icon('book')}How to place an order</a>
      <p class="small">Or bring orders over from another system:</p>
      <p class="command"><code>${IMPORT}</code><button type="button" class="icon-only" aria-label="Copy the command" @click=${actions.copy(IMPORT, 'Command')}>${icon('copy')}</button></p></div>`;
  }
  const cleared = withoutFilters(view);
  const inside = withPart(view, view.prefix);
  return html`<div class="empty">${icon('search')}<h2>No order matches these filters</h2>
    <p><bdi>${filtersInWords(view)}</bdi> The store has ${ordersText(whole)} without them.</p>
    <p class="buttons"><a class="button primary" href=${searchOf(cleared)} @click=${actions.follow(cleared)}>Clear filters</a>
      ${isPart(view.prefix) ? html`<a class="button" href=${searchOf(inside)} @click=${actions.follow(inside)}>Search inside references</a>` : nothing}</p></div>`;
}
