import { type Answer, parse } from '../../http.ts';
import type { Effect } from '../operation.ts';
import { entryOf } from '../record.ts';
import type { Action, Target, Worker } from '../worker.ts';
import { cancelV2, changeV2 } from './change.ts';

/** Orders at which half of the changes are aimed. */
const HOT = 6;
/** Other orders that are changed. */
const OTHERS = 250;
/** A reference of 255 characters, as the contract permits, has almost 1,000 bytes. */
const LONGEST_REFERENCE = 255;
const CHARACTER_OF_FOUR_BYTES = '🐶';

/** Share of the placements that are sent twice at the same time. */
const TWICE = 0.1;

/** Places an order, or repeats the last placement. */
export const place: Action = async (worker) => {
  const { random, hot, others } = worker.place;
  if (hot.length + others.length > OTHERS && random.chance(0.7)) return changeV2(worker);
  if (worker.lastPlaced === undefined || random.chance(0.8)) {
    const pet = String(worker.place.nextPet++);
    worker.lastPlaced = { key: `${random.chance(0.3) ? 'r' : 'k'}${pet}`, pet };
  }
  const placement = worker.lastPlaced;
  const times = random.chance(TWICE) ? 2 : 1;
  await Promise.all(Array.from({ length: times }, () => placeAs(worker, placement)));
};

/** Places an order with a long reference and cancels it: two large changes, and no order more in the list. */
export const placeAndCancel: Action = async (worker) => {
  const pet = String(worker.place.nextPet++);
  const name = `r${pet}`;
  const key = name + CHARACTER_OF_FOUR_BYTES.repeat(LONGEST_REFERENCE - name.length);
  const placed = await placeAs(worker, { key, pet });
  if (placed?.status === 201) await cancelV2(worker, String(parse(placed.body).id));
};

/** Places an order of a pet of its own, under an Idempotency-Key (k…) or a reference (r…). */
export async function placeAs(
  worker: Worker,
  { key, pet }: { readonly key: string; readonly pet: string },
  target?: Target,
): Promise<Answer | undefined> {
  const { random, hot, others, observed } = worker.place;
  const reference = key.startsWith('r') ? `,"reference":"${key}"` : '';
  const [quantity, shipDate] = detailsFor(Number(pet));
  const date = shipDate === undefined ? '' : `,"shipDate":"${shipDate}"`;
  const call = {
    ...{ method: 'POST', path: '/v2/store/orders' },
    // A reference is repeated with other Idempotency-Keys.
    headers: { 'idempotency-key': reference === '' ? key : `r${pet}-${random.next()}` },
    body: `{"petId":${pet},"quantity":${quantity}${date}${reference}}`,
  };
  const effectOf = ({ status, headers, body }: Answer): Effect | readonly Effect[] => {
    const found = parse(body);
    const order = String(found.id);
    const isRepeated = headers['idempotent-replayed'] === 'true';
    if (!isRepeated) hot.push(order);
    if (hot.length > HOT) others.push(hot.shift()!);
    if (others.length > OTHERS) others.shift();
    const placed = { type: 'placed', order, pet, isRepeated } as const;
    // A repetition under the same Idempotency-Key is answered with the order as it was placed.
    if (status === 201 && isRepeated) return placed;
    const isAsRequested =
      found.quantity === BigInt(quantity) &&
      (found.status === 'shipped' || found.shipDate === shipDate);
    if (!isAsRequested) observed.findings.push(`${worker.name}: pet ${pet} was placed as ${body}`);
    return [placed, { type: 'saw', order, status: found.status, entry: entryOf(found) }];
  };
  const changes = [{ type: 'placed', of: pet, by: undefined } as const];
  return worker.request(`place of pet ${pet}`, call, { changes, effectOf, target });
}

/** Quantity and ship date of the order of a pet: some have none, and many have the same. */
function detailsFor(pet: number): readonly [quantity: number, shipDate: string | undefined] {
  const day = String((pet % 28) + 1).padStart(2, '0');
  return [(pet % 7) + 1, pet % 3 === 0 ? undefined : `2027-02-${day}T00:00:00.000Z`];
}
