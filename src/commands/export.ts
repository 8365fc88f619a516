import { type Command, Option } from 'commander';
import { FORMATS, type Format, WRITERS } from '../files/write-orders.ts';
import { type DatabaseFlags, databaseCommand, withStore } from './database.ts';
import { writeOut } from './terminal/output.ts';

export function exportCommand(): Command {
  return databaseCommand(
    'export',
    'write all orders to stdout, in a format that import reads',
    `npx store-orders export > orders.ndjson
npx store-orders export --format csv | gzip > orders.csv.gz`,
  )
    .addOption(new Option('--format <format>', 'file format').choices(FORMATS).default('ndjson'))
    .action(exportOrders);
}

async function exportOrders(flags: DatabaseFlags & { format: Format }): Promise<void> {
  const { start, order, end } = WRITERS[flags.format];
  await withStore(flags, 'read', async (store) => {
    let count = 0;
    await writeOut(start);
    await store.scan(async (orders) => {
      let text = '';
      for (const each of orders) text += order(each, count++);
      await writeOut(text);
    });
    await writeOut(end);
  });
}
