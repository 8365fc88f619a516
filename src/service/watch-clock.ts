import type { Logger } from 'pino';
import { CLOCK_TOLERANCE_MS, type KeyClock } from '../domain/key-clock.ts';

const INTERVAL_MS = 1_000;

/**
 * Logs when the system clock falls behind the key clock, and when it has caught up.
 * @returns a function that stops the checks
 */
export function watchClock(clock: KeyClock, logger: Logger): () => void {
  let isBehind = false;
  const check = () => {
    const behindMs = clock.behindMs();
    const wasBehind = isBehind;
    isBehind = behindMs > CLOCK_TOLERANCE_MS;
    if (isBehind && !wasBehind) {
      logger.warn(
        { seconds: Math.round(behindMs / 1_000) },
        'the clock is behind the last change in the store: it was set back, or the clock of another machine is ahead; ' +
          'until it has caught up, keys expire by the time of the last change',
      );
    }
    if (wasBehind && !isBehind) logger.info('the clock has caught up');
  };
  check();
  const timer = setInterval(check, INTERVAL_MS);
  return () => clearInterval(timer);
}
