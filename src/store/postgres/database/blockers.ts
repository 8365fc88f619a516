import type { Row } from '../../tables/session.ts';
import type { Session } from './session.ts';

/** How often the sessions that block a migration are queried. */
const POLL_INTERVAL_MS = 300;

/**
 * Describes the sessions that the session of process `pid` waits for.
 * https://www.postgresql.org/docs/current/functions-info.html (pg_blocking_pids)
 */
async function blockersOf(session: Session, pid: bigint): Promise<string[]> {
  return (await session.query(BLOCKING, [pid])).map(described);
}

/** Describes the sessions in a transaction that hold a lock on one of these tables. */
export async function holdersOf(session: Session, tables: readonly string[]): Promise<string[]> {
  return (await session.query(HOLDING, [`{${tables.join()}}`])).map(described);
}

/**
 * Calls `onBlocked` with the sessions that process `pid` waits for, whenever they change, until the returned function is called.
 * @param session another session; destroyed at the end
 */
export function watchBlockers(
  session: Session,
  pid: bigint,
  onBlocked: (blockers: readonly string[]) => void,
): () => void {
  let known = '';
  const timer = setInterval(async () => {
    // If this query fails, the migration goes on.
    const blockers = await blockersOf(session, pid).catch(() => []);
    const pids = blockers.map((each) => each.replace(/,.*/, '')).join();
    if (blockers.length > 0 && pids !== known) onBlocked(blockers);
    if (blockers.length > 0) known = pids;
  }, POLL_INTERVAL_MS);
  return () => {
    clearInterval(timer);
    session.destroy();
  };
}

/** process 4711 (pg_dump, role backup), in a transaction for 42 s. Unprivileged roles see few details of other roles. */
function described([pid, application, role, seconds]: Row): string {
  const names = [application || undefined, role && `role ${role}`].filter(
    (name) => name !== undefined && name !== null,
  );
  const age = seconds === null ? '' : `, in a transaction for ${seconds} s`;
  return `process ${pid}${names.length > 0 ? ` (${names.join(', ')})` : ''}${age}`;
}

const COLUMNS = `activity.pid, application_name, usename,
  round(extract(epoch FROM clock_timestamp() - xact_start))::bigint`;

const BLOCKING = `SELECT ${COLUMNS} FROM pg_stat_activity AS activity
    WHERE activity.pid = ANY (pg_blocking_pids($1::int)) ORDER BY xact_start`;

const HOLDING = `SELECT ${COLUMNS} FROM pg_stat_activity AS activity
    WHERE activity.pid <> pg_backend_pid() AND xact_start < clock_timestamp() - interval '1 second'
      AND EXISTS (SELECT FROM pg_locks WHERE pg_locks.pid = activity.pid AND granted
        AND relation = ANY (SELECT to_regclass(name)::oid FROM unnest($1::text[]) AS name))
    ORDER BY xact_start`;
