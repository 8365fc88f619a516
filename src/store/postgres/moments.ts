import type { Moment } from '../../listing/listing.ts';
import { StoreUnavailable } from '../store.ts';
import { expectNotMovedAway } from '../tables.ts';
import type { Row } from './rows.ts';
import type { Session } from './session.ts';
import { present } from './store-row.ts';

/** One event of a revision, which no other history of the store has: its columns in the order of WITNESS. */
type Witness = Row;

/** What a reader knows of a moment that it has told. */
interface Known {
  /** On which it was the store's, or was found to be part of its past. */
  readonly session: Session;
  /** Undefined at revision 0, which every history begins with, and where events were removed by hand. */
  readonly witness: Witness | undefined;
}

/**
 * The moments that a reader has told. The server behind a session loses nothing while it lives; another one, or one
 * that was started again, may not have all of it. An event is written once and never changed, and transactions come
 * one after another, so who still has the event of a revision has all that was before it too.
 */
export class KnownMoments {
  readonly #known = new WeakMap<Moment, Known>();

  add(moment: Moment, known: Known): Moment {
    this.#known.set(moment, known);
    return moment;
  }

  /** Whether the store on `session`, which is at `now`, has been at `since`. */
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
 * The moment that a row tells of that ends in WITNESS and MOMENT_COLUMNS. A table that took the place of the one that
 * the session began with (a restore under running nodes) may be another history's: a new session finds that out.
 */
export function momentOf(
  session: Session,
  row: Row | undefined,
): { moment: Moment; witness: Witness | undefined } {
  const cells = present(row);
  const [storeId, revision, mark, file, movedTo] = cells.slice(-5);
  const witness = cells.slice(-9, -5);
  if (session.file !== file) {
    session.destroy();
    throw new StoreUnavailable('the tables were replaced', 'unreachable');
  }
  expectNotMovedAway(movedTo);
  return {
    moment: { storeId: storeId!, revision: BigInt(revision!), mark: BigInt(mark!) },
    witness: witness[0] === null ? undefined : witness,
  };
}

const HAS_WITNESS = {
  text: `SELECT FROM order_events WHERE revision = $1 AND order_id = $2 AND type = $3 AND at = $4
    AND by IS NOT DISTINCT FROM $5`,
};

export const MOMENT_COLUMNS =
  'store.id, store.revision, store.mark, pg_relation_filenode(store.tableoid), store.moved_to';

/** An event of the store's revision, unless that is $1; nothing is looked up then. */
export const WITNESS = `LEFT JOIN LATERAL (SELECT event.order_id, event.type, event.at, event.by
    FROM orders JOIN order_events AS event
      ON event.order_id = orders.id AND event.revision = orders.revision
    WHERE orders.revision = store.revision AND store.revision <> $1 LIMIT 1) AS witness ON true`;
