import { NotFoundError, type OrderRecord } from '@store-orders/client';
import { html, nothing } from 'lit-html';
import type { Actions } from './actions.ts';
import { ago, count, REASONS, shipHint, time } from './format.ts';
import type { Handler } from './handlers.ts';
import { eventWords, icon } from './icons.ts';
import { moreIn, onPage, searchOf, totalOf, type View, withoutFilters } from './list/address.ts';
import { showOrder } from './list/list-state.ts';
import { pill } from './list/list-view.ts';
import { dayText } from './list/range.ts';
import type { Screen } from './screen.ts';
import type { Detail, Failure, State } from './state.ts';

/** Opens the details of the order in the view, or closes those of the order `before`, and moves the focus along. */
export async function showDetails(screen: Screen, before: bigint | undefined): Promise<void> {
  const { order: id, ...view } = screen.state.view;
  screen.change((state) => {
    // The list's state of the order, until it has been read.
    const order = state.orders.find((each) => each.id === id);
    state.detail = id === undefined ? undefined : { id, order, ...UNREAD };
    if (id !== undefined) state.current = id;
  });
  const link = `a[href="${searchOf({ ...view, order: before })}"]`;
  if (id === undefined) await screen.focus(`tbody ${link}`);
  else await screen.focus('.details h2');
  if (id !== undefined) await readDetails(screen);
}

/** What is shown besides an order, until it has been read. */
const UNREAD = { events: [], others: undefined, problem: undefined, failure: undefined };

/** Reads the order whose details are open, and its history. */
export async function readDetails(screen: Screen): Promise<void> {
  const { session, detail } = screen.state;
  if (detail === undefined || session === undefined) return;
  const { id } = detail;
  const show = (found: Partial<Detail>) =>
    screen.change((state) => {
      if (state.session !== session || state.detail?.id !== id) return;
      // Responses can overtake each other.
      const isOlder =
        found.order && state.detail.order && found.order.revision < state.detail.order.revision;
      if (!isOlder) state.detail = { ...state.detail, ...found };
      if (found.order !== undefined) showOrder(state, found.order);
    });
  const { signal } = session.ending;
  try {
    // The order first, so that the history is at least as recent.
    const order = await session.client.getOrder(id, { signal });
    const { events } = await session.client.getOrderHistory(id, { signal });
    show({ order, events, problem: undefined });
    const { petId } = order;
    if (petId !== undefined)
      show({ others: await session.client.countOrders({ petId }, { signal }) });
  } catch (error) {
    const problem = error instanceof NotFoundError ? '' : screen.problemOf(session, error);
    if (problem !== undefined) show({ problem });
  }
}

/** The details beside the list; a dialog above it, if there is no room beside it. */
export function detailsView(state: State, detail: Detail, actions: Actions) {
  const shown = contents(state, detail, actions);
  return state.isWide
    ? html`<aside class="details" aria-label="Order ${detail.id}">${shown}</aside>`
    : html`<dialog class="details sheet" aria-label="Order ${detail.id}" @cancel=${actions.closeDetails}>${shown}</dialog>`;
}

