import { randomUUID } from 'node:crypto';
import { readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type Fault, StoreNotUsable, StoreUnavailable } from '../../store.ts';

/** Names of primary result codes, https://sqlite.org/rescode.html */
const CODES = {
  5: 'busy',
  8: 'read-only',
  11: 'corrupt',
  13: 'full',
  14: 'cannot open',
  26: 'not a database',
} as const;
type Code = (typeof CODES)[keyof typeof CODES] | 'other';

/** Extended codes of errors while a file grows: WRITE, FSYNC, SHMSIZE. A file system can report a quota when it syncs. */
const WRITING: readonly number[] = [778, 1_034, 4_874];

const FAULTS: Readonly<Partial<Record<Code, Fault>>> = {
  busy: 'locked',
  corrupt: 'damaged',
  full: 'full',
  'not a database': 'damaged',
};

/** Maps an SQLite error to StoreUnavailable; returns other errors unchanged. */
export function storeError(path: string, error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  const { message, errcode } = error as Error & { errcode: number };
  const cannotGrow = WRITING.includes(errcode) && isAtQuota(path);
  const fault = cannotGrow ? 'full' : (FAULTS[code] ?? 'failed');
  const words =
    fault === 'damaged'
      ? `the database ${resolve(path)} is damaged (${message}): stop the service, run "store-orders check", and restore a ` +
        'backup with "store-orders restore"'
      : message;
  return new StoreUnavailable(words, fault, { cause: error });
}

/** Runs `open`; rethrows its errors as `openError` maps them. */
export function withOpenErrors<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw openError(path, error);
  }
}

/**
 * Maps SQLite's errors, StoreUnavailable and StoreNotUsable to StoreNotUsable with a message that names the database; returns other errors unchanged.
 */
export function openError(path: string, error: unknown): unknown {
  const reason =
    error instanceof StoreNotUsable || error instanceof StoreUnavailable
      ? error.message
      : reasonNotUsable(codeOf(error), (error as Error).message);
  if (reason === undefined) return error;
  return new StoreNotUsable(`cannot use the database ${resolve(path)}: ${reason}`, {
    cause: error,
  });
}

function reasonNotUsable(code: Code | undefined, message: string): string | undefined {
  const reasons: Partial<Record<Code, string>> = {
    busy: 'it is locked by another process',
    corrupt: `it is damaged (${message}); run "store-orders check", and restore a backup with "store-orders restore"`,
    'cannot open': 'it cannot be opened (check the folder and the permissions)',
    'not a database':
      'it is not an SQLite database, or its header is damaged; if it is damaged, move it away and restore a backup',
    'read-only': 'it cannot be written (read-only file, folder or disk)',
  };
  return code && (reasons[code] ?? message);
}

/** Returns what SQLite's error is: "busy", for example, if another process held a lock; undefined for other errors. */
export function codeOf(error: unknown): Code | undefined {
  if (!(error instanceof Error && 'errcode' in error)) return undefined;
  // The low byte of an extended code is the primary code.
  return CODES[((error.errcode as number) & 0xff) as keyof typeof CODES] ?? 'other';
}

/** Runs `use`; if pages of the file are corrupt, returns what `otherwise` makes of the error. */
export function unlessCorrupt<T>(use: () => T, otherwise: (error: Error) => T): T {
  try {
    return use();
  } catch (error) {
    if (codeOf(error) !== 'corrupt') throw error;
    return otherwise(error as Error);
  }
}

/** What a thread answers: a result or an error; structured cloning does not preserve the class of an Error. */
export type Answer<Result> =
  | { readonly result: Result }
  | { readonly failure: 'not_usable' | 'bug'; readonly message: string; readonly fault?: undefined }
  | { readonly failure: 'unavailable'; readonly message: string; readonly fault: Fault };

/** @param mapped maps the errors of `produce` */
export async function answerOf<Result>(
  produce: () => Result | Promise<Result>,
  mapped: (error: unknown) => unknown = (error) => error,
): Promise<Answer<Result>> {
  try {
    return { result: await produce() };
  } catch (thrown) {
    const error = mapped(thrown);
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof StoreNotUsable) return { failure: 'not_usable', message };
    if (error instanceof StoreUnavailable) {
      return { failure: 'unavailable', message, fault: error.fault };
    }
    return { failure: 'bug', message: error instanceof Error ? (error.stack ?? message) : message };
  }
}

/** Returns the result of an answer. @throws the error that `answerOf` has caught */
export function resultOf<Result>(answer: Answer<Result>): Result {
  if ('result' in answer) return answer.result;
  const { failure, message, fault } = answer;
  if (failure === 'not_usable') throw new StoreNotUsable(message);
  if (failure === 'unavailable') throw new StoreUnavailable(message, fault);
  throw new Error(`a thread failed: ${message}`);
}

/** Maximum number of problems of the file that are listed; a damaged file can have any number. */
const MAX_NAMED = 20;

/** Returns the problems found by https://sqlite.org/pragma.html#pragma_integrity_check: reads every page, and blocks the thread. */
export function damageOf(db: DatabaseSync): string[] {
  const found = () => {
    const rows = db.prepare(`PRAGMA integrity_check(${MAX_NAMED})`).all();
    const lines = rows.flatMap((row) => String(row.integrity_check).split('\n'));
    return lines.filter((line) => line !== 'ok' && !line.startsWith('***')).slice(0, MAX_NAMED);
  };
  return unlessCorrupt(found, ({ message }) => [message]);
}

/** More than SQLite writes at once beyond the end of a file. */
const PROBE_BYTES = 64 * 1024;
/** Node.js has no name for EDQUOT. */
const { EDQUOT, ENOSPC, EFBIG } = constants.errno;
const NO_SPACE: readonly (number | undefined)[] = [-EDQUOT, -ENOSPC, -EFBIG];

/**
 * Returns whether the database at a path, or behind a link, cannot grow, because of a quota or of the limit of the size of a file. SQLite reports both as an error
 * of the disk: it recognizes only a disk without space (https://sqlite.org/rescode.html#full).
 */
function isAtQuota(link: string): boolean {
  const path = realpathSync(link);
  const sizes = [path, `${path}-wal`].map(
    (file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0,
  );
  if (Math.max(...sizes) + PROBE_BYTES > fileSizeLimit()) return true;
  const probe = `${path}.${randomUUID()}.probe`;
  try {
    writeFileSync(probe, Buffer.alloc(PROBE_BYTES));
    return false;
  } catch (error) {
    return NO_SPACE.includes((error as NodeJS.ErrnoException).errno);
  } finally {
    rmSync(probe, { force: true });
  }
}

/** The limit of this process (ulimit -f) in bytes, where the system tells it. */
function fileSizeLimit(): number {
  try {
    const [, limit] =
      /^Max file size +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
