import { copyFileSync, existsSync, globSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../temporary.ts';
import { run } from './program.ts';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/tests', import.meta.url));
const MIGRATIONS = fileURLToPath(
  new URL('../../src/store/migrations/*.sqlite.sql', import.meta.url),
);
/** A list of some ten megabytes: more than the system's buffers between a service and its client hold. */
const ORDERS = 100_000;

/** Returns a SQLite database of many sample orders and without keys, made once for all tests. */
export async function sampleStore(t: TestContext): Promise<string> {
  const made = join(CACHE, `sample-${ORDERS}-${globSync(MIGRATIONS).length}.db`);
  if (!existsSync(made)) await makeSampleStore(made);
  const path = join(temporaryFolder(t), 'store.db');
  copyFileSync(made, path);
  return `sqlite:${path}`;
}

/** Other test files may do the same: the file appears whole, or not at all. */
async function makeSampleStore(path: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true });
  const making = join(mkdtempSync(join(CACHE, 'making-')), 'store.db');
  const { stdout: input } = await run(['sample', String(ORDERS)]);
  await run(['import', '-', '--database', `sqlite:${making}`], { input });
  renameSync(making, path);
}
