import { readdirSync, readFileSync } from 'node:fs';
import { getAsset, getAssetKeys, isSea } from 'node:sea';
import { Worker } from 'node:worker_threads';

/** Whether the program runs from its sources; otherwise it is the npm package or an executable, both bundled. */
export const IS_CLONE = import.meta.filename?.endsWith('.ts') === true;

/** A file of a clone, or below dist/ of the npm package: this file is in src/, its bundle in dist/src/. */
const fileAt = (path: string): URL => new URL(`../${path}`, import.meta.url);

/** Returns a file that belongs to the program. @param path from the root, such as contract/v1.yaml */
export function asset(path: string): string {
  return isSea() ? getAsset(path, 'utf8') : readFileSync(fileAt(path), 'utf8');
}

/** The same for a file that is not text. */
function assetBytes(path: string): Buffer {
  return isSea() ? Buffer.from(getAsset(path)) : readFileSync(fileAt(path));
}

/** Returns the names of the files in a folder. @param folder from the root, without a slash at its end */
export function assetsIn(folder: string): string[] {
  if (!isSea()) return readdirSync(fileAt(`${folder}/`)).sort();
  const start = `${folder}/`;
  return getAssetKeys()
    .filter((key) => key.startsWith(start) && !key.slice(start.length).includes('/'))
    .map((key) => key.slice(start.length))
    .sort();
}

/** The modules that run in threads of their own, by their names in a bundle. */
export const THREADS = {
  'writer-thread': './store/sqlite/writer-thread.ts',
  'backup-thread': './store/sqlite/maintenance/backup-thread.ts',
} as const;

export function startThread(name: keyof typeof THREADS, workerData: unknown): Worker {
  const path = IS_CLONE ? THREADS[name] : `./${name}.js`;
  const url = isSea()
    ? new URL(`data:text/javascript;base64,${assetBytes(`${name}.js`).toString('base64')}`)
    : new URL(path, import.meta.url);
  return new Worker(url, { workerData });
}
