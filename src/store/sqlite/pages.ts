import { isSameMoment } from '../../orders/heads.ts';
import { INT64_MAX, INT64_MIN, type OrderId, type OrderRecord } from '../../orders/order.ts';
import {
  isSelective,
  MAX_ROWS_READ,
  type OrderFilter,
  type OrderPage,
  type PageQuery,
} from '../pages.ts';
import { ORDER_COLUMNS, ORDER_WIDTH, orderFromRow } from '../tables/orders.ts';
import type { Row, Value } from '../tables/session.ts';
import { requireStoreRow } from '../tables/store-row.ts';
import { jsonArray, type Session } from './database/session.ts';
import { expectUsable, GUARD_COLUMNS, inSnapshot } from './database/transaction.ts';
import { readPosition } from './feed.ts';
import type { Turns } from './turns.ts';

/** Rows that are read in one turn of the event loop, which takes about a millisecond. */
const ROWS_PER_TURN = 10_000;

/** Reads pages of orders, in turns of the event loop. */
export class Pages {
  readonly #session: Session;
  readonly #turns: Turns;

  constructor(session: Session, turns: Turns) {
    this.#session = session;
    this.#turns = turns;
  }

  /** See Store.record. */
  record(id: OrderId): OrderRecord | undefined {
    const row = requireStoreRow(this.#session.query(RECORD, [id])[0]);
    expectUsable(row.slice(ORDER_WIDTH + 3));
    return row[0] === null ? undefined : recordFromRow(row);
  }

  /** See Store.records. */
  records(ids: readonly OrderId[]): OrderRecord[] {
    return inSnapshot(this.#session, () => {
      readPosition(this.#session);
      return this.#session.query(RECORDS, [jsonArray(ids)]).map(recordFromRow);
    });
  }

  /** See Store.page. If the store changes between two parts of a page, the page ends after the first parts. */
  async page(query: PageQuery): Promise<OrderPage> {
    const orders: OrderRecord[] = [];
    let { after } = query;
    let position: OrderPage['position'] | undefined;
    for (let looked = 0; looked < MAX_ROWS_READ; looked += ROWS_PER_TURN) {
      const part = await this.#turns.run(() =>
        readPart(this.#session, { ...query, after, limit: query.limit - orders.length }),
      );
      position ??= part.position;
      if (!isSameMoment(part.position, position)) break;
      orders.push(...part.orders);
      after = part.next;
      if (after === undefined || orders.length === query.limit) break;
    }
    return { orders, next: after, position: position! };
  }
}

/** Returns the next orders; reads up to ROWS_PER_TURN rows. */
function readPart(session: Session, { filter, isDescending, after, limit }: PageQuery): OrderPage {
  return inSnapshot(session, () => {
    const position = readPosition(session);
    const range = rangeOf(filter, isDescending, after);
    // If all orders match, no row is read beyond the page.
    const lastId = isSelective(filter) ? boundaryOf(session, range) : undefined;
    const conditions = [...range.conditions, ...conditionsOf(filter, lastId, isDescending)];
    const rows = session.query(
      `SELECT ${RECORD_COLUMNS} FROM orders WHERE ${sqlOf(conditions)} ORDER BY id ${range.direction} LIMIT ?`,
      [...valuesOf(conditions), limit + 1],
    );
    const orders = rows.slice(0, limit).map(recordFromRow);
    const next = rows.length > limit ? orders.at(-1)!.id : lastId;
    return { orders, next, position };
  });
}

type Condition = readonly [sql: string, ...values: readonly Value[]];

interface Range {
  /** On columns of an index that is ordered by id. */
  readonly conditions: readonly Condition[];
  readonly direction: 'ASC' | 'DESC';
}

function rangeOf(
  { petId, reference }: OrderFilter,
  isDescending: boolean,
  after: OrderId | undefined,
): Range {
  const begin: Condition = isDescending
    ? [after === undefined ? 'id <= ?' : 'id < ?', after ?? INT64_MAX]
    : [after === undefined ? 'id >= ?' : 'id > ?', after ?? INT64_MIN];
  const named: Condition[] = reference === undefined ? [] : [['reference = ?', reference]];
  // With "+", the planner does not use the index of pets: few orders have a reference in common.
  const column = reference === undefined ? 'pet_id' : '+pet_id';
  const pet: Condition[] = petId === undefined ? [] : [[`${column} = ?`, petId]];
  return { conditions: [begin, ...pet, ...named], direction: isDescending ? 'DESC' : 'ASC' };
}

/** Returns the id of the last row to read; undefined if that is the last row of the range. */
function boundaryOf(session: Session, { conditions, direction }: Range): OrderId | undefined {
  const sql = `SELECT id FROM orders WHERE ${sqlOf(conditions)} ORDER BY id ${direction} LIMIT 1 OFFSET ?`;
  const [row] = session.query(sql, [...valuesOf(conditions), ROWS_PER_TURN - 1]);
  return row?.[0] as OrderId | undefined;
}

function conditionsOf(
  { statuses, shipDateFrom, shipDateBefore }: OrderFilter,
  lastId: OrderId | undefined,
  isDescending: boolean,
): Condition[] {
  const conditions: Condition[] = [];
  if (lastId !== undefined) conditions.push([isDescending ? 'id >= ?' : 'id <= ?', lastId]);
  if (statuses !== undefined) {
    conditions.push([`status IN (${statuses.map(() => '?').join()})`, ...statuses]);
  }
  if (shipDateFrom !== undefined) conditions.push(['ship_date >= ?', shipDateFrom]);
  if (shipDateBefore !== undefined) conditions.push(['ship_date < ?', shipDateBefore]);
  return conditions;
}

function sqlOf(conditions: readonly Condition[]): string {
  return conditions.map(([sql]) => sql).join(' AND ');
}

function valuesOf(conditions: readonly Condition[]): Value[] {
  return conditions.flatMap(([, ...values]) => values);
}

/** The columns expected by `recordFromRow`. The events of one revision all have the same time. */
const RECORD_COLUMNS = `${ORDER_COLUMNS}, orders.revision,
  (SELECT at FROM order_events WHERE revision = orders.revision AND order_id = orders.id LIMIT 1),
  iif(status = 'pending', NULL, (SELECT earlier.at FROM order_events AS latest CROSS JOIN order_events AS earlier
    ON earlier.revision = latest.previous AND earlier.order_id = orders.id
    WHERE latest.revision = orders.revision AND latest.order_id = orders.id LIMIT 1))`;

/** In one statement with the guards, so in one snapshot; a row of NULLs if the order does not exist. */
const RECORD = `SELECT ${RECORD_COLUMNS}, ${GUARD_COLUMNS} FROM store LEFT JOIN orders ON orders.id = ?`;

const RECORDS = `SELECT ${RECORD_COLUMNS} FROM json_each(?) AS asked CROSS JOIN orders ON orders.id = asked.value`;

function recordFromRow(row: Row): OrderRecord {
  const [revision, updatedAt, placedAt] = row.slice(ORDER_WIDTH);
  return {
    ...orderFromRow(row),
    revision: revision as bigint,
    updatedAt: Number(updatedAt),
    placedAt: Number(placedAt ?? updatedAt),
  };
}