function contents(state: State, detail: Detail, actions: Actions) {
  const { id, order, problem, failure, events } = detail;
  return html`
    <div class="top">${walk(state, detail, actions)}</div>
    <div class="title">
      <h2 tabindex="-1">Order <span class="number">${id}</span></h2>
      <button type="button" class="icon-only" aria-label="Copy id ${id}" @click=${actions.copy(String(id), 'Id')}>${icon('copy')}</button>
      ${order === undefined ? nothing : pill(order.status)}
    </div>
    ${order?.reference === undefined ? nothing : html`<p class="name"><span class="hidden">Reference</span> ${copied(order.reference, 'Reference', actions)}</p>`}
    ${order === undefined ? nothing : html`<p class="sub">${subtitle(order)}</p>`}
    ${order === undefined ? nothing : buttons(state, order, actions)}
    <div class="body">
      ${state.placed === id ? html`<p class="notice placed">${icon('done')}<span>Placed just now.</span><button type="button" @click=${actions.openForm()}>Place another</button></p>` : nothing}
      <div role="alert">${failure === undefined || state.dialog?.kind === 'one' ? nothing : failureNotice(failure, actions.act(failure.action))}
        ${problem === undefined ? nothing : html`<div class="notice">${icon('warning')}<div>${order === undefined ? nothing : html`<b>Not read again.</b>`}<p>${problem || 'There is no such order.'}</p></div>${order === undefined && state.orders.length > 0 ? referenceLink(state, id, actions) : nothing}${problem === '' ? nothing : html`<button type="button" @click=${actions.readDetails}>Try again</button>`}</div>`}</div>
      ${order === undefined && problem === undefined ? html`<p role="status" class="small">Loading…</p>` : nothing}
      ${order === undefined ? nothing : html`<h3>Order</h3>${facts(state, order, detail, actions)}`}
      ${events.length === 0 ? nothing : html`<h3>History</h3>${timeline(state, detail, actions)}`}
      ${order === undefined ? nothing : html`<p class="small">For integrators: revision ${copied(String(order.revision), 'Revision', actions)}${order.complete === undefined ? nothing : order.complete ? ', complete' : ', not complete'}</p>`}
    </div>`;
}

/** A number can also be the reference of an order. */
function referenceLink({ view }: State, id: bigint, actions: Actions) {
  const to = { ...withoutFilters(view), reference: String(id) };
  return html`<a class="button" href=${searchOf(to)} @click=${actions.follow(to)}>Orders with this reference</a>`;
}

function subtitle(order: OrderRecord) {
  const { status, shipDate, updatedAt } = order;
  if (status === 'cancelled') return html`Cancelled ${ago(updatedAt)}`;
  return shipDate === undefined ? 'No ship date' : shipHint(order, true);
}

/** Links to the previous and next order, the position in the list, the address, and a button that closes the details. */
function walk(state: State, { id, order }: Detail, actions: Actions) {
  const { orders, view, counts } = state;
  const index = orders.findIndex((each) => each.id === id);
  const step = (name: 'Previous' | 'Next', to: OrderRecord | undefined, icons: 'up' | 'down') => {
    if (to === undefined)
      return html`<span class="icon-only disabled" aria-hidden="true">${icon(icons)}</span>`;
    const target = { ...view, order: to.id };
    return html`<a class="icon-only" href=${searchOf(target)} aria-label="${name} order" @click=${actions.follow(target)}>${icon(icons)}</a>`;
  };
  const total = counts === undefined ? 0n : totalOf(counts.counts, view.statuses);
  return html`${index < 0 ? nothing : html`${step('Previous', orders[index - 1], 'up')} ${step('Next', orders[index + 1], 'down')}`}
    <span class="small place">${index >= 0 ? `${count(index + 1)} of ${count(total)}${moreIn(counts)}` : order === undefined || state.isLoading ? nothing : state.next === undefined ? 'Not in this list' : 'Not in the list so far'}</span>
    ${order === undefined ? nothing : html`<button type="button" class="icon-only" aria-label="Print the slip" @click=${actions.print('slips', [id])}>${icon('print')}</button> <button type="button" class="icon-only" aria-label="Copy the address of the order" @click=${actions.copy(`${location.origin}${location.pathname}?order=${id}`, 'Address')}>${icon('link')}</button>`}
    <button type="button" class="icon-only" aria-label="Close" @click=${actions.closeDetails}>${icon('cross')}</button>`;
}

/** The buttons for shipping and cancelling are apart and look different. */
function buttons({ session }: State, order: OrderRecord, actions: Actions) {
  const { may } = session!;
  if (order.status === 'cancelled' && may.place)
    return html`<div class="buttons"><button type="button" @click=${actions.openForm(order)}>${icon('plus')}Place again…</button></div>`;
  if (order.status !== 'pending') return nothing;
  if (!may.cancel && !may.ship) {
    return html`<p class="small">${icon('lock')}Your key cannot change orders</p>`;
  }
  return html`<div class="buttons">
    ${may.ship ? html`<button type="button" class="primary" @click=${actions.act('ship')}>${icon('truck')}Ship order…</button>` : html`<span class="small">Your key may not ship</span>`}
    ${may.cancel ? html`<button type="button" class="danger-outline" @click=${actions.act('cancel')}>Cancel order…</button>` : html`<span class="small">Your key may not cancel</span>`}
  </div>`;
}

