import { InvalidRequestError, NotFoundError, type OrderRecord } from '@store-orders/client';
import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { count, orders, orders as ordersText } from '../format.ts';
import { icon } from '../icons.ts';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import type { PastedList } from '../state.ts';
import { entriesIn, parseWrittenId } from './address.ts';
import { AT_ONCE } from './matching-orders.ts';

/** Entries of one list. Each is looked up by a request of its own. */
const MAX_ENTRIES = 1_000;
/** Orders with the same reference, which can come from several keys. */
const MAX_WITH_REFERENCE = 500;

/** Looks up the entries of the list in the dialog, and selects the pending orders among what is found, once everything has been looked up. */
export async function selectPasted(screen: Screen): Promise<void> {
  const { dialog, session } = screen.state;
  if (dialog?.kind !== 'pasted' || dialog.looking !== undefined || session === undefined) return;
  const entries = entriesIn(dialog.text);
  if (entries.length === 0 || entries.length > MAX_ENTRIES) {
    const problem = `A list has 1 to ${count(MAX_ENTRIES)} ids or references; this one has ${count(entries.length)}.`;
    screen.change((state) => (state.dialog = { ...dialog, problem }));
    return;
  }
  const ending = new AbortController();
  const ended = new Set<bigint>();
  const signal = AbortSignal.any([session.ending.signal, ending.signal]);
  const found = new Map<string, readonly OrderRecord[]>();
  const looking = () => ({ done: found.size, of: entries.length, ending, ended });
  const begun = { ...dialog, problem: undefined, outcome: undefined, looking: looking() };
  screen.change((state) => (state.dialog = begun));
  /** Whether the dialog is still open; it can be closed by a link or the button Back, too. */
  const isOpen = () => {
    const { dialog: open } = screen.state;
    return open?.kind === 'pasted' && open.looking?.ending === ending;
  };
  const show = (fields: Partial<PastedList>) => {
    if (!isOpen()) ending.abort();
    else screen.change((state) => (state.dialog = { ...(state.dialog as PastedList), ...fields }));
  };
  const left = [...entries];
  const lookUp = async () => {
    for (let entry = left.shift(); entry !== undefined; entry = left.shift()) {
      const { areReferences } = dialog;
      found.set(entry, await ordersOf(session, entry, { areReferences, signal }));
      show({ looking: looking() });
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, lookUp));
  } catch (error) {
    ending.abort();
    const problem = screen.problemOf(session, error);
    if (problem !== undefined && isOpen())
      show({ looking: undefined, problem: `Nothing was selected. ${problem}` });
    return;
  }
  if (!isOpen()) return;
  const all = new Map([...found.values()].flat().map((order) => [order.id, order]));
  const isPending = ({ id, status }: OrderRecord) => status === 'pending' && !ended.has(id);
  const pending = [...all.values()].filter(isPending);
  const outcome = {
    missing: entries.filter((entry) => found.get(entry)!.length === 0),
    ended: [...all.values()].filter((order) => !isPending(order)),
    selected: pending.length,
  };
  screen.change(({ selected }) => {
    for (const order of pending) selected.set(order.id, order);
  });
  const isWhole = outcome.missing.length === 0 && outcome.ended.length === 0;
  if (!isWhole) show({ looking: undefined, outcome });
  else {
    screen.change((state) => (state.dialog = undefined));
    screen.toast(`${ordersText(pending.length)} of the list selected`);
  }
}

/** Returns the orders that an entry means: a number is an id, unless all entries are references. */
async function ordersOf(
  { client }: Session,
  entry: string,
  { areReferences, signal }: { readonly areReferences: boolean; readonly signal: AbortSignal },
): Promise<readonly OrderRecord[]> {
  const id = areReferences ? undefined : parseWrittenId(entry);
  try {
    if (id !== undefined) return [await client.getOrder(id, { signal })];
    const query = { reference: entry, limit: MAX_WITH_REFERENCE } as const;
    return (await client.listOrders(query, { signal })).orders;
  } catch (error) {
    // No reference can be such a text.
    if (error instanceof NotFoundError || error instanceof InvalidRequestError) return [];
    throw error;
  }
}

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
