import type { OrderRecord } from '@store-orders/client';
import { html, nothing, svg } from 'lit-html';
import { code128 } from './code128.ts';
import { count, orders as ordersText, time } from './format.ts';
import { matchingOrders } from './list/matching-orders.ts';
import type { Screen } from './screen.ts';
import { nameOf, type Paper, type State } from './state.ts';

/** Free space before and after a code, in modules. */
const QUIET = 10;
/** Width of a module; scanners read from 0.25 mm on. */
const MODULE_MM = 0.4;

/** What is printed; the screen does not show it. */
export function printedView(state: State) {
  const { printed } = state;
  if (printed === undefined) return nothing;
  const { paper, orders } = printed;
  return html`<section class="printed">${paper === 'slips' ? orders.map((order) => slip(state, order)) : pickList(state, orders)}</section>`;
}

function slip(state: State, order: OrderRecord) {
  const { id, petId, quantity, shipDate, placedAt, reference } = order;
  return html`<article class="slip">
    <header><bdi>${nameOf(state)}</bdi></header>
    <h1>Order ${id}</h1>
    ${barcode(String(id))}
    <dl>
      <dt>Pet</dt><dd>${petId ?? 'none'}</dd>
      <dt>Quantity</dt><dd>${quantity === undefined ? 'none' : count(quantity)}</dd>
      <dt>Ships</dt><dd>${time(shipDate)}</dd>
      <dt>Placed</dt><dd>${time(placedAt)}</dd>
      ${reference === undefined ? nothing : html`<dt>Reference</dt><dd><bdi>${reference}</bdi></dd>`}
    </dl>
    ${reference === undefined ? nothing : barcode(reference)}
  </article>`;
}

/** The orders by pet, with sums. */
function pickList(state: State, orders: readonly OrderRecord[]) {
  const pets = [...Map.groupBy(orders, ({ petId }) => petId)].sort(([one = 0n], [other = 0n]) =>
    one < other ? -1 : 1,
  );
  const sumOf = (some: readonly OrderRecord[]) =>
    some.reduce((sum, { quantity = 0n }) => sum + quantity, 0n);
  return html`<article class="pick-list">
    <header><bdi>${nameOf(state)}</bdi></header>
    <h1>Pick list of ${ordersText(orders.length)}</h1>
    <table>
      <thead><tr><th>Pet</th><th class="number">Quantity</th><th>Order</th><th>Reference</th><th>Ships</th></tr></thead>
      ${pets.map(
        ([petId, some]) => html`<tbody>
        <tr class="sum"><th>${petId ?? 'none'}</th><th class="number">${count(sumOf(some))}</th><th colspan="3">${ordersText(some.length)}</th></tr>
        ${some.map(({ id, quantity, reference, shipDate }) => html`<tr><td></td><td class="number">${quantity === undefined ? nothing : count(quantity)}</td><td>${id}</td><td><bdi>${reference ?? nothing}</bdi></td><td>${time(shipDate)}</td></tr>`)}
      </tbody>`,
      )}
      <tfoot><tr class="sum"><th>All</th><th class="number">${count(sumOf(orders))}</th><th colspan="3"></th></tr></tfoot>
    </table>
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
  return html`<svg class="code" viewBox="0 0 ${at + QUIET} 40" preserveAspectRatio="none" role="img" aria-label="Code of ${text}" .style=${`width:${(at + QUIET) * MODULE_MM}mm`}>${bars}</svg>`;
}

/** Orders on one print. */
const MAX_PRINTED = 1_000;

/** Prints orders as they are now. */
export async function printOrders(
  screen: Screen,
  paper: Paper,
  chosen: ReadonlyMap<bigint, OrderRecord>,
): Promise<void> {
  const { session } = screen.state;
  if (session === undefined) return;
  if (chosen.size > MAX_PRINTED) {
    screen.toast(`Choose up to ${ordersText(MAX_PRINTED)} to print`, true);
    return;
  }
  const found: OrderRecord[] = [];
  try {
    // The choice can change meanwhile.
    const only = new Map(chosen);
    for await (const orders of matchingOrders(screen, session, only)) found.push(...orders);
  } catch (error) {
    const problem = screen.problemOf(session, error);
    if (problem !== undefined) screen.toast(`Not printed. ${problem}`, true);
    return;
  }
  screen.change((state) => (state.printed = { paper, orders: found }));
  await screen.drawn();
  addEventListener('afterprint', () => screen.change((state) => (state.printed = undefined)), {
    once: true,
  });
  print();
}
