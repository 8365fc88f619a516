import { type MovedOption, StoreUnavailable } from '../../store.ts';
import type { Row } from '../../tables/session.ts';
import { expectNotMovedAway, requireStoreRow } from '../../tables/store-row.ts';
import { retryWhileBusy } from './connection.ts';
import { MIGRATIONS } from './schema.ts';
import type { Session } from './session.ts';

/**
 * Runs `work` in a transaction that excludes all other writers, and commits. Blocks the thread while it
 * waits, `lockWaitMs` at most for the write lock of another process. The caller runs one transaction at a time.
 * @throws StoreUnavailable if another release has migrated the database, or the store was moved; SQLite's own errors;
 *   each with the transaction rolled back
 */
export async function inTransaction<T>(
  session: Session,
  work: () => Promise<T>,
  { lockWaitMs, evenIfMoved }: MovedOption & { readonly lockWaitMs: number },
): Promise<T> {
  retryWhileBusy(lockWaitMs, () => session.run('BEGIN IMMEDIATE'));
  try {
    expectServed(session, { evenIfMoved });
    const result = await work();
    session.run('COMMIT');
    return result;
  } catch (error) {
    // After some errors SQLite has already rolled back.
    if (session.isInTransaction) session.run('ROLLBACK');
    throw error;
  }
}

/**
 * @param guards the values of GUARD_COLUMNS
 * @throws StoreUnavailable if another release has migrated the database, or the store was moved to another database
 */
export function expectUsable(
  [version, movedTo]: Row,
  { evenIfMoved }: MovedOption = { evenIfMoved: false },
): void {
  if (version !== BigInt(MIGRATIONS.length)) {
    throw new StoreUnavailable(
      `another release has migrated the schema (${version} migrations; this release has ${MIGRATIONS.length}); ` +
        'use that release',
      'schema',
    );
  }
  if (!evenIfMoved) expectNotMovedAway(movedTo);
}

/** Checks that the store may be served. @throws StoreUnavailable if another release has migrated it, or it was moved to another database */
export function expectServed(session: Session, moved?: MovedOption): void {
  const [version] = session.query('PRAGMA user_version')[0]!;
  const [movedTo] = requireStoreRow(session.query('SELECT moved_to FROM store')[0]);
  expectUsable([version!, movedTo!], moved);
}

/** Runs `use` in a read transaction, of its own unless there is one: all statements see one snapshot. */
export function inSnapshot<T>(session: Session, use: () => T): T {
  if (session.isInTransaction) return use();
  session.run('BEGIN');
  try {
    return use();
  } finally {
    session.run('COMMIT');
  }
}

/** Reads one snapshot in several turns, on a connection of its own. */
export async function ofSnapshot<T>(
  openSession: () => Session,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  const session = openSession();
  try {
    session.run('BEGIN');
    return await use(session);
  } finally {
    session.close();
  }
}

/** Columns for `expectUsable`, from the table store. */
export const GUARD_COLUMNS = '(SELECT user_version FROM pragma_user_version), store.moved_to';
