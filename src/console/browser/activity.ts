import type { Activity, Change } from '@store-orders/client';
import type { Screen } from './screen.ts';
import type { ActivityState } from './state.ts';

/** Reads the activity that the view shows, if any. */
export async function readActivity(screen: Screen): Promise<void> {
  const { session, view } = screen.state;
  const { days } = view;
  const isShown = session?.may.follow === true && days !== undefined;
  const reading = isShown ? { days, found: undefined, waiting: [], problem: undefined } : undefined;
  screen.change((state) => Object.assign(state, { activity: reading }));
  if (!isShown || reading === undefined) return;
  const show = (found: Partial<ActivityState>) =>
    screen.change((state) => {
      // Another one may have been asked for meanwhile.
      if (state.activity === reading) state.activity = { ...reading, ...found };
    });
  try {
    const { signal } = session.ending;
    const activity = await session.client.getActivity(dayStarts(days), { signal });
    show({ found: withChanges(activity, reading.waiting) });
  } catch (error) {
    const problem = screen.problemOf(session, error);
    if (problem !== undefined) show({ problem });
  }
}

/** Counts changes as they happen; reads again when a new day has begun. */
export function followActivity(screen: Screen, changes: readonly Change[]): void {
  const { activity } = screen.state;
  if (activity === undefined) return;
  const { found, waiting } = activity;
  if (found === undefined) waiting.push(...changes);
  else if (changes.some(({ at }) => at >= found.periods.at(-1)!.before)) void readActivity(screen);
  else {
    const next = { ...activity, found: withChanges(found, changes) };
    screen.change((state) => Object.assign(state, { activity: next }));
  }
}

/** Adds the changes that were not counted. */
function withChanges(activity: Activity, changes: readonly Change[]): Activity {
  const periods = activity.periods.map((period) => ({ ...period }));
  const cancels = activity.cancels.map((each) => ({ ...each }));
  let { revision } = activity;
  for (const { type, at, by, revision: changedIn } of changes) {
    if (changedIn <= activity.revision) continue;
    revision = changedIn;
    const period = periods.findLast(({ from }) => from <= at);
    if (period !== undefined) period[type] += 1n;
    if (type !== 'cancelled') continue;
    const ofKey = cancels.find((each) => each.by === by);
    if (ofKey === undefined) cancels.push({ ...(by !== undefined && { by }), cancelled: 1n });
    else ofKey.cancelled += 1n;
  }
  return { ...activity, periods, cancels, revision };
}

/** When the last days began where the reader is, and when the next one begins. */
function dayStarts(days: number): Date[] {
  const now = new Date();
  return Array.from({ length: days + 1 }, (_, index) => {
    const day = now.getDate() - days + 1 + index;
    return new Date(now.getFullYear(), now.getMonth(), day);
  });
}
