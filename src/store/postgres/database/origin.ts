import { ALL_IDS, leapAbove } from '../../../domain/ids.ts';
import type { OrderId } from '../../../domain/order.ts';
import type { Acknowledgement } from '../../audit.ts';
import type { OpenOptions, PostgresServer } from '../../open-options.ts';
import { StoreUnavailable } from '../../store.ts';
import { findLoss, recordLoss } from '../../tables/losses.ts';
import { type Column, text } from '../../tables/session.ts';
import { expectNoHazard } from './hazards.ts';
import { type Session, serverName } from './session.ts';
import { inTransaction } from './transaction.ts';

type Compared = Pick<PostgresServer, 'address' | 'timeline' | 'system'>;

/**
 * Finds the latest primary among the servers that a node is connected to: every promotion of a standby begins a new timeline. Timelines of
 * different systems are not compared: an upgrade by pg_upgrade, and a dump in a new server, begin at 1.
 */
export class Timelines<Connection extends { readonly isLost: boolean }> {
  readonly #servers = new Map<Connection, Compared>();
  /** The highest timeline of each system that was in use; those before the current one were left for another. */
  readonly #latest = new Map<string | undefined, number>();
  #current: string | undefined;

  /**
   * Adds a connection to a server.
   * @returns the connections to servers on earlier timelines, or of other systems, which are forgotten
   * @throws StoreUnavailable if a server of the same system on a later timeline, or a later system, was seen before
   */
  admit(connection: Connection, server: Compared): readonly Connection[] {
    const { system, timeline = 0 } = server;
    const latest = this.#latest.get(system);
    if (latest !== undefined) {
      if (timeline < latest) throw superseded(server, `a server with timeline ${latest}`);
      if (system !== this.#current) throw superseded(server, 'a server of another system');
    }
    this.#current = system;
    this.#latest.set(system, timeline);
    const isFormer = (own: Compared) => own.system !== system || (own.timeline ?? 0) < timeline;
    const former = [...this.#servers].filter(([, own]) => isFormer(own)).map(([each]) => each);
    for (const each of this.#servers.keys()) {
      if (each.isLost || former.includes(each)) this.#servers.delete(each);
    }
    this.#servers.set(connection, server);
    return former;
  }
}

function superseded(server: Compared, later: string): StoreUnavailable {
  return new StoreUnavailable(
    `PostgreSQL: ${serverName(server)} was superseded: ${later} was in use before, so it may lack ` +
      'acknowledged changes. If that server was discarded on purpose, restart all nodes ("A server that was superseded" in docs/postgresql-failover.md)',
    'superseded',
  );
}

/** Verifies, across all connections of a node, that they use the same store and the latest primary. */
export class Origin {
  readonly #timelines = new Timelines<Session>();
  /** The environment of the store, once known. */
  #environment: string | undefined;
  /** See StoreStatus; undefined until the first session. */
  #identity: string | undefined;
  /** The highest id that this node has given to an order. */
  highestGiven: OrderId = 0n;
  /** The position of the latest change that this node has acknowledged. */
  #acknowledged: Acknowledgement | undefined;
  readonly #onLost: OpenOptions['onLost'];

  constructor(onLost?: OpenOptions['onLost']) {
    this.#onLost = onLost;
  }

  /** Called with every new session before it is used. Rejects a server superseded by a promoted one, and another store than before. */
  async confirm(session: Session): Promise<void> {
    for (const each of this.#timelines.admit(session, session.server!)) each.destroy();
    const [row] = await session.query('SELECT environment, identity FROM store');
    if (row === undefined) return;
    const [environment, identity] = row.map(text);
    // Guards against a password file or URL file that is changed to name another database.
    this.#environment ??= environment;
    if (this.#environment !== environment) {
      throw new StoreUnavailable(
        `PostgreSQL: the environment of the store changed from ${this.#environment} to ${environment}`,
        'failed',
      );
    }
    // A database that was made again, or renamed, beneath a running node is another store, which knows none of its acknowledged changes.
    this.#identity ??= identity;
    if (this.#identity !== identity) {
      throw new StoreUnavailable(
        `PostgreSQL: the store ${this.#identity} was replaced by the store ${identity}; if that was on purpose, restart all nodes`,
        'replaced',
      );
    }
    await expectNoHazard(session);
  }

  /**
   * Called with every new session that writes, after `confirm` and before it is used. If the store is not the same as before,
   * or has lost orders that this node has placed, its ids leap. If it has lost changes that this node has acknowledged, that is recorded.
   */
  async confirmIds(session: Session): Promise<void> {
    const { system, timeline } = session.server!;
    const [row] = await session.query(TABLES);
    await recordOrigin(session, [system, row![0], timeline]);
    const end = leapAbove({ ...ALL_IDS, highest: this.highestGiven });
    await session.write(SQL.reserveIds, [end, this.highestGiven]);
    const record = await findLoss(session, this.#acknowledged, serverName(session.server!));
    if (record === undefined) return;
    await inTransaction(session, () => recordLoss(session, record));
    this.#acknowledged = undefined;
    this.#onLost?.(record.what);
  }

  /**
   * Called with the position after the latest batch of a session, once it is durable.
   * @returns false if the history was longer before: the store was replaced beneath the session
   */
  acknowledge(written: Acknowledgement | undefined): boolean {
    if (written === undefined || written === this.#acknowledged) return true;
    const before = this.#acknowledged?.position.revision ?? 0n;
    if (written.position.revision <= before) return false;
    this.#acknowledged = written;
    return true;
  }

  /** Called with the id of an order that this node has placed. */
  gave(id: OrderId): void {
    if (id > this.highestGiven) this.highestGiven = id;
  }
}

/**
 * Records where the store is (server, database with table, timeline), before anything is written. If the store was elsewhere,
 * its ids leap: the trigger of migration 010.
 */
async function recordOrigin(session: Session, parts: readonly (Column | number | undefined)[]) {
  const [row] = await session.query('SELECT origin FROM store');
  const origin = text(row?.[0]) ?? '';
  const before = origin.split('/');
  const now = parts.map((part) => String(part ?? ''));
  const isSame = now.every((part, at) => part === '' || !before[at] || part === before[at]);
  // Takes over the parts that the role may not read.
  const merged = now.map((part, at) => part || (isSame && before[at]) || '').join('/');
  if (merged === origin) return;
  // Unknown parts are filled in via '', so that the ids do not leap. Another node may have done so first.
  if (isSame) await session.write(SQL.recordOrigin, ['', origin]);
  await session.write(SQL.recordOrigin, [merged, isSame ? '' : origin]);
}

/** The numbers change if the tables are made again, emptied and refilled, or in another database. */
const TABLES = `SELECT oid || '.' || 'store'::regclass::oid || '.' || pg_relation_filenode('store')
  FROM pg_database WHERE datname = current_database()`;

const SQL = {
  recordOrigin: 'UPDATE store SET origin = $1 WHERE origin = $2',
  reserveIds: `UPDATE store SET reserved_id = least($1, last_id)
    WHERE store_orders_highest_id() < least($2::bigint, last_id)`,
} as const;
