import type { FreeIds } from '../domain/ids.ts';
import type { Order } from '../domain/order.ts';
import type { AuditRecord } from './audit.ts';

/** What commands read and requests do not: all orders, imports, and the record of operators' commands. */
export interface History {
  /**
   * Calls `visit` with all orders, in any status, in batches of ascending id from one snapshot. Waits for each call
   * before making the next. Stops at the end, or when a call resolves to false.
   * @param at the revision whose orders are visited, as they were then; absent for the latest
   */
  scan(
    visit: (orders: readonly Order[]) => Promise<boolean | undefined>,
    at?: bigint,
  ): Promise<void>;

  /** Returns the last revision before the first event that is later than `time`, in milliseconds since the epoch. */
  revisionAt(time: number): Promise<bigint>;

  /** Returns the unfinished imports, and the latest finished ones, the latest first. */
  imports(): Promise<ImportRecord[]>;

  /** Returns what is known of the earlier imports of a file's content. @param source a digest of it */
  importProgress(source: string): Promise<{
    /** Rows that a new run skips, since an unfinished import has placed them. */
    readonly placed: number;
    /** The import of the same content, if it is finished. */
    readonly finished: ImportRecord | undefined;
    /** The ids that orders without one may be assigned. */
    readonly freeIds: FreeIds;
  }>;

  /** Returns the latest records of operators' commands, up to `limit`, the latest first. */
  audit(limit: number): Promise<AuditRecord[]>;

  /** Returns the records of changes that the store has lost, and that no operator has acknowledged, the oldest first. */
  losses(): Promise<AuditRecord[]>;

  /** Returns the audit records of the given revisions, by revision; revisions not made by a command have none. */
  operators(revisions: readonly bigint[]): Promise<ReadonlyMap<bigint, AuditRecord>>;
}

export interface ImportRecord {
  /** SHA-256 of the content, in hex. */
  readonly source: string;
  /** Name of the file; undefined for an import begun by an earlier release, and so are `total` and `begunAt`. */
  readonly name: string | undefined;
  /** Rows that are in the store by now, and all rows of the file. */
  readonly placed: number;
  readonly total: number | undefined;
  /** Milliseconds since the epoch; `finishedAt` is undefined while the import is not finished. */
  readonly begunAt: number | undefined;
  readonly finishedAt: number | undefined;
}

/** Digits of `source` that commands show, and that suffice to name an import. */
export const SHOWN_DIGITS = 12;
