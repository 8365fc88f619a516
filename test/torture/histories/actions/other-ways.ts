import {
  ConflictError,
  ConnectionError,
  LimitError,
  NotFoundError,
  StoreOrders,
  UnknownOutcomeError,
} from '../../../../client/src/client.ts';
import { run } from '../../../process/program.ts';
import type { ChangeType } from '../operation.ts';
import { type Action, statusOf } from '../worker.ts';

/** Cancels by the client library, which repeats what was not answered. */
export const cancelByClient: Action = async (worker) => {
  const { observed, targets, random } = worker.place;
  const { name, host, port } = random.pick(targets);
  const order = worker.anOrder();
  const { id: by, secret } = worker.key;
  const client = new StoreOrders({ baseUrl: `http://${host}:${port}`, apiKey: secret, retries: 1 });
  const begin = performance.now();
  const what = `cancel order ${order} by the client at ${name}`;
  const unknown = { type: 'unknown', changes: [{ type: 'cancelled', of: order, by }] } as const;
  try {
    await client.cancelOrder(BigInt(order));
    worker.count('client done');
    // After a repetition, another request may have cancelled it.
    worker.note(what, begin, performance.now(), { type: 'saw', order, status: 'cancelled' });
    worker.note(what, begin, Number.POSITIVE_INFINITY, unknown);
  } catch (error) {
    worker.count(`client ${(error as Error).constructor.name}`);
    if (error instanceof UnknownOutcomeError) {
      worker.note(what, begin, Number.POSITIVE_INFINITY, unknown);
    } else if (error instanceof NotFoundError || error instanceof ConflictError) {
      const effect = { type: 'saw', order, status: statusOf(error.code) } as const;
      worker.note(what, begin, performance.now(), effect);
    } else if (!(error instanceof LimitError || error instanceof ConnectionError)) {
      // Neither of these two has cancelled the order.
      observed.findings.push(`${worker.name}: the client ended with ${(error as Error).stack}`);
    }
  }
};

/** Cancels or ships by a command, which writes to the database itself. */
export const changeByCommand: Action = async (worker) => {
  const { random, database } = worker.place;
  const order = worker.anOrder();
  const change: ChangeType = random.chance(0.7) ? 'cancelled' : 'shipped';
  const verb = change === 'cancelled' ? 'cancel' : 'ship';
  const begin = performance.now();
  const { stdout } = await run([verb, order, '--json', '--database', database]);
  const end = performance.now();
  const outcome = /"outcome": ?"([^"]+)"/.exec(stdout)?.[1];
  worker.count(`command ${outcome ?? 'failed'}`);
  const what = `the command ${verb} ${order}`;
  if (outcome === change) {
    worker.note(what, begin, end, { type: 'changed', order, change, by: undefined });
  } else if (outcome === undefined) {
    const changes = [{ type: change, of: order, by: undefined } as const];
    worker.note(what, begin, Number.POSITIVE_INFINITY, { type: 'unknown', changes });
  } else {
    const status = outcome === 'unchanged' ? 'shipped' : statusOf(outcome);
    worker.note(what, begin, end, { type: 'saw', order, status });
  }
};
