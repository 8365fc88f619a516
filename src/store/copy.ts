import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { leapAbove } from '../domain/ids.ts';
import type { Action } from './audit.ts';
import type { Backup } from './backups.ts';
import { type Database, databaseAt } from './database.ts';
import { makeBackup } from './sqlite/maintenance/backup.ts';
import { StoreNotUsable, type StoreStatus } from './store.ts';
import { compare } from './tables/consistency.ts';
import { type MovedIds, type Source, TABLES, type Table } from './tables/copied.ts';
import { HEADS_NOT_COMPUTED } from './tables/heads.ts';
import { detailProblem } from './tables/orders.ts';
import { type Row, rowText } from './tables/session.ts';

interface CopyOptions {
  /**
   * Whether the store continues in the copy, and the source is closed to writes. Otherwise the copy is a snapshot of the source, which may be in use.
   */
  readonly isMove: boolean;
  /** Recorded in the copy and, if it is a move, in the source. */
  readonly action?: Action;
  /** Called repeatedly with the number of rows copied or verified so far. */
  readonly onProgress: (what: 'Copying' | 'Verifying', done: number, total: number) => void;
}

/**
 * Copies the store in `from` to the database `to`, which must be empty or contain an interrupted copy: orders, histories, keys, pets, unfinished
 * imports, the revision and its head. The copy becomes a usable store only after it was read back and compared.
 * @returns the status of the copied store
 * @throws StoreNotUsable, StoreUnavailable
 */
export async function copyStore(
  from: Database,
  to: Database,
  { isMove, action, onProgress }: CopyOptions,
): Promise<StoreStatus> {
  await using source = await from.openSource();
  if (isMove) refuseMoved(source.status, to);
  // A first copy may have been used and lost, so it may have assigned ids.
  const isRepeated = source.status.movedTo !== undefined;
  if (source.status.head === undefined) throw new StoreNotUsable(HEADS_NOT_COMPUTED);
  // A backup of PostgreSQL only reads.
  if (action !== undefined && source.foreign.length > 0) {
    throw new StoreNotUsable(inconsistent(from, source.foreign));
  }
  await using target = await to.openTarget();
  let total = 0;
  for (const table of TABLES) total += await source.count(table);
  const progress = (what: 'Copying' | 'Verifying') => (done: number) =>
    onProgress(what, done, total);
  const copied = await digestOf(source, TABLES, progress('Copying'), (table, rows) => {
    if (table.name === 'orders') expectOwnDetails(from, table, rows);
    return target.insert(table, rows);
  });
  const found = await digestOf(target, TABLES, progress('Verifying'));
  if (found !== copied) {
    throw new StoreNotUsable('the copy differs from the source; nothing was moved');
  }
  const { revision, orders } = source.status;
  const { problems } = compare({ revision, ...orders }, await target.counts());
  if (problems.length > 0) throw new StoreNotUsable(inconsistent(from, problems));
  const complete = (ids?: MovedIds) => target.complete({ ...source.status, ...ids }, action);
  if (isMove && !source.isBackup) {
    await moveAway(from, to, source, action);
    // Under a lock: the source cannot be reactivated while the copy becomes a store.
    await from.whileMoved(to.label, (ids) => complete(isRepeated ? leapt(ids) : ids));
  } else {
    // Ids that a backup would assign next may already be assigned in the original, so a store made from a backup leaps.
    await complete(source.isBackup ? leapt(source.status) : undefined);
  }
  return source.status;
}

/**
 * Copies the store, which may be in use, to an SQLite database at `file`, which must not exist, and checks the copy.
 * @throws StoreNotUsable, also if the store does not pass the check
 */
export async function backupStore(database: Database, file: string): Promise<Backup> {
  return makeBackup(resolve(file), async (partial) => {
    if (database.file !== undefined) database.file.copyTo(partial);
    else {
      const copy = databaseAt(`sqlite:${partial}`);
      await copyStore(database, copy, { isMove: false, onProgress: () => {} });
    }
  });
}

/** @throws StoreNotUsable for rows that the target would refuse */
function expectOwnDetails(from: Database, { columns }: Table, rows: readonly Row[]): void {
  const names = Object.keys(columns);
  for (const row of rows) {
    const problem = detailProblem(
      Object.fromEntries(names.map((name, index) => [name, row[index]])),
    );
    if (problem !== undefined) throw new StoreNotUsable(inconsistent(from, [problem]));
  }
}

function inconsistent({ label }: Database, problems: readonly string[]): string {
  const summary = `${label} failed the check; nothing was copied:`;
  return [summary, ...problems].join('\n  ');
}

/** Makes the ids leap past all that another copy of the source may have assigned. */
function leapt({ freeIds }: MovedIds): MovedIds {
  return { freeIds, reservedId: leapAbove(freeIds) };
}

/** Refuses a store that was moved to another database than `to`. If it was moved to `to`, the copy may have failed afterwards, and is repeated. */
function refuseMoved({ movedTo }: StoreStatus, to: Database): void {
  if (movedTo === undefined || movedTo === to.label) return;
  throw new StoreNotUsable(
    `the store was moved to ${movedTo}; copy it from there. If that copy was not completed, run "store-orders reactivate"`,
  );
}

/**
 * Marks the source as moved before the copy becomes a store, so that there are never two; a backup is not marked, since every
 * restore of it is a separate store. If the copy fails after that, it can be repeated into the same database.
 * @throws StoreNotUsable if the store has changed since it was copied
 */
async function moveAway(from: Database, to: Database, source: Source, action: Action | undefined) {
  const { movedTo, revision } = source.status;
  if (movedTo !== undefined) return;
  const changed =
    'the store changed while it was copied; stop all processes that write to it, and copy it again';
  await using store = await from.open({ create: false, purpose: 'write' });
  const command = { type: 'moveAway', to: to.label, revision } as const;
  const record = action === undefined ? [] : [{ type: 'audit', action } as const];
  const outcome = (await store.apply([...record, command])).at(-1);
  if (outcome === 'changed') throw new StoreNotUsable(changed);
  // The store no longer accepts writes, so tables without revisions can be compared too.
  if (!(await hasChanged(from, source))) return;
  await store.apply([{ type: 'reactivate' }]);
  throw new StoreNotUsable(changed);
}

async function hasChanged(database: Database, before: Source): Promise<boolean> {
  await using now = await database.openSource();
  if (now.status.revision !== before.status.revision) return true;
  // The move itself is recorded.
  const others = TABLES.filter(({ name, hasRevision }) => !hasRevision && name !== 'audit');
  const compared = others.map(withoutKeyUse);
  return (await digestOf(now, compared)) !== (await digestOf(before, compared));
}

/** Leaves out the last use of keys: the copy need not be repeated for it. */
function withoutKeyUse(table: Table): Table {
  const { last_used_at: _, former_used_at: __, ...columns } = table.columns;
  return { ...table, columns };
}

/** Reads all rows, passes them to `handOn`, and returns a digest of them. */
async function digestOf(
  from: Pick<Source, 'rows'>,
  tables: readonly Table[],
  onProgress: (done: number) => void = () => {},
  handOn: (table: Table, rows: readonly Row[]) => Promise<void> = async () => {},
): Promise<string> {
  const hash = createHash('sha256');
  let done = 0;
  for (const table of tables) {
    hash.update(`${table.name}\n`);
    for await (const rows of from.rows(table)) {
      // Rows are written while the next ones are read and hashed.
      const handed = handOn(table, rows);
      for (const row of rows) hash.update(rowText(row));
      await handed;
      done += rows.length;
      onProgress(done);
    }
  }
  return hash.digest('hex');
}
