import type { OrderRecord } from '@store-orders/client';
import { html, nothing, svg } from 'lit-html';
import { now } from '../clock.ts';
import {
  count,
  isOverdue,
  orders as ordersText,
  paperDay,
  paperTime,
  REASONS,
  timeZone,
} from '../format.ts';
import { eventWords } from '../icons.ts';
import { moreIn, totalOf } from '../list/address.ts';
import { filtersInWords, STATUS_NAMES } from '../list/filters-view.ts';
import { type Detail, nameOf, type State } from '../state.ts';
import { code128 } from './code128.ts';

/** Free space before and after a code, in modules. */
const QUIET = 10;
/** Modules that A6 has room for; scanners read from 0.25 mm a module on. */
const MAX_SMALL = 308;

/**
 * What is printed instead of the page: dates have their years, and nothing is relative to today. Pages without a paper of their own are printed
 * below its head. The screen shows neither.
 */
export function paper(state: State) {
  const content = contentOf(state);
  if (content !== undefined) return html`<section class="paper">${content}</section>`;
  return state.isPrinting && state.session !== undefined
    ? html`<div class="paper-head">${header(state)}${daysOf(state)}</div>`
    : nothing;
}

/** The days that an activity counts: its own lines have no year. */
function daysOf({ view, activity, ofKey }: State) {
  const found = ofKey === undefined ? activity?.found : ofKey.days;
  const days = found?.periods.map(({ from }) => paperDay(from)) ?? [];
  if (view.page !== 'activity' || days.length === 0) return nothing;
  return html`<p>${days[0]} – ${days.at(-1)}, days of ${timeZone()}</p>`;
}

function contentOf(state: State) {
  const { printed, isPrinting, detail, view, session } = state;
  if (printed?.paper === 'slips') return printed.orders.map((order) => slip(state, order));
  if (printed !== undefined) return pickList(state, printed.orders);
  if (!isPrinting || session === undefined) return undefined;
  if (detail?.order !== undefined) return orderSheet(state, detail, detail.order);
  return view.page === 'orders' && session.may.read ? listSheet(state) : undefined;
}

function header(state: State) {
  const { name, environment } = state.session!.key;
  return html`<header><span><b><bdi>${nameOf(state)}</bdi></b> ${environment === 'production' ? 'Production' : 'Staging'}</span>
    <span>Printed ${paperTime(now().toISOString())} by <bdi>${name}</bdi></span></header>`;
}

function slip(state: State, order: OrderRecord) {
  const { id, petId, quantity, placedAt, reference } = order;
  return html`<article class="slip">
    <header><b><bdi>${nameOf(state)}</bdi></b> <span>Packing slip</span></header>
    <h1 .style=${`--digits:${String(id).length}`}>${id}</h1>
    ${barcode(String(id))}
    ${reference === undefined ? nothing : html`<p class="name"><bdi>${reference}</bdi></p>${barcode(reference)}`}
    <dl>
      <div><dt>Contents</dt><dd>${quantity === undefined ? nothing : `${count(quantity)} × `}${petId === undefined ? 'no pet' : `pet ${petId}`}</dd></div>
      <div><dt>Ships</dt><dd>${shipsText(order)}</dd></div>
      <div><dt>Placed</dt><dd>${paperTime(placedAt)}</dd></div>
    </dl>
    <p>Printed ${paperTime(now().toISOString())}</p>
  </article>`;
}

/** The orders by pet, and boxes to tick. Several orders of a pet have their sum above them. */
function pickList(state: State, orders: readonly OrderRecord[]) {
  const pets = [...Map.groupBy(orders, ({ petId }) => petId)].sort(([one = 0n], [other = 0n]) =>
    one < other ? -1 : 1,
  );
  const sumOf = (some: readonly OrderRecord[]) =>
    count(some.reduce((sum, { quantity = 0n }) => sum + quantity, 0n));
  const sumLine = (name: unknown, some: readonly OrderRecord[]) =>
    html`<tr class="sum"><th></th>${name}<th class="number">${sumOf(some)}</th><th colspan="4">in ${ordersText(some.length)}</th></tr>`;
  const line = (order: OrderRecord) => {
    const { id, petId, quantity, reference, shipDate } = order;
    return html`<tr class="order"><td><i class="box"></i></td><td class="pet">${petId ?? 'none'}</td><td class="number">${quantity === undefined ? nothing : count(quantity)}</td><td>${barcode(String(id))}</td><td class="number">${id}</td><td><bdi>${reference ?? nothing}</bdi></td><td class="time">${shipDate === undefined ? nothing : paperDay(shipDate)}${isOverdue(order) ? html`<br><b>overdue</b>` : nothing}</td></tr>`;
  };
  const group = ([petId, some]: (typeof pets)[number]) =>
    html`<tbody>${some.length === 1 ? nothing : sumLine(html`<th class="pet">${petId ?? 'none'}</th>`, some)} ${some.map(line)}</tbody>`;
  return html`<article class="pick-list">
    ${header(state)}
    <div class="title"><div><h1>Pick list of ${ordersText(orders.length)}</h1>
      <p>${sumOf(orders)} pieces, ${count(pets.length)} ${pets.length === 1 ? 'pet' : 'pets'}</p></div>
      <p class="fill">Picked by</p><p class="fill">Date</p></div>
    <table>
      <thead><tr><th>Done</th><th class="pet">Pet</th><th class="number">Pieces</th><th>Code</th><th class="number">Order</th><th>Reference</th><th>Ships</th></tr></thead>
      ${pets.map(group)}
      <tbody>${sumLine(html`<th>All</th>`, orders)}</tbody>
    </table>
  </article>`;
}

