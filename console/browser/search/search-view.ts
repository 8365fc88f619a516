import type { OrderRecord } from '@store-orders/client';
import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { count, marked, shipHint, time } from '../format.ts';
import { icon } from '../icons.ts';
import {
  isPart,
  isWrittenPet,
  parseWrittenId,
  searchOf,
  type View,
  withoutFilters,
  withPart,
} from '../list/address.ts';
import { pill } from '../list/list-view.ts';
import type { Containing, Found, State } from '../state.ts';
import { MAX_HITS, namedBy, onlyHit, whySeveral } from './search.ts';

/** The box for an id or a reference, and below it what the text in it means. */
export function searchBox(state: State, actions: Actions) {
  const { search, searchProblem, found } = state;
  return html`<form class="jump" role="search" @submit=${actions.submitSearch} @keydown=${actions.searchKey}>
    <label class="hidden" for="jump">Find an order</label>
    <div class="field">${icon('search')}
      <input id="jump" name="search" type="text" .value=${state.dialog?.kind === 'palette' ? '' : search} @input=${actions.search} @paste=${actions.paste} placeholder="Order id or reference"
        autocomplete="off" spellcheck="false" inputmode="search" enterkeyhint="search" maxlength="255" />
      <kbd aria-hidden="true">/</kbd></div>
    ${
      search.trim() === '' || state.dialog !== undefined
        ? nothing
        : html`<div class="popover found">
        <div role="status">${found?.text === search ? hits(state, found, actions) : nothing}</div>
        ${searchProblem === undefined ? nothing : html`<p class="notice" role="alert">${icon('warning')}<span><b>Not looked up.</b> ${searchProblem}</span></p>`}
        ${lists(state, actions)}</div>`
    }
  </form>`;
}

/** Links to the lists that the text can mean, but for those that are known to be empty. */
function lists({ search, view, found }: State, actions: Actions) {
  const id = parseWrittenId(search);
  const text = search.trim();
  const all = { ...withoutFilters(view), page: 'orders' } as const;
  const link = (to: View, words: string, what: string) =>
    html`<a class="item" href=${searchOf(to)} @click=${actions.follow(to)}>${icon('list')}${words} <b><bdi>${what}</bdi></b></a>`;
  const known = found?.text === search ? found : undefined;
  const beginsNone = known?.exact.length === 0 && known.beginning.length === 0;
  const parts = known?.containing;
  const isInNone = beginsNone && parts?.orders.length === 0 && parts.examined === undefined;
  const isPet = isWrittenPet(search);
  return html`${id === undefined ? nothing : link({ ...all, petId: id }, 'Orders of pet', String(id))}
    ${isPet || beginsNone ? nothing : link({ ...all, prefix: text }, 'References that begin with', text)}
    ${isPart(text) && !isPet && !isInNone ? link(withPart(all, text), 'All that contain', text) : nothing}`;
}

function hits(state: State, found: Found, actions: Actions) {
  const { text, byId, exact, beginning, containing } = found;
  if (isWrittenPet(text)) return nothing;
  const named = namedBy(found);
  const parts = containing?.orders ?? [];
  const end = containing === undefined ? nothing : endOf(containing, actions);
  if (named.length + beginning.length + parts.length === 0)
    return html`${containing?.isReading ? nothing : none(found)}${end}`;
  const only = onlyHit(found);
  const group = (name: string, orders: readonly OrderRecord[], part?: string) =>
    orders.length === 0
      ? nothing
      : html`<p class="head">${name}</p>
      ${orders.slice(0, MAX_HITS).map((order) => html`${hit(state, order, actions, part)}${order === only ? peek(order) : nothing}`)}
      ${orders.length > MAX_HITS ? html`<p class="small">The first ${MAX_HITS}; type more of it for the others.</p>` : nothing}`;
  return html`${named.length > 1 ? several(found) : nothing}
    ${group('Id', byId === undefined ? [] : [byId])}
    ${group('Reference', byId === undefined ? exact : named.slice(1))}
    ${group('Reference begins with this', beginning, text.trim())}
    ${group('Reference contains this, the newest first', parts, text.trim())}
    ${end}`;
}

/** More of the order that Enter opens. */
function peek(order: OrderRecord) {
  const ships = shipHint(order, true);
  return html`<p class="small">${ships}${ships === nothing ? 'Placed' : ', placed'} ${time(order.placedAt)}. <span class="enter">Enter opens it.</span></p>`;
}

/** Where the search for parts has ended, with a button that goes on; nothing at the end of the store, and if there are more hits than rows. */
function endOf({ orders, examined, older, isReading, problem }: Containing, actions: Actions) {
  if (isReading)
    return html`<p class="small">Searching parts of references${examined === 0 ? '' : `, after the newest ${count(examined!)} orders`}…</p>`;
  if (problem === undefined && older === undefined) return nothing;
  const words = `${orders.length === 0 ? 'None' : count(orders.length)} found in the newest ${count(examined!)} orders.`;
  return html`<div class="bound">${problem === undefined ? html`<b>${words}</b>` : html`<span role="alert">${problem}</span>`}
    <button type="button" class="item" @click=${actions.searchOlder}>${examined === 0 ? 'Try again' : 'Search older orders'}</button></div>`;
}

/** An order that was found, as a link to it. @param part what of its reference is marked */
export function hit({ view }: State, order: OrderRecord, actions: Actions, part?: string) {
  const { id, reference, petId, quantity, status } = order;
  const to = { ...view, page: 'orders', order: id } as const;
  const what = quantity === undefined ? '' : `${count(quantity)} × `;
  return html`<a class="item hit" href=${searchOf(to)} @click=${actions.follow(to)}>
    <b class="number">${id}</b><bdi title=${reference ?? nothing}>${marked(reference ?? '', part ?? '')}</bdi><span>${petId === undefined ? nothing : `${what}pet ${petId}`}</span>${pill(status)}</a>`;
}

const several = (found: Found) =>
  html`<p class="notice">${icon('warning')}<span><b><bdi>${found.text.trim()}</bdi> is ${namedBy(found).length === 2 ? 'two' : 'several'} orders.</b>
    ${whySeveral(found)} Enter, or a scan, opens none of them.</span></p>`;

function none({ text, containing }: Found) {
  const trimmed = text.trim();
  const id = parseWrittenId(text);
  const isZero = /^#?0\d/.test(trimmed);
  return html`<p class="none"><b>No order found.</b> Looked for ${id === undefined ? nothing : html`the id <b>${id}</b>, `}the reference <b><bdi>${trimmed}</bdi></b>, and references that ${containing === undefined ? 'begin with it, with the same capitals' : 'contain it, with any capitals'}.
    ${isZero ? 'It is no id: an id never begins with 0.' : id === undefined ? 'It is no id: ids are digits only.' : nothing}</p>`;
}
