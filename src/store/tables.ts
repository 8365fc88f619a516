import { type StoreStatus, StoreUnavailable } from './store.ts';

/** A value of a row, the same for every engine. */
export type Cell = bigint | string | boolean | Uint8Array | null;
export type Cells = readonly Cell[];

type Kind = 'integer' | 'text' | 'boolean' | 'bytes';
export interface Table {
  readonly name: string;
  /** Whether each change of it shows in the store's revision. */
  readonly hasRevision?: true;
  readonly columns: Readonly<Record<string, Kind>>;
  /** In ascending order of these columns, text by its bytes, the rows are read. */
  readonly key: readonly string[];
}

/** All there is in a store but the row of the table store, for copying it. */
export const TABLES: readonly Table[] = [
  {
    name: 'orders',
    hasRevision: true,
    columns: {
      id: 'integer',
      status: 'text',
      pet_id: 'integer',
      quantity: 'integer',
      ship_date: 'integer',
      complete: 'boolean',
      revision: 'integer',
    },
    key: ['id'],
  },
  {
    name: 'order_events',
    hasRevision: true,
    columns: { order_id: 'integer', revision: 'integer', type: 'text', at: 'integer', by: 'text' },
    key: ['order_id', 'revision', 'type'],
  },
  { name: 'pets', columns: { id: 'integer', name: 'text', tag: 'text' }, key: ['id'] },
  {
    name: 'api_keys',
    columns: {
      id: 'text',
      name: 'text',
      environment: 'text',
      digest: 'bytes',
      created_at: 'integer',
      expires_at: 'integer',
      revoked_at: 'integer',
      last_used_at: 'integer',
    },
    key: ['id'],
  },
  {
    name: 'imports',
    columns: { source: 'text', run: 'text', placed: 'integer', highest_id: 'integer' },
    key: ['source'],
  },
];

/** Rows handed on at a time. */
export const ROWS_AT_A_TIME = 5_000;

/** A store to copy from: one snapshot of it, for as long as it is open. */
export interface Source {
  readonly status: StoreStatus;
  /** Whether it is a backup that was not put to use since. */
  readonly isBackup: boolean;
  count(table: Table): Promise<number>;
  /** All rows of a table, batch by batch. */
  rows(table: Table): AsyncIterable<readonly Cells[]>;
  close(): Promise<void>;
}

/** A database to copy into, which holds no store anybody can open until it is complete. */
export interface Target {
  insert(table: Table, rows: readonly Cells[]): Promise<void>;
  rows(table: Table): AsyncIterable<readonly Cells[]>;
  /** Makes it a store, durably: the one that `status` tells of. */
  complete(status: StoreStatus): Promise<void>;
  close(): Promise<void>;
}

/** For the operator, where the schema is older than this release, and it is not the command's to change. */
export function olderSchema(from: number, to: number): string {
  return (
    `its schema is that of an earlier release (${from} of ${to} migrations); "store-orders migrate" updates it, ` +
    'and services of that release may then have to be replaced (docs/operating.md, Upgrades)'
  );
}

/**
 * Where a store was moved to another database it is neither written nor listed any more.
 * @param movedTo of its row, where it has one
 * @throws StoreUnavailable
 */
export function expectNotMovedAway(movedTo: unknown): void {
  if (movedTo === null || movedTo === undefined) return;
  throw new StoreUnavailable(`the store was moved to ${movedTo}; use it there`, 'moved');
}

/** For the operator, where the row of the table store is missing. */
export const COPY_NOT_COMPLETE = 'a copy into it has not ended; run "store-orders copy" again';
