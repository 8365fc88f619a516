import { type ChangeResult, type OrderRecord, UnknownOutcomeError } from '@store-orders/client';
import { count, orders as ordersText, reasonIn, refusalInWords } from '../format.ts';
import { orderQuery } from '../list/address.ts';
import { showOrder } from '../list/list-state.ts';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import { type Action, type Bulk, type Result, type SeveralToChange, WORDS } from '../state.ts';

/** Orders per request. */
const ORDERS_PER_REQUEST = 1_000;
/** Maximum number of selected orders. */
const MOST_SELECTED = 50_000;

/** The code of an order that has the status asked for. */
const ALREADY = { ship: 'order_already_shipped', cancel: 'order_already_cancelled' } as const;
/** Codes of orders in a final state; trying again is useless. */
const FACTS: readonly string[] = [...Object.values(ALREADY), 'order_not_found'];

/** Selects pending orders that match the filters, shown or not, in the order of the list, up to MOST_SELECTED in all. */
export async function selectMatching(screen: Screen): Promise<void> {
  const { session, view, selecting } = screen.state;
  if (session === undefined || selecting !== undefined) return;
  const ending = new AbortController();
  const signal = AbortSignal.any([session.ending.signal, ending.signal]);
  const ended = new Set<bigint>();
  const show = (count: number) => screen.set({ selecting: { count, ending, ended } });
  const query = { ...orderQuery(view), status: 'pending', limit: 500 } as const;
  const found: OrderRecord[] = [];
  show(0);
  try {
    for await (const { orders } of session.client.pages(query, { signal })) {
      found.push(...orders);
      show(found.length);
      if (found.length >= MOST_SELECTED) break;
    }
    const kept = found.slice(0, MOST_SELECTED).filter(({ id }) => !ended.has(id));
    screen.change(({ selected }) => {
      for (const order of kept) if (selected.size < MOST_SELECTED) selected.set(order.id, order);
    });
    if (found.length >= MOST_SELECTED)
      screen.toast(`The first ${ordersText(MOST_SELECTED)} are selected`);
  } catch (error) {
    const problem = signal.aborted ? undefined : screen.problemOf(session, error);
    if (problem !== undefined) screen.toast(`Not selected. ${problem}`, true);
  }
  screen.change((state) => {
    if (state.selecting?.ending === ending) state.selecting = undefined;
  });
}

/**
 * Cancels or ships orders, a thousand per request, and shows the result of each order; ends with the session.
 * @param before the results of an earlier action, of orders that are tried again
 * @param limitMs how long the store is asked to carry out a request, however often that fails at once
 */
export async function changeSeveral(
  screen: Screen,
  session: Session,
  asked: SeveralToChange,
  before: Bulk['results'],
  limitMs: number,
): Promise<void> {
  const { ids } = asked;
  const results: Bulk['results'] = new Map();
  const show = (found: Partial<Bulk>) =>
    screen.change((state) => (state.bulk = { ...state.bulk!, ...found }));
  screen.change((state) => {
    state.bulk = { ...asked, results, isRunning: true, isStopping: false };
    for (const id of ids) state.selected.delete(id);
  });
  for (let from = 0; from < ids.length; from += ORDERS_PER_REQUEST) {
    const part = { ...asked, ids: ids.slice(from, from + ORDERS_PER_REQUEST) };
    const failure = screen.state.bulk!.isStopping
      ? ({ kind: 'untried', text: 'It was not tried.' } as const)
      : await changePart(screen, session, part, limitMs, { before, results });
    if (session.ending.signal.aborted) return;
    for (const id of failure === undefined ? [] : part.ids) {
      const earlier = before.get(id);
      // A request that was refused, or not sent, does not tell what an earlier one has done.
      const isUnknown = earlier?.kind === 'unknown';
      results.set(id, isUnknown ? earlier : { id, reason: earlier?.reason, ...failure! });
    }
    // Further requests would fail for the same reason.
    show(failure === undefined ? {} : { isStopping: true });
  }
  show({ isRunning: false, isStopping: false });
  const unknown = ids.filter((id) => results.get(id)!.kind === 'unknown');
  if (unknown.length > 0) await readUntilKnown(screen, session, unknown);
}

/** Reads orders, with the outcome of actions on them, as soon as the store can be reached. */
export async function readUntilKnown(
  screen: Screen,
  { client, ending }: Session,
  ids: readonly bigint[],
): Promise<void> {
  const options = { signal: ending.signal, retries: Number.POSITIVE_INFINITY };
  const orders = await client.findOrders({ ids }, options).catch(() => []);
  screen.change((state) => {
    for (const order of orders) showOrder(state, order);
  });
}

/** Changes the orders of one request, and adds their results. @returns why it has failed */
async function changePart(
  screen: Screen,
  session: Session,
  { action, ids, given, trackingNumbers }: SeveralToChange,
  timeoutMs: number,
  { before, results }: Readonly<Record<'before' | 'results', Bulk['results']>>,
): Promise<Omit<Result, 'id'> | undefined> {
  const options = { signal: session.ending.signal, timeoutMs, retries: Number.POSITIVE_INFINITY };
  try {
    const cancels = ids.map((id) => ({ id, reason: reasonIn(given) || undefined }));
    const shipments = ids.map((id) => ({ id, trackingNumber: trackingNumbers.get(id) }));
    const found = await (action === 'cancel'
      ? session.client.cancelOrders(cancels, options)
      : session.client.shipOrders(shipments, options));
    screen.change((state) => {
      for (const each of found) {
        results.set(each.id, resultOf(each, action, before.get(each.id)));
        if (each.order !== undefined) showOrder(state, each.order);
      }
    });
    return undefined;
  } catch (error) {
    const reason = screen.problemOf(session, error) ?? '';
    if (!(error instanceof UnknownOutcomeError)) return { kind: 'failed', text: reason };
    const text = `${reason} The outcome is looked up as soon as the store can be reached.`;
    return { kind: 'unknown', text, reason };
  }
}

/** An order that had the status asked for counts as done, if an earlier request may have given it. */
function resultOf({ id, error }: ChangeResult, action: Action, before?: Result): Result {
  const isOwn = before?.reason !== undefined && error?.code === ALREADY[action];
  if (error === undefined || isOwn) return { id, kind: 'done', text: '' };
  const kind = FACTS.includes(error.code) ? 'fact' : 'failed';
  return { id, kind, text: refusalInWords(error), reason: before?.reason };
}

/** Describes the results. */
export function outcomeOf({ action, results }: Bulk) {
  const all = [...results.values()];
  const ofKind = (kind: Result['kind']) => all.filter((each) => each.kind === kind);
  const [facts, unknown, failed] = [ofKind('fact'), ofKind('unknown'), ofKind('failed')];
  const again = [...unknown, ...failed, ...ofKind('untried')];
  const notDone = [...again, ...facts];
  const not = notDone.length - unknown.length;
  const counts = [
    `${count(all.length - notDone.length)} ${WORDS[action].done}`,
    not === 0 ? [] : `${count(not)} not`,
    unknown.length === 0 ? [] : `${count(unknown.length)} not known yet`,
  ];
  return {
    again,
    notDone,
    wereTried: unknown.length + failed.length > 0,
    title: counts.flat().join(', '),
    text: [...new Set([...unknown, ...failed].map(({ text }) => text))].join(' '),
    facts:
      facts.length > 1
        ? `${ordersText(facts.length)} had already ended`
        : facts.map(({ id, text }) => `Order ${id}: ${text}`).join(''),
  };
}
