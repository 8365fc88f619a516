import { type Fault, StoreNotUsable, StoreUnavailable } from '../store.ts';

/** An error as sent between threads; structured cloning does not preserve the class of an Error. */
export interface Failure {
  readonly failure: 'not_usable' | 'unavailable' | 'bug';
  readonly message: string;
  /** Present if `failure` is "unavailable". */
  readonly fault?: Fault;
}

export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof StoreNotUsable) return { failure: 'not_usable', message };
  if (error instanceof StoreUnavailable) {
    return { failure: 'unavailable', message, fault: error.fault };
  }
  return { failure: 'bug', message: error instanceof Error ? (error.stack ?? message) : message };
}

/** Returns the error that `failureOf` has made a failure of. */
export function errorOf({ failure, message, fault }: Failure): Error {
  if (failure === 'not_usable') return new StoreNotUsable(message);
  if (failure === 'unavailable') return new StoreUnavailable(message, fault ?? 'failed');
  return new Error(`a thread failed: ${message}`);
}
