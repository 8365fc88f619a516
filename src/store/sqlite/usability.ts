import { InFlight } from '../in-flight.ts';
import { needsOperator, StoreUnavailable } from '../store.ts';
import { storeError } from './database/errors.ts';

/** Pause before each check of a damaged database, during which all requests fail. */
const CHECKED_AGAIN_MS = 1_000;

/**
 * Whether a store can be used: once it is damaged, or its files were replaced, reads and writes are no longer reliable, so all of them fail.
 * A disk that fails to read (EIO) is reported by SQLite as a damaged database (SQLITE_IOERR_CORRUPTFS becomes SQLITE_CORRUPT), so the file
 * is checked again and again: if every page can be read and is valid, the store is used again.
 * @param isSound checks the whole file
 */
export function usabilityOf(path: string, isSound: () => Promise<boolean>) {
  let end: Error | undefined;
  const operations = new InFlight();
  const isDamaged = () => end instanceof StoreUnavailable && end.fault === 'damaged';
  const checkLater = () => {
    const check = async () => {
      // In the meantime its files were replaced.
      if (!isDamaged()) return;
      const isUsable = await isSound().catch(() => false);
      if (isUsable && isDamaged()) end = undefined;
      else checkLater();
    };
    setTimeout(() => void check(), CHECKED_AGAIN_MS).unref();
  };
  return {
    /** Makes every later operation fail with `error`; a later call replaces the error with a more precise one. */
    end: (error: Error) => {
      end = error;
    },
    /** Refuses further reads and writes, and resolves when those in progress have ended. */
    close: () => operations.close(),
    /** @throws StoreUnavailable instead of SQLite's own errors */
    guard: async <T>(use: () => T | Promise<T>): Promise<T> => {
      if (end !== undefined) throw end;
      try {
        return await operations.run(use);
      } catch (error) {
        const failure = storeError(path, error);
        const isFinal = failure instanceof StoreUnavailable && needsOperator(failure.fault);
        // Requests that began before the end fail with their own errors.
        if (isFinal && end === undefined) {
          end = failure;
          if (isDamaged()) checkLater();
        }
        throw failure;
      }
    },
  };
}
