import type { OrderRecord } from '@store-orders/client';
import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { failureNotice } from '../details.ts';
import { ago, count, orders, REASONS, reasonIn, shipHint, time } from '../format.ts';
import { icon } from '../icons.ts';
import { keyDialog } from '../keys/key-dialogs.ts';
import { placeDialog } from '../placing/placing.ts';
import { paletteDialog } from '../search/palette.ts';
import { type Dialog, type State, WORDS } from '../state.ts';
import { outcomeOf } from './change-in-bulk.ts';
import { isConfirmed } from './changing.ts';

/** Ids that are listed; all of them are copied. */
const MAX_LISTED = 1_000;

/** The dialog above the page. */
export function dialogView(state: State, dialog: Dialog, actions: Actions) {
  if (dialog.kind === 'one') return askOne(state, dialog, actions);
  if (dialog.kind === 'place') return placeDialog(dialog, actions);
  if (dialog.kind === 'several') return askSeveral(dialog, actions);
  if (dialog.kind === 'results') return resultsDialog(state, actions);
  if (dialog.kind === 'palette') return paletteDialog(state, actions);
  return keyDialog(state, dialog, actions) ?? keysDialog(state, actions);
}

const MAX_REASON = 64;
const MAX_TRACKING_NUMBER = 128;

function reasonField(reason: string, actions: Actions, isFixed = false, isFirst = true) {
  const recorded = reasonIn(reason);
  return html`<label class="given">Reason <span class="hint">optional</span>
    <input list="reasons" maxlength=${MAX_REASON} autocomplete="off" ?autofocus=${isFirst} ?readonly=${isFixed} .value=${reason} @input=${actions.setGiven} /></label>
    <datalist id="reasons">${Object.entries(REASONS).map(([code, words]) => html`<option value=${code}>${words}</option>`)}</datalist>
    <p class="small" role="status">${recorded === reason.trim() ? nothing : `Recorded as: ${REASONS[recorded]}`}</p>`;
}

function trackingNumberField(trackingNumber: string, actions: Actions, isFixed: boolean) {
  return html`<label class="given">Tracking number <span class="hint">optional</span>
    <input name="trackingNumber" ?readonly=${isFixed} maxlength=${MAX_TRACKING_NUMBER} autocomplete="off" spellcheck="false" autofocus .value=${trackingNumber} @input=${actions.setGiven} /></label>`;
}

/** The order that the dialog asks about. */
function summaryOf(order: OrderRecord, by: string | undefined) {
  const { petId, quantity, shipDate, placedAt, reference } = order;
  return html`<dl class="summary">
    <dt>Pet</dt><dd>${petId ?? 'none'}</dd>
    <dt>Quantity</dt><dd>${quantity === undefined ? 'none' : count(quantity)}</dd>
    <dt>Ships</dt><dd>${shipDate === undefined ? 'none' : time(shipDate)} ${shipHint(order)}</dd>
    ${reference === undefined ? nothing : html`<dt>Reference</dt><dd><bdi>${reference}</bdi></dd>`}
    <dt>Placed</dt><dd>${ago(placedAt)} ${by === undefined ? nothing : html`<span class="hint">by <bdi>${by}</bdi></span>`}</dd>
  </dl>`;
}

/** The cursor is in the text field, where Enter confirms; without a field, the button that keeps the order has the focus. */
function askOne({ session }: State, dialog: Dialog & { readonly kind: 'one' }, actions: Actions) {
  const { action, order, by, given, isAgain, isActing, failure } = dialog;
  const isOffered = action === 'cancel' && session!.may.place;
  const field = action === 'cancel' ? reasonField : trackingNumberField;
  const { verb, doing, keep } = WORDS[action];
  const isOver = failure !== undefined && !failure.isRetryable;
  return html`<dialog role="alertdialog" class="ask" aria-labelledby="ask" aria-describedby="consequence" @cancel=${actions.closeDialog}>
    <form @submit=${actions.confirm} novalidate>
    <div class="inner"><h2 id="ask">${verb} order ${order.id}?</h2>
      <p id="consequence">${action === 'cancel' ? 'It will not ship, and its history stays. ' : ''}This cannot be undone.</p>
      ${summaryOf(order, by)}
      ${isOver ? nothing : field(given, actions, isActing)}
      ${isOver || !isOffered ? nothing : html`<label class="again"><input type="checkbox" .checked=${isAgain} @change=${actions.setAgain} /> Then place it again, with another quantity, date or pet</label>`}
      <div role="alert">${failure === undefined ? nothing : failureNotice(failure)}</div>
      ${isActing ? html`<p class="small no-answer">No answer yet. It is asked again for up to 40 seconds, and done once.</p>` : nothing}
    </div>
    <div class="end">
      <button type="button" ?autofocus=${isOver} @click=${actions.closeDialog}>${isOver ? 'Close' : isActing ? 'Leave it running' : `${keep}${action === 'cancel' ? ' order' : ''}`}</button>
      ${isOver ? nothing : html`<button class=${action === 'cancel' ? 'danger' : 'primary'} aria-disabled=${isActing}>${isActing ? `${doing}…` : `${verb} order`}</button>`}
    </div>
    </form>
  </dialog>`;
}

