import { Batch, type BatchCommand, lookupsOf } from '../../domain/batch.ts';
import { eventsDigest } from '../../domain/heads.ts';
import type { KnownOrder } from '../../domain/lifecycle.ts';
import type { OrderId } from '../../domain/order.ts';
import { PLACEMENT_KEPT_MS } from '../../domain/placement.ts';
import { StoreUnavailable } from '../store.ts';
import { rememberRequest } from '../tables/bulk-requests.ts';
import { findOthers } from '../tables/carry-out.ts';
import { recordUses } from '../tables/hourly-uses.ts';
import { isLatestRun } from '../tables/imports.ts';
import { acknowledgementFrom } from '../tables/losses.ts';
import { ORDER_COLUMNS, ORDER_WIDTH, orderFromRow } from '../tables/orders.ts';
import { recordPlacements } from '../tables/placements.ts';
import type { Commands, Value } from '../tables/session.ts';
import {
  expectNotMovedAway,
  readFreeIds,
  requireStoreRow,
  storeNotHere,
} from '../tables/store-row.ts';
import { arrayOf, textArray } from './database/arrays.ts';
import { sqlState } from './database/errors.ts';
import type { Session } from './database/session.ts';
import { expectOnPrimary, ON_STANDBY } from './database/standby.ts';
import { inTransaction, waitForStandby } from './database/transaction.ts';

/**
 * Attempts to read, decide and write without a lock. If other nodes change what was read during each attempt, the batch runs under a lock that
 * excludes all other writers.
 */
const MAX_OPTIMISTIC_ATTEMPTS = 2;

/**
 * Carries out commands in two round trips: a read, and one statement that writes if nothing has changed since the
 * read. No lock is held while the node computes, so a node that stalls blocks no other.
 */
export async function changeOrders(session: Session, commands: readonly BatchCommand[]) {
  const outcomes = await unlessChanged(MAX_OPTIMISTIC_ATTEMPTS, async () => {
    const { batch, outcomesAt, isSynchronous } = await workOut(session, commands);
    // What a limited key has cancelled or placed is counted under the lock, and commands that can be repeated are recorded under it.
    if (batch.taken().length + batch.bulkRequests.length + batch.found.length > 0) return undefined;
    const revision = await writeBatch(session, batch);
    // The outcomes may depend on commits that the standby does not have: of a session that was ended while it waited for the standby.
    if (revision === 0n && isSynchronous) await waitForStandby(session);
    return outcomesAt(revision);
  });
  return outcomes ?? inTransaction(session, () => changeLockedOrders(session, commands));
}

/** Raised by store_orders_expect_unchanged (migration 006). */
const WAS_CHANGED = 'SO001';

/** Repeats `attempt`, `most` times at most, if a precondition checked in its SQL no longer held: then it has written nothing. Undefined in the end. */
async function unlessChanged<T>(most: number, attempt: () => Promise<T>): Promise<T | undefined> {
  for (let attempts = 0; attempts < most; attempts += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (sqlState(error) !== WAS_CHANGED) throw error;
    }
  }
  return undefined;
}

/** Carries out commands inside a transaction that excludes all other writers. */
export async function changeLockedOrders(session: Session, commands: readonly BatchCommand[]) {
  const { batch, outcomesAt } = await workOut(session, commands);
  return outcomesAt(await writeBatch(session, batch));
}

const REPLACED =
  'PostgreSQL: the store lacks orders that this node has placed: it was replaced beneath it';

/** Computes the outcomes of the commands for the current state of the store. */
async function workOut(session: Session, commands: readonly BatchCommand[]) {
  const { ids, ...lookups } = lookupsOf(commands);
  const [known, others] = await Promise.all([
    readKnown(session, ids),
    findOthers(session, lookups),
  ]);
  expectNotMovedAway(known.movedTo);
  const { freeIds } = others;
  if (freeIds !== undefined && freeIds.highest < session.highestGiven) {
    // The next session records the loss, and its ids leap, before it gives one.
    session.destroy();
    throw new StoreUnavailable(REPLACED, 'replaced');
  }
  const { orders, isSynchronous } = known;
  const batch = new Batch({ orders, ...others });
  return { batch, outcomesAt: batch.carryOutAll(commands), isSynchronous };
}

