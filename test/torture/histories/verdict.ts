import { contradictionsIn, lateContradictions } from './checker.ts';
import { beyondLimit, givenAgain, type Past } from './eras.ts';
import type { Follower } from './followers.ts';
import { Timeline } from './timeline.ts';

/**
 * Requests that may fail although nothing is wrong, at most so many or this share of the operations: on shared machines, a sync may take
 * longer than a second, and several requests fail together.
 */
const MOST_UNEXPLAINED = { inAll: 15, perOperation: 1 / 2_000 };

/** A key whose cancels per hour are limited. */
export interface Limited {
  readonly key: string;
  readonly cancels: number;
  /** Until when that is checked, in milliseconds since the epoch; undefined for ever. */
  readonly until: number | undefined;
}

/** What a trial has seen in the end. */
export interface Seen {
  /** The findings of the trial itself. */
  readonly findings: readonly string[];
  /** The histories that were replaced, and the last one. */
  readonly histories: readonly Past[];
  /** Whether the changes of the last history could be read. */
  readonly isComplete: boolean;
  readonly limited: readonly Limited[];
  /** Requests that failed although nothing was wrong. */
  readonly unexplained: readonly string[];
  readonly followers: readonly Follower[];
}

/** How many operations clients have made, without what followers have received. */
export function operationsOf(histories: readonly Past[]): number {
  const made = histories.flatMap(({ observed }) =>
    observed.operations.filter(({ effect }) => effect.type !== 'received'),
  );
  return made.length;
}

/** Everything that contradicts a promise of the service. What follows from an earlier finding is left out. */
export function findingsIn(seen: Seen): string[] {
  const { histories, isComplete, limited, unexplained, followers } = seen;
  const eras = histories.map((each, index) => ({ name: `history ${index + 1}`, ...each }));
  const findings = [...seen.findings, ...(isComplete ? eras.flatMap(contradictionsIn) : [])];
  if (findings.length === 0) findings.push(...lateContradictions(eras));
  findings.push(...givenAgain(histories));
  const { inAll, perOperation } = MOST_UNEXPLAINED;
  if (unexplained.length > Math.max(inAll, operationsOf(histories) * perOperation)) {
    const first = unexplained.slice(0, 3).join('; ');
    findings.push(`${unexplained.length} requests failed although nothing was wrong: ${first}`);
  }
  for (const { until, ...limit } of limited)
    findings.push(...histories.flatMap(({ changes }) => beyondLimit(changes, limit, until)));
  if (findings.length > 0) return findings;
  const timeline = new Timeline(histories.at(-1)!.changes);
  return followers.flatMap((each) => each.differences?.(timeline) ?? []);
}
