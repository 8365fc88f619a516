import { statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { StoreSizes } from '../store.ts';

/** Returns the sizes of the database at `path`. @throws errors of the file system */
export function sizesOf(path: string): StoreSizes {
  const { bavail, bsize } = statfsSync(dirname(resolve(path)));
  return {
    database: statSync(path).size,
    log: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    free: bavail * bsize,
  };
}
