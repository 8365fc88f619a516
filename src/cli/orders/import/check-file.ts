import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { FEW_IDS, type FreeIds } from '../../../domain/ids.ts';
import {
  differingFields,
  type Order,
  type OrderDraft,
  type OrderId,
} from '../../../domain/order.ts';
import type { Store } from '../../../store/store.ts';
import { ORDER_FIELDS, orderOf } from '../../files/fields.ts';
import type { Input } from '../../files/input.ts';
import { Problems, readValues } from '../../files/rows.ts';
import { showProgress } from '../../terminal/progress.ts';
import { CommandFailed, counted, grouped } from '../../terminal/terminal.ts';

/** Result of the first pass over a file. */
interface Check {
  /** Total number of rows. */
  count: number;
  highestId: OrderId;
  /** Number of orders without an id still to be placed, and the position of the last one. */
  withoutId: number;
  lastWithoutId: string;
  /** Number of orders already in the store. */
  known: number;
}

/** The store as far as a check reads it; a store that does not exist has neither orders nor imports. */
interface CheckSource {
  readonly store: Pick<Store, 'orders'>;
  /** Number of rows placed by an earlier run of the same import. */
  readonly placedBefore: number;
  /** The ids that orders without one may be assigned. */
  readonly freeIds: FreeIds;
  /** Whether the file may have ids so high that few are left for later orders. */
  readonly mayTakeLastIds?: boolean | undefined;
}

/** The input was rejected as a whole; the message describes the first problems. */
export class BadRows extends CommandFailed {
  /** One-line summary. */
  readonly reason: string;
  readonly problems: Problems;

  constructor(reason: string, problems: Problems) {
    const lines = problems.described.map(({ at, problem }) => `\n  ${at}: ${problem}`);
    const rest = problems.total - lines.length;
    super(reason + lines.join('') + (rest > 0 ? `\n  … and ${grouped(rest)} more` : ''));
    this.reason = reason;
    this.problems = problems;
  }
}

/** Rejects an input with bad rows, or without any. @param count number of rows @throws BadRows */
export function refuseProblems({ name }: Input, problems: Problems, count: number): void {
  if (count > 0 && problems.total === 0) return;
  const found = count === 0 ? 'no rows' : counted(problems.total, 'bad row');
  throw new BadRows(`${name} has ${found}; nothing was imported`, problems);
}

/** Checks the whole file without writing to the store. @throws BadRows */
export async function checkOrders(input: Input, source: CheckSource): Promise<Check> {
  const problems = new Problems();
  const check: Check = { count: 0, highestId: 0n, withoutId: 0, lastWithoutId: '', known: 0 };
  using seen = new SeenIds();
  using progress = showProgress('Checking');
  for await (const rows of readValues(input.read(), ORDER_FIELDS, orderOf)) {
    progress.update(input.share, check.count);
    const ids = rows.flatMap((row) => (row.problem === undefined ? (row.value.id ?? []) : []));
    const existing = new Map((await source.store.orders(ids)).map((order) => [order.id, order]));
    for (const row of rows) {
      check.count += 1;
      const problem =
        row.problem ??
        checkOrder(row.at, row.value, { existing, seen, check, source }) ??
        lastIdProblem(row.value, source);
      if (problem !== undefined) problems.add(row.at, problem);
    }
  }
  checkIdsLeft(check, source.freeIds, problems);
  refuseProblems(input, problems, check.count);
  return check;
}

/** Adds a problem if there are too few ids above the highest id in use for the orders without one. */
function checkIdsLeft(
  check: Check,
  { highest: highestInStore, last }: FreeIds,
  problems: Problems,
): void {
  const highest = check.highestId > highestInStore ? check.highestId : highestInStore;
  if (BigInt(check.withoutId) <= last - highest) return;
  problems.add(
    check.lastWithoutId,
    `has no id; the file needs ${check.withoutId} new ids, and the store has ${last - highest} left above ${highest}`,
  );
}

/** Returns the problem of an order whose id would leave few ids for later orders. */
function lastIdProblem({ id }: OrderDraft, source: CheckSource): string | undefined {
  const { highest, last } = source.freeIds;
  if (source.mayTakeLastIds || id === undefined || id <= highest || id > last) return undefined;
  // Few ids are left already, and operators are warned of that elsewhere.
  if (last - highest < FEW_IDS) return undefined;
  const left = last - id;
  if (left >= FEW_IDS) return undefined;
  return `the id ${id} leaves ${left} ids for new orders; use --allow-last-ids to import it anyway`;
}

interface CheckParts {
  readonly existing: ReadonlyMap<OrderId, Order>;
  readonly seen: SeenIds;
  readonly check: Check;
  readonly source: CheckSource;
}

/** Counts an order of the file. @returns its problem, or undefined */
function checkOrder(
  at: string,
  draft: OrderDraft,
  { existing, seen, check, source }: CheckParts,
): string | undefined {
  const { id } = draft;
  if (id !== undefined) {
    // Ids above the last one do not conflict with those that the store assigns.
    if (id > check.highestId && id <= source.freeIds.last) check.highestId = id;
    const repetition = seen.add(id, at);
    if (repetition !== undefined) return repetition;
  }
  if (check.count <= source.placedBefore) {
    // Placed by an earlier run; may have been cancelled or shipped since.
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
    : `order ${id} exists in the store with a different ${fields.join(', ')}`;
}

/** Records ids and their positions, in a temporary SQLite database that spills to disk as it grows: a file can have any number of rows. */
export class SeenIds implements Disposable {
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #find: StatementSync;

  constructor() {
    // Even an INSERT returns an id: lastInsertRowid.
    this.#db = new DatabaseSync('', { readBigInts: true });
    this.#db.exec('CREATE TABLE seen (id INTEGER PRIMARY KEY, at TEXT) STRICT; BEGIN');
    this.#insert = this.#db.prepare('INSERT INTO seen VALUES (?, ?) ON CONFLICT DO NOTHING');
    this.#find = this.#db.prepare('SELECT at FROM seen WHERE id = ?');
  }

  /** Records that `id` occurs at `at`; if it was recorded before, returns the problem instead. */
  add(id: bigint, at: string): string | undefined {
    if (this.#insert.run(id, at).changes === 1n) return undefined;
    return `repeats the id ${id} of ${this.#find.get(id)?.at}`;
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }
}
