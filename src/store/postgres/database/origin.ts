import { ALL_IDS, leapAbove } from '../../../domain/ids.ts';
import type { OrderId } from '../../../domain/order.ts';
import { StoreUnavailable } from '../../store.ts';
import { type Column, text } from '../../tables/session.ts';
import { INSUFFICIENT_PRIVILEGE, sqlState } from './errors.ts';
import type { Session } from './session.ts';

/** Finds the latest primary among the servers that a node is connected to: every promotion of a standby starts a new timeline. */
export class Timelines<Connection extends { readonly isLost: boolean }> {
  readonly #timelines = new Map<Connection, number>();
  #latest = 0;

  /**
   * Adds a connection to a server on a timeline.
   * @returns the connections to servers on earlier timelines, which are forgotten
   * @throws StoreUnavailable if a server on a later timeline was seen before
   */
  admit(connection: Connection, timeline: number): readonly Connection[] {
    if (timeline < this.#latest) {
      throw new StoreUnavailable(
        'PostgreSQL: this server was superseded by another one',
        'unreachable',
      );
    }
    this.#latest = timeline;
    const superseded = [...this.#timelines].filter(([, own]) => own < timeline);
    for (const [each, own] of this.#timelines) {
      if (own < timeline || each.isLost) this.#timelines.delete(each);
    }
    this.#timelines.set(connection, timeline);
    return superseded.map(([each]) => each);
  }

  of(connection: Connection): number | undefined {
    return this.#timelines.get(connection);
  }
}

/** Verifies, across all connections of a node, that they use the same store and the latest primary. */
export class Origin {
  readonly #timelines = new Timelines<Session>();
  /** The environment of the store, once known. */
  #environment: string | undefined;
  /** The highest id that this node has given to an order. */
  #highestGiven: OrderId = 0n;

  /**
   * Called with every new session before it is used. Rejects a server superseded by a promoted one, and a store of
   * another environment.
   * @throws StoreUnavailable
   */
  async confirm(session: Session): Promise<void> {
    const superseded = this.#timelines.admit(session, await timelineOf(session));
    for (const each of superseded) each.destroy();
    const [row] = await session.query('SELECT environment FROM store');
    if (row !== undefined) this.#expectEnvironment(text(row[0]));
  }

  /**
   * Called with every new session that writes, after `confirm` and before it is used. If the store is not the same as before,
   * or has lost orders that this node has placed, its ids leap.
   * @throws StoreUnavailable
   */
  async confirmIds(session: Session): Promise<void> {
    const server = await columnOf(session, 'SELECT system_identifier FROM pg_control_system()');
    const tables = await columnOf(session, TABLES);
    const timeline = this.#timelines.of(session) || undefined;
    await recordOrigin(session, [server, tables, timeline]);
    await reserveAbove(session, this.#highestGiven);
  }

  /** Called with the id of an order that this node has placed. */
  gave(id: OrderId): void {
    if (id > this.#highestGiven) this.#highestGiven = id;
  }

  /** Guards against a password file or URL file that is changed to name another database. */
  #expectEnvironment(environment: string | undefined): void {
    this.#environment ??= environment;
    if (this.#environment === environment) return;
    throw new StoreUnavailable(
      `PostgreSQL: the environment of the store changed from ${this.#environment} to ${environment}`,
      'failed',
    );
  }
}

/**
 * Records where the store is (server, database with table, timeline), before anything is written. If the store was elsewhere,
 * its ids leap: the trigger of migration 010.
 */
async function recordOrigin(
  session: Session,
  parts: readonly (Column | undefined)[],
): Promise<void> {
  const [row] = await session.query('SELECT origin FROM store');
  const before = text(row?.[0]) ?? '';
  const { origin, isSame } = mergeOrigins(
    before.split('/'),
    parts.map((part) => String(part ?? '')),
  );
  if (origin === before) return;
  // Unknown parts are filled in via '', so that the ids do not leap. Another node may have done so first.
  if (isSame) await session.write(SQL.recordOrigin, ['', before]);
  await session.write(SQL.recordOrigin, [origin, isSame ? '' : before]);
}

/** Takes over the parts that the role may not read. */
function mergeOrigins(before: readonly string[], now: readonly string[]) {
  const isSame = now.every((part, at) => part === '' || !before[at] || part === before[at]);
  const origin = now.map((part, at) => part || (isSame && before[at]) || '').join('/');
  return { isSame, origin };
}

/** Makes the ids leap above `given`, an id that was assigned to an order, if the store has lost that order. */
async function reserveAbove(session: Session, given: OrderId): Promise<void> {
  const end = leapAbove({ ...ALL_IDS, highest: given });
  await session.write(SQL.reserveIds, [end, given]);
}

/** Returns the WAL timeline of the server, or 0 if the role has no permission to read it. */
async function timelineOf(session: Session): Promise<number> {
  return Number((await columnOf(session, TIMELINE)) ?? 0);
}

/** Returns the value of a statement; undefined if the role has no permission. */
async function columnOf(session: Session, sql: string): Promise<Column | undefined> {
  try {
    const [row] = await session.query(sql);
    return row![0];
  } catch (error) {
    if (sqlState(error) === INSUFFICIENT_PRIVILEGE) return undefined;
    throw error;
  }
}

const TIMELINE = `SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint`;

/** The numbers change if the tables are made again, emptied and refilled, or in another database. */
const TABLES = `SELECT oid || '.' || 'store'::regclass::oid || '.' || pg_relation_filenode('store')
  FROM pg_database WHERE datname = current_database()`;

const SQL = {
  recordOrigin: 'UPDATE store SET origin = $1 WHERE origin = $2',
  reserveIds: `UPDATE store SET reserved_id = least($1, last_id)
    WHERE store_orders_highest_id() < least($2::bigint, last_id)`,
} as const;
