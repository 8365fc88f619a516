import type { Moment } from '../../listing/listing.ts';
import { StoreUnavailable } from '../store.ts';
import type { Row } from '../tables/session.ts';
import { expectNotMovedAway, requireStoreRow } from '../tables/store-row.ts';
import type { Session } from './database/session.ts';

/** An event of a revision that identifies the history: its columns, in the order of WITNESS. */
type Witness = Row;

/** What a reader records about a moment that it has returned. */
interface Known {
  /** The session on which the moment was read, or last confirmed to be in the store's past. */
  readonly session: Session;
  /** Undefined at revision 0, where every history starts, and if events were deleted by hand. */
  readonly witness: Witness | undefined;
}

/**
 * The moments that a reader has returned. The server of a live session does not lose transactions; another server, or
 * a restarted one, may lack the latest ones. Events are never changed and transactions are serialized, so a server
 * that has the event of a revision also has everything before it.
 */
export class KnownMoments {
  readonly #known = new WeakMap<Moment, Known>();

  add(moment: Moment, known: Known): Moment {
    this.#known.set(moment, known);
    return moment;
  }

  /** Returns whether `since` is in the past of the store on `session`, which is now at `now`. */
  async isPast(session: Session, since: Moment, now: Moment): Promise<boolean> {
    if (since.storeId !== now.storeId || since.revision > now.revision) return false;
    const known = this.#known.get(since);
    if (since.revision === now.revision) {
      if (since.mark !== now.mark) return false;
    } else if (known !== undefined && known.session !== session && since.revision > 0n) {
      if (known.witness === undefined) return false;
      const values = [since.revision, ...known.witness];
      if ((await session.query(HAS_WITNESS, values)).length === 0) return false;
    }
    if (known !== undefined) this.#known.set(since, { ...known, session });
    return true;
  }
}

/**
 * Parses a row that ends in the columns of WITNESS and MOMENT_COLUMNS. If the table store was replaced during the
 * session (a restore while nodes run), its history may be a different one: the session is destroyed, and the next one
 * checks it.
 * @throws StoreUnavailable
 */
export function momentOf(
  session: Session,
  row: Row | undefined,
): { moment: Moment; witness: Witness | undefined } {
  const cells = requireStoreRow(row);
  const [storeId, revision, mark, file, movedTo] = cells.slice(-5);
  const witness = cells.slice(-9, -5);
  if (session.file !== file) {
    session.destroy();
    throw new StoreUnavailable('the tables were replaced', 'unreachable');
  }
  expectNotMovedAway(movedTo);
  return {
    moment: {
      storeId: storeId as string,
      revision: revision as bigint,
      mark: mark as bigint,
    },
    witness: witness[0] === null ? undefined : witness,
  };
}

const HAS_WITNESS = `SELECT FROM order_events WHERE revision = $1 AND order_id = $2 AND type = $3 AND at = $4
    AND by IS NOT DISTINCT FROM $5`;

export const MOMENT_COLUMNS =
  'store.id, store.revision, store.mark, pg_relation_filenode(store.tableoid), store.moved_to';

/** Joins an event of the current revision, unless that revision is $1; no event is read then. */
export const WITNESS = `LEFT JOIN LATERAL (SELECT event.order_id, event.type, event.at, event.by
    FROM orders JOIN order_events AS event
      ON event.order_id = orders.id AND event.revision = orders.revision
    WHERE orders.revision = store.revision AND store.revision <> $1 LIMIT 1) AS witness ON true`;
