import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { startThread } from '../../assets.ts';
import type { OutcomeOf, StoreCommand } from '../commands.ts';
import type { OpenOptions } from '../open-options.ts';
import { StoreUnavailable } from '../store.ts';
import { errorOf, type Failure } from './database/errors.ts';
import type {
  Loss,
  Progress,
  Ready,
  WriterAnswer,
  WriterData,
  WriterRequest,
} from './writer-thread.ts';

interface Pending {
  readonly resolve: (answer: WriterAnswer) => void;
  readonly reject: (reason: unknown) => void;
}

interface WriterListeners {
  /** Called if files of the database were deleted or replaced. */
  readonly onLoss: (error: Error) => void;
  readonly onWaiting: OpenOptions['onWaiting'];
}

/** The main thread's side of the writer thread. The thread answers requests in order, so a queue suffices to match answers with callers. */
export class WriterClient {
  readonly #worker: Worker;
  readonly #pending: Pending[] = [];
  /** True from the thread's first answer until `close`; only then is an exit of the thread unexpected. */
  #isOpen = false;

  private constructor(data: WriterData, { onLoss, onWaiting }: WriterListeners) {
    this.#worker = startThread('writer-thread', data);
    this.#worker.on('message', (message: WriterAnswer | Loss | Progress) => {
      if ('loss' in message) onLoss(errorOf(message.loss));
      else if ('waiting' in message) onWaiting?.(message.waiting);
      else this.#pending.shift()?.resolve(message);
    });
    this.#worker.on('error', (error) => this.#fail(error as Error));
    this.#worker.on('exit', () => this.#fail(new Error('the writer thread has ended')));
  }

  /**
   * Starts the thread and waits until the database is open.
   * @throws StoreNotUsable
   */
  static async start(
    data: WriterData,
    listeners: WriterListeners,
  ): Promise<{ writer: WriterClient } & Pick<Ready, 'migrated' | 'lost' | 'problem'>> {
    const writer = new WriterClient(data, listeners);
    const answer = await writer.#nextAnswer();
    if (!('ready' in answer)) {
      await writer.#worker.terminate();
      throw errorOf(answer as Failure);
    }
    writer.#isOpen = true;
    const { migrated, lost, problem } = answer;
    return { writer, migrated, lost, problem };
  }

  /** See Store.apply. */
  async apply(commands: readonly StoreCommand[]): Promise<OutcomeOf<StoreCommand>[]> {
    const answer = await this.#request({ commands });
    if (!('outcomes' in answer)) throw errorOf(answer as Failure);
    return answer.outcomes;
  }

  /** Whether every page of the database can be read and is valid. @throws StoreUnavailable if that cannot be checked */
  async isSound(): Promise<boolean> {
    const answer = await this.#request('check');
    if (!('isSound' in answer)) throw errorOf(answer as Failure);
    return answer.isSound;
  }

  #request(request: WriterRequest): Promise<WriterAnswer> {
    if (!this.#isOpen) throw new StoreUnavailable('the store is closed', 'unreachable');
    const answered = this.#nextAnswer();
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

  #nextAnswer(): Promise<WriterAnswer> {
    return new Promise((resolve, reject) => this.#pending.push({ resolve, reject }));
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
