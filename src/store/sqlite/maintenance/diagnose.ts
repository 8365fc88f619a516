import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  realpathSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Finding, inMs, medianMs, ok, problem, warning } from '../../diagnosis.ts';
import { mayUse } from '../database/connection.ts';
import { codeOf } from '../database/errors.ts';
import { mountOf } from '../database/mounts.ts';
import { namesProblem } from '../database/one-name.ts';
import { lastGivenProblem } from '../database/origin.ts';
import { partialsIn } from './backup.ts';
import { replicationOf } from './litestream.ts';

/** A cancel waits for one sync, as long as no others wait with it. */
const SLOW_SYNC_MS = 20;
const LEAST_FREE_BYTES = 1 << 30;
const NO_FREE_BYTES = 100 << 20;
/** Unsuitable file systems by type: locks and syncs do not work there, a restart empties them, or they depend on their host. */
const UNSUITABLE: readonly (readonly [RegExp, string])[] = [
  [/^nfs/, 'NFS'],
  [/^(?:cifs|smb)/, 'SMB'],
  [/^(?:tmpfs|ramfs)$/, 'a file system in memory, which is lost when the machine restarts'],
];
const DOUBTFUL: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:overlay|aufs)$/,
    "overlayfs, as a container's own files are, which are lost with the container",
  ],
  [
    /^(?:fuse|virtiofs|9p|vboxsf|prl_fs|grpcfuse|fakeowner)/,
    'shared with another machine or provided by a program',
  ],
];

/** Checks the file of a database, which may not exist yet, and its folder. Briefly writes a file to the folder. */
export async function diagnoseSqlite(path: string): Promise<Finding[]> {
  const file = resolve(path);
  try {
    const wrong = wrongKindOf(file);
    if (wrong !== undefined) return [problem('files', wrong, 'name another file in DATABASE_URL')];
    const folder = existingFolder(file);
    const names = existsSync(file) ? namesProblem(file) : undefined;
    if (names !== undefined)
      return [problem('files', `${file}: ${names}`, 'use one name, and the folder')];
    const findings = [
      rightsOf(file, folder),
      ...lastGivenOf(file),
      diskOf(file, folder),
      ...leftoversIn(folder),
      ...(await replicationOf(file)),
      ...locksOf(file),
    ];
    const isWritable = findings.every(({ level }) => level !== 'problem');
    return isWritable ? [...findings, await syncCost(folder)] : findings;
  } catch (error) {
    // For example a failing disk.
    return [
      problem('files', (error as Error).message, 'correct the path, its rights, or the disk'),
    ];
  }
}

/** Returns the kind of a path that is not a file; undefined for a file, or if there is nothing. */
function wrongKindOf(file: string): string | undefined {
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() && !existsSync(file)) {
    return `${file} is a link to a file that does not exist`;
  }
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined || stat.isFile() ? undefined : `${file} is not a file`;
}

/** Returns the folder of the database, or the nearest existing folder above it. */
function existingFolder(file: string): string {
  let folder = dirname(file);
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}

function rightsOf(file: string, folder: string): Finding {
  const files = ['', '-wal', '-shm', '-ids'].map((suffix) => file + suffix).filter(existsSync);
  const unwritable = files.filter((path) => !mayUse(path, constants.R_OK | constants.W_OK));
  if (!mayUse(folder, constants.R_OK | constants.W_OK | constants.X_OK)) unwritable.push(folder);
  if (unwritable.length > 0) {
    const advice = 'run the service and this command as the owner of these files';
    return problem('files', `this user cannot write ${unwritable.join(', ')}`, advice);
  }
  const open = files.filter((path) => (statSync(path).mode & 0o077) !== 0);
  if (open.length === 0) return ok('files', `${folder} can be written`);
  const found = `other users may read or write ${open.join(', ')}`;
  return warning('files', found, `chmod 600 ${open.join(' ')}`);
}

/** Checks the file by which a database that was replaced by an older copy is recognized. */
function lastGivenOf(file: string): Finding[] {
  const wrong = existsSync(file) ? lastGivenProblem(realpathSync(file)) : undefined;
  if (wrong === undefined) return [];
  const found = `${wrong}, so an older copy in place of the database is not recognized`;
  return [warning('files', found, 'delete it: the service makes it again when it starts')];
}

/** How long a change of a working store holds its lock, at most. */
const HELD_MS = 3_000;

/** Takes the lock of a change, and gives it back: while another process has it, every change fails. */
function locksOf(file: string): Finding[] {
  // Nothing has the database open.
  if (!existsSync(file) || !existsSync(`${realpathSync(file)}-shm`)) return [];
  try {
    using db = new DatabaseSync(file, { timeout: HELD_MS });
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
    return [ok('locks', 'no process is in the way of changes')];
  } catch (error) {
    if (codeOf(error) !== 'busy') return [];
    const found = 'every change fails: another process has a transaction open that writes';
    return [problem('locks', found, 'end it: lslocks and fuser name the processes')];
  }
}

/** Reports temporary files of a backup or a restore that was killed. */
function leftoversIn(folder: string): Finding[] {
  const left = partialsIn(folder);
  if (left.length === 0) return [];
  const found = `temporary files of an interrupted or running backup or restore: ${left.join(', ')}`;
  return [warning('files', found, 'delete them unless a backup or restore is running')];
}

function diskOf(file: string, folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder);
  const { type = '' } = mountOf(realpathSync(folder)) ?? {};
  const advice = 'put the database on a local disk (in a container: a volume), or use PostgreSQL';
  const among = (types: typeof UNSUITABLE) => types.find(([pattern]) => pattern.test(type))?.[1];
  const [unsuitable, doubtful] = [among(UNSUITABLE), among(DOUBTFUL)];
  if (unsuitable !== undefined) return problem('disk', `${folder} is on ${unsuitable}`, advice);
  if (doubtful !== undefined) {
    const where = `${folder} is on ${type}: ${doubtful}`;
    return warning('disk', `${where}; locks and syncs may not work`, advice);
  }
  const free = bavail * bsize;
  const size = existsSync(file) ? statSync(file).size : 0;
  const found = `${inMib(free)} free, the database has ${inMib(size)}`;
  if (free < NO_FREE_BYTES) return problem('disk', found, 'free disk space: writes will fail soon');
  if (free < Math.max(LEAST_FREE_BYTES, size)) {
    const need = 'a migration or a backup may need as much as the database';
    return warning('disk', found, `free disk space: ${need}`);
  }
  return ok('disk', found);
}

/** Measures a sync to disk, which each batch of changes needs. */
async function syncCost(folder: string): Promise<Finding> {
  const path = join(folder, `.store-orders-doctor-${randomUUID()}`);
  const fd = openSync(path, 'wx', 0o600);
  try {
    const page = Buffer.alloc(4_096);
    const ms = await medianMs(() => {
      writeSync(fd, page);
      fsyncSync(fd);
    });
    const found = `writing a page to disk takes ${inMs(ms)}`;
    if (ms < SLOW_SYNC_MS) return ok('durability', found);
    return warning('durability', found, 'each change waits for this: use a faster disk');
  } finally {
    closeSync(fd);
    unlinkSync(path);
  }
}

function inMib(bytes: number): string {
  return `${Math.ceil(bytes / (1 << 20)).toLocaleString('en-US')} MiB`;
}
