import { once } from 'node:events';
import { startThread } from '../../assets.ts';
import type { OutcomeOf, StoreCommand } from '../commands.ts';
import { mayMigrate, type OpenOptions } from '../open-options.ts';
import { StoreUnavailable } from '../store.ts';
import { type Answer, resultOf } from './database/errors.ts';
import type { Opened, WriterData, WriterMessage, WriterRequest } from './writer-thread.ts';

/**
 * How long a batch of commands waits for another process's write lock. It may first wait for the batch before it, so a client waits up to twice
 * as long, well below a second.
 */
const LOCK_WAIT_MS = 300;
const COMMAND_LOCK_WAIT_MS = 10_000;

/**
 * Starts the writer thread, and waits until the database is open. The thread answers requests in order, so a queue suffices to match answers with
 * callers.
 * @param onLoss called if files of the database were deleted or replaced
 * @throws StoreNotUsable
 */
export async function startWriter(
  path: string,
  { create, purpose, onMigrated, onWaiting, onLost, onWarning }: OpenOptions,
  onLoss: (error: Error) => void,
) {
  const pending: PromiseWithResolvers<Answer<unknown>>[] = [];
  /** True from the thread's first answer until `close`; only then is an exit of the thread unexpected. */
  let isOpen = false;
  /**
   * Rejects pending requests. If the thread was not being closed, rethrows the error uncaught, which ends the
   * process: it cannot continue without a writer.
   */
  const fail = (error: Error) => {
    const reason = new StoreUnavailable(error.message, 'failed', { cause: error });
    for (const { reject } of pending.splice(0)) reject(reason);
    const isUnexpected = isOpen;
    isOpen = false;
    if (isUnexpected) throw error;
  };
  const lockWaitMs = purpose === 'service' ? LOCK_WAIT_MS : COMMAND_LOCK_WAIT_MS;
  const data: WriterData = { path, create, lockWaitMs, mayMigrate: mayMigrate(purpose) };
  const worker = startThread('writer-thread', data);
  worker.on('message', (message: WriterMessage) => {
    if ('loss' in message) onLoss(new StoreUnavailable(message.loss, 'replaced'));
    else if ('waiting' in message) onWaiting?.(message.waiting);
    else pending.shift()?.resolve(message);
  });
  worker.on('error', (error) => fail(error as Error));
  worker.on('exit', () => fail(new Error('the writer thread has ended')));
  const nextResult = async <Result>(): Promise<Result> => {
    const answer = Promise.withResolvers<Answer<unknown>>();
    pending.push(answer);
    return resultOf(await answer.promise) as Result;
  };
  const request = async <Result>(message: WriterRequest): Promise<Result> => {
    if (!isOpen) throw new StoreUnavailable('the store is closed', 'unreachable');
    const answered = nextResult<Result>();
    worker.postMessage(message);
    return answered;
  };
  const { migrated, lost, problem } = await nextResult<Opened>().catch(async (error) => {
    await worker.terminate();
    throw error;
  });
  isOpen = true;
  if (migrated !== undefined) onMigrated?.(migrated.from, migrated.to);
  if (lost !== undefined) onLost?.(lost);
  if (problem !== undefined) onWarning?.({ source: `${path}-ids`, message: problem });
  return {
    /** See Store.apply. */
    apply: (commands: readonly StoreCommand[]) => request<OutcomeOf<StoreCommand>[]>({ commands }),
    /** Whether every page of the database can be read and is valid. @throws StoreUnavailable if that cannot be checked */
    isSound: () => request<boolean>('check'),
    /** Stops the thread after it has carried out all pending requests. */
    close: async () => {
      isOpen = false;
      const ended = once(worker, 'exit');
      worker.postMessage('close' satisfies WriterRequest);
      await ended;
    },
  };
}
