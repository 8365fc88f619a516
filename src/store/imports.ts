/** The record of an import in the store. */
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

/** Maximum number of finished imports in the store; older ones are deleted. */
export const FINISHED_IMPORTS_KEPT = 1_000;

/** Returns how many rows of the same content a new run skips: none if the import is finished, or not recorded. */
export function rowsPlaced(known: ImportRecord | undefined): number {
  return known === undefined || known.finishedAt !== undefined ? 0 : known.placed;
}
