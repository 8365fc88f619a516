import type { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { Command, Fault, OutcomeOf } from '../store.ts';
import { StoreNotUsable, StoreUnavailable } from '../store.ts';
import { fileIdentity, makeDurable, openForWriting, retryWhileBusy } from './connection.ts';
import { isBusy, opening, storeError } from './errors.ts';
import { MIGRATION_WAIT_MS, type Migrated, migrate, missingMigrations } from './schema.ts';
import { Writer } from './writer.ts';

/** How the thread is started. */
export interface WriterData {
  readonly path: string;
  readonly create: boolean;
  readonly lockWaitMs: number;
  /** Whether a store without an id gets one. */
  readonly givesId: boolean;
  /** Whether an older schema is updated, or refused. */
  readonly mayMigrate: boolean;
}

export type Request = { readonly commands: readonly Command[] } | 'close';

/** Failures cross the thread boundary by name, since an Error loses its class on the way. */
export interface Failure {
  readonly failure: 'not_usable' | 'unavailable' | 'bug';
  readonly message: string;
  /** Of what is not available. */
  readonly fault?: Fault;
}
/** The first answer. */
export interface Ready {
  readonly ready: true;
  readonly migrated: Migrated | undefined;
}
export type Answer = { readonly outcomes: OutcomeOf<Command>[] } | Ready | Failure;

const port = parentPort!;
const data = workerData as WriterData;
const { path, create, lockWaitMs } = data;

function open() {
  return opening(path, () => {
    const { db, file } = openForWriting(path, create);
    try {
      // First of all, so that a file that is not ours stays as it is.
      retryWhileBusy(lockWaitMs, () => missingMigrations(db));
      retryWhileBusy(lockWaitMs, () => makeDurable(db));
      const migrated = migrate(db, MIGRATION_WAIT_MS, data.mayMigrate);
      probeForWriting(db);
      // A connection keeps the file that it was opened on, whatever is there by now. From here on `restore` waits.
      if (fileIdentity(path) !== file)
        throw new StoreNotUsable('it was replaced while it was being opened; try again');
      if (data.givesId) giveId(db);
      return { db, migrated };
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

/** A file that cannot be written is refused now rather than at the first cancel. */
function probeForWriting(db: DatabaseSync): void {
  try {
    // A write and not only its lock: SQLite gives that on a read-only file too.
    db.exec('BEGIN IMMEDIATE; UPDATE store SET revision = revision; ROLLBACK');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    if (!isBusy(error)) throw error;
  }
}

/** Durably, before a list or an ETag of it is seen. */
function giveId(db: DatabaseSync): void {
  if (db.prepare("SELECT 1 FROM store WHERE id = ''").get() === undefined) return;
  const id = "UPDATE store SET id = lower(hex(randomblob(8))), backup_at = NULL WHERE id = ''";
  retryWhileBusy(lockWaitMs, () => db.exec(id));
}

function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof StoreNotUsable) return { failure: 'not_usable', message };
  if (error instanceof StoreUnavailable) {
    return { failure: 'unavailable', message, fault: error.fault };
  }
  return { failure: 'bug', message: error instanceof Error ? (error.stack ?? message) : message };
}

function answer(produce: () => Answer): void {
  let message: Answer;
  try {
    message = produce();
  } catch (error) {
    message = failureOf(storeError(path, error));
  }
  port.postMessage(message);
}

answer(() => {
  const { db, migrated } = open();
  const writer = new Writer(db, lockWaitMs);
  port.on('message', (request: Request) => {
    if (request === 'close') {
      db.close();
      port.close();
      return;
    }
    answer(() => ({ outcomes: writer.apply(request.commands) }));
  });
  return { ready: true, migrated };
});
