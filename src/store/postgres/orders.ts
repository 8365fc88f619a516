import { randomBytes } from 'node:crypto';
import { Batch } from '../../orders/batch.ts';
import { idOf, type OrderCommand, type OrderOutcome } from '../../orders/lifecycle.ts';
import type { Order, OrderId, OrderStatus } from '../../orders/order.ts';
import { expectNotMovedAway } from '../tables.ts';
import { sqlState, WAS_CHANGED } from './errors.ts';
import type { Row, Session, Statement } from './session.ts';
import { present, presentHere } from './store-row.ts';
import { inTransaction } from './transaction.ts';
import { arrayOf, integer, textArray, time } from './values.ts';

/** The columns expected by `orderFromRow`. */
export const ORDER_COLUMNS = 'id, status, pet_id, quantity, ship_date, complete';

export function orderFromRow(row: Row): Order {
  const [id, status, petId, quantity, shipDate, complete] = row;
  return {
    id: BigInt(id!),
    status: status as OrderStatus,
    petId: integer(petId),
    quantity: integer(quantity),
    shipDate: time(shipDate),
    complete: complete === null ? undefined : complete === 't',
  };
}

/**
 * Attempts to read, decide and write without a lock. If other nodes change one of the orders during each attempt, the
 * batch is carried out under a lock that excludes all other writers.
 */
const MAX_OPTIMISTIC_ATTEMPTS = 2;

/**
 * Carries out order commands in two round trips: a read, and one statement that writes if none of the orders has
 * changed since the read. No lock is held while the node computes, so a node that stalls blocks no other.
 */
export async function changeOrders(
  session: Session,
  commands: readonly OrderCommand[],
): Promise<OrderOutcome[]> {
  for (let attempt = 1; attempt <= MAX_OPTIMISTIC_ATTEMPTS; attempt += 1) {
    const outcomes = await tryToChangeOrders(session, commands);
    if (outcomes !== undefined) return outcomes;
  }
  return inTransaction(session, () => changeLockedOrders(session, commands));
}

/** Returns those of the orders that exist. */
export async function findOrders(session: Session, ids: readonly OrderId[]): Promise<Order[]> {
  const found = await readOrders(session, ids);
  const orders = new Map(found.orders.map((order) => [order.id, order]));
  return ids.flatMap((id) => orders.get(id) ?? []);
}

/** Carries out order commands inside a transaction that excludes all other writers. */
export async function changeLockedOrders(
  session: Session,
  commands: readonly OrderCommand[],
): Promise<OrderOutcome[]> {
  const { outcomes, batch, known } = await workOut(session, commands);
  await writeBatch(session, batch, known);
  return outcomes;
}

/**
 * Makes one optimistic attempt. Returns undefined, with nothing written, if one of the orders has changed since it
 * was read.
 */
async function tryToChangeOrders(
  session: Session,
  commands: readonly OrderCommand[],
): Promise<OrderOutcome[] | undefined> {
  const { outcomes, batch, known } = await workOut(session, commands);
  try {
    await writeBatch(session, batch, known);
    return outcomes;
  } catch (error) {
    if (isGuardError(error)) return undefined;
    throw error;
  }
}

/** Computes the outcomes of the commands for the current orders. */
async function workOut(session: Session, commands: readonly OrderCommand[]) {
  const known = await readOrders(session, commands.map(idOf));
  expectNotMovedAway(known.movedTo);
  const batch = new Batch(known.orders);
  const outcomes = commands.map((command) => batch.carryOut(command));
  return { outcomes, batch, known };
}

/** Returns whether a statement failed because a precondition checked in its SQL no longer held. */
export function isGuardError(error: unknown): boolean {
  return sqlState(error) === WAS_CHANGED;
}

/** Orders as read, with the revision of each one's last change. */
export interface KnownOrders {
  readonly orders: readonly Order[];
  readonly revisions: ReadonlyMap<OrderId, string>;
  /** Label of the database that the store was moved to, or null. */
  readonly movedTo: string | null;
}

