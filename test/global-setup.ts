import { Cluster } from './postgres.ts';

/** The data need not survive a crash; tests of failures start clusters of their own. */
const FAST = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

let cluster: Cluster | undefined;

/** Starts one PostgreSQL server for all test files, unless TEST_DATABASE_URL names one. */
export async function globalSetup(): Promise<void> {
  if ((process.env.TEST_DATABASE_URL ?? '') !== '') return;
  cluster = await Cluster.start({ max_connections: '300', ...FAST });
  process.env.TEST_DATABASE_URL = cluster.url();
}

export async function globalTeardown(): Promise<void> {
  await cluster?.remove();
}
