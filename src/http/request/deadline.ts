import { TimedOut } from '../../concurrency.ts';
import type { Exchange } from './exchange.ts';

/** How late a request without a result may be rejected after its deadline. */
const PRECISION_MS = 50;
const TOO_LATE = 'no result before the deadline of the request';

/** Requests for the same result whose deadlines differ by less wait together. */
const TOGETHER_MS = 20;

/** One or more requests that wait for a result. */
interface Waiting {
  readonly asked: Promise<unknown>;
  /** The deadline of the first of them. */
  readonly answerBy: number;
  readonly answer: PromiseWithResolvers<unknown>;
}

/** They share one timer: a timer for each would almost always be cancelled. */
const WAITING = new Set<Waiting>();
let timer: NodeJS.Timeout | undefined;
/** The one that was added last, while it waits. */
let latest: Waiting | undefined;

/**
 * Calls `ask` and waits for its result until the deadline of the request. The work itself goes on.
 * @throws TimedOut after the deadline; if it had passed before, `ask` is not called
 */
export function inTime<T>(
  { answerBy }: Pick<Exchange, 'answerBy'>,
  ask: () => Promise<T>,
): Promise<T> {
  expectTime({ answerBy });
  const asked = ask();
  const isShared = latest?.asked === asked && Math.abs(answerBy - latest.answerBy) < TOGETHER_MS;
  const { answer } = isShared ? latest! : waitFor(asked, answerBy);
  return answer.promise as Promise<T>;
}

function waitFor(asked: Promise<unknown>, answerBy: number): Waiting {
  const waiting = { asked, answerBy, answer: Promise.withResolvers<unknown>() };
  WAITING.add(waiting);
  latest = waiting;
  timer ??= setInterval(giveUpLate, PRECISION_MS);
  asked.then(
    (result) => {
      end(waiting);
      // The timer can be late, but no result counts after the deadline.
      if (timeLeft({ answerBy }) > 0) waiting.answer.resolve(result);
      else waiting.answer.reject(new TimedOut(TOO_LATE));
    },
    (error) => {
      end(waiting);
      waiting.answer.reject(error);
    },
  );
  return waiting;
}

function end(waiting: Waiting): void {
  WAITING.delete(waiting);
  if (latest === waiting) latest = undefined;
}

function giveUpLate(): void {
  const now = performance.now();
  for (const waiting of WAITING) {
    if (waiting.answerBy > now) continue;
    end(waiting);
    waiting.answer.reject(new TimedOut(TOO_LATE));
  }
  if (WAITING.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

/** @throws TimedOut after the deadline of a request: its client has got a 503, so no further work is begun for it */
export function expectTime(request: Pick<Exchange, 'answerBy'>): void {
  if (timeLeft(request) <= 0) throw new TimedOut('the time was up before the operation began');
}

/** Returns the milliseconds until the deadline of the request; may be negative. */
export function timeLeft({ answerBy }: Pick<Exchange, 'answerBy'>): number {
  return answerBy - performance.now();
}
