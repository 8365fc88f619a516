import type { Action } from '../audit.ts';
import { expectedSchema } from '../expected-schema.ts';
import { StoreNotUsable, type StoreStatus } from '../store.ts';
import type { Row, Session } from './session.ts';
import { readStatus } from './store-row.ts';

/** A table that is copied, with the columns that it has on PostgreSQL: those that SQLite alone has follow from the others. */
export interface Table {
  readonly name: string;
  /** Whether every change of the table increases the store's revision. */
  readonly hasRevision?: true;
  /** The names and PostgreSQL's types. */
  readonly columns: Readonly<Record<string, string>>;
  /** Columns that the rows are read in ascending order of; text is ordered by its bytes. */
  readonly key: readonly string[];
}

const SCHEMA = expectedSchema('postgresql');

function table(name: string, ...key: readonly string[]): Table {
  const columns = SCHEMA.flatMap((line) => {
    const [, of, column, type] = /^column (\w+)\.(\w+) (\w+)/.exec(line) ?? [];
    return of === name ? [[column, type]] : [];
  });
  return { name, columns: Object.fromEntries(columns), key };
}

/** All tables that are copied; the row of the table store is copied separately. */
export const TABLES: readonly Table[] = [
  { ...table('orders', 'id'), hasRevision: true },
  { ...table('order_events', 'order_id', 'revision', 'type'), hasRevision: true },
  table('audit', 'id'),
  { ...table('operator_revisions', 'revision'), hasRevision: true },
  table('pets', 'id'),
  table('api_keys', 'id'),
  { ...table('placements', 'key_id', 'idempotency_key'), hasRevision: true },
  { ...table('changed_all', 'key_id', 'idempotency_key'), hasRevision: true },
  { ...table('cancel_uses', 'key_id', 'second'), hasRevision: true },
  { ...table('place_uses', 'key_id', 'second'), hasRevision: true },
  table('imports', 'source'),
  table('webhooks', 'id'),
];

/** Rows per batch. */
export const ROWS_AT_A_TIME = 5_000;

/** A store to copy from: one snapshot, held until it is closed. */
export interface Source extends AsyncDisposable {
  readonly status: StoreStatus;
  /** Whether it is a backup that has not been used as a store since it was made. */
  readonly isBackup: boolean;
  /** What no migration made, one line each: it could change what is written. */
  readonly foreign: readonly string[];
  count(table: Table): Promise<number>;
  rows(table: Table): AsyncIterable<readonly Row[]>;
}

/** The ids of a store that was moved. They can differ from the snapshot's, since opening the store can make them leap. */
export type MovedIds = Pick<StoreStatus, 'reservedId' | 'freeIds'>;

/** A database to copy into. It is no store until it is complete. */
export interface Target extends AsyncDisposable {
  insert(table: Table, rows: readonly Row[]): Promise<void>;
  rows(table: Table): AsyncIterable<readonly Row[]>;
  /** Returns the row of `countsSql`. */
  counts(): Promise<readonly bigint[]>;
  /** Turns the database, durably, into the store described by `status`. @param action recorded in it */
  complete(status: StoreStatus, action: Action | undefined): Promise<void>;
}

/** Does what Database.whileMoved describes, in a transaction that excludes all writers. */
export async function completeMoved(
  session: Session,
  label: string,
  complete: (ids: MovedIds) => Promise<void>,
): Promise<void> {
  const { movedTo, reservedId, freeIds } = await readStatus(session);
  if (movedTo !== label) {
    throw new StoreNotUsable('the store was reactivated while it was copied; nothing was moved');
  }
  await complete({ reservedId, freeIds });
}
