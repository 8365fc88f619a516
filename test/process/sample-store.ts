import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { copyFileSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CACHE, madeOnce } from '../made-once.ts';
import { eventually } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';
import { run } from './program.ts';

const MIGRATIONS = fileURLToPath(
  new URL('../../src/store/migrations/*.sqlite.sql', import.meta.url),
);
/** A list of some ten megabytes: more than the system's buffers between a service and its client hold. */
const ORDERS = 100_000;

/** Returns a SQLite database of many sample orders and without keys, made once for all tests. */
export async function sampleStore(t: TestContext): Promise<string> {
  const schema = createHash('sha256');
  for (const path of globSync(MIGRATIONS).sort()) schema.update(readFileSync(path));
  const made = join(CACHE, `sample-${ORDERS}-${schema.digest('hex').slice(0, 12)}.db`);
  await madeOnce(made, async (making) => {
    const { stdout: input } = await run(['sample', String(ORDERS)]);
    await run(['import', '-', '--database', `sqlite:${making}`], { input });
  });
  const path = join(temporaryFolder(t), 'store.db');
  copyFileSync(made, path);
  return `sqlite:${path}`;
}

interface Called {
  readonly call: (method: string, path: string) => Promise<{ readonly status: number }>;
}

/** Asks for the list of v1 until it is in memory: on a busy machine, the first request is answered with 503 before it is read. */
export async function withList<T extends Called>(service: T): Promise<T> {
  await eventually(async () => {
    assert.equal((await service.call('GET', '/v1/store/orders')).status, 200);
  });
  return service;
}
