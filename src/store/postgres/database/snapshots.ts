import type { StoreSizes } from '../../store.ts';
import { MAX_HELD_BACK, SNAPSHOT_HOLDERS } from '../../store.ts';
import type { Session } from './session.ts';

/** Old snapshots that are named; there can be any number. */
const MAX_NAMED = 5;

/** Returns how many transactions the oldest snapshot of each kind of holder holds back; 0 without one. */
async function readHeldBack(session: Session): Promise<NonNullable<StoreSizes['heldBack']>> {
  const held = new Map((await session.query(LARGEST)) as [string, bigint][]);
  const [sessions, prepared, slots] = SNAPSHOT_HOLDERS.map((kind) => Number(held.get(kind) ?? 0));
  return { session: sessions!, prepared_transaction: prepared!, replication_slot: slots! };
}

/** Describes the snapshots that hold back more than MAX_HELD_BACK transactions, the oldest first. */
export async function oldSnapshots(session: Session): Promise<string[]> {
  const rows = await session.query(NAMED, [MAX_HELD_BACK, MAX_NAMED]);
  return rows.map(([name, transactions]) => `${name} since ${transactions} transactions`);
}

/**
 * A transaction that has written holds back as much as a snapshot. Sessions in other databases hold back nothing, except those that send the log
 * to a standby with hot_standby_feedback. Vacuum ignores the snapshots of other vacuums.
 * https://www.postgresql.org/docs/current/routine-vacuuming.html
 */
const HELD = `SELECT 'session' AS kind, age(coalesce(backend_xmin, backend_xid)) AS transactions,
      concat('session ', pid, ' (', nullif(application_name, '') || ', ', 'role ', usename, ')') AS name
    FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND (datname = current_database() OR backend_type = 'walsender')
      AND coalesce(backend_type, '') <> 'autovacuum worker' AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum)
  UNION ALL
  SELECT 'prepared_transaction', age(transaction), concat('prepared transaction ', gid)
    FROM pg_prepared_xacts WHERE database = current_database()
  UNION ALL
  SELECT 'replication_slot', age(xmin), concat('replication slot ', slot_name) FROM pg_replication_slots`;

const LARGEST = `SELECT kind, max(transactions) FROM (${HELD}) AS held GROUP BY kind`;

const NAMED = `SELECT name, transactions FROM (${HELD}) AS held WHERE transactions > $1
  ORDER BY transactions DESC LIMIT $2`;

/** The age of the oldest id in any database, since the server stops for all of them: of a transaction, or of several that lock the same row. */
export const OLDEST_TRANSACTION_AGE =
  '(SELECT max(greatest(age(datfrozenxid), mxid_age(datminmxid))) FROM pg_database)';

const SIZES = `SELECT pg_database_size(current_database()), ${OLDEST_TRANSACTION_AGE}`;

/** Returns the size of the database, the holders of old snapshots, and what else is measured of the server. The sizes of log and disk are unknown here. */
export async function readSizes(session: Session): Promise<StoreSizes> {
  const [[row], heldBack] = await Promise.all([session.query(SIZES), readHeldBack(session)]);
  const [database, oldestTransactionAge] = row!.map(Number);
  const { timeline } = session.server!;
  return { database: database!, heldBack, oldestTransactionAge: oldestTransactionAge!, timeline };
}
