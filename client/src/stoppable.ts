import { abortSignal } from './arguments.ts';

/**
 * An async generator whose `return` takes effect at once, also while `next` waits.
 * @param outer ends it too: `next` then rejects with the signal's reason
 * @param start makes the generator, which must heed the signal that it gets
 */
export function stoppable<T>(
  outer: AbortSignal | undefined,
  start: (signal: AbortSignal) => AsyncGenerator<T, void>,
): AsyncGenerator<T, void> {
  abortSignal(outer);
  const controller = new AbortController();
  const generator = start(controller.signal);
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
