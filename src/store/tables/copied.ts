import type { Action } from '../audit.ts';
import type { StoreStatus } from '../store.ts';
import type { Row } from './session.ts';

type Kind = 'integer' | 'text' | 'boolean' | 'bytes';
export interface Table {
  readonly name: string;
  /** Whether every change of the table increases the store's revision. */
  readonly hasRevision?: true;
  readonly columns: Readonly<Record<string, Kind>>;
  /** Columns that the rows are read in ascending order of; text is ordered by its bytes. */
  readonly key: readonly string[];
}

/** The record of operators' commands. */
export const AUDIT: Table = {
  name: 'audit',
  columns: {
    id: 'integer',
    at: 'integer',
    command: 'text',
    os_user: 'text',
    host: 'text',
    what: 'text',
    keys: 'text',
    hash: 'bytes',
  },
  key: ['id'],
};

/** All tables that are copied; the row of the table store is copied separately. */
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
      reference: 'text',
      reference_key: 'text',
      reason: 'text',
      tracking_number: 'text',
    },
    key: ['id'],
  },
  {
    name: 'order_events',
    hasRevision: true,
    columns: {
      order_id: 'integer',
      revision: 'integer',
      type: 'text',
      at: 'integer',
      by: 'text',
      ship_date_before: 'integer',
      complete_before: 'boolean',
      head: 'bytes',
    },
    key: ['order_id', 'revision', 'type'],
  },
  AUDIT,
  {
    name: 'operator_revisions',
    hasRevision: true,
    columns: { revision: 'integer', audit_id: 'integer' },
    key: ['revision'],
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
      scopes: 'text',
      cancels_per_hour: 'integer',
      places_per_hour: 'integer',
      former_digest: 'bytes',
      former_until: 'integer',
    },
    key: ['id'],
  },
  {
    name: 'placements',
    hasRevision: true,
    columns: {
      key_id: 'text',
      idempotency_key: 'text',
      digest: 'text',
      order_id: 'integer',
      revision: 'integer',
      at: 'integer',
    },
    key: ['key_id', 'idempotency_key'],
  },
  {
    name: 'changed_all',
    hasRevision: true,
    columns: {
      key_id: 'text',
      idempotency_key: 'text',
      digest: 'text',
      results: 'text',
      at: 'integer',
    },
    key: ['key_id', 'idempotency_key'],
  },
  {
    name: 'cancel_uses',
    hasRevision: true,
    columns: { key_id: 'text', second: 'integer', count: 'integer' },
    key: ['key_id', 'second'],
  },
  {
    name: 'place_uses',
    hasRevision: true,
    columns: { key_id: 'text', second: 'integer', count: 'integer' },
    key: ['key_id', 'second'],
  },
  {
    name: 'imports',
    columns: {
      source: 'text',
      run: 'text',
      placed: 'integer',
      highest_id: 'integer',
      name: 'text',
      total: 'integer',
      begun_at: 'integer',
      finished_at: 'integer',
    },
    key: ['source'],
  },
  {
    name: 'webhooks',
    columns: {
      id: 'text',
      url: 'text',
      description: 'text',
      events: 'text',
      pet_ids: 'text',
      created_at: 'integer',
      created_by: 'text',
      key_name: 'text',
      generation: 'integer',
      rotated_at: 'integer',
      version: 'integer',
      position: 'text',
      examined: 'text',
      sending_to: 'text',
      failures: 'integer',
      failing_since: 'integer',
      next_attempt_at: 'integer',
      paused_for: 'text',
      last_success_at: 'integer',
      last_failure_at: 'integer',
      last_status: 'integer',
      last_problem: 'text',
    },
    key: ['id'],
  },
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
  /** Returns all rows of a table in batches. */
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

/** Message for the operator if a store was reactivated while it was copied. */
export const REACTIVATED = 'the store was reactivated while it was copied; nothing was moved';
