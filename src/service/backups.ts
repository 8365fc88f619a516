import type { Logger } from 'pino';
import { positionText } from '../../protocol/history.ts';
import type { LatestBackup, Rotation } from '../store/backups.ts';
import type { DatabaseFile } from '../store/database.ts';

/** Pause after a failure, or while another process makes a backup; shorter if backups are more frequent. */
const RETRY_MS = 300_000;
/** Maximum delay of setTimeout. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Makes a backup of an SQLite store whenever one is due, until it is stopped.
 * @param onFailure called after each failure, for metrics
 */
export function startBackups(
  file: DatabaseFile,
  rotation: Rotation,
  logger: Logger,
  onFailure: () => void,
) {
  const { folder, everyMs } = rotation;
  let latest: LatestBackup | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const check = async () => {
    let nextMs = Math.min(RETRY_MS, everyMs);
    try {
      const began = performance.now();
      const rotated = await file.rotateBackups(rotation);
      latest = rotated.latest;
      const ms = Math.round(performance.now() - began);
      if (rotated.made !== undefined) {
        const { revision, head, heads } = rotated.made.findings;
        const position = head && positionText({ revision, head });
        logger.info({ ...latest, head: position, ms }, 'made and checked a backup');
        const problems = heads?.problems ?? [];
        if (problems.length > 0) logger.warn({ problems }, 'the history was altered by hand');
      }
      const { undeleted = [] } = rotated;
      if (undeleted.length > 0) logger.error({ undeleted }, 'older backups cannot be deleted');
      const dueMs = (latest?.at ?? 0) + everyMs - Date.now();
      if (dueMs > 0) nextMs = dueMs;
    } catch (error) {
      onFailure();
      logger.error({ err: error, folder }, 'the backup failed');
    }
    if (isStopped) return;
    timer = setTimeout(check, Math.min(nextMs, LONGEST_TIMER_MS)).unref();
  };
  void check();
  return {
    /** The latest valid backup by any process, as of the last check. */
    latest: () => latest,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
