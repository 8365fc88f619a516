import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Finding, ok, warning } from '../../diagnosis.ts';
import { readableLocation, readDatabase } from '../database/connection.ts';

/** Litestream reads the log every second by default; longer than this, and it does not run or does not get on. */
const LATE_MS = 60_000;

const SUBJECT = 'replication';
const ADVICE = 'see "Litestream" in docs/backup.md';

/**
 * Checks whether Litestream (https://litestream.io) reads the changes of a database that has its tables. It keeps what it has read in a folder
 * beside the database before it sends it, so the times of the files there show how far it is; whether the replica can be reached, only Litestream
 * itself reports.
 */
export function replicationOf(file: string): Finding[] {
  if (!existsSync(file) || !hasTables(file)) return [];
  const real = realpathSync(file);
  const folder = join(dirname(real), `.${basename(real)}-litestream`);
  const readAt = latestIn(folder);
  if (readAt === undefined) {
    const found = `the store has tables of Litestream, but ${folder} is not there: Litestream does not run, or has another meta-path`;
    return [warning(SUBJECT, found, ADVICE)];
  }
  const lateMs = Math.max(changedAt(real), changedAt(`${real}-wal`)) - readAt;
  const when = new Date(readAt).toISOString();
  if (lateMs <= LATE_MS) return [ok(SUBJECT, `Litestream has read the changes up to ${when}`)];
  const found = `Litestream has read no changes since ${when}; later ones are on this disk only`;
  return [warning(SUBJECT, found, ADVICE)];
}

function hasTables(file: string): boolean {
  try {
    const sql = "SELECT 1 FROM sqlite_schema WHERE name = '_litestream_seq'";
    return readDatabase(readableLocation(file), (db) => db.prepare(sql).get() !== undefined);
  } catch {
    // A file that cannot be read is reported by other checks.
    return false;
  }
}

/** Returns the time of the latest change of a file below a folder, in milliseconds since the epoch; undefined if there is none. */
function latestIn(folder: string): number | undefined {
  if (!existsSync(folder)) return undefined;
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  const times = entries
    .filter((entry) => entry.isFile())
    .map((entry) => changedAt(join(entry.parentPath, entry.name)));
  return times.length === 0 ? undefined : Math.max(...times);
}

/** 0 for a file that is not there, or no longer. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
