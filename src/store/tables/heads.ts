import { randomBytes } from 'node:crypto';
import { BEGINNING, isSamePosition, type Position } from '../../../protocol/history.ts';
import {
  type ChainedEvent,
  eventsDigest,
  type Head,
  headAfter,
  headFrom,
  headText,
} from '../../domain/heads.ts';
import type { OrderEventType } from '../../domain/lifecycle.ts';
import { INT64_MAX } from '../../domain/order.ts';
import { detailProblem, eventFromRow, ORDER_COLUMNS, orderBeforeFromRow } from './orders.ts';
import type { Row, Session } from './session.ts';
import { requireStoreRow } from './store-row.ts';

/** Events are read for their heads in batches of about this many. */
export const EVENTS_AT_A_TIME = 500;

/**
 * Reads the events after a revision, in the order of the feed, each with its order, which was deleted by hand if it is missing, and the event after
 * it if that placed the order.
 */
export const CHAINED = `SELECT event.revision, event.type, event.at, event.by,
    ${ORDER_COLUMNS.replace('orders.id', 'event.order_id')},
    later.type, later.ship_date_before, later.complete_before, event.head
  FROM order_events AS event LEFT JOIN orders ON orders.id = event.order_id
  LEFT JOIN order_events AS later ON event.type = 'placed' AND later.type <> 'placed'
    AND later.revision = orders.revision AND later.order_id = orders.id
  WHERE event.revision > $1 ORDER BY event.revision, event.order_id, event.type = 'placed' DESC`;

/** Rows of CHAINED. */
type Batches = AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>;

/** A revision, with the head computed from its events and the head before. */
export interface HeadedRevision {
  readonly revision: bigint;
  /** The order of its last event, which stores the head. */
  readonly orderId: bigint;
  readonly type: OrderEventType;
  readonly head: Head;
  /** The head that is stored; undefined if there is none. */
  readonly stored: Head | undefined;
  /** Whether rows were changed by hand in a way that `head` does not show: an order is missing, or another event has a head too. */
  readonly isBroken: boolean;
  /** Whether an order is missing. */
  readonly isIncomplete: boolean;
  /** See `detailProblem`; heads do not show these. */
  readonly detailProblems: readonly string[];
}

/** Message for the operator if heads were not computed yet, for purposes that may not do it. */
export const HEADS_NOT_COMPUTED =
  'the heads of its history have not all been computed; run "store-orders migrate"';

/**
 * Computes the heads of the revisions after `from`, each from the stored head of the revision before, if there is one.
 * @param batches of all events after that revision
 * @returns the revisions of each batch
 */
export async function* computeHeads(
  batches: Batches,
  from: Position,
): AsyncGenerator<HeadedRevision[]> {
  let before = headFrom(from.head);
  const complete = (rows: readonly Row[]): HeadedRevision => {
    const last = rows.at(-1)!;
    const known = rows.filter((row) => row[STATUS] !== null);
    const head = headAfter(before, eventsDigest(known.map(chainedFromRow)));
    const stored = headOf(last);
    before = stored ?? head;
    const isIncomplete = known.length < rows.length;
    const { revision, type } = eventFromRow(last);
    return {
      ...{ revision, orderId: last[ORDER_AT] as bigint, type, head, stored, isIncomplete },
      isBroken: isIncomplete || rows.slice(0, -1).some((row) => headOf(row) !== undefined),
      detailProblems: known.flatMap((row) => detailProblem(orderColumns(row)) ?? []),
    };
  };
  /** Rows of the latest revision; the next batch may have more of them. */
  let open: Row[] = [];
  for await (const rows of batches) {
    const found: HeadedRevision[] = [];
    for (const row of rows) {
      if (open.length > 0 && open[0]![0] !== row[0]) {
        found.push(complete(open));
        open = [];
      }
      open.push(row);
    }
    if (found.length > 0) yield found;
  }
  if (open.length > 0) yield [complete(open)];
}

/** Position of the order in CHAINED, and of its status, which is null if there is no order. */
const ORDER_AT = 4;
const STATUS = ORDER_AT + 1;

function orderColumns(row: Row) {
  const [id, status, , , , , , reason, tracking_number] = row.slice(ORDER_AT);
  return { id, status, reason, tracking_number };
}

function headOf(row: Row): Head | undefined {
  return (row.at(-1) ?? undefined) as Head | undefined;
}

/** Returns whether the heads of all events have been computed. */
export async function hasHeads(session: Session): Promise<boolean> {
  return requireStoreRow((await session.query(SQL.storeHead))[0])[0] !== null;
}

/** Returns the latest revision that has a head, of those up to `upTo`. */
export async function lastHeaded(session: Session, upTo = INT64_MAX): Promise<Position> {
  const [row] = await session.query(SQL.lastHeaded, [upTo]);
  return row === undefined
    ? BEGINNING
    : { revision: row[0] as bigint, head: headText(row[1] as Head) };
}