function askSeveral(dialog: Dialog & { readonly kind: 'several' }, actions: Actions) {
  const { action, ids, ended, given, typed, trackingNumbers } = dialog;
  const { verb, keep } = WORDS[action];
  const overdue = ids.filter((id) => dialog.overdue.has(id)).length;
  const numbered = ids.filter((id) => trackingNumbers.has(id)).length;
  const many = orders(ids.length);
  const listed = ids.slice(0, MAX_LISTED);
  const digits = Math.max(...listed.map((id) => String(id).length));
  // No form: Enter in a field, of a person or of a scanner, changes no orders.
  return html`<dialog role="alertdialog" class="ask several" aria-labelledby="ask" aria-describedby="consequence" @cancel=${actions.closeDialog}>
    <div class="inner"><h2 id="ask">${verb} ${many}?</h2>
      <p id="consequence">${action === 'cancel' ? 'They will not ship, and their histories stay. ' : ''}This cannot be undone. An order that has changed its status meanwhile stays as it is.</p>
      ${overdue === 0 ? nothing : html`<p><span class="late">${count(overdue)} of them ${overdue === 1 ? 'is' : 'are'} overdue.</span></p>`}
      ${action === 'cancel' || numbered === 0 ? nothing : html`<p>${count(numbered)} of them ${numbered === 1 ? 'has' : 'have'} a tracking number.</p>`}
      <div role="status">${ended.length === 0 ? nothing : html`<p><b>${count(ended.length)} ${ended.length === 1 ? 'is' : 'are'} no longer pending:</b> ${ended.slice(0, MAX_LISTED).join(', ')}</p>`}</div>
      <div class="ids" tabindex="0" role="group" aria-label="Ids of the orders" .style=${`--digits:${digits}ch`}>${listed.map((id) => html`<span>${id}</span> `)}${ids.length > MAX_LISTED ? html`<span class="rest">and ${orders(ids.length - MAX_LISTED)} more</span>` : nothing}</div>
      <button type="button" class="quiet" @click=${actions.copy(ids.join('\n'), 'Ids')}>${icon('copy')}Copy ids</button>
      ${action === 'cancel' ? reasonField(given, actions, false, false) : nothing}
      ${!isConfirmed(ids, '') ? html`<label class="given"><span>Type ${count(ids.length)} to confirm</span><input inputmode="numeric" autocomplete="off" .value=${typed} @input=${actions.setTyped} /></label>` : nothing}
    </div>
    <div class="end">
      <button type="button" autofocus @click=${actions.closeDialog}>${keep}${action === 'cancel' ? ` ${ids.length === 1 ? 'order' : 'orders'}` : ''}</button>
      <button type="button" class=${action === 'cancel' ? 'danger' : 'primary'} ?disabled=${ids.length === 0 || !isConfirmed(ids, typed)} @click=${actions.confirm}>${verb} ${many}</button>
    </div>
  </dialog>`;
}

function resultsDialog({ orders: shown, bulk }: State, actions: Actions) {
  const { title, notDone: results } = outcomeOf(bulk!);
  const references = new Map(shown.map(({ id, reference }) => [id, reference]));
  return html`<dialog class="ask" aria-labelledby="ask" @cancel=${actions.closeDialog}>
    <div class="inner"><h2 id="ask">${title}</h2>
      <ul class="results" tabindex="0" aria-label="What is left">${results.slice(0, MAX_LISTED).map(({ id, text }) => html`<li><b class="number">${id}</b> ${references.get(id) === undefined ? nothing : html`<bdi>${references.get(id)}</bdi> `}${text}</li>`)}</ul>
      ${results.length > MAX_LISTED ? html`<p class="small">The first ${orders(MAX_LISTED)} are listed.</p>` : nothing}
      <button type="button" class="quiet" @click=${actions.copy(results.map(({ id }) => id).join('\n'), 'Ids')}>${icon('copy')}Copy ids</button>
    </div>
    <div class="end"><button type="button" autofocus @click=${actions.closeDialog}>Close</button></div>
  </dialog>`;
}

const KEYS: readonly (readonly [string, ...string[]])[] = [
  ['Next, previous order', 'j', 'k'],
  ['Open', 'Enter'],
  ['Select', 'x'],
  ['Select down to here', 'Shift x'],
  ['Search', '/'],
  ['Commands', 'Ctrl K'],
  ['Filter', 'f'],
  ['Ship the open order', 's'],
  ['Cancel the open order', 'c'],
  ['Place an order, create a key', 'n'],
  ['Copy the id', 'y'],
  ['Export CSV', 'e'],
  ['Orders, activity', 'g o', 'g a'],
  ['Scan, keys', 'g s', 'g k'],
  ['Close, clear the selection', 'Esc'],
];

function keysDialog({ preferences }: State, actions: Actions) {
  return html`<dialog class="ask shortcuts" aria-labelledby="ask" @cancel=${actions.closeDialog}>
    <div class="inner"><h2 id="ask">Keyboard</h2>
      <p>Letters work outside of text fields.</p>
      <dl>${KEYS.map(([name, ...keys]) => html`<div><dt>${name}</dt><dd>${keys.map((each) => html`${each.split(' ').map((key) => html`<kbd>${key}</kbd>`)} `)}</dd></div>`)}</dl>
      <label><input type="checkbox" .checked=${preferences.hasShortcuts} @change=${actions.prefer({ hasShortcuts: !preferences.hasShortcuts })} /> Letters are shortcuts</label>
    </div>
    <div class="end"><button type="button" autofocus @click=${actions.closeDialog}>Close</button></div>
  </dialog>`;
}
