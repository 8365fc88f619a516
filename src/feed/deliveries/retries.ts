import type { Position } from '../../../protocol/history.ts';
import { type DeliveryState, type PauseReason, STARTED } from '../../domain/webhook.ts';
import { type EndpointAnswer, isAccepted } from './post.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits after the first failures of a delivery; later ones are an hour each. */
const WAITS_MS = [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS];
const LONGEST_WAIT_MS = HOUR_MS;
/** Waits are up to a tenth longer, so that endpoints that failed together are not tried together. */
const JITTER = 0.1;
/** A webhook is paused once its endpoint has failed for so long, and so often; it keeps its cursor. */
const GIVE_UP_AFTER_MS = 3 * 24 * HOUR_MS;
/** Time alone does not suffice: the service may have been off, or the clock may have jumped. */
const GIVE_UP_AFTER_FAILURES = 50;

/**
 * Returns when a delivery is tried again, in milliseconds from now.
 * @param failures how often it has failed, 1 or more
 * @param retryAfterMs the endpoint's Retry-After; an hour at most is respected
 * @param random from 0 to 1
 */
export function waitAfter(failures: number, retryAfterMs = 0, random = Math.random()): number {
  const wait = WAITS_MS[failures - 1] ?? LONGEST_WAIT_MS;
  const asked = Math.min(retryAfterMs, LONGEST_WAIT_MS);
  return Math.round(Math.max(wait, asked) * (1 + JITTER * random));
}

/**
 * Returns the state of a webhook after a delivery was sent.
 * @param sent.to the end of the delivery
 * @param sent.sentAt in milliseconds since the epoch, like `now`
 */
export function stateAfter(
  before: DeliveryState,
  sent: Readonly<{ to: Position; answer: EndpointAnswer; sentAt: number; now: number }>,
): DeliveryState {
  const { to, answer, sentAt, now } = sent;
  if (isAccepted(answer)) {
    return { ...before, ...STARTED, position: to, lastSuccessAt: now };
  }
  const { status, retryAfterMs, problem } = answer;
  const failures = before.failures + 1;
  const failingSince = Math.min(before.failingSince ?? now, now);
  return {
    ...before,
    failures,
    failingSince,
    nextAttemptAt: now + waitAfter(failures, retryAfterMs),
    pauseReason: before.pauseReason ?? pauseAfter(status, failures, now - failingSince),
    lastFailure: { at: sentAt, status, problem },
  };
}

function pauseAfter(
  status: number | undefined,
  failures: number,
  failingForMs: number,
): PauseReason | undefined {
  if (status === 410) return 'gone';
  const isOver = failingForMs >= GIVE_UP_AFTER_MS && failures >= GIVE_UP_AFTER_FAILURES;
  return isOver ? 'failed' : undefined;
}

/** Returns whether a delivery may be sent now. */
export function isDue({ nextAttemptAt }: DeliveryState, now: number): boolean {
  if (nextAttemptAt === undefined || nextAttemptAt <= now) return true;
  // Longer than any wait: the clock was ahead when it began.
  return nextAttemptAt > now + LONGEST_WAIT_MS * (1 + JITTER);
}
