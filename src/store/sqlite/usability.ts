import { InFlight } from '../in-flight.ts';
import { needsOperator, StoreUnavailable } from '../store.ts';
import { storeError } from './database/errors.ts';

/** Pause before each check of a damaged database, during which all requests fail. */
const CHECKED_AGAIN_MS = 1_000;

/**
 * Whether a store can be used: once it is damaged, or its files were replaced, reads and writes are no longer reliable, so all of them fail.
 * A disk that fails to read (EIO) is reported by SQLite as a damaged database (SQLITE_IOERR_CORRUPTFS becomes SQLITE_CORRUPT), so the file
 * is checked again and again: if every page can be read and is valid, the store is used again.
 */
export class Usability {
  readonly path: string;
  readonly #isSound: () => Promise<boolean>;
  #end: Error | undefined;
  readonly #operations = new InFlight();

  /** @param isSound checks the whole file */
  constructor(path: string, isSound: () => Promise<boolean>) {
    this.path = path;
    this.#isSound = isSound;
  }

  /** Makes every later operation fail with `error`; a later call replaces the error with a more precise one. */
  end(error: Error): void {
    this.#end = error;
  }

  /** Refuses further reads and writes, and resolves when those in progress have ended. */
  close(): Promise<void> {
    return this.#operations.close();
  }

  /** @throws StoreUnavailable instead of SQLite's own errors */
  async guard<T>(use: () => T | Promise<T>): Promise<T> {
    if (this.#end !== undefined) throw this.#end;
    try {
      return await this.#operations.run(use);
    } catch (error) {
      const failure = storeError(this.path, error);
      if (failure instanceof StoreUnavailable && needsOperator(failure.fault)) this.#fail(failure);
      throw failure;
    }
  }

  #fail(failure: StoreUnavailable): void {
    // Requests that began before the end fail with their own errors.
    if (this.#end !== undefined) return;
    this.end(failure);
    if (failure.fault === 'damaged') this.#checkLater();
  }

  #checkLater(): void {
    const check = async () => {
      // In the meantime its files were replaced.
      if (!isDamage(this.#end)) return;
      const isSound = await this.#isSound().catch(() => false);
      if (isSound && isDamage(this.#end)) this.#end = undefined;
      else this.#checkLater();
    };
    setTimeout(() => void check(), CHECKED_AGAIN_MS).unref();
  }
}

function isDamage(error: Error | undefined): boolean {
  return error instanceof StoreUnavailable && error.fault === 'damaged';
}
