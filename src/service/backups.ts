import type { Logger } from 'pino';
import { positionText } from '../../protocol/history.ts';
import type { LatestBackup, Rotation } from '../store/backups.ts';
import type { DatabaseFile } from '../store/database.ts';

/** Pause after a failure, or while another process makes a backup; shorter if backups are more frequent. */
const RETRY_MS = 300_000;
/** Maximum delay of setTimeout. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Backups of an SQLite store at intervals, by the service itself. */
export class Backups {
  readonly #file: DatabaseFile;
  readonly #rotation: Rotation;
  readonly #logger: Logger;
  readonly #onFailure: () => void;
  #latest: LatestBackup | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** @param onFailure called after each failure, for metrics */
  constructor(file: DatabaseFile, rotation: Rotation, logger: Logger, onFailure: () => void) {
    this.#file = file;
    this.#rotation = rotation;
    this.#logger = logger;
    this.#onFailure = onFailure;
  }

  /** The latest valid backup by any process, as of the last check. */
  get latest(): LatestBackup | undefined {
    return this.#latest;
  }

  /** Makes a backup whenever one is due, until the returned function is called. */
  start(): () => void {
    void this.#check();
    return () => {
      this.#isStopped = true;
      clearTimeout(this.#timer);
    };
  }

  async #check(): Promise<void> {
    const { folder, everyMs } = this.#rotation;
    let nextMs = Math.min(RETRY_MS, everyMs);
    try {
      const began = performance.now();
      const { latest, made } = await this.#file.rotateBackups(this.#rotation);
      this.#latest = latest;
      const ms = Math.round(performance.now() - began);
      if (made !== undefined) {
        const { revision, head, heads } = made.findings;
        const position = head && positionText({ revision, head });
        this.#logger.info({ ...latest, head: position, ms }, 'made and checked a backup');
        const problems = heads?.problems ?? [];
        if (problems.length > 0) this.#logger.warn({ problems }, 'the history was altered by hand');
      }
      const dueMs = (latest?.at ?? 0) + everyMs - Date.now();
      if (dueMs > 0) nextMs = dueMs;
    } catch (error) {
      this.#onFailure();
      this.#logger.error({ err: error, folder }, 'the backup failed');
    }
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.#check(), Math.min(nextMs, LONGEST_TIMER_MS));
    this.#timer.unref();
  }
}
