import type { Command } from 'commander';
import { parseTimestamp } from '../orders/timestamp.ts';
import { type ChangeFlags, changeOrders, orderIdArgument } from './change-orders.ts';
import { databaseCommand } from './database.ts';
import { UsageError } from './terminal/output.ts';

interface ShipFlags extends ChangeFlags {
  readonly at?: string;
}

export function shipCommand(): Command {
  return databaseCommand(
    'ship',
    'mark orders as shipped; they can no longer be cancelled',
    `npx store-orders ship 17 18 19
npx store-orders ship 17 --at 2026-11-20T09:30:00+01:00
npx store-orders ship -- -5`,
  )
    .argument('<id...>', 'ids of the orders')
    .option('--at <time>', 'ship time with an offset (default: now)')
    .option('--json', 'print the outcomes as a JSON array')
    .action(ship);
}

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
  await changeOrders(commands, flags, {
    command: 'ship',
    done: 'shipped',
    wasSo: 'was already shipped',
    reasons: {
      order_not_found: 'does not exist',
      order_already_cancelled: 'is cancelled and cannot be shipped',
    },
    failed: 'were not shipped',
  });
}
