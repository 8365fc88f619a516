import type { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { Mutex } from '../../concurrency.ts';
import type { StoreCommand } from '../commands.ts';
import { expectNothingMissing, schemaDifferences } from '../expected-schema.ts';
import { StoreNotUsable } from '../store.ts';
import { areForMovedStore, carryOut } from '../tables/carry-out.ts';
import { HEADS_NOT_COMPUTED, hasHeads } from '../tables/heads.ts';
import { findLoss, readAcknowledgement, recordLoss } from '../tables/losses.ts';
import { expectRows, readFreeIds } from '../tables/store-row.ts';
import { describeSchema } from './database/catalog.ts';
import { completeHeads, rechain } from './database/compute-heads.ts';
import {
  fileIdentity,
  makeDurable,
  openForWriting,
  readableLocation,
  readDatabase,
  retryWhileBusy,
} from './database/connection.ts';
import {
  type Answer,
  answerOf,
  codeOf,
  damageOf,
  openError,
  storeError,
} from './database/errors.ts';
import { watchFiles } from './database/open-files.ts';
import { LastGiven, recordOrigin, reserveGiven } from './database/origin.ts';
import { migrate, migrationsOf } from './database/schema.ts';
import { Session } from './database/session.ts';
import { inTransaction } from './database/transaction.ts';
import { changeOrders, importOrders } from './orders.ts';

/** Start parameters of the thread. */
export interface WriterData {
  readonly path: string;
  readonly create: boolean;
  readonly lockWaitMs: number;
  /** Whether to migrate an older schema rather than refuse it. */
  readonly mayMigrate: boolean;
}

export type WriterRequest = { readonly commands: readonly StoreCommand[] } | 'check' | 'close';

/** The result of the first answer. */
export interface Opened {
  readonly migrated: ReturnType<typeof migrate>;
  /** The record of changes that this store has lost. */
  readonly lost: string | undefined;
  /** Of the file beside the database, see LastGiven. */
  readonly problem: string | undefined;
}

export type WriterMessage =
  /** Opened, the outcomes of the commands, or whether every page of the database can be read and is valid. */
  | Answer<unknown>
  /** Sent before the first answer: the reason of `OpenOptions.onWaiting`. */
  | { readonly waiting: string }
  /** Sent without a request if files of the database were deleted or replaced. */
  | { readonly loss: string };

/** How long to wait for another process's migration, which takes some seconds for millions of orders. No client waits during startup. */
const MIGRATION_WAIT_MS = 60_000;

const port = parentPort!;
const data = workerData as WriterData;
const { path, create, lockWaitMs } = data;
const send = (message: WriterMessage) => port.postMessage(message);

async function open() {
  try {
    const { db, file } = openForWriting(path, create);
    try {
      // Checked first, so that a file of another program is left unchanged.
      retryWhileBusy(lockWaitMs, () => migrationsOf(db));
      retryWhileBusy(lockWaitMs, () => makeDurable(db));
      const migrated = migrate(db, MIGRATION_WAIT_MS, data.mayMigrate);
      if (data.mayMigrate) expectNothingMissing(schemaDifferences('sqlite', describeSchema(db)));
      probeForWriting(db);
      // A connection stays with the file it opened, even if that was replaced since. From here on `restore` is refused.
      if (fileIdentity(path) !== file)
        throw new StoreNotUsable('it was replaced while it was opened; try again');
      const session = new Session(db);
      if (!(await hasHeads(session))) {
        if (!data.mayMigrate) throw new StoreNotUsable(HEADS_NOT_COMPUTED);
        await completeHeads(session, MIGRATION_WAIT_MS, (waiting) => send({ waiting }));
      }
      if (data.mayMigrate) await expectRows(session);
      retryWhileBusy(lockWaitMs, () => recordOrigin(session, path));
      const given = new LastGiven(path);
      const before = given.acknowledged?.identity;
      retryWhileBusy(lockWaitMs, () => reserveGiven(session, given.highestId));
      const problem = given.problem ?? (await otherStore(session, before));
      const lost = await reportLoss(session, given);
      const files = watchFiles(path, db, ({ message }) => send({ loss: message }));
      return { session, migrated, given, lost, problem, files };
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    throw openError(path, error);
  }
}

/** Checks that the file can be written, so that a read-only one is refused now rather than at the first cancel. */
function probeForWriting(db: DatabaseSync): void {
  try {
    // An actual write: on a read-only file SQLite grants the lock, and fails only at the write.
    db.exec('BEGIN IMMEDIATE; UPDATE store SET revision = revision; ROLLBACK');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    if (codeOf(error) !== 'busy') throw error;
  }
}

/** Names the store that was at this path before, if it is another one: `restore` refuses what a copy by hand does silently. */
async function otherStore(session: Session, before: string | undefined) {
  const { identity } = await readAcknowledgement(session);
  if (before === undefined || before === identity) return undefined;
  return `the store ${before} was at this path before; the database is of the store ${identity}`;
}

/** Records changes that were acknowledged and are missing. If that fails, the store is opened nevertheless. */
async function reportLoss(session: Session, given: LastGiven): Promise<string | undefined> {
  const record = await findLoss(session, given.acknowledged, path);
  if (record === undefined) return undefined;
  try {
    const options = { lockWaitMs, evenIfMoved: true };
    await inTransaction(session, () => recordLoss(session, record), options);
    await recordGiven(session, given);
    return record.what;
  } catch (error) {
    return `${record.what}; it was not recorded: ${(error as Error).message}`;
  }
}

/** Records beside the database what is acknowledged, after a commit, whose outcome a failure does not affect. */
async function recordGiven(session: Session, given: LastGiven): Promise<void> {
  try {
    const { highest: highestId } = await readFreeIds(session);
    given.record({ highestId, acknowledged: await readAcknowledgement(session) });
  } catch {
    // For example a database that was damaged since; the next read reports that.
  }
}

/** See Store.apply. */
function apply(session: Session, commands: readonly StoreCommand[]) {
  const orders = { changeOrders, importOrders, rechain };
  return inTransaction(session, () => carryOut(session, commands, orders), {
    lockWaitMs,
    evenIfMoved: areForMovedStore(commands),
  });
}

/** Checks the file by a connection of its own, which has no page in memory. */
function isSound(): boolean {
  return readDatabase(readableLocation(path), damageOf).length === 0;
}

async function answer(produce: () => unknown): Promise<void> {
  send(await answerOf(produce, (error) => storeError(path, error)));
}

await answer(async (): Promise<Opened> => {
  const { session, migrated, given, lost, problem, files } = await open();
  const mutex = new Mutex();
  const carryOutRequest = async ({ commands }: { readonly commands: readonly StoreCommand[] }) => {
    files.expectNoLoss();
    const outcomes = await apply(session, commands);
    await recordGiven(session, given);
    // The commit may be in a file that no later process finds.
    files.expectUnchanged();
    return outcomes;
  };
  const close = async () => {
    session.close();
    given.close();
    port.close();
  };
  port.on('message', (request: WriterRequest) => {
    void mutex.run(() => {
      if (request === 'close') return close();
      return answer(() => (request === 'check' ? isSound() : carryOutRequest(request)));
    });
  });
  return { migrated, lost, problem };
});
