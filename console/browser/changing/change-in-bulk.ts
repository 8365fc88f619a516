import { type ChangeResult, LimitError, type OrderRecord } from '@store-orders/client';
import { count, inWords, orders as ordersText, reasonIn, refusalInWords } from '../format.ts';
import { orderQuery } from '../list/address.ts';
import { showOrder } from '../list/list-state.ts';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import { type Action, type Bulk, type Result, type SeveralToChange, WORDS } from '../state.ts';

/** Orders per request. */
const ORDERS_PER_REQUEST = 1_000;
/** Maximum number of selected orders. */
const MOST_SELECTED = 50_000;

/** Codes of orders in a final state; trying again is useless. */
const FACTS: readonly string[] = [
  'order_already_shipped',
  'order_already_cancelled',
  'order_not_found',
];

/** Selects pending orders that match the filters, shown or not, in the order of the list, up to MOST_SELECTED in all. */
export async function selectMatching(screen: Screen): Promise<void> {
  const { session, view, selecting } = screen.state;
  if (session === undefined || selecting !== undefined) return;
  const ending = new AbortController();
  const signal = AbortSignal.any([session.ending.signal, ending.signal]);
  const ended = new Set<bigint>();
  const show = (count: number) =>
    screen.change((state) => (state.selecting = { count, ending, ended }));
  const query = { ...orderQuery(view), status: 'pending', limit: 500 } as const;
  const found: OrderRecord[] = [];
  let isCut = false;
  show(0);
  try {
    for await (const { orders } of session.client.pages(query, { signal })) {
      found.push(...orders);
      show(found.length);
      isCut = found.length >= MOST_SELECTED;
      if (isCut) break;
    }
    const kept = found.slice(0, MOST_SELECTED).filter(({ id }) => !ended.has(id));
    screen.change(({ selected }) => {
      for (const order of kept) if (selected.size < MOST_SELECTED) selected.set(order.id, order);
    });
    if (isCut) screen.toast(`The first ${ordersText(MOST_SELECTED)} are selected`);
  } catch (error) {
    const problem = signal.aborted ? undefined : screen.problemOf(session, error);
    if (problem !== undefined) screen.toast(`Not selected. ${problem}`, true);
  }
  screen.change((state) => {
    if (state.selecting?.ending === ending) state.selecting = undefined;
  });
}

/** Cancels or ships orders, a thousand per request, and shows the result of each order; ends with the session. */
export async function changeSeveral(
  screen: Screen,
  session: Session,
  asked: SeveralToChange,
): Promise<void> {
  const { ids } = asked;
  const results = new Map<bigint, Result>();
  const show = (found: Partial<Bulk>) =>
    screen.change((state) => {
      const before = state.bulk ?? { ...asked, isRunning: true, isStopping: false };
      state.bulk = { ...before, results: new Map(results), ...found };
    });
  screen.change((state) => (state.bulk = undefined));
  show({});
  for (let from = 0; from < ids.length; from += ORDERS_PER_REQUEST) {
    const part = ids.slice(from, from + ORDERS_PER_REQUEST);
    const isStopped = screen.state.bulk?.isStopping === true;
    const problem = isStopped
      ? 'It was not tried.'
      : await changePart(screen, session, { ...asked, ids: part }, results);
    if (session.ending.signal.aborted) return;
    for (const id of problem === undefined ? [] : part) {
      const kind = isStopped ? 'untried' : 'failed';
      if (!results.has(id)) results.set(id, { id, kind, text: problem! });
    }
    screen.change((state) => {
      for (const id of part) state.selected.delete(id);
    });
    show({});
    // Further requests would fail for the same reason.
    if (problem !== undefined && !isStopped) show({ isStopping: true });
  }
  show({ isRunning: false, isStopping: false });
}

/** Changes the orders of one request. @returns why it has failed; undefined if every order has a result */
async function changePart(
  screen: Screen,
  session: Session,
  { action, ids, given, trackingNumbers }: SeveralToChange,
  results: Map<bigint, Result>,
): Promise<string | undefined> {
  const { client, ending } = session;
  const options = { signal: ending.signal };
  const reason = reasonIn(given) || undefined;
  try {
    const cancels = ids.map((id) => ({ id, reason }));
    const shipments = ids.map((id) => ({ id, trackingNumber: trackingNumbers.get(id) }));
    const found = await (action === 'cancel'
      ? client.cancelOrders(cancels, options)
      : client.shipOrders(shipments, options));
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
  return { id, kind, text: refusalInWords(error) };
}

/** Describes the results. */
export function outcomeOf({ action, ids, results }: Bulk) {
  const all = [...results.values()];
  const ofKind = (kind: Result['kind']) => all.filter((each) => each.kind === kind);
  const [done, facts] = [ofKind('done'), ofKind('fact')];
  const [failed, untried] = [ofKind('failed'), ofKind('untried')];
  const not = ids.length - done.length;
  return {
    failed,
    untried,
    notDone: [...failed, ...untried, ...facts],
    title: `${count(done.length)} ${WORDS[action].done}${not === 0 ? '' : `, ${count(not)} not`}`,
    text: [...new Set(failed.map(({ text }) => text))].join(' '),
    facts: facts.length === 0 ? '' : `${ordersText(facts.length)} had already ended`,
  };
}
