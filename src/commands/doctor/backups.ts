import { existsSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import { formatTimestamp } from '../../orders/timestamp.ts';
import { type Finding, ok, problem, warning } from '../../store/diagnosis.ts';
import { latestBackupOf } from '../../store/maintenance/backup.ts';

/** Checks the backups that the service makes, if it makes any. */
export function backupsOf({ backups, databaseUrl }: Config): Finding[] {
  if (backups === undefined) return [];
  const { folder, everyMs } = backups;
  if (!existsSync(folder)) {
    return [
      problem('backups', `the folder ${folder} does not exist`, 'create it, or mount its disk'),
    ];
  }
  const advice = 'see the log of the service, which makes the backups';
  try {
    const latest = latestBackupOf(databaseUrl, folder);
    if (latest === undefined)
      return [warning('backups', `there is no backup in ${folder}`, advice)];
    const found = `the latest backup is of ${formatTimestamp(latest.at)}`;
    const isOverdue = Date.now() - latest.at > 2 * everyMs;
    return [isOverdue ? warning('backups', found, advice) : ok('backups', found)];
  } catch (error) {
    // Such as a database that does not exist yet.
    return [warning('backups', (error as Error).message, advice)];
  }
}
