import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Finding, ok, warning } from '../../diagnosis.ts';
import { readableLocation, readDatabase } from '../database/connection.ts';

/** Litestream reads the log every second by default; a change is given this long. */
const READ_WITHIN_MS = 10_000;
/** Times of files that differ by less are taken as equal. */
const NOISE_MS = 2_000;
const RETRY_MS = 200;

const SUBJECT = 'replication';
const ADVICE = 'see "Litestream" in docs/backup.md';

/**
 * Checks whether Litestream (https://litestream.io) reads the changes of a database that has its tables. It keeps what it has read in a folder
 * beside the database before it sends it, so the times of the files there show how far it is; whether the replica can be reached, only Litestream
 * itself reports. Waits for the reading of a change of the last READ_WITHIN_MS.
 */
export async function replicationOf(file: string): Promise<Finding[]> {
  if (!existsSync(file)) return [];
  const real = realpathSync(file);
  // Before the database is opened, which creates an empty log.
  const changedAt = Math.max(timeOf(real), timeOf(`${real}-wal`));
  if (!hasTables(file)) return [];
  const folder = join(dirname(real), `.${basename(real)}-litestream`);
  const isUnread = (readAt: number | undefined) =>
    readAt !== undefined && readAt + NOISE_MS < changedAt;
  let readAt = latestIn(folder);
  while (isUnread(readAt) && Date.now() < changedAt + READ_WITHIN_MS) {
    await pause(RETRY_MS);
    readAt = latestIn(folder);
  }
  if (readAt === undefined) {
    const found = `the store has tables of Litestream, but ${folder} is not there: Litestream does not run, or has another meta-path`;
    return [warning(SUBJECT, found, ADVICE)];
  }
  const when = new Date(readAt).toISOString();
  if (!isUnread(readAt)) return [ok(SUBJECT, `Litestream has read changes up to ${when}`)];
  const last = new Date(changedAt).toISOString();
  const found = `Litestream has read no changes since ${when}; the last one, of ${last}, is on this disk only`;
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
  const files = entries.filter((entry) => entry.isFile());
  if (files.length === 0) return undefined;
  return files
    .map((entry) => timeOf(join(entry.parentPath, entry.name)))
    .reduce((latest, time) => Math.max(latest, time));
}

/** Returns when a file was changed, in milliseconds since the epoch; 0 for one that is empty, or not there. */
function timeOf(path: string): number {
  const { size = 0, mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return size > 0 ? mtimeMs : 0;
}
