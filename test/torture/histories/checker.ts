import type { Past } from './eras.ts';
import type { Effect, Observed, Operation, Received, RequestedChange } from './operation.ts';
import { type Change, type Interval, type OrderCounts, Timeline, textOf } from './timeline.ts';

/** What is compared with a history. */
export interface Era extends Past {
  /** Names it in findings. */
  readonly name: string;
}

const MAX_FINDINGS = 5;

/**
 * Checks that everything that clients have seen agrees with the one order that the feed has: each change and each snapshot happened at one
 * revision, between the begin and the end of its operation (strict serializability: Herlihy and Wing 1990, Papadimitriou 1979), every
 * acknowledged change is in the feed once, and nothing is in it that was not requested.
 * @returns the contradictions in words, the earliest first; at most a few
 */
export function contradictionsIn({ name, changes, inheritedUpTo, observed }: Era): string[] {
  const findings = [...observed.findings];
  let timeline: Timeline;
  try {
    timeline = new Timeline(changes);
  } catch (error) {
    return [`${name}: ${(error as Error).message}`];
  }
  findings.push(...notRequested(timeline, observed, inheritedUpTo));
  findings.push(...outOfOrder(timeline, observed.operations));
  findings.push(...notReceived(timeline, observed));
  return findings.slice(0, MAX_FINDINGS).map((finding) => `${name}: ${finding}`);
}

/** The revisions at which an operation may have happened, in ascending order, and whether it made the revision. */
interface Place {
  readonly intervals: readonly Interval[];
  readonly isChange: boolean;
}

/** Returns where an effect is in the timeline, or why it is nowhere. */
function placeOf(timeline: Timeline, effect: Effect): Place | string | undefined {
  const at = (revision: number, isChange: boolean): Place => ({
    intervals: [{ from: revision, to: revision }],
    isChange,
  });
  const within = (...intervals: readonly Interval[]): Place => ({ intervals, isChange: false });
  switch (effect.type) {
    case 'unknown':
      return undefined;
    case 'received':
      return within({ from: effect.revision, to: Number.POSITIVE_INFINITY });
    case 'changed': {
      const found = timeline.ended(effect.order);
      if (found?.type === effect.change && found.by === effect.by) return at(found.revision, true);
      return `the feed has no such change of order ${effect.order}${found && `, but ${textOf(found)} by ${found.by}`}`;
    }
    case 'placed': {
      const found = timeline.placement(effect.pet);
      if (found?.order !== effect.order) {
        return `the feed has ${found === undefined ? 'no order' : `order ${found.order}`} of this placement`;
      }
      if (!effect.isRepeated) return at(found.revision, true);
      return within({ from: found.revision, to: Number.POSITIVE_INFINITY });
    }
    case 'imported': {
      const found = effect.placed.map(({ pet }) => timeline.placement(pet));
      const lost = effect.placed.find(({ order }, index) => found[index]?.order !== order);
      if (lost !== undefined) return `the feed has no order ${lost.order} of pet ${lost.pet}`;
      const last = Math.max(...found.map((each) => each!.revision));
      return within({ from: last, to: Number.POSITIVE_INFINITY });
    }
    case 'saw': {
      const { order, status, entry, endedBy } = effect;
      const by = timeline.ended(order)?.by;
      if (endedBy !== undefined && (by === endedBy.key) !== endedBy.isSo)
        return `order ${order} was ended by ${by}`;
      const interval = timeline.intervalOf(order, status);
      if (interval === undefined) return `order ${order} was never ${status}`;
      const expected = timeline.entryIn(order, status);
      if (entry === undefined || entry === expected) return within(interval);
      return `while it was ${status}, order ${order} was ${expected}, not ${entry}`;
    }
    case 'list': {
      const { orders, revision } = effect;
      const intervals = timeline.intervalsOfList(orders);
      if (intervals.length === 0) return differenceOf(timeline, orders);
      if (revision === undefined) return within(...intervals);
      if (intervals.some(({ from, to }) => from <= revision && revision <= to))
        return at(revision, false);
      const expected = timeline.listAt(revision).join(' ');
      return `its ETag is of revision ${revision}, where ${differenceBetween(expected, orders)}`;
    }
    case 'page': {
      const { revision, limit, orders, hasNext, head } = effect;
      const found = orders === '' ? [] : orders.split(' ');
      const all = timeline.pageAt(revision, { ...effect, limit: limit + 1 }, found[0]);
      // A page that is followed by another one may be shorter than its limit.
      const expected = all.slice(0, hasNext ? found.length : limit).join(' ');
      if (expected !== orders)
        return `at revision ${revision} ${differenceBetween(expected, orders)}`;
      if (!hasNext && all.length > limit) return 'no page follows';
      return isHead(timeline, revision, head) ?? at(revision, false);
    }
    case 'history': {
      const events = [timeline.placed(effect.order), timeline.ended(effect.order)];
      const known = events.flatMap((each) =>
        each === undefined ? [] : [`${each.revision}:${each.type}:${each.by}`],
      );
      const count = effect.events.split(' ').length;
      if (effect.events !== known.slice(0, count).join(' '))
        return `its events are ${known.join(' ')}`;
      const [last, next] = [events[count - 1]!.revision, events[count]?.revision];
      return within({ from: last, to: (next ?? Number.POSITIVE_INFINITY) - 1 });
    }
    case 'feed': {
      const { after, upTo, now, only, changes, head } = effect;
      if (upTo > now) return `its changes end at revision ${upTo}, but it is of revision ${now}`;
      const expected = timeline.between(after, upTo, only).map(textOf).join(' ');
      if (expected !== changes)
        return `between revisions ${after} and ${upTo} ${differenceBetween(expected, changes)}`;
      return isHead(timeline, upTo, head) ?? at(now, false);
    }
    case 'export': {
      const { revision, orders } = effect;
      const expected = timeline.exportAt(revision).join(' ');
      if (expected !== orders)
        return `at revision ${revision} ${differenceBetween(expected, orders)}`;
      return within({ from: revision, to: Number.POSITIVE_INFINITY });
    }
    case 'activity': {
      const expected = activityIn(timeline, effect);
      if (expected === effect.counts) return at(effect.revision, false);
      return `up to revision ${effect.revision} there were ${expected}, not ${effect.counts}`;
    }
    case 'counts': {
      const expected = countsText(timeline.countsAt(effect.revision, effect));
      if (expected === effect.counts) return at(effect.revision, false);
      return `at revision ${effect.revision} there were ${expected}, not ${effect.counts}`;
    }
  }
}

