import { TimedOut } from '../../concurrency.ts';
import type { Exchange } from './exchange.ts';

/** How late a request without a result may be rejected after its deadline. */
const PRECISION_MS = 50;
const TOO_LATE = 'no result before the deadline of the request';

interface Waiting {
  readonly answerBy: number;
  readonly giveUp: (error: TimedOut) => void;
}

/** The requests that wait. They share one timer: a timer for each would almost always be cancelled. */
const WAITING = new Set<Waiting>();
let timer: NodeJS.Timeout | undefined;

/**
 * Calls `ask` and waits for its result until the deadline of the request. The work itself goes on.
 * @throws TimedOut after the deadline; if it had passed before, `ask` is not called
 */
export function inTime<T>(
  { answerBy }: Pick<Exchange, 'answerBy'>,
  ask: () => Promise<T>,
): Promise<T> {
  expectTime({ answerBy });
  return new Promise((resolve, reject) => {
    const waiting = { answerBy, giveUp: reject };
    WAITING.add(waiting);
    timer ??= setInterval(giveUpLate, PRECISION_MS);
    ask().then(
      (result) => {
        WAITING.delete(waiting);
        // The timer can be late, but no result counts after the deadline.
        if (timeLeft({ answerBy }) > 0) resolve(result);
        else reject(new TimedOut(TOO_LATE));
      },
      (error) => {
        WAITING.delete(waiting);
        reject(error);
      },
    );
  });
}

function giveUpLate(): void {
  const now = performance.now();
  for (const waiting of WAITING) {
    if (waiting.answerBy > now) continue;
    WAITING.delete(waiting);
    waiting.giveUp(new TimedOut(TOO_LATE));
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
