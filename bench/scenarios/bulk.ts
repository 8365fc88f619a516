import { fileURLToPath } from 'node:url';
import { compare, type Side } from '../compare.ts';
import { ratioRows, type Scenario } from '../context.ts';
import { runOnLoadCore } from '../processes.ts';
import { startService } from '../store-orders.ts';

const CANCEL_MANY = fileURLToPath(new URL('../clients/cancel-many.ts', import.meta.url));
const ORDERS = 200_000;
/** Orders that are cancelled in a round. */
const COUNT = 5_000;
const AT_ONCE = 1_000;

export const bulk: Scenario = {
  title: `v2: cancelling ${AT_ONCE} orders in a request on SQLite, one client`,
  needs: [],
  run: async (context) => {
    const database = context.database(context.orders(ORDERS), 'bulk');
    const { origin, headers, stop } = await startService(database);
    let next = 1;
    const cancel = (name: string, atOnce: number): Side => ({
      name,
      measure: async () => {
        const args = [origin, headers.Authorization!, next, COUNT, atOnce].map(String);
        next += COUNT;
        return Number(await runOnLoadCore([process.execPath, CANCEL_MANY, ...args]));
      },
    });
    try {
      const comparisons = await compare(
        cancel('1,000 in a request', AT_ONCE),
        [cancel('a request for each', 1)],
        context.rounds,
      );
      return ratioRows('durable cancel', comparisons, 'cancels/s', [{ atLeast: 10 }]);
    } finally {
      await stop();
    }
  },
};
