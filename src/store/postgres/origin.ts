import { StoreUnavailable } from '../store.ts';
import { INSUFFICIENT_PRIVILEGE, sqlState } from './errors.ts';
import type { Session } from './session.ts';
import { giveId } from './store-row.ts';

/** Verifies, across all connections of a node, that it stays with the same store and the latest primary. */
export class Origin {
  /** The timeline of each live session's server; every promotion starts a new timeline. */
  readonly #timelines = new Map<Session, number>();
  /** The highest timeline seen. */
  #highest = 0;
  /** The environment of the store, once known. */
  #environment: string | undefined;

  /**
   * Called with every new session before it is used. Rejects a server superseded by a promoted one, and a store of
   * another environment. Assigns an id to a store without one.
   * @throws StoreUnavailable
   */
  async confirm(session: Session): Promise<void> {
    const timeline = await timelineOf(session);
    if (timeline < this.#highest) {
      throw new StoreUnavailable(
        'PostgreSQL: this server was superseded by another one',
        'unreachable',
      );
    }
    this.#highest = timeline;
    this.#timelines.set(session, timeline);
    for (const [each, own] of this.#timelines) {
      if (own < timeline) each.destroy();
      if (each.isLost) this.#timelines.delete(each);
    }
    const [row] = await session.query({
      text: `SELECT id, environment, pg_relation_filenode('store') FROM store`,
    });
    if (row === undefined) return;
    const [id, environment, file] = row;
    session.file = file!;
    this.#expectEnvironment(environment ?? undefined);
    if (id === '') await giveId(session);
  }

  /** Guards against a password file, or URL file, that starts to lead to another database. */
  #expectEnvironment(environment: string | undefined): void {
    this.#environment ??= environment;
    if (this.#environment === environment) return;
    throw new StoreUnavailable(
      `PostgreSQL: the store is for ${environment}, and the one before was for ${this.#environment}`,
      'failed',
    );
  }
}

/** Returns the WAL timeline of the server, or 0 if the role has no permission to read it. */
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
