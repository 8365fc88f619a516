import type { OrderId } from '../domain/order.ts';
import type { Action } from './audit.ts';
import type { Findings } from './tables/consistency.ts';

export interface Backup {
  readonly bytes: number;
  /** The result of checking the backup; without problems, unless they were allowed. */
  readonly findings: Findings;
  /** Temporary files in its folder that an interrupted backup has left, or one that is running now. */
  readonly leftovers: readonly string[];
}

/** How backups are made at intervals. */
export interface Rotation {
  readonly folder: string;
  readonly everyMs: number;
  /** Number of backups that are kept. */
  readonly keep: number;
}

/** The latest good backup. */
export interface LatestBackup {
  readonly file: string;
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number;
  readonly bytes: number;
}

export interface Rotated {
  /** Undefined if there is none. */
  readonly latest: LatestBackup | undefined;
  /** Set if `latest` was made now. */
  readonly made?: Backup;
  /** Why older backups, more than are kept, could not be deleted: a line each. */
  readonly undeleted?: readonly string[];
}

export interface Restored {
  readonly findings: Findings;
  /** Path of the replaced database; undefined if there was none. */
  readonly kept: string | undefined;
  /** The next id that is given to an order. */
  readonly nextId: OrderId;
  /** Keys that were revoked, and webhooks that were deleted, paused or rotated since the backup, which are as before again: one line each. */
  readonly undone: readonly string[];
}

export interface RestoreOptions {
  /** Called with the findings about the backup before anything is changed; may throw to refuse it. */
  readonly accept: (backup: Findings) => void;
  /** Whether the backup may be of another store than the one that it replaces. */
  readonly mayBeAnother: boolean;
  /** Whether what no migration made is dropped in the restored store; otherwise such a backup is refused. */
  readonly dropsForeign: boolean;
  /** Recorded in the restored store. */
  readonly action: Action;
}
