import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { count, orders } from '../format.ts';
import { icon } from '../icons.ts';
import type { PastedList } from '../state.ts';
import { MAX_ENTRIES } from './pasted-list.ts';

/** The form for a list of ids or references, and what of it was not found. */
export function pastedListDialog(list: PastedList, actions: Actions) {
  const { text, areReferences, looking, problem, outcome } = list;
  return html`<dialog class="ask pasted" aria-labelledby="ask" @cancel=${actions.closeDialog}>
    <form @submit=${actions.selectPasted} novalidate>
      <div class="inner"><h2 id="ask">Select the orders of a list</h2>
        <label for="list">Ids or references, one on each line, up to ${count(MAX_ENTRIES)}</label>
        <textarea id="list" rows="8" spellcheck="false" autocomplete="off" dir="auto" autofocus ?readonly=${looking !== undefined} .value=${text} @input=${actions.editPasted}></textarea>
        <label class="again"><input type="checkbox" .checked=${areReferences} ?disabled=${looking !== undefined} @change=${actions.setAreReferences} /> Numbers are references, not ids</label>
        <div role="status">${outcome === undefined ? nothing : outcomeText(outcome)}</div>
        <div role="alert">${problem === undefined ? nothing : html`<p class="notice">${icon('warning')}<span>${problem}</span></p>`}</div>
      </div>
      <div class="end">
        <button type="button" @click=${actions.closeDialog}>Close</button>
        <button class="primary" aria-disabled=${looking !== undefined}>${looking === undefined ? 'Select' : `Looking up ${count(looking.done)} of ${count(looking.of)}…`}</button>
      </div>
    </form>
  </dialog>`;
}

function outcomeText({ selected, missing, ended }: NonNullable<PastedList['outcome']>) {
  return html`<p><b>${orders(selected)} selected.</b></p>
    ${
      missing.length === 0
        ? nothing
        : html`<p>${count(missing.length)} not found:</p>
      <ul class="results" tabindex="0" aria-label="Not found">${missing.map((entry) => html`<li><bdi>${entry}</bdi></li>`)}</ul>`
    }
    ${
      ended.length === 0
        ? nothing
        : html`<p>${count(ended.length)} not pending:</p>
      <ul class="results" tabindex="0" aria-label="Not pending">${ended.map(({ id, reference, status }) => html`<li><b class="number">${id}</b> ${reference === undefined ? nothing : html`<bdi>${reference}</bdi> `}${status === 'pending' ? 'changed meanwhile' : status}</li>`)}</ul>`
    }`;
}
