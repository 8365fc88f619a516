import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { count, orders } from '../format.ts';
import { icon } from '../icons.ts';
import { type Bulk, type State, WORDS } from '../state.ts';
import { outcomeOf } from './change-in-bulk.ts';

/** The bar of the selected orders: actions, progress, and results; visible on every page. */
export function bulkBar(state: State, actions: Actions) {
  const { bulk, selected, session } = state;
  if (bulk?.isRunning === true) return running(bulk, actions);
  if (bulk !== undefined) return outcome(bulk, actions);
  if (selected.size === 0) return html`<p class="hidden" role="status"></p>`;
  const many = count(selected.size);
  const { may } = session!;
  return html`<section class="bulk" tabindex="-1" aria-label="Selected orders">
    <b>${many} selected</b>
    ${may.ship ? html`<button type="button" @click=${actions.actOnSelected('ship')}>${icon('truck')}Ship ${many}…</button>` : nothing}
    ${may.cancel ? html`<button type="button" class="danger-outline" @click=${actions.actOnSelected('cancel')}>Cancel ${many}…</button>` : nothing}
    <button type="button" class="quiet" @click=${actions.copy([...selected].join('\n'), 'Ids')}>Copy ids</button>
    <button type="button" class="quiet" @click=${actions.print('slips')}>Print slips</button>
    <button type="button" class="quiet" @click=${actions.print('pick-list')}>Pick list</button>
    <button type="button" class="quiet" @click=${actions.exportSelected}>Export ${many}</button>
    <button type="button" class="quiet" @click=${actions.clearSelection}>Clear <kbd aria-hidden="true">Esc</kbd></button>
  </section>`;
}

function running({ action, ids, results, isStopping }: Bulk, actions: Actions) {
  return html`<section class="bulk" tabindex="-1" aria-label="Progress">
    <b role="status">${WORDS[action].doing} ${orders(ids.length)}: ${count(results.size)} of ${count(ids.length)}</b>
    <progress max=${ids.length} value=${results.size} aria-label="Orders so far"></progress>
    <button type="button" aria-disabled=${isStopping} @click=${actions.stopBulk}>${isStopping ? 'Stopping…' : 'Stop after this request'}</button>
  </section>`;
}

function outcome(bulk: Bulk, actions: Actions) {
  const { title, text, facts, failed, untried, notDone } = outcomeOf(bulk);
  const again = failed.length + untried.length;
  const what = failed.length === 0 ? `Go on with ${count(again)}` : `Retry ${count(again)} failed`;
  return html`<section class="bulk" tabindex="-1" aria-label="Result">
    <p role=${notDone.length === 0 ? 'status' : 'alert'}>${icon(notDone.length === 0 ? 'done' : 'warning')}<span><b>${title}</b>${facts === '' ? nothing : ` · ${facts}`}${text === '' ? nothing : ` · ${text} Safe to retry.`}</span></p>
    ${notDone.length === 0 ? nothing : html`<button type="button" @click=${actions.showDialog({ kind: 'results', results: notDone })}>Show the ${count(notDone.length)}</button>`}
    ${again === 0 ? nothing : html`<button type="button" class="primary" @click=${actions.retryFailed}>${icon('again')}${what}</button>`}
    <button type="button" class="icon-only" aria-label="Close the result" @click=${actions.closeBulk}>${icon('cross')}</button>
  </section>`;
}
