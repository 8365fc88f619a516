import { type Command, Option } from 'commander';
import { parseInt64 } from '../../domain/order.ts';
import { parseTimestamp, timestampProblem } from '../../domain/timestamp.ts';
import type { Store } from '../../store/store.ts';
import { type DatabaseFlags, databaseCommand, withStore } from '../command-database.ts';
import { FORMATS, type Format, WRITERS } from '../files/write-orders.ts';
import { UsageError, writeErr, writeOut } from '../terminal/terminal.ts';

export function exportCommand(): Command {
  return databaseCommand(
    'export',
    'write all orders to stdout, in a format that import reads',
    `npx store-orders export > orders.ndjson
npx store-orders export --format csv | gzip > orders.csv.gz
npx store-orders export --at 2026-11-01T00:00:00+01:00 > october.ndjson`,
  )
    .option(
      '--at <revision|time>',
      'the orders as they were at a revision, or at a time such as 2026-11-01T00:00:00Z',
    )
    .addOption(new Option('--format <format>', 'file format').choices(FORMATS).default('ndjson'))
    .action(exportOrders);
}

interface ExportFlags extends DatabaseFlags {
  readonly format: Format;
  readonly at?: string;
}

async function exportOrders(flags: ExportFlags): Promise<void> {
  const { start, order, end } = WRITERS[flags.format];
  const point = flags.at === undefined ? undefined : pointOf(flags.at);
  await withStore(flags, 'read', async (store) => {
    const at = point && (await revisionOf(store, point));
    let count = 0;
    await writeOut(start);
    await store.history.scan(async (orders) => {
      let text = '';
      for (const each of orders) text += order(each, count++);
      await writeOut(text);
    }, at);
    await writeOut(end);
  });
}

/** A point in the history: a revision, or a time in milliseconds since the epoch. */
type Point = { readonly revision: bigint } | { readonly time: number };

/** @throws UsageError */
function pointOf(text: string): Point {
  const revision = parseInt64(text);
  if (revision !== undefined && revision >= 0n) return { revision };
  const time = parseTimestamp(text);
  if (time === undefined)
    throw new UsageError(`--at must be a revision or ${timestampProblem(text)}`);
  return { time };
}

/** Returns the revision of a point. @throws UsageError for a revision that the store has not reached */
async function revisionOf(store: Store, point: Point): Promise<bigint> {
  if ('time' in point) {
    const revision = await store.history.revisionAt(point.time);
    writeErr(`These are the orders at revision ${revision}.`);
    return revision;
  }
  const { revision } = await store.status({ evenIfMoved: true });
  if (point.revision <= revision) return point.revision;
  throw new UsageError(
    `--at is revision ${point.revision}, but the store is at revision ${revision}`,
  );
}
