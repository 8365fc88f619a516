import type { Command } from 'commander';
import { isReason, type OrderId } from '../../domain/order.ts';
import { UsageError } from '../terminal/terminal.ts';
import { type ChangeFlags, changeCommand, changeSelected } from './change-orders.ts';

export function cancelCommand(): Command {
  return changeCommand(
    'cancel',
    'cancel orders that have not shipped',
    `npx store-orders cancel 17 18 19 --reason pet_unavailable
npx store-orders cancel -- -5
npx store-orders cancel --dry-run --pet 412 > orders.ndjson
npx store-orders cancel --orders orders.ndjson`,
  )
    .option('--reason <text>', 'why they are cancelled, such as customer_request or out_of_stock')
    .option('--json', 'print the outcomes as a JSON array')
    .action(cancel);
}

interface CancelFlags extends ChangeFlags {
  readonly reason?: string;
}

async function cancel(ids: readonly string[], flags: CancelFlags): Promise<void> {
  const { reason } = flags;
  if (reason !== undefined && !isReason(reason)) {
    throw new UsageError('--reason must have 1 to 64 characters, without control characters');
  }
  const commandOf = (id: OrderId) => ({ type: 'cancel', id, reason }) as const;
  await changeSelected({ ids, commandOf, command: 'cancel', done: 'cancelled' }, flags);
}
