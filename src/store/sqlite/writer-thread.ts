import type { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { OutcomeOf, StoreCommand } from '../commands.ts';
import { expectNothingMissing, schemaDifferences } from '../expected-schema.ts';
import { StoreNotUsable } from '../store.ts';
import { describeSchema } from './catalog.ts';
import {
  fileIdentity,
  fileOrigin,
  makeDurable,
  openForWriting,
  retryWhileBusy,
} from './connection.ts';
import { isBusy, storeError, withOpenErrors } from './errors.ts';
import { GivenIds } from './given-ids.ts';
import { FILES_COMPARED_MS, OpenFiles } from './open-files.ts';
import { MIGRATION_WAIT_MS, type Migrated, migrate, missingMigrations } from './schema.ts';
import { Session } from './session.ts';
import { giveId, readFreeIds, recordOrigin, reserveGiven } from './store-row.ts';
import { type Failure, failureOf } from './thread-failure.ts';
import { applyCommands } from './writer.ts';

/** Start parameters of the thread. */
export interface WriterData {
  readonly path: string;
  readonly create: boolean;
  readonly lockWaitMs: number;
  /** Whether to assign an id to a store without one. */
  readonly givesId: boolean;
  /** Whether to migrate an older schema rather than refuse it. */
  readonly mayMigrate: boolean;
}

export type Request = { readonly commands: readonly StoreCommand[] } | 'close';

/** The first answer. */
export interface Ready {
  readonly ready: true;
  readonly migrated: Migrated | undefined;
}
export type Answer = { readonly outcomes: OutcomeOf<StoreCommand>[] } | Ready | Failure;
/** Sent without a request: the store cannot be used any more. */
export interface Loss {
  readonly loss: Failure;
}

const port = parentPort!;
const data = workerData as WriterData;
const { path, create, lockWaitMs } = data;

function open() {
  return withOpenErrors(path, () => {
    const { db, file } = openForWriting(path, create);
    try {
      // Checked first, so that a file of another program is left unchanged.
      retryWhileBusy(lockWaitMs, () => missingMigrations(db));
      retryWhileBusy(lockWaitMs, () => makeDurable(db));
      const migrated = migrate(db, MIGRATION_WAIT_MS, data.mayMigrate);
      if (data.mayMigrate) expectNothingMissing(schemaDifferences('sqlite', describeSchema(db)));
      probeForWriting(db);
      // A connection stays with the file it opened, even if that was replaced since. From here on `restore` is refused.
      if (fileIdentity(path) !== file)
        throw new StoreNotUsable('it was replaced while it was being opened; try again');
      const session = new Session(db);
      retryWhileBusy(lockWaitMs, () => recordOrigin(session, fileOrigin(path)));
      const given = new GivenIds(path);
      // A new store begins at 1, also where another one was.
      if (migrated?.from === 0) given.record(0n);
      retryWhileBusy(lockWaitMs, () => reserveGiven(session, given.highest));
      if (data.givesId) retryWhileBusy(lockWaitMs, () => giveId(session));
      return { session, migrated, given, files: new OpenFiles(path, db) };
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

/** Checks that the file can be written, so that a read-only one is refused now rather than at the first cancel. */
function probeForWriting(db: DatabaseSync): void {
  try {
    // An actual write: on a read-only file SQLite grants the lock, and fails only at the write.
    db.exec('BEGIN IMMEDIATE; UPDATE store SET revision = revision; ROLLBACK');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    if (!isBusy(error)) throw error;
  }
}

const GIVING: readonly StoreCommand['type'][] = ['place', 'placeOrder', 'importOrders', 'limitIds'];

/** Records the highest id beside the database, after commands that may have changed it. */
function recordGiven(session: Session, given: GivenIds, commands: readonly StoreCommand[]): void {
  if (commands.some(({ type }) => GIVING.includes(type)))
    given.record(readFreeIds(session).highest);
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

/** Compares the files of the database also when nothing is written. Does not keep the thread alive. */
function watch(files: OpenFiles): void {
  const timer = setInterval(() => {
    try {
      const found = files.look();
      if (found !== undefined) port.postMessage({ loss: failureOf(found) } satisfies Loss);
    } catch {
      // The file system does not answer now; the next change or look finds out.
    }
  }, FILES_COMPARED_MS);
  timer.unref();
}

answer(() => {
  const { session, migrated, given, files } = open();
  watch(files);
  port.on('message', (request: Request) => {
    if (request === 'close') {
      session.close();
      given.close();
      port.close();
      return;
    }
    answer(() => {
      files.expectUnchanged();
      const outcomes = applyCommands(session, request.commands, lockWaitMs);
      recordGiven(session, given, request.commands);
      // Otherwise the commit may be in a file that nobody finds again.
      files.expectUnchanged();
      return { outcomes };
    });
  });
  return { ready: true, migrated };
});
