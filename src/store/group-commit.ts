import { setImmediate as nextTurn } from 'node:timers/promises';
import { MAX_BATCH } from '../domain/batch.ts';

/** Maximum number of batches that wait for a commit; further commands are rejected immediately. */
const MAX_WAITING_BATCHES = 5;
/**
 * How long the next batch gathers after a commit, in turns of the event loop, and in time if turns are long. Without it, callers would split
 * into two groups whose commits alternate. A single caller at a time does not wait: if a batch of one command is followed by a turn without
 * another, the next command is committed at once.
 */
const GATHERING_TURNS = 3;
const GATHERING_MS = 1;
/**
 * How long a batch may take from its first command on; then its callers get NotConfirmed. A little less than ANSWER_WITHIN_MS, so that new
 * requests need no limit of their own.
 */
export const GIVE_UP_AFTER_MS = 1_750;

/** Thrown if a command was not carried out, or its result is unknown. */
export class NotConfirmed extends Error {
  override readonly name = 'CommandNotConfirmed';
}

interface Gathering<Command, Outcome> {
  readonly commands: Command[];
  /** The sum of their sizes. */
  size: number;
  readonly answer: PromiseWithResolvers<readonly Outcome[]>;
  readonly timer: NodeJS.Timeout;
}

/**
 * Group commit: while one batch is committed, the next one gathers. So throughput grows with load, and at most one transaction is active.
 * Commands keep their order. Lookups can be gathered in the same way.
 */
export class GroupCommit<Command, Outcome> {
  readonly #apply: (commands: readonly Command[]) => Promise<readonly Outcome[]>;
  readonly #onBatch: (size: number, ms: number) => void;
  readonly #sizeOf: (command: Command) => number;
  /** The batches that wait, oldest first; only the last one takes further commands. */
  readonly #waiting: Gathering<Command, Outcome>[] = [];
  #isCommitting = false;
  /** Whether the last batch had one command, and none has waited until the turn after it. */
  #isSingleCaller = false;
  /** Commands of the batch that is committed. */
  #committing = 0;

  /**
   * @param onBatch called with the number of commands of each batch, and the time `apply` took
   * @param sizeOf how many changes a command makes at most, up to MAX_BATCH; 1 by default
   */
  constructor(
    apply: (commands: readonly Command[]) => Promise<readonly Outcome[]>,
    onBatch: (size: number, ms: number) => void = () => {},
    sizeOf: (command: Command) => number = () => 1,
  ) {
    this.#apply = apply;
    this.#onBatch = onBatch;
    this.#sizeOf = sizeOf;
  }

  /** Commands that are not answered yet. */
  get pending(): number {
    return this.#waiting.reduce((sum, { commands }) => sum + commands.length, this.#committing);
  }

  /**
   * Submits a command and resolves to its outcome once its batch is committed.
   * @throws NotConfirmed after GIVE_UP_AFTER_MS, or if too many commands wait; also whatever `apply` throws
   */
  async submit(command: Command): Promise<Outcome> {
    const size = this.#sizeOf(command);
    const gathering = this.#gathering(size);
    const { commands, answer } = gathering;
    gathering.size += size;
    const index = commands.push(command) - 1;
    if (!this.#isCommitting) void this.#commitAll();
    const outcomes = await answer.promise;
    return outcomes[index] as Outcome;
  }

  /** Returns the batch that takes the next command. @throws NotConfirmed */
  #gathering(size: number): Gathering<Command, Outcome> {
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.size + size <= MAX_BATCH) return last;
    if (this.#waiting.length >= MAX_WAITING_BATCHES) {
      throw new NotConfirmed('too many commands are waiting');
    }
    const batch: Gathering<Command, Outcome> = {
      commands: [],
      size: 0,
      answer: Promise.withResolvers(),
      timer: setTimeout(() => this.#giveUp(batch), GIVE_UP_AFTER_MS),
    };
    this.#waiting.push(batch);
    return batch;
  }

  async #commitAll(): Promise<void> {
    this.#isCommitting = true;
    // Commands submitted in the same turn of the event loop are committed together.
    if (!this.#isSingleCaller) await nextTurn();
    for (let batch = this.#waiting.shift(); batch !== undefined; batch = this.#waiting.shift()) {
      await this.#commit(batch);
      const until = performance.now() + GATHERING_MS;
      // Without it, commits that take no turn would not be seen to have several callers.
      await nextTurn();
      this.#isSingleCaller = batch.commands.length === 1 && this.#waiting.length === 0;
      if (this.#isSingleCaller) break;
      for (let turn = 1; turn < GATHERING_TURNS && performance.now() < until; turn += 1) {
        await nextTurn();
      }
    }
    this.#isCommitting = false;
  }

  async #commit({ commands, answer, timer }: Gathering<Command, Outcome>): Promise<void> {
    this.#committing = commands.length;
    try {
      const from = performance.now();
      answer.resolve(await this.#apply(commands));
      this.#onBatch(commands.length, performance.now() - from);
    } catch (error) {
      answer.reject(error);
    } finally {
      this.#committing = 0;
      clearTimeout(timer);
    }
  }

  /** Rejects the callers of a batch. If its commit has not started, the batch is discarded. */
  #giveUp(batch: Gathering<Command, Outcome>): void {
    const at = this.#waiting.indexOf(batch);
    const isWaiting = at !== -1;
    if (isWaiting) this.#waiting.splice(at, 1);
    const reason = isWaiting ? 'the store is too slow' : 'the store has not confirmed in time';
    batch.answer.reject(new NotConfirmed(reason));
  }
}
