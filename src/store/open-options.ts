/**
 * The purpose that a store is opened for:
 * - "service": to serve it. Lock waits are limited to what HTTP clients wait for.
 * - "migration": to migrate its schema to this release, as a service does too.
 * - "write", "read": for a command. Time limits are longer, and an older schema is left as it is, since a service of the previous release may be
 * running. "read" requires no write permission.
 */
export type Purpose = 'service' | 'migration' | 'write' | 'read';

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

/** A warning about the database. */
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
