import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Most commands that gather for one transaction; beyond it new ones are turned away at once. Bounds
 * memory, and how long one commit keeps the next one waiting (some 10 µs a command).
 */
const MAX_BATCH = 10_000;
/**
 * After a commit the next one waits for its callers to come back, so that one batch holds them all and they
 * do not fall into two that take turns: a few turns of the event loop, unless those are long ones.
 */
const GATHERING_TURNS = 3;
const GATHERING_MS = 1;
/** From a batch's first command on. Callers that still wait then are told that nobody knows. */
const GIVE_UP_AFTER_MS = 2_000;

/** Thrown to a caller whose command was not carried out, or of which that is not known. */
export class NotConfirmed extends Error {
  override readonly name = 'CommandNotConfirmed';
}

interface Batch<Command, Outcome> {
  readonly commands: Command[];
  readonly answer: PromiseWithResolvers<readonly Outcome[]>;
  readonly timer: NodeJS.Timeout;
}

/**
 * Group commit: while one batch commits, the next one gathers, so that throughput grows with load
 * and at most one transaction is under way. Commands keep their order. What is only looked up can
 * gather in the same way.
 */
export class Batcher<Command, Outcome> {
  readonly #apply: (commands: readonly Command[]) => Promise<readonly Outcome[]>;
  readonly #onBatch: (size: number, ms: number) => void;
  /** The batch that gathers, if there is one. */
  #gathering: Batch<Command, Outcome> | undefined;
  #isCommitting = false;

  /** @param onBatch is told the size of every batch, and how long `apply` took to carry it out. */
  constructor(
    apply: (commands: readonly Command[]) => Promise<readonly Outcome[]>,
    onBatch: (size: number, ms: number) => void = () => {},
  ) {
    this.#apply = apply;
    this.#onBatch = onBatch;
  }

  /**
   * The outcome of a command, once its batch is committed.
   * @throws NotConfirmed when time is up or the queue is full; whatever `apply` throws
   */
  async submit(command: Command): Promise<Outcome> {
    const { commands, answer } = this.#gathering ?? this.#startGathering();
    if (commands.length >= MAX_BATCH) {
      throw new NotConfirmed('too many commands are waiting');
    }
    const index = commands.push(command) - 1;
    if (!this.#isCommitting) void this.#commitAll();
    const outcomes = await answer.promise;
    return outcomes[index] as Outcome;
  }

  #startGathering(): Batch<Command, Outcome> {
    const batch: Batch<Command, Outcome> = {
      commands: [],
      answer: Promise.withResolvers(),
      timer: setTimeout(() => this.#giveUp(batch), GIVE_UP_AFTER_MS),
    };
    this.#gathering = batch;
    return batch;
  }

  async #commitAll(): Promise<void> {
    this.#isCommitting = true;
    // Commands submitted in one turn of the event loop commit together.
    await nextTurn();
    for (let batch = this.#gathering; batch !== undefined; batch = this.#gathering) {
      this.#gathering = undefined;
      await this.#commit(batch);
      const until = performance.now() + GATHERING_MS;
      for (let turn = 0; turn < GATHERING_TURNS && performance.now() < until; turn += 1) {
        await nextTurn();
      }
    }
    this.#isCommitting = false;
  }

  async #commit({ commands, answer, timer }: Batch<Command, Outcome>): Promise<void> {
    try {
      const from = performance.now();
      answer.resolve(await this.#apply(commands));
      this.#onBatch(commands.length, performance.now() - from);
    } catch (error) {
      answer.reject(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Its callers are answered now. If it is not under way yet it never will be. */
  #giveUp(batch: Batch<Command, Outcome>): void {
    const isWaiting = this.#gathering === batch;
    if (isWaiting) this.#gathering = undefined;
    const reason = isWaiting ? 'the store is too slow' : 'the store has not confirmed in time';
    batch.answer.reject(new NotConfirmed(reason));
  }
}
