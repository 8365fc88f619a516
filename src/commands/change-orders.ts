import { MAX_BATCH, nameOf } from '../orders/batch.ts';
import type { OrderCommand } from '../orders/lifecycle.ts';
import { parseInt64 } from '../orders/order.ts';
import { actionOf } from '../store/audit.ts';
import { type DatabaseFlags, withStore } from './database.ts';
import { applyRecorded, namesOf } from './recorded.ts';
import { CommandFailed, UsageError, writeErr, writeJson, writeOut } from './terminal/output.ts';

type OutcomeName = ReturnType<typeof nameOf>;

/** Messages of a command that changes orders. */
export interface ChangeWords {
  /** Name of the command. */
  readonly command: string;
  /** Outcome of a changed order, and its message. */
  readonly done: OutcomeName;
  /** Message for an order that was already in the target state, which is not a failure. */
  readonly wasSo: string;
  /** Messages of failures, by outcome. */
  readonly reasons: Readonly<Partial<Record<OutcomeName, string>>>;
  /** Summary of the failures; follows "3 of 5 ". */
  readonly failed: string;
}

export interface ChangeFlags extends DatabaseFlags {
  readonly json?: true;
}

/**
 * Applies the commands in one transaction and reports the outcome of each. A command that fails does not prevent the
 * others.
 * @throws CommandFailed if any order was not changed
 */
export async function changeOrders(
  commands: readonly Exclude<OrderCommand, { type: 'insertOrder' }>[],
  flags: ChangeFlags,
  words: ChangeWords,
): Promise<void> {
  if (commands.length > MAX_BATCH) {
    throw new UsageError(`at most ${MAX_BATCH} orders at a time, not ${commands.length}`);
  }
  const action = actionOf(words.command, namesOf(commands.map(({ id }) => id)));
  const outcomes = await withStore(flags, 'write', (store) =>
    applyRecorded(store, action, commands),
  );
  const results = commands.map(({ id }, index) => ({ id, outcome: nameOf(outcomes[index]!) }));
  const failed = results.filter(({ outcome }) => words.reasons[outcome] !== undefined);
  if (flags.json) await writeJson(results);
  else {
    for (const { id, outcome } of results) {
      if (outcome === words.done) await writeOut(`${id} ${words.done}\n`);
      else writeErr(`${id} ${words.reasons[outcome] ?? words.wasSo}`);
    }
  }
  if (failed.length > 0) {
    throw new CommandFailed(`${failed.length} of ${commands.length} ${words.failed}`);
  }
}

/** Parses an order id. @throws UsageError */
export function orderIdArgument(text: string): bigint {
  const id = parseInt64(text);
  if (id === undefined) {
    throw new UsageError(`an order id must be an int64 in plain decimal digits, not "${text}"`);
  }
  return id;
}
