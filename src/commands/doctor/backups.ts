import { existsSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import { formatTimestamp } from '../../orders/timestamp.ts';
import { latestBackupIn } from '../../serve/backups.ts';
import { type Finding, ok, problem, warning } from '../../store/diagnosis.ts';

/** Looks at the backups that the service makes, if it makes any. */
export function backupsOf({ backups }: Config): Finding[] {
  if (backups === undefined) return [];
  const { folder, everyMs } = backups;
  if (!existsSync(folder)) {
    return [
      problem('backups', `the folder ${folder} does not exist`, 'make it, or mount its disk'),
    ];
  }
  const latest = latestBackupIn(folder);
  const advice = 'the running service makes them: see its log';
  if (latest === undefined) return [warning('backups', `there is no backup in ${folder}`, advice)];
  const found = `the latest backup is of ${formatTimestamp(latest.at)}`;
  const isOverdue = Date.now() - latest.at > 2 * everyMs;
  return [isOverdue ? warning('backups', found, advice) : ok('backups', found)];
}
