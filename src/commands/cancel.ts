import type { Command } from 'commander';
import { type ChangeFlags, changeOrders, orderIdArgument } from './change-orders.ts';
import { databaseCommand } from './database.ts';

export function cancelCommand(): Command {
  return databaseCommand(
    'cancel',
    'cancel orders that have not shipped',
    'npx store-orders cancel 17 18 19\nnpx store-orders cancel -- -5',
  )
    .argument('<id...>', 'ids of the orders')
    .option('--json', 'print the outcomes as a JSON array')
    .action(cancel);
}

async function cancel(ids: readonly string[], flags: ChangeFlags): Promise<void> {
  const commands = ids.map((text) => ({ type: 'cancel', id: orderIdArgument(text) }) as const);
  await changeOrders(commands, flags, {
    command: 'cancel',
    done: 'cancelled',
    wasSo: 'was already cancelled',
    reasons: {
      order_not_found: 'does not exist',
      order_already_shipped: 'has shipped and cannot be cancelled',
    },
    failed: 'were not cancelled',
  });
}
