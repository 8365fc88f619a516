import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npm } from './client/packed.ts';
import { CACHE, madeOnce } from './made-once.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NAME = 'packed-program';

/**
 * Returns the npm package of this clone, a .tgz. It is made once for all files of a test run, since "npm pack" writes to the clone: two at a time
 * would disturb each other.
 */
export async function packedProgram(): Promise<string> {
  const path = join(CACHE, `${NAME}-${process.ppid}.tgz`);
  await madeOnce(path, (temporary) => {
    for (const former of readdirSync(CACHE).filter((name) => name.startsWith(NAME))) {
      if (!former.includes(`-${process.ppid}.tgz`))
        rmSync(join(CACHE, former), { recursive: true });
    }
    const folder = `${temporary}.folder`;
    mkdirSync(folder);
    npm(['pack', '--pack-destination', folder], ROOT);
    renameSync(join(folder, readdirSync(folder)[0]!), temporary);
    rmSync(folder, { recursive: true });
  });
  return path;
}
