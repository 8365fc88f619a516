import { MAX_HELD_BACK, SNAPSHOT_HOLDERS, type StoreSizes } from '../../store.ts';
import type { Row } from '../../tables/session.ts';
import type { Session } from './session.ts';

/** How often the sessions that block a migration are queried. */
const POLL_INTERVAL_MS = 300;

/** Describes the sessions in a transaction that hold a lock on one of these tables. */
export async function holdersOf(session: Session, tables: readonly string[]): Promise<string[]> {
  return (await session.query(HOLDING, [`{${tables.join()}}`])).map(described);
}

/**
 * Calls `onBlocked` with the sessions that process `pid` waits for, whenever they change, until what is returned is disposed of.
 * @param session another session; destroyed at the end
 */
export function watchBlockers(
  session: Session,
  pid: bigint,
  onBlocked: (blockers: readonly string[]) => void,
): Disposable {
  let known = '';
  const timer = setInterval(async () => {
    // If this query fails, the migration goes on.
    const blockers = await session.query(BLOCKING, [pid]).catch(() => []);
    // Without their ages.
    const names = blockers.map(([process, name]) => `${process} ${name}`).join();
    if (blockers.length > 0 && names !== known) onBlocked(blockers.map(described));
    if (blockers.length > 0) known = names;
  }, POLL_INTERVAL_MS);
  return {
    [Symbol.dispose]: () => {
      clearInterval(timer);
      session.destroy();
    },
  };
}

/** process 4711 (pg_dump, role backup), in a transaction for 42 s. Unprivileged roles see few details of other roles. */
function described([pid, application, role, seconds]: Row): string {
  if (pid === null)
    return `the prepared transaction ${application} (role ${role}), ${seconds} s old`;
  const names = [application || undefined, role && `role ${role}`].filter(
    (name) => name !== undefined && name !== null,
  );
  const age = seconds === null ? '' : `, in a transaction for ${seconds} s`;
  return `process ${pid}${names.length > 0 ? ` (${names.join(', ')})` : ''}${age}`;
}

const COLUMNS = `activity.pid, application_name, usename,
  round(extract(epoch FROM clock_timestamp() - xact_start))::bigint`;

/**
 * What a process waits for that waits for nothing itself. The process of a prepared transaction is 0.
 * https://www.postgresql.org/docs/current/functions-info.html (pg_blocking_pids)
 */
const BLOCKING = `WITH RECURSIVE waits(pid) AS (SELECT unnest(pg_blocking_pids($1::int))
      UNION SELECT unnest(pg_blocking_pids(pid)) FROM waits WHERE pid <> 0)
    SELECT ${COLUMNS} FROM pg_stat_activity AS activity
      WHERE pid IN (SELECT pid FROM waits) AND cardinality(pg_blocking_pids(pid)) = 0
    UNION ALL SELECT NULL, gid, owner, round(extract(epoch FROM clock_timestamp() - prepared))::bigint
      FROM pg_prepared_xacts WHERE database = current_database() AND 0 IN (SELECT pid FROM waits) ORDER BY 4 DESC`;

const HOLDING = `SELECT ${COLUMNS} FROM pg_stat_activity AS activity
    WHERE activity.pid <> pg_backend_pid() AND xact_start < clock_timestamp() - interval '1 second'
      AND EXISTS (SELECT FROM pg_locks WHERE pg_locks.pid = activity.pid AND granted
        AND relation = ANY (SELECT to_regclass(name)::oid FROM unnest($1::text[]) AS name))
    ORDER BY xact_start`;

/** Old snapshots that are named; there can be any number. */
const MAX_NAMED = 5;

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

const NAMED = `SELECT name, transactions FROM (${HELD}) AS held WHERE transactions > $1
  ORDER BY transactions DESC LIMIT $2`;

/** The age of the oldest id in any database, since the server stops for all of them: of a transaction, or of several that lock the same row. */
export const OLDEST_TRANSACTION_AGE =
  '(SELECT max(greatest(age(datfrozenxid), mxid_age(datminmxid))) FROM pg_database)';

/** With how many transactions the oldest snapshot of each kind of holder holds back; NULL without one. */
const SIZES = `SELECT pg_database_size(current_database()), ${OLDEST_TRANSACTION_AGE},
    ${SNAPSHOT_HOLDERS.map((kind) => `max(transactions) FILTER (WHERE kind = '${kind}')`).join()}
  FROM (${HELD}) AS held`;

/** Returns the size of the database, the holders of old snapshots, and what else is measured of the server. The sizes of log and disk are unknown here. */
export async function readSizes(session: Session): Promise<StoreSizes> {
  const [row] = await session.query(SIZES);
  const [database = 0, oldestTransactionAge = 0, ...held] = row!.map(Number);
  const [inSessions = 0, prepared = 0, slots = 0] = held;
  const heldBack = { session: inSessions, prepared_transaction: prepared, replication_slot: slots };
  return { database, heldBack, oldestTransactionAge, timeline: session.server!.timeline };
}