/** Attempts to place rows while other imports take ids, or orders change, concurrently. */
const MAX_IMPORT_ATTEMPTS = 50;

/**
 * Existing orders are read without a lock, and one statement writes everything. The server executes it only
 * once it has received all of it, so an import that is slow or stops while sending does not block other writers.
 */
export const importOrders: Commands<Session>['importOrders'] = async (session, command) => {
  const { source, run, orders, auditId } = command;
  const ids = orders.flatMap(({ id }) => id ?? []);
  const outcome = await unlessChanged(MAX_IMPORT_ATTEMPTS, async () => {
    const [isLatest, freeIds, known] = await Promise.all([
      isLatestRun(session, command),
      readFreeIds(session),
      readKnown(session, ids),
    ]);
    expectNotMovedAway(known.movedTo);
    if (!isLatest) return { refusal: 'out_of_turn' } as const;
    const batch = new Batch({ orders: known.orders, freeIds });
    const placed = batch.insertAll(orders);
    if (placed.refusal !== undefined) return placed;
    const claim = { source, run, highestId: freeIds.highest, count: orders.length };
    if (batch.changed.size === 0) await session.write(SQL.claim, Object.values(claim));
    else {
      const values = { ...changeValues(batch), ...claim, auditId };
      const [row] = await SQL.claimAndWrite(session, values);
      if (row !== undefined) session.written = acknowledgementFrom(row);
    }
    return placed;
  });
  if (outcome !== undefined) return outcome;
  throw new StoreUnavailable('other imports kept taking the next ids', 'locked');
};

/** Returns those of the orders that exist, where the store was moved to, or null, and whether commits wait for a standby. */
async function readKnown(session: Session, ids: readonly OrderId[]) {
  const rows = await session.query(SQL.read, [arrayOf(ids)]);
  const [movedTo, isSynchronous, onStandby] = requireStoreRow(rows[0]).slice(ORDER_WIDTH + 1);
  expectOnPrimary(onStandby);
  // If none of the orders exists, the LEFT JOIN returns one row without an order.
  const found = rows.filter(([id]) => id !== null);
  const orders = found.map(
    (row): KnownOrder => ({ order: orderFromRow(row), revision: row[ORDER_WIDTH] as bigint }),
  );
  return { orders, movedTo, isSynchronous: isSynchronous === 1n };
}

/**
 * Writes the changes of a batch, if there are any, in one statement. It locks the row of the table store first, which serializes the writers of
 * all nodes.
 * @returns the revision of the changes, 0 without changes
 * @throws StoreUnavailable, with the code WAS_CHANGED if the orders have changed since the batch was decided
 */
async function writeBatch(session: Session, batch: Batch): Promise<bigint> {
  await recordPlacements(session, batch.found, batch.now);
  if (batch.changed.size === 0) return 0n;
  const [row] = await (batch.placements.length === 0
    ? SQL.write(session, changeValues(batch))
    : SQL.writePlacements(session, { ...changeValues(batch), ...placementValues(batch) }));
  if (row === undefined) throw storeNotHere();
  session.written = acknowledgementFrom(row);
  await recordUses(session, batch);
  for (const each of batch.bulkRequests) await rememberRequest(session, each);
  return session.written.position.revision;
}

