import { type Answer, type Call, parse } from '../../http.ts';
import type { Random } from '../../random.ts';
import type { Effect } from '../operation.ts';
import { entryOf } from '../record.ts';
import { type Action, KEY_REUSED, type Target, TWICE, type Worker } from '../worker.ts';
import { cancelV2, changeV2 } from './change.ts';

/** Orders at which half of the changes are aimed. */
const HOT = 6;
/** Other orders that are changed. */
const OTHERS = 250;
/** A reference of 255 characters, as the contract permits, has almost 1,000 bytes. */
const LONGEST_REFERENCE = 255;
const CHARACTER_OF_FOUR_BYTES = '🐶';

/** Orders are to be shipped on so many days. */
const DAYS = 28n;

/** Share of the keys and references that are used again for other content. */
const REUSED = 0.1;

/** What names an order that is placed: an Idempotency-Key (k…) or a reference (r…). Its pet is of no other order. */
interface Placing {
  readonly key: string;
  readonly pet: string;
}

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
  const answers = await Promise.all(
    Array.from({ length: times }, () => placeAs(worker, placement)),
  );
  if (!answers.some((answer) => answer !== undefined && answer.status < 300)) return;
  if (worker.place.pause === undefined && random.chance(REUSED)) await reuse(worker, placement);
};

/** Uses the key or the reference of an order for other content, which is refused and changes nothing. */
async function reuse(worker: Worker, placement: Placing): Promise<void> {
  const { pet, key } = placement;
  const call = callFor(worker, placement, detailsFor(BigInt(pet) + 1n));
  await worker.request(`reuse of ${key} for another order`, call, {
    effectOf: () => undefined,
    refusal: key.startsWith('r') ? { status: 409, code: 'reference_taken' } : KEY_REUSED,
  });
}

/** Places an order with a long reference and cancels it: two large changes, and no order more in the list. */
export const placeAndCancel: Action = async (worker) => {
  const pet = String(worker.place.nextPet++);
  const name = `r${pet}`;
  const key = name + CHARACTER_OF_FOUR_BYTES.repeat(LONGEST_REFERENCE - name.length);
  const placed = await placeAs(worker, { key, pet });
  if (placed?.status === 201) await cancelV2(worker, String(parse(placed.body).id));
};

/** Places an order. */
export async function placeAs(
  worker: Worker,
  placement: Placing,
  target?: Target,
): Promise<Answer | undefined> {
  const { hot, others, observed } = worker.place;
  const { pet } = placement;
  const details = detailsFor(BigInt(pet));
  const [quantity, shipDate] = details;
  const call = callFor(worker, placement, details);
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
      found.quantity === quantity && (found.status === 'shipped' || found.shipDate === shipDate);
    if (!isAsRequested) observed.findings.push(`${worker.name}: pet ${pet} was placed as ${body}`);
    return [placed, { type: 'saw', order, status: found.status, entry: entryOf(found) }];
  };
  const changes = [{ type: 'placed', of: pet, by: undefined } as const];
  return worker.request(`place of pet ${pet}`, call, { changes, effectOf, target });
}

function callFor(
  { place: { random } }: Worker,
  { key, pet }: Placing,
  [quantity, shipDate]: Details,
): Call {
  const reference = key.startsWith('r') ? `,"reference":"${key}"` : '';
  const date = shipDate === undefined ? '' : `,"shipDate":"${shipDate}"`;
  return {
    ...{ method: 'POST', path: '/v2/store/orders' },
    // A reference is repeated with other Idempotency-Keys.
    headers: { 'idempotency-key': reference === '' ? key : `r${pet}-${random.next()}` },
    body: `{"petId":${pet},"quantity":${quantity}${date}${reference}}`,
  };
}

type Details = readonly [quantity: bigint, shipDate: string | undefined];

/** Quantity and ship date of the order of a pet: some have none, and many have the same. */
export function detailsFor(pet: bigint): Details {
  return [(pet % 7n) + 1n, pet % 3n === 0n ? undefined : shipDateOf(pet % DAYS)];
}

/** A day of which some orders are. */
export function aShipDate(random: Random): string {
  return shipDateOf(BigInt(random.below(Number(DAYS))));
}

function shipDateOf(day: bigint): string {
  return `2027-02-${String(day + 1n).padStart(2, '0')}T00:00:00.000Z`;
}
