import { type Row, text } from '../../tables/session.ts';
import type { Session } from './session.ts';

/** Before this migration, text keys have the collation of the database. */
const TEXT_KEYS = '026-text-keys.postgres.sql';
/** The first version that records the version of a database's collation. */
const RECORDED_SINCE = 150_000;

/**
 * Returns the problem of a store whose indexes may have the order of a former version of the collation of its database, with what to do; undefined
 * if there is none, or PostgreSQL has no record of the version (before 15, and for the collations C and POSIX). See decision 062.
 * @param missing the migrations that have not run on an existing store
 */
export async function collationProblem(
  session: Session,
  missing: readonly string[],
): Promise<{ readonly found: string; readonly advice: string } | undefined> {
  if (Number(session.server!.version) < RECORDED_SINCE) return undefined;
  if (!missing.includes(TEXT_KEYS)) return undefined;
  const [row] = await session.query(VERSIONS);
  const [name, recorded, actual] = (row as Row).map((each) => text(each));
  if (recorded === undefined || actual === undefined || recorded === actual) return undefined;
  return {
    found:
      `the collation of the database had version ${recorded} when its indexes were made, and has version ${actual} now, so rows may not be found, ` +
      'and a repeated placement may place again',
    advice:
      `stop all nodes, then run REINDEX DATABASE "${name}" and, as a second command, ALTER DATABASE "${name}" REFRESH COLLATION VERSION ` +
      '("Collations" in docs/postgresql.md)',
  };
}

const VERSIONS = `SELECT datname, datcollversion, pg_database_collation_actual_version(oid)
  FROM pg_database WHERE datname = current_database()`;
