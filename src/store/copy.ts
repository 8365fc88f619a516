import { createHash } from 'node:crypto';
import { databaseLabel, openStore } from './open.ts';
import { isPostgresUrl } from './postgres/address.ts';
import { openPostgresSource, openPostgresTarget } from './postgres/copy.ts';
import { openSqliteSource, openSqliteTarget } from './sqlite/copy.ts';
import { sqlitePath } from './sqlite/path.ts';
import { StoreNotUsable, type StoreStatus } from './store.ts';
import { type Cells, type Source, TABLES, type Table } from './tables.ts';

export interface CopyOptions {
  /**
   * Whether the store goes on in the copy and no longer where it is. Otherwise the copy is its state at the
   * beginning, whatever changes meanwhile.
   */
  readonly isMove: boolean;
  /** Is told, now and then, how many of all rows have been copied or verified. */
  readonly onProgress: (what: 'Copying' | 'Verifying', done: number, total: number) => void;
}

/**
 * Copies the whole store at `from` to the database at `to`, which must be empty or hold an interrupted
 * copy: orders, histories, keys, pets, imports under way, the revision and the store's id. It counts as
 * a store only once all of it has been read back and is the same.
 * @returns what the copied store says of itself
 * @throws StoreNotUsable, StoreUnavailable
 */
export async function copyStore(
  from: string,
  to: string,
  { isMove, onProgress }: CopyOptions,
): Promise<StoreStatus> {
  const source = await openSource(from);
  try {
    if (isMove) refuseMoved(source.status, to);
    const target = isPostgresUrl(to)
      ? await openPostgresTarget(to)
      : await openSqliteTarget(sqlitePath(to));
    try {
      const total = await countRows(source);
      const progress = (what: 'Copying' | 'Verifying') => (done: number) =>
        onProgress(what, done, total);
      const copied = await digestOf(source, TABLES, progress('Copying'), (table, rows) =>
        target.insert(table, rows),
      );
      const found = await digestOf(target, TABLES, progress('Verifying'));
      if (found !== copied) {
        throw new StoreNotUsable('the copy differs from the source; nothing was moved');
      }
      if (isMove) await moveAway(from, to, source);
      await target.complete(source.status);
    } finally {
      await target.close();
    }
    return source.status;
  } finally {
    await source.close();
  }
}

async function openSource(url: string): Promise<Source> {
  return isPostgresUrl(url) ? openPostgresSource(url) : openSqliteSource(sqlitePath(url));
}

/** A store that was moved elsewhere is no longer what it was; into the same database, a copy may have failed. */
function refuseMoved({ movedTo }: StoreStatus, to: string): void {
  if (movedTo === undefined || movedTo === databaseLabel(to)) return;
  throw new StoreNotUsable(
    `the store was moved to ${movedTo}; copy it from there or, if it did not get there, run "store-orders take-back"`,
  );
}

/**
 * Marks the store as moved before the copy becomes one, so that at no moment there are two. Should the copy fail after
 * that, it can be made again, into the same database.
 * @throws StoreNotUsable when the store has changed since it was copied
 */
async function moveAway(from: string, to: string, source: Source): Promise<void> {
  const { movedTo, revision } = source.status;
  // A backup stays as it is: each use of it is a store of its own.
  if (movedTo !== undefined || source.isBackup) return;
  const changed =
    'the store changed while it was copied; stop what writes to it, and copy it again';
  const store = await openStore(from, { create: false, purpose: 'write' });
  try {
    const command = { type: 'moveAway', to: databaseLabel(to), revision } as const;
    const [outcome] = await store.apply([command]);
    if (outcome === 'changed') throw new StoreNotUsable(changed);
    // What shows in no revision can no longer change from here on.
    if (!(await hasChanged(from, source))) return;
    await store.apply([{ type: 'takeBack' }]);
    throw new StoreNotUsable(changed);
  } finally {
    await store.close();
  }
}

/** Whether the store is no longer as `before` shows it. */
async function hasChanged(url: string, before: Source): Promise<boolean> {
  const now = await openSource(url);
  try {
    if (now.status.revision !== before.status.revision) return true;
    const others = TABLES.filter(({ hasRevision }) => !hasRevision).map(withoutKeyUse);
    return (await digestOf(now, others)) !== (await digestOf(before, others));
  } finally {
    await now.close();
  }
}

/** A key that was used meanwhile is no change worth another copy. */
function withoutKeyUse(table: Table): Table {
  const { last_used_at: _, ...columns } = table.columns;
  return { ...table, columns };
}

async function countRows(source: Source): Promise<number> {
  let total = 0;
  for (const table of TABLES) total += await source.count(table);
  return total;
}

/** Reads everything, hands it on, and gives a checksum over all of it that holds the counts too. */
async function digestOf(
  from: Pick<Source, 'rows'>,
  tables: readonly Table[],
  onProgress: (done: number) => void = () => {},
  handOn: (table: Table, rows: readonly Cells[]) => Promise<void> = async () => {},
): Promise<string> {
  const hash = createHash('sha256');
  let done = 0;
  for (const table of tables) {
    hash.update(`${table.name}\n`);
    for await (const rows of from.rows(table)) {
      // What has been read is written while the next rows are read.
      const handed = handOn(table, rows);
      for (const row of rows) hash.update(`${row.map(cellText).join('\t')}\n`);
      await handed;
      done += rows.length;
      onProgress(done);
    }
  }
  return hash.digest('hex');
}

/** Unambiguous: text stands in quotes, and nothing in them is a tab or a line feed. */
function cellText(cell: Cells[number]): string {
  if (typeof cell === 'string') return JSON.stringify(cell);
  if (cell instanceof Uint8Array) return Buffer.from(cell).toString('hex');
  return String(cell);
}
