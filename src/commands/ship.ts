import type { Command } from 'commander';
import { parseInt64 } from '../orders/order.ts';
import { parseTimestamp } from '../orders/timestamp.ts';
import { type DatabaseFlags, databaseCommand, withStore } from './database.ts';
import { CommandFailed, say, toJson, UsageError, writeOut } from './output.ts';

interface ShipFlags extends DatabaseFlags {
  readonly at?: string;
  readonly json?: true;
}

export function shipCommand(): Command {
  return databaseCommand(
    'ship',
    'mark orders as shipped: they can no longer be cancelled',
    `npx store-orders ship 17 18 19
npx store-orders ship 17 --at 2026-11-20T09:30:00+01:00
npx store-orders ship -- -5`,
  )
    .argument('<id...>', 'ids of the orders')
    .option('--at <time>', 'when they left, with an offset (default: now)')
    .option('--json', 'the outcome of each as a JSON array')
    .action(ship);
}

/** One transaction: what can ship does, and each of the others is named with its reason. */
async function ship(ids: readonly string[], flags: ShipFlags): Promise<void> {
  const at = flags.at === undefined ? undefined : parseTimestamp(flags.at);
  if (flags.at !== undefined && at === undefined) {
    throw new UsageError(
      `--at must be a time with an offset, such as 2026-11-20T09:30:00Z, not "${flags.at}"`,
    );
  }
  const commands = ids.map((text) => {
    const id = orderIdArgument(text);
    return at === undefined ? ({ type: 'ship', id } as const) : ({ type: 'ship', id, at } as const);
  });
  const outcomes = await withStore(flags, 'write', (store) => store.apply(commands));

  const results = commands.map(({ id }, index) => ({ id, outcome: outcomes[index]! }));
  const failed = results.filter(({ outcome }) => REASONS[outcome] !== undefined);
  if (flags.json) await writeOut(`${toJson(results)}\n`);
  else {
    for (const { id, outcome } of results) {
      if (outcome === 'shipped') await writeOut(`${id} shipped\n`);
      else say(`${id} ${REASONS[outcome] ?? 'had shipped before'}`);
    }
  }
  if (failed.length > 0) throw new CommandFailed(`${failed.length} of ${ids.length} did not ship`);
}

const REASONS: Readonly<Record<string, string>> = {
  order_not_found: 'does not exist',
  order_already_cancelled: 'is cancelled and cannot ship',
};

/** @throws UsageError */
export function orderIdArgument(text: string): bigint {
  const id = parseInt64(text);
  if (id === undefined) {
    throw new UsageError(`an order id is an int64 in plain decimal digits, not "${text}"`);
  }
  return id;
}
