import type { Change } from '@store-orders/client';
import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { count, day, time } from '../format.ts';
import { icon } from '../icons.ts';
import { searchOf } from '../list/address.ts';
import type { Screen } from '../screen.ts';
import type { ChangesOfKey, State } from '../state.ts';

/** Requests of one reading, each of which examines up to 5,000 changes of the store. */
const MAX_REQUESTS = 400;
/** The latest changes are shown. */
const MAX_SHOWN = 1_000;

/**
 * Reads what a key did on the days that are shown. No index has the changes by key, so the whole feed is read, up to MAX_REQUESTS requests; closing the
 * dialog ends it.
 */
export async function readChangesOfKey(
  screen: Screen,
  { by, name }: { readonly by: string; readonly name: string },
): Promise<void> {
  const { session, activity } = screen.state;
  const from = activity?.found?.periods[0]?.from;
  if (session === undefined || from === undefined) return;
  const ending = new AbortController();
  const signal = AbortSignal.any([session.ending.signal, ending.signal]);
  const begun = { kind: 'of-key', by, name, from, changes: [], state: 'reading', ending } as const;
  screen.change((state) => (state.dialog = begun));
  const show = (found: Partial<ChangesOfKey>) =>
    screen.change((state) => {
      const { dialog } = state;
      if (dialog?.kind === 'of-key' && dialog.ending === ending)
        state.dialog = { ...dialog, ...found };
      // The dialog was closed, by its button or by a link in it.
      else ending.abort();
    });
  let changes: readonly Change[] = [];
  let after = 'start';
  try {
    for (let request = 0; request < MAX_REQUESTS; request += 1) {
      const page = await session.client.listChanges({ by, after, limit: 500 }, { signal });
      after = page.next;
      const inTime = page.changes.filter(({ at }) => at >= from);
      changes = [...changes, ...inTime].slice(-MAX_SHOWN);
      show({ changes });
      if (!page.more) {
        show({ state: 'whole' });
        return;
      }
    }
    show({ state: 'cut' });
  } catch (error) {
    const problem = signal.aborted ? undefined : screen.problemOf(session, error);
    if (problem !== undefined) show({ state: 'failed', problem });
  }
}

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
