import {
  ConflictError,
  ConnectionError,
  LimitError,
  NotFoundError,
  StoreOrders,
  UnavailableError,
  UnknownOutcomeError,
} from '../../../../client/src/client.ts';
import { run } from '../../../process/program.ts';
import type { ChangeType, Effect, RequestedChange } from '../operation.ts';
import { entryOf, listedOf } from '../record.ts';
import { type Action, statusOf, type Worker } from '../worker.ts';
import { detailsFor } from './place.ts';

const MOST_RETRIES = 3;

/** Cancels by the client library, which repeats what was not answered. */
export const cancelByClient: Action = async (worker) => {
  const order = worker.anOrder();
  const { id: by } = worker.key;
  const changes = [{ type: 'cancelled', of: order, by } as const];
  const what = `cancel order ${order}`;
  await byClient(worker, what, changes, async (client, note) => {
    try {
      await client.cancelOrder(BigInt(order));
      // After a repetition, another request may have cancelled it.
      note({ type: 'saw', order, status: 'cancelled' });
      note({ type: 'unknown', changes }, Number.POSITIVE_INFINITY);
    } catch (error) {
      if (!(error instanceof NotFoundError || error instanceof ConflictError)) throw error;
      note({ type: 'saw', order, status: statusOf(error.code) });
    }
  });
};

/** Places by the client library. */
export const placeByClient: Action = async (worker) => {
  const pet = worker.place.nextPet++;
  const [quantity, shipDate] = detailsFor(pet);
  const changes = [{ type: 'placed', of: String(pet), by: undefined } as const];
  await byClient(worker, `place of pet ${pet}`, changes, async (client, note) => {
    const placed = await client.placeOrder({ petId: pet, quantity, shipDate });
    const order = String(placed.id);
    note({ type: 'placed', order, pet: String(pet), isRepeated: placed.isReplayed });
    if (placed.isReplayed) return;
    note({ type: 'saw', order, status: placed.status, entry: entryOf(placed) });
  });
};

/** Lists version 1 by the client library, which reads it as it arrives. */
export const listByClient: Action = async (worker) => {
  await byClient(worker, 'list', [], async (client, note) => {
    const listed: string[] = [];
    for await (const order of client.v1.listOrders()) listed.push(listedOf(order));
    note({ type: 'list', orders: listed.join(' ') });
  });
};

/**
 * Has the client library do something. Errors after which nothing was changed are those of nodes.
 * @param changes that are requested
 */
async function byClient(
  worker: Worker,
  what: string,
  changes: readonly RequestedChange[],
  use: (client: StoreOrders, note: (effect: Effect, end?: number) => void) => Promise<void>,
): Promise<void> {
  const { observed, targets, random, lossy } = worker.place;
  const isLossy = lossy !== undefined && random.chance(0.5);
  const { name, host, port } = isLossy ? lossy : random.pick(targets);
  const baseUrl = `http://${host}:${port}`;
  const retries = 1 + random.below(MOST_RETRIES);
  const client = new StoreOrders({ baseUrl, apiKey: worker.key.secret, retries });
  const begin = performance.now();
  const note = (effect: Effect, end = performance.now()) =>
    worker.note(`${what} by the client at ${name}`, begin, end, effect);
  try {
    await use(client, note);
    worker.count('client done');
  } catch (error) {
    worker.count(`client ${(error as Error).constructor.name}`);
    if (error instanceof UnknownOutcomeError) {
      note({ type: 'unknown', changes }, Number.POSITIVE_INFINITY);
    } else if (!UNCHANGED.some((each) => error instanceof each)) {
      observed.findings.push(`${worker.name}: the client ended with ${(error as Error).stack}`);
    }
  }
}

/** Errors after which nothing was changed. */
const UNCHANGED = [LimitError, ConnectionError, UnavailableError];

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