function chainedFromRow(row: Row): ChainedEvent {
  const { type, at, by } = eventFromRow(row);
  return { type, at, by, order: orderBeforeFromRow(row.slice(ORDER_AT)) };
}

/** Revisions that are named. An edited order alters at most two, a restored table any number. */
const MAX_NAMED = 20;

export interface HeadFindings {
  /** One line per problem. */
  readonly problems: readonly string[];
  /** Whether the history has the position that was asked for. */
  readonly hasAsked: boolean;
  /** The first revision that was altered; undefined if there is none. */
  readonly firstAltered: bigint | undefined;
  /** Whether events lack their orders; `rechain` cannot mend that. */
  readonly isIncomplete: boolean;
}

/** How a history is checked. */
export interface HistoryCheck {
  /** A revision and a head that the history should have. */
  readonly asked?: Position | undefined;
  /** Whether only the end and some other parts of a long history are checked, which takes a fraction of a second. */
  readonly isSample?: boolean;
}

/** Events at the end of a history that are in a sample. */
const SAMPLE_AT_END = 10_000;
/** Other parts of it, of about EVENTS_AT_A_TIME each. */
export const SAMPLE_PARTS = 20;

/**
 * Computes the heads of a history and compares them with the stored ones.
 * @param read reads CHAINED after a revision
 * @param latest the head in the row of the table store, and its revision; undefined if not all heads have been computed
 */
export async function checkHeads(
  session: Session,
  read: (after: bigint) => Batches,
  latest: Position | undefined,
  { asked = BEGINNING, isSample = false }: HistoryCheck,
): Promise<HeadFindings> {
  const altered = new Altered();
  let isIncomplete = false;
  const details = new Set<string>();
  let end = BEGINNING;
  let hasAsked = isSamePosition(asked, BEGINNING);
  const parts = isSample ? await sampleOf(session) : [0n];
  for (const [index, after] of parts.entries()) {
    end = await lastHeaded(session, after);
    for await (const revisions of computeHeads(read(end.revision), end)) {
      for (const { revision, head, stored, ...found } of revisions) {
        const isEdited =
          stored === undefined ? latest !== undefined : Buffer.compare(stored, head) !== 0;
        if (isEdited || found.isBroken) altered.add(revision);
        isIncomplete ||= found.isIncomplete;
        for (const each of found.detailProblems) if (details.size < MAX_NAMED) details.add(each);
        end = { revision, head: headText(stored ?? head) };
        // Proven only if nothing before was altered: each head is computed from the stored one before it.
        const isAsked = asked.revision === revision && asked.head === headText(head);
        hasAsked ||= isAsked && altered.count === 0;
      }
      if (index < parts.length - 1) break;
    }
  }
  const problems = [...altered.problems(), ...details];
  if (latest === undefined) problems.push(HEADS_NOT_COMPUTED);
  else if (!isSamePosition(latest, end)) {
    problems.push('the head of the store is not that of its last revision: it was altered');
    altered.add(end.revision + 1n);
  }
  return { problems, hasAsked, firstAltered: altered.first, isIncomplete };
}

/** Revisions that were altered, added in ascending order; of a sample, some twice. */
class Altered {
  count = 0;
  readonly #named: bigint[] = [];
  #last: bigint | undefined;

  get first(): bigint | undefined {
    return this.#named[0];
  }

  add(revision: bigint): void {
    if (this.#last !== undefined && revision <= this.#last) return;
    this.#last = revision;
    this.count += 1;
    if (this.#named.length < MAX_NAMED) this.#named.push(revision);
  }

  problems(): string[] {
    const lines = this.#named.map(
      (revision) => `revision ${revision} is not what its head proves: it was altered`,
    );
    const more = this.count - lines.length;
    return more > 0 ? [...lines, `${more} further revisions were altered`] : lines;
  }
}

/**
 * Returns the revisions after which a sample of the history is checked: some at random, for a batch of events each, and the last one, for all
 * events after it.
 */
async function sampleOf(session: Session): Promise<readonly bigint[]> {
  const [row] = await session.query(SQL.fromEnd, [SAMPLE_AT_END]);
  if (row === undefined) return [0n];
  const rest = row[0] as bigint;
  const parts = Array.from({ length: SAMPLE_PARTS }, () => randomBelow(rest));
  return [...parts.sort((one, other) => Number(one - other)), rest];
}

/** Returns a random integer from 0 to below `limit`, which is at most 2^64. */
export function randomBelow(limit: bigint): bigint {
  return randomBytes(8).readBigUInt64BE() % limit;
}

const SQL = {
  fromEnd: 'SELECT revision FROM order_events ORDER BY revision DESC LIMIT 1 OFFSET $1',
  storeHead: 'SELECT head FROM store',
  lastHeaded:
    'SELECT revision, head FROM order_events WHERE head IS NOT NULL AND revision <= $1 ORDER BY revision DESC LIMIT 1',
} as const;