/** Returns the parameters of every `writeStatement`. */
function changeValues(batch: Batch) {
  const { known, changed, statusDeltas, now } = batch;
  const orders = [...changed.values()];
  const events = batch.eventsInOrder();
  return {
    ...statusDeltas,
    ids: arrayOf(orders.map(({ id }) => id)),
    knownRevisions: arrayOf(orders.map(({ id }) => known.get(id)?.revision)),
    statuses: arrayOf(orders.map(({ status }) => status)),
    petIds: arrayOf(orders.map(({ petId }) => petId)),
    quantities: arrayOf(orders.map(({ quantity }) => quantity)),
    shipDates: arrayOf(orders.map(({ shipDate }) => shipDate)),
    completes: arrayOf(orders.map(({ complete }) => complete)),
    references: textsUnlessAbsent(orders.map(({ reference }) => reference)),
    referenceKeys: textsUnlessAbsent(orders.map(({ id }) => batch.referenceKeys.get(id))),
    reasons: textsUnlessAbsent(orders.map(({ reason }) => reason)),
    trackingNumbers: textsUnlessAbsent(orders.map(({ trackingNumber }) => trackingNumber)),
    eventIds: arrayOf(events.map(({ id }) => id)),
    eventTypes: arrayOf(events.map(({ type }) => type)),
    eventKeys: textArray(events.map(({ by }) => by)),
    shipDatesBefore: arrayOf(events.map(({ before }) => before?.shipDate)),
    completesBefore: arrayOf(events.map(({ before }) => before?.complete)),
    digest: eventsDigest(events),
    now,
  };
}

/** Fields that most batches do not have: unnest adds NULLs. */
function textsUnlessAbsent(texts: readonly (string | undefined)[]): Value {
  return texts.every((text) => text === undefined) ? undefined : textArray(texts);
}

/** Returns the parameters of WITH_PLACEMENTS. */
function placementValues({ placements, now, freeIds }: Batch) {
  return {
    placementKeys: textArray(placements.map(({ by }) => by)),
    idempotencyKeys: textArray(placements.map(({ idempotencyKey }) => idempotencyKey)),
    digests: arrayOf(placements.map(({ digest }) => digest)),
    placedIds: arrayOf(placements.map(({ id }) => id)),
    expired: now - PLACEMENT_KEPT_MS,
    mostForgotten: 2 * placements.length,
    highestId: freeIds?.highest,
  };
}

/** Further writes of the statement. */
interface WriteAlso {
  /** A call of an SQL function, evaluated before anything is written. */
  readonly claim: string;
  /** Further parts of the statement, each with a comma before it. */
  readonly parts?: string;
  /** A condition on the rows that the parts have written. */
  readonly condition?: string;
}

/**
 * Returns the statement that writes a batch. Every part reads from "turn", so none runs before the row of store is locked. If orders were
 * changed or placed since they were read, or a trigger that somebody has added leaves rows out, fewer rows are written than expected, and
 * store_orders_expect_unchanged rolls the statement back.
 */
