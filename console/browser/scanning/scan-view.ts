import { html, nothing } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Actions } from '../actions.ts';
import { ago, capital, count, isOverdue, paperDay, shipHint } from '../format.ts';
import { type IconName, icon } from '../icons.ts';
import { onPage, parseWrittenId, searchOf, withoutFilters } from '../list/address.ts';
import { whySeveral } from '../search/search.ts';
import type { Scans, State } from '../state.ts';
import { type JudgedScan, judged, MAX_SCANS } from './scans.ts';

/** The outcome of a scan: its class, its icon, and its words. */
const RESULTS: Readonly<Record<JudgedScan['result'], readonly [string, IconName, string]>> = {
  waiting: ['', 'clock', 'Waiting'],
  ready: ['ok', 'check', 'Ready'],
  done: ['', 'done', 'Done'],
  missing: ['bad', 'warning', 'Not found'],
  several: ['warn', 'warning', 'Two orders'],
  cancelled: ['bad', 'warning', 'Cancelled: do not ship'],
  ended: ['warn', 'warning', 'Already'],
  mistaken: ['warn', 'warning', 'Not a tracking number'],
  repeated: ['warn', 'warning', 'Tracking number is there twice: remove the wrong line'],
  numbers: ['warn', 'warning', 'Two tracking numbers: remove the wrong line'],
};

/** The filter with which a line is shown. */
const filterOf = ({ result }: JudgedScan): Scans['filter'] =>
  result === 'ready' || result === 'done' ? result : 'open';

/** The page for scanning many codes, or for a pasted list. */
export function scanPage(state: State, actions: Actions) {
  const { scans, view, preferences } = state;
  const all = judged(scans.lines, state.bulk);
  const back = onPage(view, 'orders');
  const isEmpty = all.length === 0;
  return html`<div class="head-row">
      <a class="icon-only button quiet" href=${searchOf(back)} aria-label="Back to the orders" @click=${actions.follow(back)}>${icon('left')}</a>
      <h1 tabindex="-1">${isEmpty ? 'Ready to scan' : html`Scanned <span class="number">${count(all.length)}</span>`}</h1>
      <div class="tools">
        <label class="sound"><input type="checkbox" .checked=${preferences.hasSound} @change=${actions.prefer({ hasSound: !preferences.hasSound })} />${icon('sound')}Sound</label>
        ${isEmpty ? nothing : html`<button type="button" class="quiet" @click=${actions.clearScans}>Clear</button>`}
      </div>
    </div>
    <div class="scans">
      <div class="side">
        ${isEmpty ? WAITING : last(all[0]!)} ${isEmpty ? nothing : tally(all, scans.filter, actions)}
        ${scans.problem === undefined ? nothing : html`<p class="notice" role="alert">${icon('warning')}<span>${scans.problem}</span></p>`}
        ${pasteForm(scans, actions)}
      </div>
      ${isEmpty ? empty(scans, actions) : list(state, all, actions)}
    </div>
    <footer class="hints"><div aria-hidden="true"><span><kbd>Esc</kbd> back to the orders, the list is kept</span> <span><kbd>Ctrl</kbd><kbd>Z</kbd> take back the last scan</span></div><p>Kept in this browser until you clear it</p></footer>`;
}

const WAITING = html`<section class="last idle"><h2>Waiting for the first code</h2><p>Scan a slip, a pick list or a label of the shop.</p></section>`;

function empty({ cleared: { length } }: Scans, actions: Actions) {
  const undo = html`<p role="status">${count(length)} ${length === 1 ? 'line' : 'lines'} cleared. Ctrl Z brings ${length === 1 ? 'it' : 'them'} back.</p>
    <p class="buttons"><button type="button" @click=${actions.takeBackScan}>Undo</button></p>`;
  return html`<div class="empty">${icon('scan')}<h2>Nothing scanned yet</h2><p>Each code becomes a line here: what it is, and whether it can ship. Nothing ships until you press Ship.</p>${length === 0 ? nothing : undo}</div>`;
}

