import type { OrderId } from '../../orders/order.ts';
import { StoreUnavailable } from '../store.ts';
import { INSUFFICIENT_PRIVILEGE, sqlState } from './errors.ts';
import type { Session } from './session.ts';
import { giveId, recordOrigin, reserveIds } from './store-row.ts';

/** Verifies, across all connections of a node, that it stays with the same store and the latest primary. */
export class Origin {
  /** The timeline of each live session's server; every promotion starts a new timeline. */
  readonly #timelines = new Map<Session, number>();
  /** The highest timeline seen. */
  #highest = 0;
  /** The environment of the store, once known. */
  #environment: string | undefined;
  /** The highest id that this node has given to an order. */
  #highestGiven: OrderId = 0n;

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

  /**
   * Called with every new session that writes, after `confirm` and before it is used. If the store is another one than before,
   * or has lost orders that this node has placed, its ids leap.
   * @throws StoreUnavailable
   */
  async confirmIds(session: Session): Promise<void> {
    const server = await textOf(session, 'SELECT system_identifier FROM pg_control_system()');
    const tables = await textOf(session, TABLES);
    const timeline = this.#timelines.get(session) || undefined;
    await recordOrigin(session, [server, tables, timeline]);
    await reserveIds(session, this.#highestGiven);
  }

  /** Called with the id of an order that this node has placed. */
  gave(id: OrderId): void {
    if (id > this.#highestGiven) this.#highestGiven = id;
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
  return Number((await textOf(session, TIMELINE)) ?? 0);
}

/** Returns the value of a statement; undefined if the role has no permission. */
async function textOf(session: Session, text: string): Promise<string | undefined> {
  try {
    const [row] = await session.query({ text });
    return row![0]!;
  } catch (error) {
    if (sqlState(error) === INSUFFICIENT_PRIVILEGE) return undefined;
    throw error;
  }
}

const TIMELINE = `SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint`;

/** Other tables have other numbers, and so have those of another database, and tables that were emptied and filled again. */
const TABLES = `SELECT oid || '.' || 'store'::regclass::oid || '.' || pg_relation_filenode('store')
  FROM pg_database WHERE datname = current_database()`;