/** Returns a contradiction unless `head` is the head at a revision. */
function isHead(
  timeline: Timeline,
  revision: number,
  head: string | undefined,
): string | undefined {
  const expected = head && (timeline.headAt(revision) ?? head);
  if (expected === head) return undefined;
  return `the head of revision ${revision} is ${expected}, not ${head}`;
}

/** Operations whose responses are in no state of the history, or in one of the wrong time. */
function outOfOrder(timeline: Timeline, operations: readonly Operation[]): string[] {
  const findings: string[] = [];
  const made = new Map<string, Operation>();
  // What was known to have happened at a time, by the latest revision that a response had shown by then.
  let known: { readonly revision: number; readonly by: Operation } | undefined;
  const moments = operations
    .flatMap((operation) => [
      { time: operation.begin, isEnd: false, operation },
      { time: operation.end, isEnd: true, operation },
    ])
    .sort((one, other) => one.time - other.time || Number(one.isEnd) - Number(other.isEnd));
  const places = new Map<Operation, number>();
  for (const { isEnd, operation } of moments) {
    if (isEnd) {
      const revision = places.get(operation);
      if (revision !== undefined && (known === undefined || revision > known.revision)) {
        known = { revision, by: operation };
      }
      continue;
    }
    const place = placeOf(timeline, operation.effect);
    if (place === undefined) continue;
    if (typeof place === 'string') {
      findings.push(`${said(operation)}: ${place}`);
      continue;
    }
    const { effect } = operation;
    if (place.isChange && (effect.type === 'changed' || effect.type === 'placed')) {
      const key = `${effect.type} ${effect.order}`;
      const other = made.get(key);
      if (other !== undefined) findings.push(`${said(operation)}, and also ${said(other)}`);
      made.set(key, operation);
    }
    const least = (known?.revision ?? 0) + (place.isChange ? 1 : 0);
    const interval = place.intervals.find(({ to }) => to >= least);
    if (interval === undefined) {
      findings.push(
        `${said(operation)}, which was so up to revision ${place.intervals.at(-1)!.to}; but revision ${known!.revision} ` +
          `had been shown before: ${said(known!.by)}`,
      );
      continue;
    }
    places.set(operation, Math.max(interval.from, least));
  }
  return findings;
}

function said({ what, begin, end }: Operation): string {
  return `${what} (${begin.toFixed(1)} to ${end.toFixed(1)} ms)`;
}

