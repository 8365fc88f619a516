import type { Order } from './order.ts';

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
