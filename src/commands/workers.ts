import cluster, { type Worker } from 'node:cluster';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../http/deadline.ts';
import type { Log } from '../http/logging.ts';
import { StoreUnavailable } from '../store/store.ts';
import { CommandFailed } from './output.ts';
import { DATABASE_FILE, type Question, type ToPrimary, type ToWorker } from './worker-messages.ts';
import { type MetricsOfWorker, WorkerMetrics } from './worker-metrics.ts';

/** Before a worker that ended takes another one's place: one that cannot start does not keep a core busy. */
const RESTART_PAUSE_MS = 1_000;
/** For an answer of a worker; what it asks itself takes less. */
const ANSWER_WITHIN_MS = 1_500;
/** How often each worker is asked something, and after what time without an answer it is ended. */
const LOOK_EVERY_MS = 5_000;
const STUCK_AFTER_MS = 30_000;

interface Member {
  readonly worker: Worker;
  /** Resolves to its exit code when it has ended and its log has been read; null if a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Gets connections. */
  isServing: boolean;
  /** On the clock of performance.now(). */
  answeredAt: number;
  /** Questions that wait for its answer. */
  readonly asked: Map<number, PromiseWithResolvers<unknown>>;
}

/**
 * Processes that share the public port, each with its own list and connections. The primary, in which
 * this runs, brings their logs and metrics together, and starts another where one ends.
 */
export class Workers {
  readonly #log: Log;
  #databaseFile = '';
  readonly #members = new Set<Member>();
  readonly #metrics = new WorkerMetrics();
  #questions = 0;
  #isStopping = false;

  constructor(log: Log) {
    this.#log = log;
    // Otherwise connections that were handed to a worker which then dies stay open for ever.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    process.on('exit', () => {
      for (const { worker } of this.#members) worker.process.kill('SIGKILL');
    });
    setInterval(() => this.#endStuckOnes(), LOOK_EVERY_MS).unref();
  }

  /**
   * Starts the first worker; where it listens, when it does.
   * @param databaseFile that all of them must have
   * @throws CommandFailed when it ends before
   */
  start(databaseFile: string): Promise<AddressInfo> {
    this.#databaseFile = databaseFile;
    return this.#start();
  }

  /** Should it end after it has served, another takes its place. */
  async #start(): Promise<AddressInfo> {
    const worker = cluster.fork({ [DATABASE_FILE]: this.#databaseFile });
    const member = this.#follow(worker);
    const serving = new Promise<AddressInfo>((resolve) => {
      worker.on('message', (message: ToPrimary) => {
        if (message.type === 'answer') member.asked.get(message.id)?.resolve(message.answer);
        else member.isServing = message.type === 'serving';
        if (message.type === 'serving') resolve(message.address);
      });
    });
    const address = await Promise.race([serving, member.ended]);
    if (typeof address === 'number' || address === null) {
      throw new CommandFailed('a worker could not start; the reason is above');
    }
    const { pid } = worker.process;
    this.#log.logger.info({ worker: worker.id, pid, ...address }, 'a worker is serving');
    void member.ended.then(() => sleep(RESTART_PAUSE_MS)).then(() => this.keepStarting());
    return address;
  }

  /** Starts a worker, again and again until it serves. */
  async keepStarting(): Promise<void> {
    while (!this.#isStopping) {
      try {
        await this.#start();
        return;
      } catch {
        // The worker has said why.
        await sleep(RESTART_PAUSE_MS);
      }
    }
  }

  /** Why requests should not be sent to those that get connections; undefined if they should. */
  async whyNotReady(): Promise<string | undefined> {
    const members = this.#serving();
    if (members.length === 0) return 'no worker is serving';
    const reasons = await Promise.all(
      members.map((member) =>
        this.#ask(member, 'whyNotReady').catch((error: Error) => error.message),
      ),
    );
    return (reasons as (string | null)[]).find((reason) => reason !== null) ?? undefined;
  }

  setLogLevel(level: string): void {
    for (const { worker } of this.#members) tell(worker, { type: 'logLevel', level });
  }

  /** Of all workers together, those that have ended included. @throws StoreUnavailable if there are none */
  async metrics(): Promise<string> {
    const members = this.#serving();
    if (members.length === 0) throw new StoreUnavailable('no worker is serving', 'unreachable');
    await Promise.all(
      members.map(async (member) => {
        const answer = await this.#ask(member, 'metrics').catch(() => undefined);
        // One that does not answer counts with what it said last.
        if (answer !== undefined) this.#metrics.set(member.worker.id, answer as MetricsOfWorker);
      }),
    );
    return this.#metrics.text();
  }

  /** Lets each end in good order. @throws Error when one that has served did not */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const codes = await Promise.all(
      [...this.#members].map(async ({ worker, ended, isServing }) => {
        tell(worker, { type: 'stop' });
        const code = await ended;
        return isServing ? code : 0;
      }),
    );
    if (codes.some((code) => code !== 0)) throw new Error('a worker did not end in good order');
  }

  #follow(worker: Worker): Member {
    const child = worker.process;
    const ended = new Promise<number | null>((resolve) => {
      child.on('close', resolve);
      // It could not be started, or not be told something.
      worker.on('error', (error) => {
        this.#log.logger.error({ worker: worker.id, err: error }, 'a worker cannot be reached');
        child.kill('SIGKILL');
        if (child.pid === undefined) resolve(null);
      });
    });
    const answeredAt = performance.now();
    const member: Member = { worker, ended, isServing: false, answeredAt, asked: new Map() };
    this.#members.add(member);
    void ended.then((code) => {
      this.#members.delete(member);
      for (const { reject } of member.asked.values())
        reject(new StoreUnavailable('it has ended', 'unreachable'));
      this.#metrics.end(worker.id);
      if (this.#isStopping) return;
      const { signalCode: signal } = child;
      this.#log.logger.error({ worker: worker.id, code, signal }, 'a worker has ended');
    });
    this.#forwardLog(worker);
    return member;
  }

  #serving(): Member[] {
    return [...this.#members].filter(({ isServing }) => isServing);
  }

  /** @throws StoreUnavailable when it does not answer, or has ended */
  #ask(member: Member, question: Question): Promise<unknown> {
    const id = this.#questions++;
    const asked = Promise.withResolvers<unknown>();
    member.asked.set(id, asked);
    tell(member.worker, { type: 'ask', id, question });
    return within(ANSWER_WITHIN_MS, async () => {
      const answer = await asked.promise;
      member.answeredAt = performance.now();
      return answer;
    }).finally(() => member.asked.delete(id));
  }

  /** A worker that answers nothing any more gets connections all the same. */
  #endStuckOnes(): void {
    for (const member of this.#serving()) {
      this.#ask(member, 'whyNotReady').catch(() => {});
      if (performance.now() - member.answeredAt < STUCK_AFTER_MS) continue;
      this.#log.logger.error({ worker: member.worker.id }, 'a worker is stuck and is ended');
      member.worker.process.kill('SIGKILL');
    }
  }

  /** In whole lines, so that those of several workers do not mix. */
  #forwardLog(worker: Worker): void {
    let rest = '';
    worker.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const end = text.lastIndexOf('\n') + 1;
      if (end > 0) this.#log.write(rest + text.slice(0, end));
      rest = end > 0 ? text.slice(end) : rest + text;
    });
  }
}

function tell(worker: Worker, message: ToWorker): void {
  // Where it fails the worker has ended, or 'error' tells it.
  if (worker.isConnected()) worker.send(message, () => {});
}
