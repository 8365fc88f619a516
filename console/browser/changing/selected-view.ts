import { html, nothing } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import type { Actions } from '../actions.ts';
import { count, orders } from '../format.ts';
import { icon } from '../icons.ts';
import { type Bulk, type State, WORDS } from '../state.ts';
import { outcomeOf } from './change-in-bulk.ts';

/** What else can be done with the selected orders, in the bar and as commands. */
export function othersForSelected({ selected }: State, actions: Actions) {
  const ids = [...selected.keys()];
  return [
    ['Copy ids', 'copy', actions.copy(ids.join('\n'), 'Ids')],
    ['Print slips', 'print', actions.print('slips', ids)],
    ['Pick list', 'print', actions.print('pick-list', ids)],
    [`Export ${count(ids.length)}`, 'download', actions.exportCsv(ids)],
    ['Clear', 'cross', actions.clearSelection],
  ] as const;
}

/** The bar of the selected orders: actions, progress, and results; visible on every page. */
export function bulkBar(state: State, actions: Actions) {
  const { bulk, selected, selecting, session } = state;
  if (bulk?.isRunning === true) return running(bulk, actions);
  if (bulk !== undefined) return outcome(bulk, actions);
  // An action on a part of what is being selected is not offered.
  if (selected.size === 0 || selecting !== undefined)
    return html`<p class="hidden" role="status"></p>`;
  const many = count(selected.size);
  const { ship, cancel } = session!.may;
  const others = othersForSelected(state, actions);
  return html`<section class="bulk" tabindex="-1" aria-label="Selected orders">
    <b>${many} selected</b>
    ${ship ? html`<button type="button" class="primary" @click=${actions.actOnSelected('ship')}>${icon('truck')}<span>Ship ${many}…</span></button>` : nothing}
    ${cancel ? html`<button type="button" class="danger-outline" @click=${actions.actOnSelected('cancel')}><span>Cancel ${many}…</span></button>` : nothing}
    ${ship || cancel ? html`<i class="divider wide-only"></i>` : nothing}
    ${others.map(([name, , action]) => html`<button type="button" class="quiet wide-only" @click=${action}>${name}${name === 'Clear' ? html` <kbd aria-hidden="true">Esc</kbd>` : nothing}</button>`)}
    <button type="button" class="quiet icon-only narrow-only" popovertarget="selected-more" aria-label="More for the selected orders">${icon('more')}</button>
    <div class="popover" id="selected-more" popover role="dialog" aria-label="Selected orders">${others.map(([name, , action]) => html`<button type="button" class="item" popovertarget="selected-more" popovertargetaction="hide" @click=${action}>${name}</button>`)}</div>
  </section>`;
}

function running({ action, ids, results, isStopping }: Bulk, actions: Actions) {
  return html`<section class="bulk" tabindex="-1" aria-label="Progress">
    <b role="status">${WORDS[action].doing} ${orders(ids.length)}: ${count(results.size)} of ${count(ids.length)}</b>
    <progress max=${ids.length} value=${results.size} aria-label="Orders so far"></progress>
    ${keyed(results.size, html`<p class="small no-answer">No answer yet. It is asked again by itself.</p>`)}
    <button type="button" aria-disabled=${isStopping} @click=${actions.stopBulk}>${isStopping ? 'Stopping…' : 'Stop after this request'}</button>
  </section>`;
}

function outcome(bulk: Bulk, actions: Actions) {
  const { title, text, facts, again, wereTried, notDone } = outcomeOf(bulk);
  const what = `${wereTried ? 'Retry' : 'Go on with'} ${count(again.length)}`;
  return html`<section class="bulk" tabindex="-1" aria-label="Result">
    <p role=${notDone.length === 0 ? 'status' : 'alert'}>${icon(notDone.length === 0 ? 'done' : 'warning')}<span><b>${title}</b>${facts === '' ? nothing : ` · ${facts}`}${text === '' ? nothing : ` · ${text} Safe to retry.`}</span></p>
    ${notDone.length === 0 ? nothing : html`<button type="button" @click=${actions.showDialog({ kind: 'results' })}>Show the ${count(notDone.length)}</button>`}
    ${again.length === 0 ? nothing : html`<button type="button" class="primary" @click=${actions.retryFailed}>${icon('again')}${what}</button>`}
    <button type="button" class="icon-only" aria-label="Close the result" @click=${actions.closeBulk}>${icon('cross')}</button>
  </section>`;
}
