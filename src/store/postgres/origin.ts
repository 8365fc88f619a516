import { randomBytes } from 'node:crypto';
import { StoreUnavailable } from '../store.ts';
import { INSUFFICIENT_PRIVILEGE, sqlState } from './errors.ts';
import type { Session } from './session.ts';

/** The servers that a node has been connected to, over all its connections. */
export class Origin {
  /** The timeline of the server behind each live session; each promotion begins a new one. */
  readonly #timelines = new Map<Session, number>();
  /** The highest one seen. */
  #highest = 0;
  /** What the store is for, once that is known. */
  #environment: string | undefined;

  /**
   * Called with every new session, before anything else is read on it: turns away a server that has been
   * superseded by another one, and a store that is for something else, and gives a store that has no id one.
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

  /** A password file may lead to another database from one moment to the next. */
  #expectEnvironment(environment: string | undefined): void {
    this.#environment ??= environment;
    if (this.#environment === environment) return;
    throw new StoreUnavailable(
      `PostgreSQL: the store is for ${environment}, and the one before was for ${this.#environment}`,
      'failed',
    );
  }
}

/** Once, however many nodes find that it has none. */
async function giveId(session: Session): Promise<void> {
  const id = randomBytes(8).toString('hex');
  await session.write({ text: `UPDATE store SET id = $1 WHERE id = ''` }, [id]);
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
