import type { Batch } from '../../domain/batch.ts';
import { eventsDigest } from '../../domain/heads.ts';
import { PLACEMENT_KEPT_MS } from '../../domain/placement.ts';
import { rememberRequest } from '../tables/bulk-requests.ts';
import { recordUses } from '../tables/hourly-uses.ts';
import { acknowledgementFrom } from '../tables/losses.ts';
import { recordPlacements } from '../tables/placements.ts';
import type { Value } from '../tables/session.ts';
import { storeNotHere } from '../tables/store-row.ts';
import { arrayOf, textArray } from './database/arrays.ts';
import type { Session } from './database/session.ts';

/**
 * Writes the changes of a batch, if there are any, in one statement. It locks the row of the table store first, which serializes the writers of
 * all nodes.
 * @returns the revision of the changes, 0 without changes
 * @throws StoreUnavailable, with the code WAS_CHANGED if the orders have changed since the batch was decided
 */
export async function writeBatch(session: Session, batch: Batch): Promise<bigint> {
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
export function changeValues(batch: Batch) {
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
export function writeStatement(also?: WriteAlso) {
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
  write: writeStatement(),
  writePlacements: writeStatement(WITH_PLACEMENTS),
} as const;
