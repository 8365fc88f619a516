import { Command } from 'commander';
import { MAX_BATCH } from '../../domain/batch.ts';
import type { Order } from '../../domain/order.ts';
import type { Store } from '../../store/store.ts';
import { WRITERS } from '../files/write-orders.ts';
import { grouped, naturalNumber, writeErr, writeOut } from '../terminal/terminal.ts';

/** Orders per write to stdout. */
const BATCH = 1_000;
const MAX_SAMPLES = 10_000_000;
const SEED_IN_A_STORE = 1;

export function sampleCommand(): Command {
  return new Command('sample')
    .description('write sample orders as NDJSON to stdout, for tests and demos')
    .argument('<count>', 'number of orders')
    .option('--seed <number>', 'the same seed gives the same orders', '1')
    .addHelpText(
      'after',
      `
Examples:
  npx store-orders sample 1000 | npx store-orders import -
  npx store-orders sample 5 --seed 42`,
    )
    .action(sample);
}

async function sample(count: string, { seed }: { seed: string }): Promise<void> {
  const orders = sampleOrders(sampleCount(count), naturalNumber('--seed', seed, 2 ** 32 - 1));
  for (const batch of inBatches(orders, BATCH)) {
    await writeOut(batch.map((order) => WRITERS.ndjson.order(order, 0)).join(''));
  }
}

/** Divides items; the last batch can be empty. */
function* inBatches<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** Adds sample orders to a store without orders; never mixes samples with existing orders. */
export async function addSamples(store: Store, count: number): Promise<void> {
  const { orders } = await store.status();
  if (orders.pending + orders.shipped + orders.cancelled > 0n) {
    writeErr('The store already has orders; no samples were added.');
    return;
  }
  for (const batch of inBatches(sampleOrders(count, SEED_IN_A_STORE), MAX_BATCH)) {
    await store.apply(batch.map((order) => ({ type: 'insertOrder', order })));
  }
  writeErr(`Added ${grouped(count)} sample orders. For real orders, use another database.`);
}

export function sampleCount(text: string): number {
  return naturalNumber('the number of samples', text, MAX_SAMPLES);
}

const DAY = 24 * 60 * 60 * 1000;
/** Sample dates lie around this day, so that a seed always gives the same orders. */
const AROUND = Date.UTC(2026, 10, 20);
const SHIPPED_SHARE = 0.15;

/** Generates `count` plausible orders with ids from 1; the same `seed` gives the same orders. */
export function* sampleOrders(count: number, seed: number): Generator<Order> {
  const random = mulberry32(seed);
  for (let index = 1; index <= count; index += 1) {
    const shipped = random() < SHIPPED_SHARE;
    const days = 1 + random() * 29;
    yield {
      id: BigInt(index),
      petId: BigInt(1 + Math.floor(random() * 500)),
      quantity: BigInt(1 + Math.floor(random() ** 3 * 6)),
      shipDate: Math.floor(AROUND + (shipped ? -days : days) * DAY),
      complete: shipped,
      status: shipped ? 'shipped' : 'pending',
    };
  }
}

/** Mulberry32 by Tommy Ettinger. Its 32 bits of state suffice for samples. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
