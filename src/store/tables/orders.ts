import { STATUS_WITH } from '../../../protocol/history.ts';
import type { ReferenceName } from '../../domain/batch.ts';
import { type LaterEvent, orderAfter } from '../../domain/change.ts';
import type { OrderEventType } from '../../domain/lifecycle.ts';
import { INT64_MIN, type Order, type OrderRecord, type OrderStatus } from '../../domain/order.ts';
import type { OrderEvent, Store } from '../store.ts';
import {
  boolean,
  byText,
  type Dialects,
  integer,
  jsonRows,
  number,
  type Row,
  type Session,
  type StoreReads,
  text,
} from './session.ts';

/** The columns expected by `orderFromRow`. */
export const ORDER_COLUMNS =
  'orders.id, status, pet_id, quantity, ship_date, complete, orders.reference, reason, tracking_number';
/** Number of ORDER_COLUMNS. */
export const ORDER_WIDTH = 9;

/**
 * Whether an event, "changed", is the last one of its order, "orders". An order that is placed and changed in one revision has two events in it;
 * one that is imported with its status has one.
 */
export const IS_LAST_EVENT = `orders.id = changed.order_id AND orders.revision = changed.revision
  AND (changed.type <> 'placed' OR status = 'pending' OR NOT EXISTS (SELECT 1 FROM order_events AS later
    WHERE later.revision = changed.revision AND later.order_id = changed.order_id AND later.type <> 'placed'))`;

export function orderFromRow(row: Row): Order {
  const [id, status, petId, quantity, shipDate, complete, reference, reason, trackingNumber] = row;
  return {
    id: id as bigint,
    status: status as OrderStatus,
    petId: integer(petId),
    quantity: integer(quantity),
    shipDate: number(shipDate),
    complete: boolean(complete),
    reference: text(reference),
    // What was added by hand is not proven by the history, and is not shown.
    reason: status === STATUS_WITH.reason ? text(reason) : undefined,
    trackingNumber: status === STATUS_WITH.trackingNumber ? text(trackingNumber) : undefined,
  };
}

/** Number of the columns of `recordFromRow`. */
export const RECORD_WIDTH = ORDER_WIDTH + 3;

/** Reads ORDER_COLUMNS, the revision, and the times of the latest change and of the placement; the latter may be NULL if they are the same. */
export function recordFromRow(row: Row): OrderRecord {
  const [revision, updatedAt, placedAt] = row.slice(ORDER_WIDTH);
  return {
    ...orderFromRow(row),
    revision: revision as bigint,
    updatedAt: Number(updatedAt),
    placedAt: Number(placedAt ?? updatedAt),
  };
}

/**
 * Returns a problem for an order whose row has a reason or a tracking number that is not of its status: it was added by hand, and is not in the
 * history.
 * @param columns those of the row, by name
 */
export function detailProblem(columns: Readonly<Record<string, unknown>>): string | undefined {
  const { id, status, reason, tracking_number: trackingNumber } = columns;
  if (reason !== null && status !== STATUS_WITH.reason)
    return `order ${id} is ${status} and has a reason, which was added by hand`;
  if (trackingNumber !== null && status !== STATUS_WITH.trackingNumber)
    return `order ${id} is ${status} and has a tracking number, which was added by hand`;
  return undefined;
}

/** Reads the columns type, ship_date_before, complete_before of the event after the one that placed an order; undefined if there is none. */
export function laterFromRow([type, shipDateBefore, completeBefore]: Row): LaterEvent | undefined {
  if (type === null) return undefined;
  return {
    type: type as OrderEventType,
    shipDateBefore: number(shipDateBefore),
    completeBefore: boolean(completeBefore),
  };
}

/** Reads ORDER_COLUMNS and those of `laterFromRow`. @returns the order as it was before that event, if there is one */
export function orderBeforeFromRow(row: Row): Order {
  return orderAfter(orderFromRow(row), laterFromRow(row.slice(ORDER_WIDTH)));
}

/** Reads the columns revision, type, at, by. */
export function eventFromRow([revision, type, at, by]: Row): OrderEvent {
  return {
    revision: revision as bigint,
    type: type as OrderEventType,
    at: Number(at),
    by: text(by),
  };
}

export const orderEvents: StoreReads<Store>['events'] = async (session, id) =>
  (await session.query(EVENTS[session.engine], [id])).map(eventFromRow);

/** Returns the orders that have these references, as they were placed. */
export async function findReferences(session: Session, wanted: readonly ReferenceName[]) {
  if (wanted.length === 0) return [];
  const names = wanted.map(({ by, reference }) => [by, reference]);
  const rows = await session.query(FIND[session.engine], [jsonRows(names)]);
  return rows.map(([by, ...order]) => ({ by: by as string, placed: orderBeforeFromRow(order) }));
}

/** Orders with one reference that are found: each API key can have placed one. */
const MAX_OF_REFERENCE = 10;

export const idsOf: StoreReads<Store>['idsOf'] = async (session, references) => {
  const rows = await session.query(IDS[session.engine], [
    jsonRows(references.map((each) => [each])),
  ]);
  return rows.map(([id]) => id as bigint);
};

const events = (rows: string) => `SELECT revision, type, at, by FROM ${rows}
    WHERE order_id = $1 ORDER BY revision, at, type = 'placed' DESC`;

const EVENTS: Dialects = {
  // Events are ordered by revision: `previous` leads from the order's latest event to all of them.
  sqlite: `WITH RECURSIVE revisions (revision) AS (
      SELECT revision FROM orders WHERE id = $1
      UNION
      SELECT previous FROM revisions CROSS JOIN order_events USING (revision) WHERE order_id = $1)
    ${events('revisions CROSS JOIN order_events USING (revision)')}`,
  postgresql: events('order_events'),
};

const IDS = byText(
  (c) => `SELECT orders.id FROM json_array_elements($1::json) AS asked
  CROSS JOIN orders
  WHERE orders.reference${c} = asked.value ->> 0 AND orders.id >= coalesce(
    (SELECT each.id FROM orders AS each WHERE each.reference${c} = asked.value ->> 0
      ORDER BY each.id DESC LIMIT 1 OFFSET ${MAX_OF_REFERENCE - 1}), ${INT64_MIN})`,
);

const FIND = byText(
  (
    c,
  ) => `SELECT reference_key, ${ORDER_COLUMNS}, later.type, later.ship_date_before, later.complete_before
  FROM json_array_elements($1::json) AS asked
  CROSS JOIN orders
  LEFT JOIN order_events AS later ON later.revision = orders.revision AND later.order_id = orders.id
    AND later.type <> 'placed'
  WHERE orders.reference${c} = asked.value ->> 1 AND reference_key${c} = asked.value ->> 0`,
);