function outcome({ result, order, scan: { trackingNumber } }: JudgedScan) {
  const [className, name, text] = RESULTS[result];
  const used = order?.trackingNumber;
  const isUnused = trackingNumber !== undefined && isEnded(order) && trackingNumber !== used;
  const other = isUnused && result === 'ended' ? `, with ${used ?? 'no tracking number'}` : '';
  // It can have been shipped before it was imported.
  const [end = ''] = [order?.shipDate ?? [], order?.updatedAt ?? []].flat().sort();
  const before = result === 'ended' ? `${text} ${order!.status} ${ago(end)}` : text;
  const words = result === 'done' ? capital(order!.status) : before;
  return html`<span class="result ${className}">${icon(name)}<span>${words}${other}${isUnused ? html`; <bdi>${trackingNumber}</bdi> was not used` : nothing}</span></span>`;
}

const isEnded = (order: JudgedScan['order']) => (order?.status ?? 'pending') !== 'pending';

/** The last scan, large enough to be read from two metres. */
function last(judgedScan: JudgedScan) {
  const { scan, order, result } = judgedScan;
  const code = String(order?.id ?? scan.text);
  return html`<section class="last ${RESULTS[result][0]}" role="status" aria-label="Last scan">
    <p class="what">${outcome(judgedScan)} <span class="hint">${ago(scan.at)}</span></p>
    <p class="which" .style=${`--characters:${code.length}`}><bdi>${code}</bdi></p>
    ${order?.reference === undefined ? nothing : html`<p class="name"><bdi>${order.reference}</bdi></p>`}
    <p>${order === undefined ? whyNot(judgedScan) : html`${contentsOf(order)} ${order.status === 'cancelled' ? nothing : html`· ${order.shipDate === undefined ? 'No ship date' : shipHint(order, true)}`}`}</p>
  </section>`;
}

function contentsOf({ petId, quantity }: NonNullable<JudgedScan['order']>) {
  const pet = petId === undefined ? 'no pet' : `pet ${petId}`;
  return quantity === undefined ? pet : `${count(quantity)} × ${pet}`;
}

function whyNot({ scan: { text, orders }, result }: JudgedScan): string {
  if (result === 'waiting') return 'It is looked up when the store can be reached.';
  if (result === 'several') {
    const byId = orders!.find(({ id }) => id === parseWrittenId(text));
    return whySeveral({ byId, exact: orders!.filter((each) => each !== byId) });
  }
  return `No order has this id or reference.${/^#?0\d/.test(text) ? ' An id never begins with 0.' : ''}`;
}

/** How many there are of each, which choose what is listed. */
function tally(all: readonly JudgedScan[], filter: Scans['filter'], actions: Actions) {
  const button = (name: string, to: Scans['filter'], className = '') => {
    const { length } = all.filter((each) => to === undefined || filterOf(each) === to);
    return html`<button type="button" aria-pressed=${filter === to} @click=${actions.filterScans(to)}><span>${name}</span> <b class="number ${length > 0 ? className : ''}">${count(length)}</b></button>`;
  };
  return html`<div class="tally" role="group" aria-label="What is listed">
    ${button('Scanned', undefined)} ${button('Ready', 'ready', 'ok')} ${button('Done', 'done')} ${button('To look at', 'open', 'warn')}
  </div>`;
}

/** In two columns; a tab is drawn as one blank. */
const EXAMPLE = 'WEB-2026-104320  3SXYZ0044816\nWEB-2026-104321  3SXYZ0044817';

function pasteForm({ isReading }: Scans, actions: Actions) {
  return html`<form class="paste" @submit=${actions.pasteScans}>
    <label for="pasted">Or paste a list</label>
    <textarea id="pasted" name="list" rows="4" spellcheck="false" autocomplete="off" dir="auto" ?readonly=${isReading} placeholder=${EXAMPLE}></textarea>
    <p class="small">Ids and references, with blanks, commas or new lines between them, up to ${count(MAX_SCANS)}. With a tracking number behind each: a tab or a blank between.</p>
    <button aria-disabled=${isReading}>${icon('plus')}${isReading ? 'Looking up…' : 'Add to the list'}</button>
  </form>`;
}

