import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Logger } from 'pino';
import type { BackupSettings } from '../config/config.ts';
import { backupBesideService } from '../store/backup.ts';
import type { LatestBackup } from '../telemetry/backup-metrics.ts';

/** Pause after a failure, or while another process makes a backup; shorter if backups are more frequent. */
const RETRY_MS = 300_000;
/** setTimeout takes no longer time. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** store-orders-2026-11-22T10-00-00-000Z.db; with more behind it, a temporary file. */
const NAME = /^store-orders-(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d)-(\d{3}Z)\.db(.*)$/;

/**
 * Backups of an SQLite store at intervals, by the service itself: checked, and rotated. Processes that share the folder make one
 * at a time, and one for all of them: a lock on a file beside the backups, which ends with the process that holds it.
 */
export class Backups {
  readonly #url: string;
  readonly #settings: BackupSettings;
  readonly #logger: Logger;
  readonly #onFailure: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** @param onFailure called after each failure, for metrics */
  constructor(url: string, settings: BackupSettings, logger: Logger, onFailure: () => void) {
    this.#url = url;
    this.#settings = settings;
    this.#logger = logger;
    this.#onFailure = onFailure;
  }

  /** Makes a backup whenever one is due. Returns a function that stops that. */
  start(): () => void {
    this.#wait(this.#dueInMs());
    return () => {
      this.#isStopped = true;
      clearTimeout(this.#timer);
    };
  }

  latest(): LatestBackup | undefined {
    return latestBackupIn(this.#settings.folder);
  }

  #wait(ms: number): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.#look(), Math.min(ms, LONGEST_TIMER_MS));
    this.#timer.unref();
  }

  #dueInMs(): number {
    const latest = this.latest();
    if (latest === undefined) return 0;
    return Math.max(0, latest.at + this.#settings.everyMs - Date.now());
  }

  async #look(): Promise<void> {
    const retryMs = Math.min(RETRY_MS, this.#settings.everyMs);
    try {
      const wasMade = this.#dueInMs() > 0 || (await this.#makeAlone());
      this.#wait(wasMade ? this.#dueInMs() : retryMs);
    } catch (error) {
      this.#onFailure();
      this.#logger.error({ err: error, folder: this.#settings.folder }, 'the backup failed');
      this.#wait(retryMs);
    }
  }

  /** Makes a backup, unless another process is making one. Returns whether there is a new one. */
  async #makeAlone(): Promise<boolean> {
    const { folder } = this.#settings;
    if (!existsSync(folder)) {
      throw new Error(`the folder ${folder} does not exist: make it, or mount its disk`);
    }
    const lock = new DatabaseSync(join(folder, '.store-orders-backup-lock'), { timeout: 0 });
    try {
      lock.exec('BEGIN EXCLUSIVE');
    } catch {
      lock.close();
      return false;
    }
    try {
      if (this.#dueInMs() === 0) await this.#make();
      return true;
    } finally {
      lock.close();
    }
  }

  async #make(): Promise<void> {
    const { folder, keep } = this.#settings;
    // Of a process that was killed: nobody else makes one now.
    for (const name of readdirSync(folder).filter(isTemporary)) rmSync(join(folder, name));
    const began = performance.now();
    const file = join(folder, nameAt(Date.now()));
    const { bytes } = await backupBesideService(this.#url, file);
    const ms = Math.round(performance.now() - began);
    this.#logger.info({ file, bytes, ms }, 'made a backup, and checked it');
    for (const name of backupsIn(folder).slice(0, -keep)) rmSync(join(folder, name));
  }
}

/** Returns the latest backup in a folder; undefined if there is none, or the folder cannot be read. */
export function latestBackupIn(folder: string): LatestBackup | undefined {
  try {
    const name = backupsIn(folder).at(-1);
    if (name === undefined) return undefined;
    return { at: timeOf(name), bytes: statSync(join(folder, name)).size };
  } catch {
    return undefined;
  }
}

/** Returns the names of the complete backups in a folder, the oldest first. */
function backupsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => NAME.exec(name)?.[6] === '')
    .sort();
}

function isTemporary(name: string): boolean {
  return (NAME.exec(name)?.[6] ?? '') !== '';
}

function nameAt(time: number): string {
  return `store-orders-${new Date(time).toISOString().replaceAll(/[:.]/g, '-')}.db`;
}

function timeOf(name: string): number {
  return Date.parse(name.replace(NAME, '$1$2:$3:$4.$5'));
}
