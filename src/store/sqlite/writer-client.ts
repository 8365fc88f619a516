import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
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

/** The main thread's side of the writer thread. The thread answers requests in order, so a queue suffices to match answers with callers. */
export class WriterClient {
  readonly #worker: Worker;
  readonly #pending: PromiseWithResolvers<Answer<unknown>>[] = [];
  /** True from the thread's first answer until `close`; only then is an exit of the thread unexpected. */
  #isOpen = false;

  private constructor(
    data: WriterData,
    onLoss: (error: Error) => void,
    onWaiting: OpenOptions['onWaiting'],
  ) {
    this.#worker = startThread('writer-thread', data);
    this.#worker.on('message', (message: WriterMessage) => {
      if ('loss' in message) onLoss(new StoreUnavailable(message.loss, 'replaced'));
      else if ('waiting' in message) onWaiting?.(message.waiting);
      else this.#pending.shift()?.resolve(message);
    });
    this.#worker.on('error', (error) => this.#fail(error as Error));
    this.#worker.on('exit', () => this.#fail(new Error('the writer thread has ended')));
  }

  /**
   * Starts the thread and waits until the database is open.
   * @param onLoss called if files of the database were deleted or replaced
   * @throws StoreNotUsable
   */
  static async start(
    path: string,
    { create, purpose, onMigrated, onWaiting, onLost, onWarning }: OpenOptions,
    onLoss: (error: Error) => void,
  ): Promise<WriterClient> {
    const lockWaitMs = purpose === 'service' ? LOCK_WAIT_MS : COMMAND_LOCK_WAIT_MS;
    const data = { path, create, lockWaitMs, mayMigrate: mayMigrate(purpose) };
    const writer = new WriterClient(data, onLoss, onWaiting);
    const opened = writer.#nextResult<Opened>();
    const { migrated, lost, problem } = await opened.catch(async (error) => {
      await writer.#worker.terminate();
      throw error;
    });
    writer.#isOpen = true;
    if (migrated !== undefined) onMigrated?.(migrated.from, migrated.to);
    if (lost !== undefined) onLost?.(lost);
    if (problem !== undefined) onWarning?.({ source: `${path}-ids`, message: problem });
    return writer;
  }

  /** See Store.apply. */
  apply(commands: readonly StoreCommand[]): Promise<OutcomeOf<StoreCommand>[]> {
    return this.#request({ commands });
  }

  /** Whether every page of the database can be read and is valid. @throws StoreUnavailable if that cannot be checked */
  isSound(): Promise<boolean> {
    return this.#request('check');
  }

  async #request<Result>(request: WriterRequest): Promise<Result> {
    if (!this.#isOpen) throw new StoreUnavailable('the store is closed', 'unreachable');
    const answered = this.#nextResult<Result>();
    this.#worker.postMessage(request);
    return answered;
  }

  /** Stops the thread after it has carried out all pending requests. */
  async close(): Promise<void> {
    this.#isOpen = false;
    const ended = once(this.#worker, 'exit');
    this.#worker.postMessage('close' satisfies WriterRequest);
    await ended;
  }

  async #nextResult<Result>(): Promise<Result> {
    const answer = Promise.withResolvers<Answer<unknown>>();
    this.#pending.push(answer);
    return resultOf(await answer.promise) as Result;
  }

  /**
   * Rejects pending requests. If the thread was not being closed, rethrows the error uncaught, which ends the
   * process: it cannot continue without a writer.
   */
  #fail(error: Error): void {
    const reason = new StoreUnavailable(error.message, 'failed', { cause: error });
    for (const { reject } of this.#pending.splice(0)) reject(reason);
    const isUnexpected = this.#isOpen;
    this.#isOpen = false;
    if (isUnexpected) throw error;
  }
}
