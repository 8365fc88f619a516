import type { Change } from '@store-orders/client';
import type { View } from '../list/address.ts';
import { dayStart, daysAfter, today } from '../list/range.ts';
import type { Screen } from '../screen.ts';
import type { ChangesOfKey } from '../state.ts';
import { dayStarts, withChanges } from './activity.ts';

/** Requests of one reading, each of which examines up to 5,000 changes of the store. */
const MAX_REQUESTS = 400;
/** Days that are counted beside the shown one. */
const DAYS = 14;

/** When the day of the view begins, and the next one. */
function boundsOf({ day }: View) {
  const from = dayStart(day) ?? today();
  return { from, before: daysAfter(from, 1) };
}

/** The last days, or those that end with an earlier day. */
function daysAround(day: Date): Date[] {
  const last = dayStarts(DAYS, today());
  return day < last[0]! ? dayStarts(DAYS, day) : last;
}

/** Reads what the key of the view did on its day, if the view has one: the changes of the store from that day on are examined, up to the next day. */
export async function readChangesOfKey(screen: Screen): Promise<void> {
  const { session, view, ofKey: before } = screen.state;
  before?.ending.abort();
  if (session?.may.follow !== true || view.page !== 'activity' || view.by === '') {
    screen.set({ ofKey: undefined });
    return;
  }
  const { by } = view;
  const { from, before: end } = boundsOf(view);
  const ending = new AbortController();
  const signal = AbortSignal.any([session.ending.signal, ending.signal]);
  const begun: ChangesOfKey = {
    ...({ by, days: undefined, changes: [], waiting: [], state: 'reading' } as const),
    ...{ problem: undefined, ending },
  };
  screen.set({ ofKey: begun });
  const show = (found: Partial<ChangesOfKey>) =>
    screen.change((state) => {
      if (state.ofKey?.ending === ending) state.ofKey = { ...state.ofKey, ...found };
    });
  let changes: readonly Change[] = [];
  try {
    const days = await session.client.getActivity(daysAround(from), { by, signal });
    show({ days: withChanges(days, begun.waiting) });
    // The first change of the next day, of any key: what follows it is not examined.
    const next = await session.client.listChanges({ since: end, limit: 1 }, { signal });
    const last = next.changes[0]?.revision;
    let page = await session.client.listChanges({ by, since: from, limit: 500 }, { signal });
    const isIn = isWithin(from, end);
    for (let request = 1; ; request += 1) {
      changes = [...changes, ...page.changes.filter(isIn)];
      show({ changes });
      // A cursor is a revision and its head.
      const isPast = last !== undefined && BigInt(page.next.split('-')[0]!) >= last;
      if (!page.more || isPast)
        return show({ changes: withLater(changes, begun.waiting.filter(isIn)), state: 'whole' });
      if (request === MAX_REQUESTS) return show({ state: 'cut' });
      page = await session.client.listChanges({ by, after: page.next, limit: 500 }, { signal });
    }
  } catch (error) {
    const problem = signal.aborted ? undefined : screen.problemOf(session, error);
    if (problem !== undefined) show({ state: 'failed', problem });
  }
}

/** Adds changes as they happen, if they are of the key, to the shown day and to the counts of days. */
export function followKey(screen: Screen, changes: readonly Change[]): void {
  const { ofKey, view } = screen.state;
  if (ofKey === undefined) return;
  const added = changes.filter(({ by }) => by === ofKey.by);
  if (ofKey.state === 'reading') ofKey.waiting.push(...added);
  if (added.length === 0) return;
  const { from, before } = boundsOf(view);
  const ofDay = ofKey.state === 'whole' ? added.filter(isWithin(from, before)) : [];
  const all = withLater(ofKey.changes, ofDay);
  const days = ofKey.days && withChanges(ofKey.days, added);
  screen.set({ ofKey: { ...ofKey, days, changes: all } });
}

/** Whether a change was made in a period. */
const isWithin =
  (from: Date, before: Date) =>
  ({ at }: Change): boolean =>
    Date.parse(at) >= from.getTime() && Date.parse(at) < before.getTime();

/** Adds changes of the stream, some of which can have been read. */
function withLater(changes: readonly Change[], more: readonly Change[]): readonly Change[] {
  const last = changes.at(-1)?.revision ?? 0n;
  return [...changes, ...more.filter(({ revision }) => revision > last)];
}
