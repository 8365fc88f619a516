import { type ChangeResult, LimitError } from '@store-orders/client';
import { codeInWords, inWords, orders, sentence } from '../format.ts';
import { showOrder } from '../list/rows.ts';
import { filterOf } from '../list/view.ts';
import type { Screen } from '../screen.ts';
import type { Session } from '../session.ts';
import type { Action, Bulk, Result } from '../state.ts';
import { WORDS } from './words.ts';

/** Orders of one request. */
const ORDERS_PER_REQUEST = 1_000;
/** Orders that can be selected at most. */
export const MOST_SELECTED = 50_000;

/** Codes after which the order is in a final state, whatever is tried. */
const FACTS: readonly string[] = [
  'order_already_shipped',
  'order_already_cancelled',
  'order_not_found',
];

/** Selects all pending orders that match the filters, shown or not. */
export async function selectMatching(screen: Screen): Promise<void> {
  const { session, view } = screen.state;
  if (session === undefined) return;
  const query = { ...filterOf(view), status: 'pending', limit: 500 } as const;
  const found: bigint[] = [];
  try {
    for await (const { id } of session.client.orders(query, { signal: session.ending.signal })) {
      found.push(id);
      if (found.length === MOST_SELECTED) break;
    }
  } catch (error) {
    const problem = screen.problemOf(session, error);
    if (problem !== undefined) screen.toast(`Not selected. ${problem}`);
    return;
  }
  screen.change((state) => {
    // Filters that were changed meanwhile have cleared the selection.
    if (state.view === view) for (const id of found) state.selected.add(id);
  });
}

/** Cancels or ships orders, a request for each thousand, and shows a result for each; ends with the session. */
export async function changeSeveral(
  screen: Screen,
  session: Session,
  action: Action,
  ids: readonly bigint[],
): Promise<void> {
  const results = new Map<bigint, Result>();
  const show = (found: Partial<Bulk>) =>
    screen.change((state) => {
      const before = state.bulk ?? { action, ids, results, isRunning: true, isStopping: false };
      state.bulk = { ...before, results: new Map(results), ...found };
    });
  screen.change((state) => (state.bulk = undefined));
  show({});
  for (let from = 0; from < ids.length; from += ORDERS_PER_REQUEST) {
    const part = ids.slice(from, from + ORDERS_PER_REQUEST);
    const isStopped = screen.state.bulk?.isStopping === true;
    const problem = isStopped
      ? 'Stopped before it was tried.'
      : await changePart(screen, session, { action, part, results });
    if (session.ending.signal.aborted) return;
    for (const id of problem === undefined ? [] : part) {
      if (!results.has(id)) results.set(id, { id, kind: 'failed', text: problem! });
    }
    screen.change((state) => {
      for (const id of part) state.selected.delete(id);
    });
    show({});
    // The others would fail for the same reason.
    if (problem !== undefined && !isStopped) {
      show({ isStopping: true });
    }
  }
  show({ isRunning: false, isStopping: false });
}

/** Changes the orders of one request. @returns why it has failed; undefined if every order has a result */
async function changePart(
  screen: Screen,
  session: Session,
  {
    action,
    part,
    results,
  }: {
    readonly action: Action;
    readonly part: readonly bigint[];
    readonly results: Map<bigint, Result>;
  },
): Promise<string | undefined> {
  const { client, ending } = session;
  const options = { signal: ending.signal };
  try {
    const found = await (action === 'cancel'
      ? client.cancelOrders(part, options)
      : client.shipOrders(part, options));
    for (const each of found) results.set(each.id, resultOf(each, action));
    screen.change((state) => {
      for (const { order } of found) if (order !== undefined) showOrder(state, order);
    });
    return undefined;
  } catch (error) {
    if (error instanceof LimitError) return inWords(error);
    return screen.problemOf(session, error) ?? 'The session has ended.';
  }
}

function resultOf({ id, error }: ChangeResult, action: Action): Result {
  if (error === undefined) return { id, kind: 'done', text: WORDS[action].done };
  const kind = FACTS.includes(error.code) ? 'fact' : 'failed';
  return { id, kind, text: sentence(codeInWords(error.code)) };
}

/** What became of the orders, in words. */
export function outcomeOf({ action, ids, results }: Bulk) {
  const all = [...results.values()];
  const ofKind = (kind: Result['kind']) => all.filter((each) => each.kind === kind);
  const [done, facts, failed] = [ofKind('done'), ofKind('fact'), ofKind('failed')];
  const not = ids.length - done.length;
  return {
    failed,
    notDone: [...failed, ...facts],
    title: `${done.length} ${WORDS[action].done}${not === 0 ? '' : `, ${not} not`}`,
    text: [...new Set(failed.map(({ text }) => text))].join(' '),
    facts: facts.length === 0 ? '' : `${orders(facts.length)} had already ended`,
  };
}
