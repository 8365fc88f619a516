import { fileURLToPath } from 'node:url';
import { compare } from '../compare.ts';
import { type Context, type Row, ratioRows, type Scenario } from '../context.ts';
import { runOnCore, SERVER_CORE } from '../processes.ts';
import { startService } from '../store-orders.ts';

const ORDERS = 1_000_000;
const READ_ROWS = fileURLToPath(new URL('../peers/read-rows.ts', import.meta.url));

export const start: Scenario = {
  title: 'Start with 1,000,000 orders until ready',
  needs: [],
  run: started,
};

async function started(context: Context): Promise<Row[]> {
  const database = context.database(context.orders(ORDERS), 'start');
  const comparisons = await compare(
    { name: 'store-orders', measure: () => startTime(database) },
    [{ name: 'node:sqlite, all rows as arrays', measure: () => readTime(database) }],
    context.rounds,
  );
  return ratioRows('from start to ready', comparisons, 'ms', [{ atMost: 1.5 }]);
}

/** Milliseconds from the start of the process until it is ready. */
export async function startTime(database: string): Promise<number> {
  const service = await startService(database, { key: 'none', listsFirst: false });
  await service.stop();
  return service.startMs;
}

async function readTime(database: string): Promise<number> {
  const path = database.slice('sqlite:'.length);
  return Number(await runOnCore(SERVER_CORE, [process.execPath, READ_ROWS, path]));
}
