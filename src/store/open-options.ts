import type { Environment } from '../domain/api-key.ts';
import { type Store, StoreNotUsable } from './store.ts';

/**
 * The purpose that a store is opened for:
 * - "service": to serve it. Lock waits are limited to what HTTP clients wait for.
 * - "migration": to migrate its schema to this release, as a service does too.
 * - "write", "read": for a command. Time limits are longer, and an older schema is left as it is, since a service of the previous release may be
 * running. "read" requires no write permission.
 */
type Purpose = 'service' | 'migration' | 'write' | 'read';

/** Returns whether the schema of an existing store may be migrated. */
export function mayMigrate(purpose: Purpose): boolean {
  return purpose === 'service' || purpose === 'migration';
}

/** The PostgreSQL server of a connection. */
export interface PostgresServer {
  /** As in the URL. */
  readonly host: string;
  /** Its own address and port, also behind a proxy; the host, for a Unix socket. */
  readonly address: string;
  /** server_version_num */
  readonly version: string;
  /** Every promotion of a standby begins a timeline; undefined if the role may not read it. */
  readonly timeline: number | undefined;
  /** Made with the data folder, and the same on its standbys; undefined if the role may not read it. */
  readonly system: string | undefined;
}

export interface DatabaseWarning {
  /** The function of PostgreSQL that warns, or the name of a file. */
  readonly source: string;
  readonly message: string;
}

/** Options for opening a store. */
export interface OpenOptions {
  /** Create the database if it does not exist; otherwise a missing database is an error. */
  readonly create: boolean;
  readonly purpose: Purpose;
  /**
   * Called with the backup that a service makes before it migrates an SQLite store, and the result of its check. Problems do not prevent the
   * migration.
   */
  readonly onBackup?: (file: string, problems: readonly string[]) => void;
  /** The folder of that backup; the folder of the database by default. */
  readonly backupFolder?: string;
  /** Called after the schema was migrated, with the number of migrations before and after. */
  readonly onMigrated?: (from: number, to: number) => void;
  /** Called with the reason why a migration waits, whenever it changes, and with its progress. */
  readonly onWaiting?: (reason: string) => void;
  /** Returns the current URL for each new connection; absent if the URL never changes. */
  readonly currentUrl?: () => string;
  /** Called when a connection to a server is made, or one is lost. */
  readonly onConnection?: (what: string, server?: PostgresServer) => void;
  /** Called with the record of changes that were acknowledged, and that the store does not have any more. */
  readonly onLost?: (record: string) => void;
  readonly onWarning?: (warning: DatabaseWarning) => void;
}

/** @param label of the database @throws StoreNotUsable if the store was moved to another database */
export function expectNotMoved(label: string, movedTo: string | undefined): void {
  if (movedTo === undefined) return;
  throw new StoreNotUsable(
    `the store ${label} was moved to ${movedTo}; use that database. To continue with this ` +
      'one instead, make sure that the other is not used, and run "store-orders reactivate"',
  );
}

/** Returns the environment of the store; records `wanted` if none is recorded. */
export async function claimEnvironment(store: Store, wanted: Environment): Promise<Environment> {
  const { environment } = await store.status();
  if (environment !== undefined) return environment;
  const [recorded] = await store.apply([{ type: 'recordEnvironment', environment: wanted }]);
  return recorded!;
}

/** @throws StoreNotUsable if the recorded environment is not the wanted one */
export function expectEnvironment(
  label: string,
  recorded: Environment | undefined,
  wanted: Environment | undefined,
): void {
  if (recorded === undefined || wanted === undefined || recorded === wanted) return;
  throw new StoreNotUsable(
    `the store ${label} is for ${recorded}, but ENVIRONMENT is ${wanted}; ` +
      'correct ENVIRONMENT or the database URL',
  );
}