/** When an order ships. A shipped one that was imported can have a date to come. */
const shipsText = ({ status, shipDate }: OrderRecord) =>
  `${status === 'shipped' && Date.parse(shipDate ?? '') > now().getTime() ? 'planned for\n' : ''}${paperTime(shipDate)}`;

const statusOf = (order: OrderRecord) =>
  `${STATUS_NAMES[order.status as 'pending'] ?? order.status}${isOverdue(order) ? ', overdue' : ''}`;

/** An open order, with its history: one page. */
function orderSheet(state: State, { events }: Detail, order: OrderRecord) {
  const { id, reference, petId, quantity, placedAt, updatedAt, status, reason } = order;
  const line = ({ type, at, by, byName }: Detail['events'][number]) =>
    html`<tr><td class="time">${paperTime(at)}</td><td>${eventWords(type)[1]}</td><td><bdi>${byName ?? by ?? 'an operator of the store'}</bdi></td></tr>`;
  return html`<article class="record">
    ${header(state)}
    <div class="title"><div><h1>Order ${id}</h1>${reference === undefined ? nothing : html`<p class="name"><bdi>${reference}</bdi></p>`}<p><b>${statusOf(order)}</b></p></div>
      <div>${[String(id), reference ?? []].flat().map((text) => html`<figure>${barcode(text)}<figcaption>${text}</figcaption></figure>`)}</div></div>
    <dl>
      <dt>Pet</dt><dd>${petId ?? 'none'}</dd><dt>Quantity</dt><dd>${quantity === undefined ? 'none' : count(quantity)}</dd>
      <dt>${status === 'pending' ? 'Ships' : 'Ship date'}</dt><dd>${shipsText(order)}</dd><dt>Placed</dt><dd>${paperTime(placedAt)}</dd>
      <dt>Changed</dt><dd>${paperTime(updatedAt)}</dd>
      ${status === 'cancelled' ? html`<dt>Reason</dt><dd><bdi>${reason === undefined ? 'none' : (REASONS[reason] ?? reason)}</bdi></dd>` : html`<dt>Tracking number</dt><dd><bdi>${order.trackingNumber ?? nothing}</bdi></dd>`}
    </dl>
    ${events.length === 0 ? nothing : html`<h2>History</h2><table><thead><tr><th>When</th><th>What</th><th>By</th></tr></thead><tbody>${events.toReversed().map(line)}</tbody></table>`}
  </article>`;
}

/** The orders of the list that are shown. Each page of it begins with its store and filters. */
function listSheet(state: State) {
  const { orders, counts, view } = state;
  const total = counts === undefined ? undefined : totalOf(counts.counts, view.statuses);
  const isAll = total === BigInt(orders.length) && counts!.exact;
  const many =
    total === undefined || isAll
      ? ordersText(orders.length)
      : `${count(orders.length)} of ${ordersText(total, moreIn(counts))}`;
  const filters = filtersInWords(view);
  const line = (order: OrderRecord) =>
    html`<tr><td class="number"><b>${order.id}</b></td><td><bdi>${order.reference ?? nothing}</bdi></td><td>${statusOf(order)}</td>
      <td class="number">${order.petId ?? nothing}</td><td class="number">${order.quantity === undefined ? nothing : count(order.quantity)}</td><td class="time">${shipsText(order)}</td><td class="time">${paperDay(order.placedAt)}</td></tr>`;
  return html`<article class="record">
    <table class="lines">
      <thead><tr><td colspan="7">${header(state)} <h1>Orders</h1>
        ${filters === '' ? nothing : html`<p><bdi>${filters}</bdi></p>`}
        <p><b>${many}</b> · times in ${timeZone()}</p></td></tr>
      <tr><th class="number">Order</th><th>Reference</th><th>Status</th><th class="number">Pet</th><th class="number">Quantity</th><th>Ships</th><th>Placed</th></tr></thead>
      <tbody>${orders.map(line)}</tbody>
    </table>
    ${isAll ? nothing : html`<p><b>${many}.</b> The others are not on this paper: show more before printing, or export CSV.</p>`}
  </article>`;
}

/** A text as Code 128; nothing if it has other characters than ASCII, or is too long. */
function barcode(text: string) {
  const widths = code128(text);
  if (widths === undefined) return nothing;
  let at = QUIET;
  const bars = widths.map((width, index) => {
    const x = at;
    at += width;
    return index % 2 === 0 ? svg`<rect x=${x} y="0" width=${width} height="40"></rect>` : nothing;
  });
  const modules = at + QUIET;
  return html`<svg class="code ${modules > MAX_SMALL ? 'long' : ''}" viewBox="0 0 ${modules} 40" preserveAspectRatio="none" role="img" aria-label="Code of ${text}" .style=${`--modules:${modules}`}>${bars}</svg>`;
}
