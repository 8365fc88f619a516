import type { OrderCommand, OrderOutcome } from '../orders/lifecycle.ts';
import { parseInt64 } from '../orders/order.ts';
import { type DatabaseFlags, withStore } from './database.ts';
import { CommandFailed, say, toJson, UsageError, writeOut } from './terminal/output.ts';

/** What a command says of the orders it is about. */
export interface ChangeWords {
  /** The outcome of one that is changed, and what is said of it. */
  readonly done: OrderOutcome;
  /** What is said of one that was so before, which is no failure. */
  readonly wasSo: string;
  /** Why others are not. */
  readonly reasons: Readonly<Partial<Record<OrderOutcome, string>>>;
  /** Of how many: "3 of 5 …". */
  readonly failed: string;
}

export interface ChangeFlags extends DatabaseFlags {
  readonly json?: true;
}

/** One transaction: what can be changed is, and each of the others is named with its reason. */
export async function changeOrders(
  commands: readonly Exclude<OrderCommand, { type: 'place' }>[],
  flags: ChangeFlags,
  words: ChangeWords,
): Promise<void> {
  const outcomes = await withStore(flags, 'write', (store) => store.apply(commands));
  const results = commands.map(({ id }, index) => ({ id, outcome: outcomes[index]! }));
  const failed = results.filter(({ outcome }) => words.reasons[outcome] !== undefined);
  if (flags.json) await writeOut(`${toJson(results)}\n`);
  else {
    for (const { id, outcome } of results) {
      if (outcome === words.done) await writeOut(`${id} ${words.done}\n`);
      else say(`${id} ${words.reasons[outcome] ?? words.wasSo}`);
    }
  }
  if (failed.length > 0) {
    throw new CommandFailed(`${failed.length} of ${commands.length} ${words.failed}`);
  }
}

/** @throws UsageError */
export function orderIdArgument(text: string): bigint {
  const id = parseInt64(text);
  if (id === undefined) {
    throw new UsageError(`an order id is an int64 in plain decimal digits, not "${text}"`);
  }
  return id;
}
