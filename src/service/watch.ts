import type { Logger } from 'pino';
import { CLOCK_TOLERANCE_MS, type KeyClock } from '../domain/key-clock.ts';
import type { Listing } from '../listing/listing.ts';
import { type Fault, needsOperator, type Store, StoreUnavailable } from '../store/store.ts';

/** How often the store and the clock are checked. */
const INTERVAL_MS = 1_000;
/** The least time between two lines with the same reason, while the store is not available. */
const REPEATED_MS = 60_000;
/** Different reasons that are remembered; a message can contain a number. */
const MAX_REASONS = 20;

/**
 * Checks the store periodically, and keeps the list current, so that no request has to wait for a large import, or for a database that is available
 * again. Logs when the store becomes unavailable, whenever the reason changes, and when it is available again.
 * @param onFault called after each failed check with the reason
 * @returns a function that stops the checks
 */
export function watchStore(
  { store, listing }: { readonly store: Pick<Store, 'status'>; readonly listing: Listing },
  logger: Logger,
  onFault: (fault: Fault) => void,
): () => void {
  /** When each was logged. */
  const reasons = new Map<string, number>();
  let latest = '';
  const check = async () => {
    try {
      await Promise.all([store.status(), listing.keep()]);
      if (reasons.size > 0) logger.info('the store is available again');
      reasons.clear();
    } catch (error) {
      const fault = error instanceof StoreUnavailable ? error.fault : 'failed';
      onFault(fault);
      const level = needsOperator(fault) ? 'error' : 'warn';
      const { message } = error as Error;
      const isSame = reasons.size > 0 && message === latest;
      latest = message;
      const loggedAt = reasons.get(message) ?? Number.NEGATIVE_INFINITY;
      if (isSame || performance.now() - loggedAt < REPEATED_MS) return;
      if (reasons.size === MAX_REASONS) reasons.clear();
      reasons.set(message, performance.now());
      logger[level]({ err: error }, 'the store is not available');
    }
  };
  const timer = setInterval(check, INTERVAL_MS);
  return () => clearInterval(timer);
}

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
