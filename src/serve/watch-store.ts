import type { Logger } from 'pino';
import type { Listing } from '../listing/listing.ts';
import { type Fault, StoreUnavailable } from '../store/store.ts';

/** How often the store is looked at when nobody asks for the list. */
const INTERVAL_MS = 1_000;

/**
 * Keeps the list near the store also when nobody asks for it, so that no request has to pay for a
 * large import or a return of the database alone. Says when the store is lost, and when it is back.
 * @param onFault is told, at each look, why the store is not available
 * @returns what ends it
 */
export function watchStore(
  listing: Listing,
  logger: Logger,
  onFault: (fault: Fault) => void,
): () => void {
  let isLost = false;
  const look = async () => {
    try {
      await listing.current();
      if (isLost) logger.info('the store is available again');
      isLost = false;
    } catch (error) {
      const fault = error instanceof StoreUnavailable ? error.fault : 'failed';
      onFault(fault);
      const level = fault === 'damaged' ? 'error' : 'warn';
      if (!isLost) logger[level]({ err: error }, 'the store is not available');
      isLost = true;
    }
  };
  const timer = setInterval(look, INTERVAL_MS);
  return () => clearInterval(timer);
}