function list(state: State, all: readonly JudgedScan[], actions: Actions) {
  const { may } = state.session!;
  const { filter } = state.scans;
  const ready = all.filter(({ result }) => result === 'ready');
  const many = count(ready.length);
  const ids = ready.map(({ order }) => order!.id).toReversed();
  const shown = all.filter((each) => filter === undefined || filterOf(each) === filter);
  return html`<div class="scan-list">
    <div class="buttons">${
      ready.length === 0
        ? html`<p class="small">Nothing is ready to ship.</p>`
        : html`${may.ship ? html`<button type="button" class="primary" @click=${actions.actOnScanned('ship')}>${icon('truck')}Ship ${many}…</button>` : nothing}
        <button type="button" @click=${actions.print('slips', ids)}>Print ${many} ${ready.length === 1 ? 'slip' : 'slips'}</button>
        <button type="button" class="wide-only" @click=${actions.print('pick-list', ids)}>Pick list</button>
        <button type="button" class="wide-only" @click=${actions.copy(ids.join('\n'), 'Ids')}>${icon('copy')}Copy ids</button>
        ${may.cancel ? html`<button type="button" class="danger-outline" @click=${actions.actOnScanned('cancel')}>Cancel ${many}…</button>` : nothing}`
    }</div>
    <table class="scanned" role="table"><caption class="hidden">Scanned, the latest first</caption>
      <thead role="rowgroup"><tr role="row"><th scope="col" class="number">No.</th><th scope="col">Result</th><th scope="col" class="number">Order</th><th scope="col">Reference</th><th scope="col">Contents</th><th scope="col">Ships</th><th scope="col">Tracking number</th><th scope="col"><span class="hidden">Remove</span></th></tr></thead>
      <tbody role="rowgroup">${repeat(
        shown,
        ({ scan }) => scan.number,
        (each) => line(state, each, actions),
      )}</tbody>
    </table></div>`;
}

function line({ view, isPrinting }: State, each: JudgedScan, actions: Actions) {
  const { scan, order, result } = each;
  const { text, times, trackingNumber } = scan;
  const repeated =
    times === 1
      ? nothing
      : html` <span class="times" title="Scanned ${times} times">× ${times}</span>`;
  const cells = () => {
    if (order === undefined) {
      return html`<td role="cell" class="number"><bdi>${text}</bdi></td><td role="cell" colspan="3" class="why">${whyNot(each)}${repeated} ${answers(each, actions, view)}</td>`;
    }
    const to = { ...view, order: order.id };
    return html`<td role="cell" class="number"><a href=${searchOf(to)} @click=${actions.follow(to)}>${order.id}</a></td>
      <td role="cell" class="name"><bdi>${order.reference ?? nothing}</bdi>${repeated}</td><td role="cell" class="contents">${contentsOf(order)}</td><td role="cell" class="ships">${isPrinting ? shipsOnPaper(order) : shipHint(order, true)}</td>`;
  };
  return html`<tr role="row" class=${result}>
    <td role="cell" class="number">${each.number}</td><td role="cell">${outcome(each)}</td>${cells()}
    <td role="cell" class="tracking"><bdi>${(isEnded(order) ? order!.trackingNumber : trackingNumber) ?? nothing}</bdi></td>
    <td role="cell"><button type="button" class="icon-only quiet" aria-label=${`Remove ${[text, trackingNumber ?? []].flat().join(', ')}`} @click=${actions.removeScan(scan.number)}>${icon('cross')}</button></td>
  </tr>`;
}

/** Nothing on paper is relative to today. */
const shipsOnPaper = (order: NonNullable<JudgedScan['order']>) =>
  order.shipDate === undefined || order.status === 'cancelled'
    ? nothing
    : `${paperDay(order.shipDate)}${isOverdue(order) ? ', overdue' : ''}`;

/** What can be done about a code that names no order, or several. */
function answers({ scan, result }: JudgedScan, actions: Actions, view: State['view']) {
  if (result === 'several')
    return html`${scan.orders!.map(({ id }) => html`<button type="button" @click=${actions.chooseScan(scan.number, id)}>Order ${id}</button> `)}`;
  if (result !== 'missing') return nothing;
  const to = { ...withoutFilters(view), page: 'orders', prefix: scan.text } as const;
  return html`<a href=${searchOf(to)} @click=${actions.follow(to)}>Search in references</a>`;
}
