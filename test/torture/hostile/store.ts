import { join } from 'node:path';
import { FuzzServer } from '../../fuzz/server.ts';
import { makeStore } from '../power-cuts/scenario.ts';

/** Starts the service on a new store of so many pending orders. */
export async function serveNew(
  folder: string,
  orders: number,
  env: Readonly<Record<string, string>> = {},
): Promise<{ server: FuzzServer; secret: string; database: string }> {
  const path = join(folder, `store-${process.hrtime.bigint()}.db`);
  const secret = await makeStore(path, orders);
  const database = `sqlite:${path}`;
  return { server: await FuzzServer.start(database, env), secret, database };
}
