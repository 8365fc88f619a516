import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { count, day, time } from '../format.ts';
import { icon } from '../icons.ts';
import { searchOf } from '../list/address.ts';
import type { ChangesOfKey, State } from '../state.ts';
import { MAX_SHOWN } from './changes-of-key.ts';

/** What a key did, latest first. */
export function changesOfKeyDialog({ view }: State, found: ChangesOfKey, actions: Actions) {
  const { by, name, from, changes, state, problem } = found;
  const row = ({ type, at, order: { id, reference } }: ChangesOfKey['changes'][number]) => {
    const to = { ...view, page: 'orders', order: id } as const;
    return html`<tr><th scope="row" class="number"><a href=${searchOf(to)} @click=${actions.follow(to)}>${id}</a></th>
      <td>${reference === undefined ? nothing : html`<bdi>${reference}</bdi>`}</td><td>${type}</td><td>${time(at)}</td></tr>`;
  };
  const what =
    changes.length === MAX_SHOWN ? `The latest ${count(MAX_SHOWN)}` : count(changes.length);
  return html`<dialog class="ask of-key" aria-labelledby="ask" @cancel=${actions.closeDialog}>
    <div class="inner"><h2 id="ask">Changes by <bdi>${name}</bdi></h2>
      <p><code>${by}</code>, since ${day(from)}</p>
      <p role="status">${state === 'reading' ? `Reading all changes of the store: ${count(changes.length)} so far…` : `${what} ${changes.length === 1 ? 'change' : 'changes'}.`}</p>
      ${state === 'cut' ? html`<p class="notice">${icon('warning')}<span>The store has more changes than are read here: these are not the latest ones.</span></p>` : nothing}
      ${problem === undefined ? nothing : html`<p class="notice" role="alert">${icon('warning')}<span>Not all changes were read. ${problem}</span></p>`}
      ${
        changes.length === 0
          ? nothing
          : html`<div class="results scroll" tabindex="0" role="group" aria-label="Changes"><table>
        <thead><tr><th scope="col" class="number">Order</th><th scope="col">Reference</th><th scope="col">Change</th><th scope="col">At</th></tr></thead>
        <tbody>${changes.toReversed().map(row)}</tbody></table></div>
      <button type="button" class="quiet" @click=${actions.copy([...new Set(changes.map(({ order }) => order.id))].join('\n'), 'Ids')}>${icon('copy')}Copy ids</button>`
      }
    </div>
    <div class="end"><button type="button" autofocus @click=${actions.closeDialog}>Close</button></div>
  </dialog>`;
}
