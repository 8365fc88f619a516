import { html, nothing } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Actions } from './actions.ts';
import { activityPanel } from './activity-view.ts';
import { count, exactTime, time } from './format.ts';
import { DAY_COUNTS, STATUSES, searchOf } from './query.ts';
import { type Detail, type State, selectable, type TaggedOrder } from './state.ts';

/** The whole page. */
export function page(state: State, actions: Actions) {
  if (state.session === undefined) return signInForm(state, actions);
  if (!state.session.may.read) return nothingToRead(actions);
  return html`
    <header>
      <h1 tabindex="-1">Orders</h1>
      ${connection(state)}
      ${state.session.may.follow ? activityLink(state, actions) : nothing}
      <form class="jump" role="search" @submit=${actions.jump}>
        <label for="jump">Order</label>
        <input id="jump" name="id" inputmode="numeric" autocomplete="off" placeholder="id" required pattern="\\s*-?[0-9]{1,19}\\s*" />
        <button>Open</button>
      </form>
      <button class="quiet" @click=${actions.signOut}>Sign out</button>
    </header>
    ${counts(state, actions)}
    <main>
      ${activityPanel(state, actions)} ${filters(state, actions)} ${list(state, actions)}
    </main>
    ${state.detail === undefined ? nothing : details(state, state.detail, actions)}
  `;
}

function activityLink({ view }: State, actions: Actions) {
  const isOpen = view.days !== undefined;
  const to = { ...view, days: isOpen ? undefined : DAY_COUNTS[0] };
  return html`<a href=${searchOf(to)} aria-expanded=${isOpen} @click=${actions.follow(to)}>Activity</a>`;
}

function nothingToRead(actions: Actions) {
  return html`<header><h1 tabindex="-1">Orders</h1></header>
    <main>
      <p class="empty">This key may not read orders.</p>
      <button @click=${actions.signOut}>Sign out</button>
    </main>`;
}

function signInForm({ signInProblem, isSigningIn }: State, actions: Actions) {
  return html`<main class="sign-in">
    <h1>Orders of the store</h1>
    <form @submit=${actions.signIn}>
      <label for="key">API key</label>
      <input id="key" name="key" type="password" autocomplete="off" spellcheck="false" placeholder="so_live_…" required autofocus />
      <small>Kept for this tab only.</small>
      <button ?disabled=${isSigningIn}>${isSigningIn ? 'Signing in …' : 'Sign in'}</button>
      <p role="alert" class="problem">${signInProblem}</p>
    </form>
  </main>`;
}

function connection({ live }: State) {
  const text = {
    starting: 'Connecting …',
    live: 'Live',
    lost: 'Connection lost; trying again',
    off: 'Not live',
  };
  return html`<p class="live ${live}" role="status">${text[live]}</p>`;
}

/** The counts are links to the orders that they count. */
function counts({ summary, view }: State, actions: Actions) {
  const isOnly = (status: string) => view.statuses.length === 1 && view.statuses[0] === status;
  const link = (
    name: string,
    statuses: State['view']['statuses'],
    value: bigint | undefined,
    isCurrent: boolean,
  ) => {
    const to = { ...view, statuses, order: undefined };
    return html`<li><a href=${searchOf(to)} aria-current=${isCurrent ? 'true' : 'false'} @click=${actions.follow(to)}>
      <strong>${value === undefined ? '…' : count(value)}</strong> ${name}</a></li>`;
  };
  const orders = summary?.orders;
  const all = orders && orders.pending + orders.shipped + orders.cancelled;
  return html`<nav class="counts" aria-label="Orders by status"><ul>
    ${STATUSES.map((status) => link(status, [status], orders?.[status], isOnly(status)))}
    ${link('in all', [], all, view.statuses.length === 0)}
  </ul></nav>`;
}

function filters({ view }: State, actions: Actions) {
  const { petId, reference, shipFrom, shipBefore } = view;
  const isFiltered =
    petId !== undefined || [reference, shipFrom, shipBefore].some((each) => each !== '');
  return html`<form class="filters" aria-label="Filters" @change=${actions.filter} @submit=${actions.filter}>
    <label>Pet <input name="pet" inputmode="numeric" autocomplete="off" size="12" .value=${String(view.petId ?? '')} /></label>
    <label>Reference <input name="reference" maxlength="255" autocomplete="off" size="16" dir="auto" .value=${view.reference} /></label>
    <label>Ships from <input name="from" type="date" .value=${view.shipFrom} /></label>
    <label>before <input name="before" type="date" .value=${view.shipBefore} /></label>
    ${isFiltered ? html`<button type="button" class="quiet" @click=${actions.clearFilters}>Clear</button>` : nothing}
  </form>`;
}

function list(state: State, actions: Actions) {
  const { orders, next, isLoading, problem, newer, outcome } = state;
  return html`
    <p role="status" class="result">${outcome ?? nothing}</p>
    ${newer.size > 0 ? html`<button class="newer" @click=${actions.reload}>Show ${newer.size} new ${newer.size === 1 ? 'order' : 'orders'}</button>` : nothing}
    ${selection(state, actions)}
    ${orders.length === 0 ? nothing : table(state, actions)}
    ${
      orders.length === 0 && !isLoading && problem === undefined && next === undefined
        ? html`<p class="empty">No orders match.</p>`
        : nothing
    }
    <p role="status" class="loading">${isLoading ? 'Loading …' : nothing}</p>
    ${problem === undefined ? nothing : html`<p role="alert" class="problem">${problem} <button @click=${actions.more}>Try again</button></p>`}
    ${next !== undefined && !isLoading && problem === undefined ? html`<button class="more" @click=${actions.more}>Show more</button>` : nothing}
    ${next === undefined && orders.length > 0 && !isLoading ? html`<p class="end">That is all.</p>` : nothing}
  `;
}