/** @param again tries again; without it, the notice has no button */
export function failureNotice({ title, text, isRetryable }: Failure, again?: Handler) {
  return html`<div class="notice">${icon('warning')}<div><b>${title}</b>${text === '' ? nothing : html`<p>${text}</p>`}</div>
    ${isRetryable && again !== undefined ? html`<button type="button" @click=${again}>Try again</button>` : nothing}</div>`;
}

function facts({ view }: State, order: OrderRecord, { others }: Detail, actions: Actions) {
  const { status, petId, quantity, shipDate, placedAt } = order;
  const { reason, trackingNumber } = order;
  const toPet = { ...withoutFilters(view), petId };
  const further = others === undefined ? 0n : totalOf(others.counts) - 1n;
  return html`<dl>
    <dt>Pet</dt><dd>${petId === undefined ? 'none' : html`<a href=${searchOf(toPet)} @click=${actions.follow(toPet)}>${petId}</a>`}
      ${further < 1n ? nothing : html`<span class="hint">${count(further)}${moreIn(others)} other ${further === 1n ? 'order' : 'orders'}</span>`}</dd>
    <dt>Quantity</dt><dd>${quantity === undefined ? 'none' : count(quantity)}</dd>
    <dt>${status === 'pending' ? 'Ships' : 'Ship date'}</dt><dd>${exact(shipDate, actions)} ${shipHint(order)}</dd>
    <dt>Placed</dt><dd>${exact(placedAt, actions)} <span class="hint">${ago(placedAt)}</span></dd>
    ${reason === undefined ? nothing : html`<dt>Reason</dt><dd><bdi title=${reason}>${REASONS[reason] ?? reason}</bdi></dd>`}
    ${trackingNumber === undefined ? nothing : html`<dt>Tracking number</dt><dd>${copied(trackingNumber, 'Tracking number', actions)}</dd>`}
  </dl>`;
}

/** A text that a click copies. */
const copied = (text: string, what: string, actions: Actions) =>
  html`<button type="button" class="exact" title="Copy" @click=${actions.copy(text, what)}><bdi>${text}</bdi></button>`;

/** A time; a click copies the exact one. */
function exact(text: string | undefined, actions: Actions) {
  if (text === undefined) return 'none';
  return html`<button type="button" class="exact" title="Copy ${text}" @click=${actions.copy(text, 'Time')}>${time(text)}</button>`;
}

/** Newest first. */
function timeline({ view, session }: State, { events, order }: Detail, actions: Actions) {
  const { key, may } = session!;
  const { status, revision: last } = order!;
  const line = ({ type, at, by, byName, revision }: Detail['events'][number]) => {
    const isImported = type === 'placed' && status !== 'pending' && revision === last;
    const name = byName ?? (by === key.id ? key.name : undefined);
    return html`<li class=${type}><span class="dot">${icon(eventWords(type)[0])}</span>
        <strong>${isImported ? `Imported as ${status}` : eventWords(type)[1]}</strong> <time class="hint" datetime=${at} title=${at}>${ago(at)}</time>
        <span class="by">${by === undefined ? 'by an operator of the store' : name === undefined ? html`by <code>${by}</code>` : html`by ${may.follow ? keyLink(view, by, at, name, actions) : html`<bdi title=${name}>${name}</bdi>`} <code>${by}</code>`}</span></li>`;
  };
  return html`<ol class="timeline">${events.toReversed().map(line)}</ol>`;
}

/** A link to what a key did on the day of an event. */
function keyLink(view: View, by: string, at: string, name: string, actions: Actions) {
  const to = { ...onPage(view, 'activity'), by, day: dayText(new Date(at)) };
  return html`<a href=${searchOf(to)} title=${name} @click=${actions.follow(to)}><bdi>${name}</bdi></a>`;
}
