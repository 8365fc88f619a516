import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { AggregatorRegistry } from '@prometheus-io/client';
import { within } from '../http/deadline.ts';
import type { Log } from '../http/logging.ts';
import { CommandFailed } from './output.ts';
import type { Question, ToPrimary, ToWorker } from './worker-messages.ts';

/** Before a worker that ended takes another one's place: one that cannot start does not keep a core busy. */
const RESTART_PAUSE_MS = 1_000;
/** For an answer of a worker; what it asks itself takes less. */
const ANSWER_WITHIN_MS = 2_000;

/**
 * Processes that share the public port, each with its own list and connections. The primary, in which
 * this runs, hands them connections, brings their logs together, and starts another where one ends.
 */
export class Workers {
  readonly #log: Log;
  readonly #serving = new Set<Worker>();
  readonly #asked = new Map<number, (answer: unknown) => void>();
  #questions = 0;
  #isStopping = false;

  constructor(log: Log) {
    this.#log = log;
    cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    process.on('exit', () => {
      for (const { process: child } of all()) child.kill('SIGKILL');
    });
  }

  /**
   * Starts a worker; where it listens, when it does. Should it end after that, another takes its place.
   * @throws CommandFailed when it ends before
   */
  start(): Promise<AddressInfo> {
    const worker = cluster.fork();
    this.#forwardLog(worker);
    return new Promise((resolve, reject) => {
      worker.on('message', (message: ToPrimary) => {
        if (message.type === 'answer') this.#asked.get(message.id)?.(message.answer);
        else {
          this.#serving.add(worker);
          const { pid } = worker.process;
          this.#log.logger.info({ worker: worker.id, pid }, 'a worker is serving');
          resolve(message.address);
        }
      });
      worker.on('exit', (code, signal) => {
        const hasServed = this.#serving.delete(worker);
        if (!this.#isStopping) {
          this.#log.logger.error({ worker: worker.id, code, signal }, 'a worker has ended');
          if (hasServed) void sleep(RESTART_PAUSE_MS).then(() => this.keepStarting());
        }
        reject(new CommandFailed('a worker could not start; the reason is above'));
      });
    });
  }

  /** Starts a worker, again and again until it serves. */
  async keepStarting(): Promise<void> {
    while (!this.#isStopping) {
      try {
        await this.start();
        return;
      } catch {
        // The worker has said why.
        await sleep(RESTART_PAUSE_MS);
      }
    }
  }

  /** Whether those that get connections are ready, and there are any. */
  async areReady(): Promise<boolean> {
    const answers = await this.#askAll('isReady').catch(() => []);
    return answers.length > 0 && answers.every((isReady) => isReady === true);
  }

  /** Of all workers together. @throws StoreUnavailable when one does not answer */
  async metrics(): Promise<string> {
    const answers = (await this.#askAll('metrics')) as object[];
    return AggregatorRegistry.aggregate(answers).metrics();
  }

  /** Lets each end in good order. @throws Error when one did not */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const codes = await Promise.all(
      all().map(async (worker) => {
        const ended = once(worker, 'exit');
        tell(worker, { type: 'stop' });
        const [code] = await ended;
        return code;
      }),
    );
    if (codes.some((code) => code !== 0)) throw new Error('a worker did not end in good order');
  }

  #askAll(question: Question): Promise<unknown[]> {
    return Promise.all([...this.#serving].map((worker) => this.#ask(worker, question)));
  }

  #ask(worker: Worker, question: Question): Promise<unknown> {
    const id = this.#questions++;
    const answered = new Promise((resolve) => this.#asked.set(id, resolve));
    tell(worker, { type: 'ask', id, question });
    return within(ANSWER_WITHIN_MS, () => answered).finally(() => this.#asked.delete(id));
  }

  /** In whole lines, so that those of several workers do not mix. */
  #forwardLog(worker: Worker): void {
    let rest = '';
    worker.process.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const end = text.lastIndexOf('\n') + 1;
      if (end > 0) this.#log.write(rest + text.slice(0, end));
      rest = end > 0 ? text.slice(end) : rest + text;
    });
  }
}

function all(): Worker[] {
  return Object.values(cluster.workers ?? {}) as Worker[];
}

function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message);
}
