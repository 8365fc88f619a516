import type { Command } from 'commander';
import { isTrackingNumber, type OrderId } from '../../domain/order.ts';
import { parseTimestamp } from '../../domain/timestamp.ts';
import { argument, UsageError } from '../terminal/terminal.ts';
import { type ChangeFlags, changeCommand, changeSelected } from './change-orders.ts';

interface ShipFlags extends ChangeFlags {
  readonly at?: string;
  readonly trackingNumber?: string;
}

export function shipCommand(): Command {
  return changeCommand(
    'ship',
    'mark orders as shipped; they can no longer be cancelled',
    `npx store-orders ship 17 18 19
npx store-orders ship 17 --tracking-number 00340434161094042557
npx store-orders ship 17 --at 2026-11-20T09:30:00+01:00
npx store-orders ship -- -5
npx store-orders ship --dry-run --ships-before 2026-11-21T00:00:00Z > orders.ndjson
npx store-orders ship --orders orders.ndjson`,
  )
    .option('--at <time>', 'ship time with an offset (default: now)')
    .option('--tracking-number <text>', "the carrier's number, of a single order")
    .option('--json', 'print the outcomes as a JSON array')
    .action(ship);
}

async function ship(ids: readonly string[], flags: ShipFlags): Promise<void> {
  const expected = '--at must be a time with an offset, such as 2026-11-20T09:30:00Z';
  const at = flags.at === undefined ? undefined : argument(flags.at, parseTimestamp, expected);
  const { trackingNumber } = flags;
  if (trackingNumber !== undefined && !isTrackingNumber(trackingNumber)) {
    throw new UsageError(
      '--tracking-number must have 1 to 128 characters, without control characters',
    );
  }
  if (trackingNumber !== undefined && ids.length !== 1) {
    throw new UsageError('--tracking-number is for a single order');
  }
  const commandOf = (id: OrderId) => ({ type: 'ship', id, at, trackingNumber }) as const;
  await changeSelected({ ids, commandOf, command: 'ship', done: 'shipped' }, flags);
}
