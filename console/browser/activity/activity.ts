import type { Activity, Change } from '@store-orders/client';
import { now as serviceTime } from '../clock.ts';
import { DAY_COUNTS, TYPES } from '../list/address.ts';
import { dayStart, daysAfter } from '../list/range.ts';
import type { Screen } from '../screen.ts';
import type { ActivityState } from '../state.ts';

/** The number of changes of a type in all periods. */
export const sumOf = (periods: Activity['periods'], type: (typeof TYPES)[number]): bigint =>
  periods.reduce((sum, period) => sum + period[type], 0n);

/**
 * Reads the activity, if the view shows it. The previous one stays on the page until then.
 * @param now the time of a recorded change; the user's clock may be behind it
 */
export async function readActivity(screen: Screen, now = serviceTime()): Promise<void> {
  const { session, view, activity: before } = screen.state;
  const { days, day } = view;
  before?.reading?.abort();
  const isShown = session?.may.follow === true && view.page === 'activity';
  if (!isShown) {
    screen.set({ activity: undefined });
    return;
  }
  const reading = new AbortController();
  const found = before?.days === days ? before.found : undefined;
  const ofDay = before?.day === day ? before.ofDay : undefined;
  const marked = before?.marked;
  const begun: ActivityState = {
    ...{ days, found, day, ofDay, reading, waiting: [], problem: undefined, marked },
  };
  screen.set({ activity: begun });
  const show = (result: Partial<ActivityState>) =>
    screen.change((state) => {
      // A later read may have begun.
      if (state.activity?.reading === reading) {
        state.activity = { ...state.activity, ...result, reading: undefined, waiting: [] };
      }
    });
  try {
    const signal = AbortSignal.any([session.ending.signal, reading.signal]);
    const read = (starts: Date[]) => session.client.getActivity(starts, { signal });
    const shown = dayStart(day);
    const [activity, one] = await Promise.all([
      read(dayStarts(days, now)),
      shown && read(dayStarts(1, shown)),
    ]);
    const { waiting } = begun;
    show({ found: withChanges(activity, waiting), ofDay: one && withChanges(one, waiting) });
  } catch (error) {
    if (reading.signal.aborted) return;
    const problem = screen.problemOf(session, error);
    if (problem !== undefined) {
      show({ problem, found: found && withChanges(found, begun.waiting) });
    }
  }
}

/** Reads which keys did something in the days that the activity shows first. The commands are of use without them, so that a failure is not shown. */
export async function readPeople(screen: Screen): Promise<void> {
  const { session } = screen.state;
  if (session?.may.follow !== true) return;
  try {
    const days = dayStarts(DAY_COUNTS[0], serviceTime());
    const { byKey } = await session.client.getActivity(days, { signal: session.ending.signal });
    screen.set({ people: byKey });
  } catch (error) {
    screen.problemOf(session, error);
  }
}

/** Counts changes as they happen; reads again on a new day, or if the name of a key is unknown. */
export function followActivity(screen: Screen, changes: readonly Change[]): void {
  const { activity } = screen.state;
  if (activity === undefined) return;
  const { found, reading, waiting } = activity;
  if (reading !== undefined) waiting.push(...changes);
  if (found === undefined || reading !== undefined) return;
  const later = changes.find(({ at }) => at >= found.periods.at(-1)!.before);
  const isNamed = ({ by }: Change) =>
    by === undefined || found.byKey.some((each) => each.by === by);
  if (later !== undefined) void readActivity(screen, new Date(later.at));
  else if (!changes.every(isNamed)) void readActivity(screen);
  else {
    const ofDay = activity.ofDay && withChanges(activity.ofDay, changes);
    const next = { ...activity, found: withChanges(found, changes), ofDay };
    screen.set({ activity: next });
  }
}

/** Adds the changes that the read did not count. */
export function withChanges(activity: Activity, changes: readonly Change[]): Activity {
  const periods = activity.periods.map((period) => ({ ...period }));
  const byKey = activity.byKey.map((each) => ({ ...each }));
  let { revision } = activity;
  for (const { type, at, by, revision: changedIn } of changes) {
    if (changedIn <= activity.revision) continue;
    revision = changedIn;
    const period = periods.find(({ from, before }) => from <= at && at < before);
    const counted = TYPES.find((each) => each === type);
    if (period === undefined || counted === undefined) continue;
    period[counted] += 1n;
    let ofKey = byKey.find((each) => each.by === by);
    if (ofKey === undefined) {
      ofKey = { ...(by !== undefined && { by }), placed: 0n, cancelled: 0n, shipped: 0n };
      byKey.push(ofKey);
    }
    ofKey[counted] += 1n;
  }
  return { ...activity, periods, byKey, revision };
}

/** Returns when each of the last days began in the user's time zone, and when the next one begins. */
export function dayStarts(days: number, now: Date): Date[] {
  return Array.from({ length: days + 1 }, (_, index) => daysAfter(now, index - days + 1));
}
