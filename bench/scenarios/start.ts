import { fileURLToPath } from 'node:url';
import { compare } from '../compare.ts';
import { type Context, type Row, ratioRows, type Scenario } from '../context.ts';
import { runOnCore, SERVER_CORE } from '../processes.ts';
import { cli, startService } from '../store-orders.ts';

const ORDERS = 1_000_000;
const READ_ROWS = fileURLToPath(new URL('../peers/read-rows.ts', import.meta.url));

export const start: Scenario = {
  title: 'Start with 1,000,000 orders',
  needs: [],
  run: started,
};

async function started(context: Context): Promise<Row[]> {
  const database = context.database(context.orders(ORDERS), 'start');
  const rows = { name: 'node:sqlite, all rows as arrays', measure: () => readTime(database) };
  const until = async (what: string, listsFirst: boolean, atMost: number) => {
    const own = { name: 'store-orders', measure: () => startTime(database, { listsFirst }) };
    return ratioRows(what, await compare(own, [rows], context.rounds), 'ms', [{ atMost }]);
  };
  return [
    ...(await until('from start to ready', false, 1)),
    ...(await until('from start to the first list', true, 2)),
  ];
}

/** Milliseconds from the start of the process until it is ready or, with `listsFirst`, until it has sent a list. */
export async function startTime(
  database: string,
  { listsFirst }: { readonly listsFirst: boolean },
): Promise<number> {
  const key = cli(['keys', 'create', '--name', 'bench'], database).trim();
  const begin = performance.now();
  const service = await startService(database, { key, listsFirst });
  const ms = performance.now() - begin;
  await service.stop();
  return ms;
}

async function readTime(database: string): Promise<number> {
  const path = database.slice('sqlite:'.length);
  return Number(await runOnCore(SERVER_CORE, [process.execPath, READ_ROWS, path]));
}
