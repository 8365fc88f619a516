import { ORDER_COLUMNS, orderOf } from '../../files/fields.ts';
import type { Input } from '../../files/input.ts';
import { SeenIds } from '../../files/seen-ids.ts';
import { type Located, Problems, readValues } from '../../files/values.ts';
import {
  differingFields,
  INT64_MAX,
  type Order,
  type OrderDraft,
  type OrderId,
} from '../../orders/order.ts';
import { CommandFailed, counted, grouped } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';
import type { Checked } from './placer.ts';

/** What the first reading of a file found. */
export interface Check extends Checked {
  readonly problems: Problems;
  count: number;
  highestId: bigint;
  /** Orders that are still to be placed and bring no id, and where the last of them stands. */
  withoutId: number;
  lastWithoutId: string;
  /** Orders that the store has already. */
  known: number;
}

/** What a check needs of a store; a store that does not exist has neither orders nor imports. */
export interface CheckSource {
  /** As Store.find. */
  readonly find: (ids: readonly OrderId[]) => Promise<Order[]>;
  /** Rows that an earlier run of the same import placed. */
  readonly placedBefore: number;
  /** Orders without an id get those above it. */
  readonly highestId: OrderId;
}

/** An input that is refused as a whole. */
export class BadRows extends CommandFailed {
  /** In one line. */
  readonly reason: string;
  readonly problems: Problems;

  constructor(reason: string, problems: Problems, details: readonly string[] = []) {
    super([reason, ...details].join('\n'));
    this.reason = reason;
    this.problems = problems;
  }
}

/**
 * @param count of rows in the input
 * @throws BadRows that describes the first problems, or says that there is not one row
 */
export function refuseProblems(input: Input, problems: Problems, count: number): void {
  const { total, described } = problems;
  if (count === 0) throw new BadRows(`${input.name} has no rows; nothing was imported`, problems);
  if (total === 0) return;
  const rest = total - described.length;
  const lines = [
    ...described.map(({ at, problem }) => `  ${at}: ${problem}`),
    ...(rest > 0 ? [`  … and ${grouped(rest)} more`] : []),
  ];
  const reason = `${input.name} has ${counted(total, 'bad row')}; nothing was imported`;
  throw new BadRows(reason, problems, lines);
}

/** Reads the whole file and writes nothing. */
export async function checkOrders(
  input: Input,
  { find, placedBefore, highestId }: CheckSource,
): Promise<Check> {
  const problems = new Problems();
  const check: Check = {
    problems,
    source: input.digest,
    placedBefore,
    count: 0,
    known: 0,
    highestId: 0n,
    withoutId: 0,
    lastWithoutId: '',
  };
  const seen = new SeenIds();
  const progress = showProgress('Checking ');
  const onBytes = (bytes: number) => progress.update(bytes / input.size, check.count);
  try {
    for await (const rows of readValues(input, ORDER_COLUMNS, orderOf, onBytes)) {
      const existing = await ordersById(rows, find);
      for (const row of rows) {
        check.count += 1;
        const problem = row.problem ?? checkOrder(row.at, row.value, existing, seen, check);
        if (problem !== undefined) problems.add(row.at, problem);
      }
    }
  } finally {
    progress.end();
    seen.close();
  }
  checkIdsLeft(check, highestId);
  return check;
}

/** Whether all orders without an id will get one: those above all ids that are taken. */
function checkIdsLeft(check: Check, highestInStore: OrderId): void {
  const highest = check.highestId > highestInStore ? check.highestId : highestInStore;
  if (BigInt(check.withoutId) <= INT64_MAX - highest) return;
  check.problems.add(
    check.lastWithoutId,
    `has no id, and above ${highest} int64 has ${INT64_MAX - highest} left; the file needs ${check.withoutId}`,
  );
}

async function ordersById(
  rows: readonly Located<OrderDraft>[],
  find: CheckSource['find'],
): Promise<Map<OrderId, Order>> {
  const ids = rows.flatMap((row) => (row.problem === undefined ? (row.value.id ?? []) : []));
  return new Map((await find(ids)).map((order) => [order.id, order]));
}

/** Counts an order of the file, and says what stands in its way. */
function checkOrder(
  at: string,
  draft: OrderDraft,
  existing: ReadonlyMap<OrderId, Order>,
  seen: SeenIds,
  check: Check,
): string | undefined {
  const { id } = draft;
  if (id !== undefined) {
    if (id > check.highestId) check.highestId = id;
    const repetition = seen.add(id, at);
    if (repetition !== undefined) return repetition;
  }
  if (check.count <= check.placedBefore) {
    // It was placed, and may have been cancelled or shipped since.
    check.known += 1;
    return undefined;
  }
  if (id === undefined) {
    check.withoutId += 1;
    check.lastWithoutId = at;
    return undefined;
  }
  const order = existing.get(id);
  if (order === undefined) return undefined;
  check.known += 1;
  const fields = differingFields(order, { ...draft, id: order.id });
  return fields.length === 0
    ? undefined
    : `order ${id} is in the store with another ${fields.join(', ')}`;
}
