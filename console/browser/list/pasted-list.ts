import { InvalidRequestError, NotFoundError, type OrderRecord } from '@store-orders/client';
import { count, orders as ordersText } from '../format.ts';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import type { PastedList } from '../state.ts';
import { entriesIn, parseWrittenId } from './address.ts';
import { AT_ONCE } from './matching-orders.ts';

/** Entries of one list. Each is looked up by a request of its own. */
export const MAX_ENTRIES = 1_000;
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
