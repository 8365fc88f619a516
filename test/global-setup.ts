import { CACHE } from './made-once.ts';
import { Cluster } from './postgres.ts';

/** The data need not survive a crash; tests of failures start clusters of their own. */
const FAST = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

let cluster: Cluster | undefined;

/** Starts one PostgreSQL server for all test files, unless TEST_DATABASE_URL names one. */
export async function globalSetup(): Promise<void> {
  // Test files have most of the modules in common: they are compiled once for all of them.
  process.env.NODE_COMPILE_CACHE ??= CACHE;
  if ((process.env.TEST_DATABASE_URL ?? '') !== '') return;
  cluster = await Cluster.start({ max_connections: '300', ...FAST });
  process.env.TEST_DATABASE_URL = cluster.url();
}

export async function globalTeardown(): Promise<void> {
  await cluster?.remove();
}