function writeStatement(also?: WriteAlso) {
  const claimed = also && `claimed AS MATERIALIZED (SELECT ${also.claim}), `;
  return named(`WITH ${claimed ?? ''}turn AS (
        UPDATE store SET revision = revision + 1, chained_revision = revision + 1, pending = pending + :pending, shipped = shipped + :shipped,
          cancelled = cancelled + :cancelled, head = sha256(head || :digest)
        ${also === undefined ? '' : 'FROM claimed '}WHERE moved_to IS NULL AND head IS NOT NULL RETURNING identity, revision, head),
      given AS (
        SELECT * FROM unnest(:ids::bigint[], :knownRevisions::bigint[], :statuses::text[], :petIds::bigint[], :quantities::bigint[],
          :shipDates::bigint[], :completes::boolean[], :references::text[], :referenceKeys::text[], :reasons::text[], :trackingNumbers::text[])
          AS g (id, known_revision, status, pet_id, quantity, ship_date, complete, reference, reference_key, reason, tracking_number)),
      placed AS (
        INSERT INTO orders (id, status, pet_id, quantity, ship_date, complete, revision, reference, reference_key,
          reason, tracking_number)
        SELECT id, status, pet_id, quantity, ship_date, complete, turn.revision, reference, reference_key,
          reason, tracking_number
        FROM turn, given WHERE known_revision IS NULL
        ON CONFLICT DO NOTHING RETURNING id),
      changed AS (
        UPDATE orders SET status = given.status, pet_id = given.pet_id, quantity = given.quantity,
          ship_date = given.ship_date, complete = given.complete, revision = turn.revision,
          reason = given.reason, tracking_number = given.tracking_number
        FROM turn, given
        WHERE orders.id = given.id AND orders.revision = given.known_revision
        RETURNING orders.id),
      events AS (
        INSERT INTO order_events (order_id, revision, type, at, by, ship_date_before, complete_before, head)
        SELECT e.id, turn.revision, e.type, :now, e.by, e.ship_date_before, e.complete_before,
          CASE WHEN e.position = cardinality(:eventIds::bigint[]) THEN turn.head END
        FROM turn, unnest(:eventIds::bigint[], :eventTypes::text[], :eventKeys::text[], :shipDatesBefore::bigint[], :completesBefore::boolean[])
          WITH ORDINALITY AS e (id, type, by, ship_date_before, complete_before, position)
        RETURNING 1)${also?.parts ?? ''}
      SELECT turn.identity, turn.revision, turn.head, store_orders_expect_unchanged((SELECT count(*) FROM placed) +
        (SELECT count(*) FROM changed) = cardinality(:ids::bigint[])
        AND (SELECT count(*) FROM events) = cardinality(:eventIds::bigint[])${also?.condition ?? ''}) FROM turn`);
}

/** Returns what executes a statement whose parameters are written as `:name`. */
function named(statement: string) {
  const names: string[] = [];
  const sql = statement.replaceAll(/(?<!:):([a-z]\w*)/gi, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return (session: Session, values: Readonly<Record<string, Value>>) => {
    const lacking = names.find((name) => !Object.hasOwn(values, name));
    if (lacking !== undefined) throw new Error(`the statement has no value for ${lacking}`);
    const given = names.map((name) => values[name]);
    return session.writeReturning(sql, given);
  };
}

/** Records placements with their orders, and deletes some that have expired. */
const WITH_PLACEMENTS: WriteAlso = {
  claim: 'store_orders_claim_ids(:highestId)',
  parts: `,
      remembered AS (
        INSERT INTO placements (key_id, idempotency_key, digest, order_id, revision, at)
        SELECT p.*, turn.revision, :now
        FROM turn, unnest(:placementKeys::text[], :idempotencyKeys::text[], :digests::text[], :placedIds::bigint[]) AS p
        ON CONFLICT DO NOTHING RETURNING 1),
      forgotten AS (
        DELETE FROM placements USING turn WHERE (key_id COLLATE "C", idempotency_key COLLATE "C") IN
          (SELECT key_id, idempotency_key FROM placements WHERE at < :expired ORDER BY at LIMIT :mostForgotten))`,
  condition: ` AND (SELECT count(*) FROM remembered) = cardinality(:placementKeys::text[])`,
};

const SQL = {
  read: `SELECT known.*, store.moved_to, current_setting('synchronous_standby_names') <> '',
      ${ON_STANDBY} FROM store LEFT JOIN
      (SELECT ${ORDER_COLUMNS}, revision FROM orders WHERE id = ANY ($1::bigint[])) AS known ON true`,
  claim: 'SELECT store_orders_claim_import($1, $2, $3, $4)',
  claimAndWrite: writeStatement({
    claim: 'store_orders_claim_import(:source, :run, :highestId, :count)',
    parts: `,
      recorded AS (INSERT INTO operator_revisions SELECT turn.revision, :auditId FROM turn)`,
  }),
  write: writeStatement(),
  writePlacements: writeStatement(WITH_PLACEMENTS),
} as const;
