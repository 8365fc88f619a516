import { realpathSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { StoreSizes } from '../store.ts';

/** Returns the sizes of the database at `path`. @throws errors of the file system */
export function sizesOf(path: string): StoreSizes {
  const file = realpathSync(path);
  const { bavail, bsize } = statfsSync(dirname(file));
  return {
    database: statSync(file).size,
    log: statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    free: bavail * bsize,
  };
}