export async function readOrders(session: Session, ids: readonly OrderId[]): Promise<KnownOrders> {
  const rows = await session.query(SQL.read, [arrayOf([...new Set(ids)])]);
  const movedTo = present(rows[0])[7]!;
  // If none of the orders exists, the LEFT JOIN returns one row without an order.
  const found = rows.filter(([id]) => id !== null);
  const orders = found.map(orderFromRow);
  const revisions = new Map(orders.map(({ id }, index) => [id, found[index]![6]!]));
  return { orders, revisions, movedTo };
}

/**
 * Writes the changes of a batch, if there are any, in one statement. It locks the row of the table store first, which
 * serializes the writers of all nodes.
 * @throws StoreUnavailable, for which `isGuardError` is true if one of the orders has changed since it was read
 */
export async function writeBatch(
  session: Session,
  batch: Batch,
  { revisions }: KnownOrders,
): Promise<void> {
  if (batch.changed.size === 0) return;
  const [row] = await session.write(SQL.write, writeValues(batch, revisions));
  presentHere(row);
}

/** Returns the parameters of `writeStatement`. */
export function writeValues(
  { changed, events, statusDeltas, now }: Batch,
  revisions: KnownOrders['revisions'],
): unknown[] {
  const orders = [...changed.values()];
  return [
    statusDeltas.pending,
    statusDeltas.shipped,
    statusDeltas.cancelled,
    arrayOf(orders.map(({ id }) => id)),
    arrayOf(orders.map(({ id }) => revisions.get(id))),
    arrayOf(orders.map(({ status }) => status)),
    arrayOf(orders.map(({ petId }) => petId)),
    arrayOf(orders.map(({ quantity }) => quantity)),
    arrayOf(orders.map(({ shipDate }) => shipDate)),
    arrayOf(orders.map(({ complete }) => complete)),
    arrayOf(events.map(({ id }) => id)),
    arrayOf(events.map(({ type }) => type)),
    textArray(events.map(({ by }) => by)),
    now,
    randomBytes(8).readBigInt64BE(),
  ];
}

/**
 * Returns the statement that writes a batch. Every part reads from "turn", so none runs before the row of store is
 * locked. Orders that were changed since they were read are not updated, and orders placed since are not inserted.
 * Fewer rows are then written than expected, and store_orders_expect_unchanged rolls the statement back.
 * @param claim a call of an SQL function to be evaluated before anything is written, with parameters from $16 on
 */
export function writeStatement(name: string, claim?: string): Statement {
  return {
    name,
    text: `WITH ${claim === undefined ? '' : `claimed AS MATERIALIZED (SELECT ${claim}), `}turn AS (
        UPDATE store SET revision = revision + 1, mark = $15, pending = pending + $1, shipped = shipped + $2,
          cancelled = cancelled + $3
        ${claim === undefined ? '' : 'FROM claimed '}WHERE moved_to IS NULL RETURNING revision),
      given AS (
        SELECT * FROM unnest($4::bigint[], $5::bigint[], $6::text[], $7::bigint[], $8::bigint[],
          $9::bigint[], $10::boolean[])
          AS g (id, known_revision, status, pet_id, quantity, ship_date, complete)),
      placed AS (
        INSERT INTO orders (${ORDER_COLUMNS}, revision)
        SELECT ${ORDER_COLUMNS}, turn.revision FROM turn, given WHERE known_revision IS NULL
        ON CONFLICT DO NOTHING RETURNING id),
      changed AS (
        UPDATE orders SET status = given.status, pet_id = given.pet_id, quantity = given.quantity,
          ship_date = given.ship_date, complete = given.complete, revision = turn.revision
        FROM turn, given
        WHERE orders.id = given.id AND orders.revision = given.known_revision
        RETURNING orders.id),
      events AS (
        INSERT INTO order_events (order_id, revision, type, at, by)
        SELECT e.id, turn.revision, e.type, $14, e.by
        FROM turn, unnest($11::bigint[], $12::text[], $13::text[]) AS e (id, type, by))
      SELECT store_orders_expect_unchanged((SELECT count(*) FROM placed) +
        (SELECT count(*) FROM changed) = cardinality($4::bigint[])) FROM turn`,
  };
}

const SQL = {
  read: {
    name: 'read',
    text: `SELECT known.*, store.moved_to FROM store LEFT JOIN
      (SELECT ${ORDER_COLUMNS}, revision FROM orders WHERE id = ANY ($1::bigint[])) AS known ON true`,
  },
  write: writeStatement('write'),
} as const;
