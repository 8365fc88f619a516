import { type Command, Option } from 'commander';
import { INT64_MIN, ORDER_STATUSES, type Order, type OrderStatus } from '../../domain/order.ts';
import { timeText } from '../../domain/timestamp.ts';
import { type DatabaseFlags, databaseCommand, withStore } from '../command-database.ts';
import { FORMATS, type Format, WRITERS } from '../files/write-orders.ts';
import { naturalNumber, rowsText, writeErr, writeOut } from '../terminal/terminal.ts';
import { matchingOrders, orderIdArgument } from './change-orders.ts';

const MAX_LIMIT = 100_000;

interface ListFlags extends DatabaseFlags {
  readonly status?: OrderStatus;
  readonly from?: string;
  readonly limit: string;
  readonly format: Format | 'table';
}

export function listCommand(): Command {
  return databaseCommand(
    'list',
    'show orders in ascending id; "export" writes all of them',
    `npx store-orders list --status pending
npx store-orders list --from 1000 --limit 100 --format csv`,
  )
    .addOption(
      new Option('--status <status>', 'show only orders with this status').choices(ORDER_STATUSES),
    )
    .option('--from <id>', 'the first id to show (default: the lowest)')
    .option('--limit <count>', 'maximum number of orders', '20')
    .addOption(
      new Option('--format <format>', 'output format')
        .choices(['table', ...FORMATS])
        .default('table'),
    )
    .action(list);
}

async function list({ status, from, limit, format, ...flags }: ListFlags): Promise<void> {
  const first = from === undefined ? INT64_MIN : orderIdArgument(from);
  const most = naturalNumber('--limit', limit, MAX_LIMIT);
  const found: Order[] = [];
  const filter = { statuses: status && [status] };
  await withStore(flags, 'read', async (store) => {
    for await (const orders of matchingOrders(store, filter, first)) {
      found.push(...orders);
      // One order beyond the limit is read, to detect whether there are more.
      if (found.length > most) break;
    }
  });
  const shown = found.slice(0, most);
  await writeOut(format === 'table' ? tableOf(shown) : written(shown, format));
  const next = found[most];
  if (next !== undefined)
    writeErr(`There are more orders. Use --from ${next.id}, or a larger --limit.`);
}

function written(orders: readonly Order[], format: Format): string {
  const { start, order, end } = WRITERS[format];
  return start + orders.map(order).join('') + end;
}

function tableOf(orders: readonly Order[]): string {
  const hasReferences = orders.some(({ reference }) => reference !== undefined);
  return rowsText(orders, {
    ID: ({ id }) => String(id),
    STATUS: ({ status }) => status,
    PET: ({ petId }) => String(petId ?? ''),
    QUANTITY: ({ quantity }) => String(quantity ?? ''),
    'SHIP DATE': ({ shipDate }) => timeText(shipDate),
    COMPLETE: ({ complete }) => String(complete ?? ''),
    ...(hasReferences && { REFERENCE: ({ reference }: Order) => reference }),
  });
}