function table(state: State, actions: Actions) {
  const { may } = state.session!;
  const canAct = may.cancel || may.ship;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="List of orders"><table>
    <caption>Orders, newest first</caption>
    <thead><tr>
      ${canAct ? html`<th scope="col" class="check">${selectAll(state, actions)}</th>` : nothing}
      <th scope="col" class="number">Order</th><th scope="col">Status</th><th scope="col" class="number">Pet</th>
      <th scope="col" class="number less">Quantity</th><th scope="col">Ships</th><th scope="col" class="less">Changed</th>
    </tr></thead>
    <tbody>${repeat(
      state.orders,
      ({ id }) => id,
      (order) => row(state, order, canAct, actions),
    )}</tbody>
  </table></div>`;
}

function selectAll(state: State, actions: Actions) {
  const { pending, isAll } = selectable(state);
  return html`<input type="checkbox" aria-label="Select all pending orders shown" .checked=${isAll}
    .indeterminate=${!isAll && state.selected.size > 0} ?disabled=${pending.length === 0} @change=${actions.selectAll} />`;
}

function row(state: State, order: TaggedOrder, canAct: boolean, actions: Actions) {
  const { id, status, petId, quantity, shipDate, updatedAt } = order;
  const to = { ...state.view, order: id };
  const result = state.results.get(id);
  return html`<tr class=${state.detail?.id === id ? 'open' : ''}>
    ${
      canAct
        ? html`<td class="check"><input type="checkbox" aria-label="Select order ${id}" .checked=${state.selected.has(id)}
          ?disabled=${status !== 'pending'} @change=${actions.select(id)} /></td>`
        : nothing
    }
    <th scope="row" class="number"><a href=${searchOf(to)} @click=${actions.follow(to)}>${id}</a></th>
    <td><span class="status ${status}">${status}</span>${result === undefined ? nothing : html` <small>${result}</small>`}</td>
    <td class="number">${petId ?? nothing}</td><td class="number less">${quantity ?? nothing}</td>
    <td>${time(shipDate)}</td><td class="less">${time(updatedAt)}</td>
  </tr>`;
}

/** What can be done with the selected orders. */
function selection({ selected, session, isActing, next, view }: State, actions: Actions) {
  if (selected.size === 0) return nothing;
  const many = selected.size === 1 ? '1 order' : `${selected.size} orders`;
  const { statuses } = view;
  const isMore = next !== undefined && (statuses.length === 0 || statuses.includes('pending'));
  return html`<div class="selection" role="group" aria-label="Selected orders">
    <strong>${many}</strong>
    ${session!.may.cancel ? html`<button class="danger" ?disabled=${isActing} @click=${actions.actOnSelected('cancel')}>Cancel ${many}</button>` : nothing}
    ${session!.may.ship ? html`<button ?disabled=${isActing} @click=${actions.actOnSelected('ship')}>Ship ${many}</button>` : nothing}
    ${isMore ? html`<button class="quiet" ?disabled=${isActing} @click=${actions.selectMatching}>Select all pending that match</button>` : nothing}
    <button class="quiet" @click=${actions.clearSelection}>Clear selection</button>
  </div>`;
}

function details(state: State, { id, order, events, problem }: Detail, actions: Actions) {
  const { may } = state.session!;
  const close = { ...state.view, order: undefined };
  return html`<aside aria-label="Order ${id}" tabindex="-1">
    <h2>Order <span class="id">${id}</span></h2>
    <a class="close" href=${searchOf(close)} @click=${actions.follow(close)}>Close</a>
    <p role="alert" class="problem">${problem ?? nothing}</p>
    <p role="status" class="result">${state.results.get(id) ?? nothing}</p>
    ${order === undefined ? html`<p>${problem === undefined ? 'Loading …' : nothing}</p>` : fields(order)}
    ${
      order?.status === 'pending' && (may.cancel || may.ship)
        ? html`<div class="actions">
          ${may.cancel ? html`<button class="danger" ?disabled=${state.isActing} @click=${actions.act('cancel')}>Cancel this order</button>` : nothing}
          ${may.ship ? html`<button ?disabled=${state.isActing} @click=${actions.act('ship')}>Ship this order</button>` : nothing}
        </div>`
        : nothing
    }
    ${events.length === 0 ? nothing : timeline(events)}
  </aside>`;
}

function fields(order: TaggedOrder) {
  const { status, petId, quantity, shipDate, complete, reference, placedAt, revision } = order;
  return html`<dl>
    <dt>Status</dt><dd><span class="status ${status}">${status}</span></dd>
    <dt>Pet</dt><dd>${petId ?? 'none'}</dd>
    <dt>Quantity</dt><dd>${quantity ?? 'none'}</dd>
    <dt>${status === 'shipped' ? 'Shipped' : 'Ships'}</dt><dd>${exactTime(shipDate)}</dd>
    <dt>Complete</dt><dd>${complete === undefined ? 'not said' : complete ? 'yes' : 'no'}</dd>
    ${reference === undefined ? nothing : html`<dt>Reference</dt><dd><bdi>${reference}</bdi></dd>`}
    <dt>Placed</dt><dd>${exactTime(placedAt)}</dd>
    <dt>Revision</dt><dd>${revision}</dd>
  </dl>`;
}

function timeline(events: Detail['events']) {
  return html`<h3>What happened</h3>
    <ol class="timeline">
      ${events.map(({ type, at, by }) => html`<li class=${type}><strong>${type}</strong> ${exactTime(at)} <small>${by === undefined ? 'by an operator' : `with ${by}`}</small></li>`)}
    </ol>`;
}
