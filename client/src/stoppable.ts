import { abortSignal, plainObject } from './arguments.ts';
import { whenAborted } from './call.ts';
import type { CallOptions } from './settings.ts';

/** Options with the signal of a stoppable generator. */
export interface Stoppable {
  readonly signal: AbortSignal;
}

/**
 * Returns an async generator whose `return` takes effect immediately, even while `next` is pending.
 * @param options if their signal is aborted, the generator ends too, and `next` rejects with the signal's reason
 * @param start creates the generator, which must respect the signal of the options that it gets
 * @throws TypeError if `options` is not an object, or its signal is not an AbortSignal
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
  let release: (() => void) | undefined;
  /** Resolves the calls of `next` that wait. */
  const waiting = new Set<(result: IteratorResult<T, void>) => void>();
  let isEnded = false;

  generator.next = () => {
    if (isEnded) return Promise.resolve({ done: true, value: undefined });
    // Started at the first `next`, so that an unused generator holds no resources.
    release ??= whenAborted(outer, () => controller.abort(outer?.reason));
    return new Promise((resolve, reject) => {
      waiting.add(resolve);
      next()
        .then(
          (result) => {
            if (result.done) release?.();
            resolve(result);
          },
          (error) => {
            release?.();
            reject(error);
          },
        )
        .finally(() => waiting.delete(resolve));
    });
  };
  generator.return = async () => {
    isEnded = true;
    release?.();
    for (const resolve of waiting) resolve({ done: true, value: undefined });
    controller.abort();
    // This takes no time, since the generator respects the signal. Only a replica's store completes its current step.
    await finish().catch(() => {});
    return { done: true, value: undefined };
  };
  generator.throw = async (error) => {
    await generator.return();
    throw error;
  };
  return generator;
}
