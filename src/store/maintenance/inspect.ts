import type { Finding } from '../diagnosis.ts';
import type { MigrationSteps } from '../migration-steps.ts';
import { isPostgresUrl } from '../postgres/database/address.ts';
import { checkPostgres } from '../postgres/maintenance/check.ts';
import { diagnosePostgres } from '../postgres/maintenance/diagnose.ts';
import { planPostgres } from '../postgres/maintenance/plan.ts';
import { sqlitePath } from '../sqlite/database/connection.ts';
import { checkSqlite } from '../sqlite/maintenance/check.ts';
import { diagnoseSqlite } from '../sqlite/maintenance/diagnose.ts';
import { planSqlite } from '../sqlite/maintenance/plan.ts';
import type { Findings } from '../tables/consistency.ts';
import type { HistoryCheck } from '../tables/heads.ts';

/**
 * Checks the whole store at `url`, of this release or an earlier one.
 * @throws StoreNotUsable
 */
export async function checkStore(url: string, history?: HistoryCheck): Promise<Findings> {
  return isPostgresUrl(url) ? checkPostgres(url, history) : checkSqlite(sqlitePath(url), history);
}

/**
 * Returns what migrating the database at `url` would do. Writes nothing.
 * @throws StoreNotUsable, StoreUnavailable
 */
export async function planMigrations(url: string): Promise<MigrationSteps> {
  return isPostgresUrl(url) ? planPostgres(url) : planSqlite(sqlitePath(url));
}

/** Checks the database at `url`, even without a store: permissions, disk or server, and the duration of a commit. */
export function diagnoseDatabase(url: string): Promise<Finding[]> {
  return isPostgresUrl(url) ? diagnosePostgres(url) : diagnoseSqlite(sqlitePath(url));
}