/** Changes of the feed that no operation has requested. */
function notRequested(
  timeline: Timeline,
  { operations }: Observed,
  inheritedUpTo: number,
): string[] {
  const requested = new Set<string>();
  const add = ({ type, of, by }: RequestedChange) =>
    requested.add(`${type} ${of} by ${type === 'placed' ? '' : by}`);
  for (const { effect } of operations) {
    if (effect.type === 'unknown') for (const each of effect.changes) add(each);
    if (effect.type === 'changed') add({ type: effect.change, of: effect.order, by: effect.by });
    const placed = effect.type === 'imported' ? effect.placed : [];
    for (const { pet } of effect.type === 'placed' ? [effect] : placed)
      add({ type: 'placed', of: pet, by: undefined });
  }
  const found = timeline.changes.filter(({ revision, type, order, pet, by }) => {
    if (revision <= inheritedUpTo) return false;
    return !requested.has(type === 'placed' ? `placed ${pet} by ` : `${type} ${order} by ${by}`);
  });
  return found.map(
    (change) => `the feed has ${textOf(change)} by ${change.by}, which was not requested`,
  );
}

/** Readers whose changes are not those of the feed, without gap and repetition. */
function notReceived(timeline: Timeline, { received }: Observed): string[] {
  return received
    .filter(({ isLate }) => !isLate)
    .flatMap((each) => differenceIn(timeline, each) ?? []);
}

/** Readers that continued while the history was replaced, and whose changes are not those of one history. */
export function lateContradictions(eras: readonly Era[]): string[] {
  const timelines = eras.map(({ changes }) => new Timeline(changes));
  const late = eras.flatMap(({ observed }) => observed.received.filter(({ isLate }) => isLate));
  return late.flatMap((each) => {
    const differences = timelines.map((timeline) => differenceIn(timeline, each));
    return differences.includes(undefined) ? [] : differences.map((difference) => difference!);
  });
}

/** Returns how what a reader has received differs from a feed; undefined if it does not. */
function differenceIn(timeline: Timeline, received: Received): string | undefined {
  const { what, after, only, changes } = received;
  const expected = timeline.between(after, Number.POSITIVE_INFINITY, only).slice(0, changes.length);
  const index = changes.findIndex(
    (each, at) => expected[at] === undefined || textOf(expected[at]) !== each,
  );
  if (index === -1) return undefined;
  const wanted = expected[index] === undefined ? 'nothing' : textOf(expected[index]);
  const before = changes[index - 1] ?? `revision ${after}`;
  return `${what} received ${changes[index]} after ${before}, where the feed has ${wanted}`;
}

export function countsText({ pending, shipped, cancelled }: OrderCounts): string {
  return `${pending} pending, ${shipped} shipped, ${cancelled} cancelled`;
}

/** The changes up to a revision that were made in a period, in all and by each key; or those of one key. */
function activityIn(
  timeline: Timeline,
  { revision, from, before, by: onlyBy }: Extract<Effect, { type: 'activity' }>,
): string {
  const types = { placed: 0, cancelled: 0, shipped: 0 };
  const byKey = new Map<string, Record<Change['type'], number>>();
  for (const { type, at, by } of timeline.between(0, revision)) {
    if (at < from || at >= before || (onlyBy !== undefined && by !== onlyBy)) continue;
    types[type] += 1;
    const ofKey = byKey.get(`${by}`) ?? { placed: 0, cancelled: 0, shipped: 0 };
    ofKey[type] += 1;
    byKey.set(`${by}`, ofKey);
  }
  return activityText(types, byKey);
}

type Counts = Readonly<Record<Change['type'], unknown>>;

export function activityText(all: Counts, byKey: Iterable<readonly [by: string, Counts]>): string {
  const textOfCounts = ({ placed, cancelled, shipped }: Counts) =>
    `${placed} placed, ${cancelled} cancelled, ${shipped} shipped`;
  const ofKeys = [...byKey].map(([by, counts]) => `${by}: ${textOfCounts(counts)}`).sort();
  return [textOfCounts(all), ...ofKeys].join('; ');
}

/** How a list differs from the state that is nearest to it: that of the latest order in it. */
function differenceOf(timeline: Timeline, orders: string): string {
  const entries = orders === '' ? [] : orders.split(' ');
  const latest = Math.max(
    0,
    ...entries.map((each) => timeline.placed(each.split(':')[0]!)?.revision ?? 0),
  );
  const expected = timeline.listAt(latest);
  return `it was so at no revision; at revision ${latest}, of its latest order, ${differenceBetween(expected.join(' '), orders)}`;
}

function differenceBetween(expected: string, found: string): string {
  const [wanted, had] = [expected.split(' '), found.split(' ')];
  const [without, beyond] = [new Set(had), new Set(wanted)];
  const missing = wanted.filter((each) => !without.has(each)).slice(0, 3);
  const extra = had.filter((each) => !beyond.has(each)).slice(0, 3);
  if (missing.length + extra.length === 0)
    return 'the order of the entries is another one, or entries are repeated';
  return `it lacks ${missing.join(', ') || 'nothing'} and has ${extra.join(', ') || 'nothing'} besides`;
}
