import { randomBytes } from 'node:crypto';
import { StoreUnavailable } from '../store.ts';
import { INSUFFICIENT_PRIVILEGE, type Session, sqlState } from './session.ts';

/** The history that a node has been part of, over all its connections. */
export class Origin {
  /** The timeline of the server behind each live session; each promotion begins a new one. */
  readonly #timelines = new Map<Session, number>();
  /** The highest one seen. */
  #highest = 0;

  /**
   * Called with every new session, before anything else is read on it: turns away a server that has
   * been superseded by another one, and gives the store a new id when its history is not the one that
   * its id stands for. Another server, or one that was started again, may not have all that was seen
   * before, and the revisions that follow would carry ETags that other lists have had.
   * @throws StoreUnavailable
   */
  async confirm(session: Session): Promise<void> {
    const timeline = await timelineOf(session);
    if (timeline < this.#highest) {
      throw new StoreUnavailable('PostgreSQL: another server has taken the place of this one');
    }
    this.#highest = timeline;
    this.#timelines.set(session, timeline);
    for (const [each, own] of this.#timelines) {
      if (own < timeline) each.destroy();
      if (each.isLost) this.#timelines.delete(each);
    }
    const { origin, file } = await originOf(session);
    session.file = file;
    const [row] = await session.query({ text: 'SELECT id, origin FROM store' });
    if (row === undefined || row[1] === origin) return;
    await renewId(session, row[0]!, origin);
  }
}

/** Once, however many nodes find that it has to be. */
export async function renewId(session: Session, oldId: string, origin: string): Promise<void> {
  const id = randomBytes(8).toString('hex');
  await session.write({ text: 'UPDATE store SET id = $1, origin = $2 WHERE id = $3' }, [
    id,
    origin,
    oldId,
  ]);
}

/**
 * Names the history that is added to on this session: when the server started, to the microsecond (a
 * failover, a restored cluster and a restored data folder all show in it), the database, and the table
 * with its file (a restored dump shows in them).
 */
export async function originOf(session: Session): Promise<{ origin: string; file: string }> {
  const [row] = await session.query({
    text: `SELECT extract(epoch FROM pg_postmaster_start_time()),
      (SELECT oid FROM pg_database WHERE datname = current_database()),
      'store'::regclass::oid, pg_relation_filenode('store')`,
  });
  return { origin: row!.join('/'), file: row![3]! };
}

/** 0 where the role may not ask. */
async function timelineOf(session: Session): Promise<number> {
  try {
    const [row] = await session.query({
      text: `SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint`,
    });
    return Number(row![0]);
  } catch (error) {
    if (sqlState(error) === INSUFFICIENT_PRIVILEGE) return 0;
    throw error;
  }
}
