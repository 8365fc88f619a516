import { Command } from 'commander';
import { MAX_BATCH } from '../../domain/batch.ts';
import type { Order } from '../../domain/order.ts';
import { sampleOrders } from '../../domain/sample.ts';
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
  let text = '';
  let waiting = 0;
  for (const order of orders) {
    text += WRITERS.ndjson.order(order, 0);
    waiting += 1;
    if (waiting < BATCH) continue;
    await writeOut(text);
    text = '';
    waiting = 0;
  }
  await writeOut(text);
}

/** Adds sample orders to a store without orders; never mixes samples with existing orders. */
export async function addSamples(store: Store, count: number): Promise<void> {
  const { orders } = await store.status();
  if (orders.pending + orders.shipped + orders.cancelled > 0n) {
    writeErr('The store already has orders; no samples were added.');
    return;
  }
  let batch: { type: 'insertOrder'; order: Order }[] = [];
  for (const order of sampleOrders(count, SEED_IN_A_STORE)) {
    batch.push({ type: 'insertOrder', order });
    if (batch.length < MAX_BATCH) continue;
    await store.apply(batch);
    batch = [];
  }
  await store.apply(batch);
  writeErr(`Added ${grouped(count)} sample orders. For real orders, use another database.`);
}

/** Parses the number of sample orders. @throws UsageError */
export function sampleCount(text: string): number {
  return naturalNumber('the number of samples', text, MAX_SAMPLES);
}
