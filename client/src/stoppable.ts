import { abortSignal, plainObject } from './arguments.ts';
import type { CallOptions } from './settings.ts';

/** Options with the signal of a stoppable generator. */
export interface Stoppable {
  readonly signal: AbortSignal;
}

/**
 * An async generator whose `return` takes effect at once, also while `next` waits.
 * @param options their signal ends it too: `next` then rejects with the signal's reason
 * @param start makes the generator, which must heed the signal of the options that it gets
 * @throws TypeError for options that are no object, or a signal that is none
 */
export function stoppable<T, Options extends Pick<CallOptions, 'signal'>>(
  options: Options,
  start: (options: Options & Stoppable) => AsyncGenerator<T, void>,
): AsyncGenerator<T, void> {
  plainObject(options, 'the options of a call');
  const outer = abortSignal(options.signal);
  const controller = new AbortController();
  const generator = start({ ...options, signal: controller.signal });
  const next = generator.next.bind(generator);
  const finish = generator.return.bind(generator);
  const abort = () => controller.abort(outer?.reason);
  const end = () => outer?.removeEventListener('abort', abort);
  /** Resolves the calls of `next` that wait. */
  const waiting = new Set<(result: IteratorResult<T, void>) => void>();
  let isStarted = false;
  let isEnded = false;

  generator.next = () => {
    if (isEnded) return Promise.resolve({ done: true, value: undefined });
    // Not before, so that a generator that is never used holds nothing.
    if (!isStarted) {
      isStarted = true;
      if (outer?.aborted) abort();
      outer?.addEventListener('abort', abort, { once: true });
    }
    return new Promise((resolve, reject) => {
      waiting.add(resolve);
      next()
        .then(
          (result) => {
            if (result.done) end();
            resolve(result);
          },
          (error) => {
            end();
            reject(error);
          },
        )
        .finally(() => waiting.delete(resolve));
    });
  };
  generator.return = async () => {
    isEnded = true;
    end();
    for (const resolve of waiting) resolve({ done: true, value: undefined });
    controller.abort();
    // At once, since the generator heeds the signal; but a replica's store ends the step that it is writing.
    await finish().catch(() => {});
    return { done: true, value: undefined };
  };
  generator.throw = async (error) => {
    await generator.return();
    throw error;
  };
  return generator;
}
