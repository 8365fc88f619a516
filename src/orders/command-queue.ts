/** Most commands in one transaction: bounds how long one commit keeps the others waiting. */
const MAX_BATCH = 1_000;
/** Most commands waiting for their turn; beyond it new ones are turned away at once. */
const MAX_WAITING = 20_000;
/** From being queued to being answered. A caller that waited this long is told that nobody knows. */
const ANSWER_WITHIN_MS = 2_000;

/** Thrown to a caller whose command was not carried out, or of which that is not known. */
export class CommandNotConfirmed extends Error {
  override readonly name = 'CommandNotConfirmed';
}

interface Waiting<Command, Outcome> {
  readonly command: Command;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (reason: unknown) => void;
}

interface Batch<Command, Outcome> {
  readonly entries: Waiting<Command, Outcome>[];
  readonly timer: NodeJS.Timeout;
}

/**
 * Group commit: while one batch commits, the next one gathers, so that throughput grows with load
 * and at most one transaction is under way. Commands keep their order.
 */
export class CommandQueue<Command, Outcome> {
  readonly #apply: (commands: readonly Command[]) => Promise<readonly Outcome[]>;
  readonly #onBatch: (size: number) => void;
  readonly #waiting: Batch<Command, Outcome>[] = [];
  #waitingCommands = 0;
  #committing = false;

  /** @param onBatch is told the size of every batch that is handed to `apply`. */
  constructor(
    apply: (commands: readonly Command[]) => Promise<readonly Outcome[]>,
    onBatch: (size: number) => void = () => {},
  ) {
    this.#apply = apply;
    this.#onBatch = onBatch;
  }

  /**
   * The outcome of `command`, once the transaction it went into is durable.
   * @throws CommandNotConfirmed when the queue is full or time is up; whatever `apply` throws.
   */
  submit(command: Command): Promise<Outcome> {
    if (this.#waitingCommands >= MAX_WAITING) {
      return Promise.reject(new CommandNotConfirmed('too many commands are waiting'));
    }
    return new Promise((resolve, reject) => {
      this.#gatheringBatch().entries.push({ command, resolve, reject });
      this.#waitingCommands += 1;
      if (!this.#committing) void this.#commitAll();
    });
  }

  #gatheringBatch(): Batch<Command, Outcome> {
    const last = this.#waiting.at(-1);
    if (last !== undefined && last.entries.length < MAX_BATCH) return last;
    const batch: Batch<Command, Outcome> = {
      entries: [],
      timer: setTimeout(() => this.#giveUp(batch), ANSWER_WITHIN_MS),
    };
    this.#waiting.push(batch);
    return batch;
  }

  async #commitAll(): Promise<void> {
    this.#committing = true;
    // One turn of the microtask queue, so that commands submitted together commit together.
    await null;
    for (let batch = this.#waiting.shift(); batch !== undefined; batch = this.#waiting.shift()) {
      this.#waitingCommands -= batch.entries.length;
      await this.#commit(batch);
    }
    this.#committing = false;
  }

  async #commit({ entries, timer }: Batch<Command, Outcome>): Promise<void> {
    this.#onBatch(entries.length);
    try {
      const outcomes = await this.#apply(entries.map((entry) => entry.command));
      for (const [index, entry] of entries.entries()) entry.resolve(outcomes[index] as Outcome);
    } catch (error) {
      for (const entry of entries) entry.reject(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Its callers are answered now. If it is not under way yet it never will be. */
  #giveUp(batch: Batch<Command, Outcome>): void {
    const index = this.#waiting.indexOf(batch);
    if (index !== -1) {
      this.#waiting.splice(index, 1);
      this.#waitingCommands -= batch.entries.length;
    }
    const reason = index === -1 ? 'the store has not confirmed in time' : 'the store is too slow';
    for (const entry of batch.entries) entry.reject(new CommandNotConfirmed(reason));
  }
}
