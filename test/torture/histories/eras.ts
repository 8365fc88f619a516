import type { Effect, Observed } from './operation.ts';
import { type Change, textOf } from './timeline.ts';

/** A history, and what clients have seen of it. */
export interface Past {
  /** All changes of the history. */
  readonly changes: readonly Change[];
  readonly observed: Observed;
  /** Revisions up to which clients of another history have seen it too: changes up to there need no request in this one. */
  readonly inheritedUpTo: number;
}

/** The last revision up to which two histories are the same. */
export function commonRevision(one: readonly Change[], other: readonly Change[]): number {
  const index = one.findIndex(
    (change, at) => other[at] === undefined || textOf(other[at]) !== textOf(change),
  );
  if (index === -1) return one.at(-1)?.revision ?? 0;
  // A revision is the same in both, or not at all.
  return (
    one.slice(0, index).findLast(({ revision }) => revision < one[index]!.revision)?.revision ?? 0
  );
}

/** Changes after a revision that a response has acknowledged: to the request for the change, or to a repetition of it. */
export function acknowledgedAfter(
  revision: number,
  changes: readonly Change[],
  { operations }: Observed,
): string[] {
  const lost = new Set(
    changes.filter((each) => each.revision > revision).map(({ type, order }) => `${type} ${order}`),
  );
  return operations.flatMap(({ what, effect }) =>
    acknowledgedBy(effect)
      .filter((change) => lost.has(change))
      .map((change) => `${what} acknowledged a change that was lost: ${change}`),
  );
}

function acknowledgedBy(effect: Effect): string[] {
  if (effect.type === 'changed') return [`${effect.change} ${effect.order}`];
  if (effect.type === 'placed') return [`placed ${effect.order}`];
  if (effect.type === 'imported') return effect.placed.map(({ order }) => `placed ${order}`);
  const isRefused = effect.type === 'saw' && effect.endedBy?.isSo === true;
  return isRefused ? [`${effect.status} ${effect.order}`] : [];
}

/** Ids that were given to an order of a lost history, and again to another one. */
export function givenAgain(histories: readonly Past[]): string[] {
  const pets = new Map<string, string>();
  return histories.flatMap(({ changes }) =>
    changes.flatMap(({ type, order, pet }) => {
      if (type !== 'placed') return [];
      const before = pets.get(order);
      pets.set(order, pet);
      const isOther = before !== undefined && before !== pet;
      return isOther
        ? [`the id ${order} was given for pet ${before}, and again for pet ${pet}`]
        : [];
    }),
  );
}

const HOUR_MS = 3_600_000;

/**
 * Whether a key, which was used for less than an hour, has cancelled more orders than it may.
 * @param until when a clock was wrong first: what was recorded by it, a day later or earlier, does not count
 */
export function beyondLimit(
  changes: readonly Change[],
  { key, cancels: most }: { readonly key: string; readonly cancels: number },
  until = Number.POSITIVE_INFINITY,
): string[] {
  const isByRightClock = (at: number) =>
    until === Number.POSITIVE_INFINITY || (at <= until && at > until - HOUR_MS);
  const cancels = changes.filter(
    ({ type, by, at }) => type === 'cancelled' && by === key && isByRightClock(at),
  );
  if (cancels.length <= most) return [];
  return [`a key with ${most} cancels per hour made ${cancels.length}`];
}
