import { accessSync, constants, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { CACHE } from './made-once.ts';
import { Cluster } from './postgres.ts';

/** The data need not survive a crash; tests of failures start clusters of their own. */
const FAST = {
  ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
  // A connection is a process, which starts and ends faster with less memory; tests have few rows.
  shared_buffers: '16MB',
  autovacuum: 'off',
};

/** A collation in which other texts are neighbours than by their bytes. */
const IGNORING_PUNCTUATION = ['--locale-provider=icu', '--icu-locale=und-u-ka-shifted'];

let cluster: Cluster | undefined;

/** Starts one PostgreSQL server for all test files, unless TEST_DATABASE_URL names one. */
export async function globalSetup(): Promise<void> {
  // Test files have most of the modules in common: they are compiled once for all of them.
  process.env.NODE_COMPILE_CACHE ??= CACHE;
  if ((process.env.TEST_DATABASE_URL ?? '') !== '') return;
  cluster = await Cluster.start(
    { max_connections: '300', max_prepared_transactions: '5', ...FAST },
    folderInMemory(),
    {},
    IGNORING_PUNCTUATION,
  );
  process.env.TEST_DATABASE_URL = cluster.url();
}

export async function globalTeardown(): Promise<void> {
  await cluster?.remove();
}

const SHARED_MEMORY = '/dev/shm';
const BYTES_NEEDED = 2 ** 30;

/** Returns a folder in memory, which takes half of the system's time for files, where there is one with room that can be written. */
function folderInMemory(): string {
  try {
    accessSync(SHARED_MEMORY, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    return bavail * bsize > BYTES_NEEDED ? SHARED_MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
