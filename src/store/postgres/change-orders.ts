import { randomBytes } from 'node:crypto';
import { Batch } from '../../orders/batch.ts';
import { idOf, type OrderCommand, type OrderOutcome } from '../../orders/lifecycle.ts';
import type { Order, OrderId } from '../../orders/order.ts';
import { expectNotMovedAway } from '../tables.ts';
import { sqlState, WAS_CHANGED } from './errors.ts';
import { arrayOf, ORDER_COLUMNS, orderFromRow, textArray } from './rows.ts';
import type { Session, StatementWithValues } from './session.ts';
import { present, presentHere } from './store-row.ts';
import { inTransaction } from './transaction.ts';

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

/** Carries out order commands inside a transaction that excludes all other writers. */
export async function changeLockedOrders(
  session: Session,
  commands: readonly OrderCommand[],
): Promise<OrderOutcome[]> {
  const { outcomes, write } = await workOut(session, commands);
  if (write !== undefined) await session.writeTogether([write]);
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
  const { outcomes, write } = await workOut(session, commands);
  if (write === undefined) return outcomes;
  try {
    const { values, ...statement } = write;
    const [row] = await session.write(statement, values);
    presentHere(row);
    return outcomes;
  } catch (error) {
    if (isGuardError(error)) return undefined;
    throw error;
  }
}

/** Computes the outcomes of the commands for the current orders, and the statement that writes the changes. */
async function workOut(session: Session, commands: readonly OrderCommand[]) {
  const known = await readOrders(session, commands.map(idOf));
  expectNotMovedAway(known.movedTo);
  const batch = new Batch(known.orders);
  const outcomes = commands.map((command) => batch.carryOut(command));
  return { outcomes, write: writeStatement(batch, known.revisions) };
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
 * Returns the statement that writes the changes of a batch atomically, or fails if one of its orders has changed
 * since it was read. It locks the row of the table store first, which serializes the writers of all nodes. Undefined
 * if nothing changed.
 */
export function writeStatement(
  { changed, events, statusDeltas, now }: Batch,
  revisions: KnownOrders['revisions'],
): StatementWithValues | undefined {
  if (changed.size === 0) return undefined;
  const orders = [...changed.values()];
  const values = [
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
  return { ...SQL.write, values };
}

const SQL = {
  read: {
    name: 'read',
    text: `SELECT known.*, store.moved_to FROM store LEFT JOIN
      (SELECT ${ORDER_COLUMNS}, revision FROM orders WHERE id = ANY ($1::bigint[])) AS known ON true`,
  },
  // Every part reads from "turn", so none runs before the row of store is locked. Orders that were changed since they
  // were read are not updated, and orders placed since are not inserted. Fewer rows are then written than expected,
  // and store_orders_expect_unchanged rolls the statement back.
  write: {
    name: 'write',
    text: `WITH turn AS (
        UPDATE store SET revision = revision + 1, mark = $15, pending = pending + $1, shipped = shipped + $2,
          cancelled = cancelled + $3
        WHERE moved_to IS NULL RETURNING revision),
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
  },
} as const;
