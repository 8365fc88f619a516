import { randomUUID } from 'node:crypto';
import { readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';

/** More than SQLite writes at once beyond the end of a file. */
const PROBE_BYTES = 64 * 1024;
/** Node.js has no name for EDQUOT. */
const { EDQUOT, ENOSPC, EFBIG } = constants.errno;
const NO_SPACE: readonly (number | undefined)[] = [-EDQUOT, -ENOSPC, -EFBIG];

/**
 * Returns whether the database at a path, or behind a link, cannot grow, because of a quota or of the limit of the size of a file. SQLite reports both as an error
 * of the disk: it recognizes only a disk without space (https://sqlite.org/rescode.html#full).
 */
export function isAtQuota(link: string): boolean {
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
