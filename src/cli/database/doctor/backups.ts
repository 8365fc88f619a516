import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { formatTimestamp } from '../../../domain/timestamp.ts';
import type { Config } from '../../../service/settings/config.ts';
import { databaseAt } from '../../../store/database.ts';
import { type Finding, ok, problem, warning } from '../../../store/diagnosis.ts';

/** A disk that fails takes its backups with it. */
function sameDisk(folder: string, database: string): Finding[] {
  if (statSync(folder).dev !== statSync(dirname(database)).dev) return [];
  const found = `${folder} is on the same disk as the database, and is lost with it`;
  return [warning('backups', found, 'copy the backups to another machine, or use another disk')];
}

/** Checks the backups that the service makes, if it makes any. */
export async function backupsOf({ backups, database }: Config): Promise<Finding[]> {
  if (backups === undefined) return [];
  const { folder, everyMs } = backups;
  if (!existsSync(folder)) {
    return [
      problem('backups', `the folder ${folder} does not exist`, 'create it, or mount its disk'),
    ];
  }
  const advice = 'see the log of the service, which makes the backups';
  try {
    const latest = database.file!.latestBackup(folder);
    if (latest === undefined)
      return [warning('backups', `there is no backup in ${folder}`, advice)];
    const found = `the latest backup is of ${formatTimestamp(latest.at)}`;
    const { problems } = await databaseAt(`sqlite:${latest.file}`).check({
      isSample: true,
      areRowsSampled: true,
    });
    if (problems.length > 0) {
      return [problem('backups', `${latest.file} is damaged: ${problems[0]}`, 'make another one')];
    }
    const isOverdue = Date.now() - latest.at > 2 * everyMs;
    return [
      isOverdue ? warning('backups', found, advice) : ok('backups', found),
      ...sameDisk(folder, database.file!.path),
    ];
  } catch (error) {
    // For example a database that does not exist yet.
    return [warning('backups', (error as Error).message, advice)];
  }
}
