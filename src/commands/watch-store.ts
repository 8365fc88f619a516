import type { Logger } from 'pino';
import type { Listing } from '../orders/listing.ts';

/** How often the store is looked at when nobody asks for the list. */
const INTERVAL_MS = 1_000;

/**
 * Keeps the list near the store also when nobody asks for it, so that no request has to pay for a
 * large import or a return of the database alone. Says when the store is lost, and when it is back.
 * @returns what ends it
 */
export function watchStore(listing: Listing, logger: Logger): () => void {
  let isLost = false;
  const look = async () => {
    try {
      await listing.current();
      if (isLost) logger.info('the store is available again');
      isLost = false;
    } catch (error) {
      if (!isLost) logger.warn({ err: error }, 'the store is not available');
      isLost = true;
    }
  };
  const timer = setInterval(look, INTERVAL_MS);
  return () => clearInterval(timer);
}
