import { run } from '../../process/program.ts';
import { detailsFor } from './actions/place.ts';
import type { Workplace } from './worker.ts';

/** Beyond the integers that a Number can represent. */
const FIRST_ID = 2n ** 53n + 1n;
/** Above the other ids that are imported: the ids that the store gives come after it. */
const HIGHEST_ID = FIRST_ID + 1_000_000n;
/** More orders than a block of the list has, and than a page examines in one turn. */
const FIRST_IMPORTED = 1_200;
/** How often an import that fails is tried. */
const MOST_TIMES = 10;

/** Imports some orders, and one with the highest id. @throws Error if that fails */
export async function importFirstOrders(place: Workplace, env: Env): Promise<void> {
  const ids = Array.from({ length: FIRST_IMPORTED }, (_, index) => FIRST_ID + BigInt(index));
  await importIds([...ids, HIGHEST_ID], place, env, 1);
  place.imported.push(...ids.map(String));
}

/**
 * Imports more orders, with the ids after those that were imported before. An import that fails is repeated, and continues.
 * @throws Error if that fails again and again
 */
export async function importOrders(place: Workplace, count: number, env: Env): Promise<void> {
  const first = BigInt(place.imported.at(-1)!) + 1n;
  const ids = Array.from({ length: count }, (_, index) => first + BigInt(index));
  place.imported.push(...ids.map(String));
  await importIds(ids, place, env, MOST_TIMES);
}

type Env = Readonly<Record<string, string>>;

/** Imports orders by the command, and notes the effects. @throws Error if it fails, also when it is repeated up to `mostTimes` */
async function importIds(
  ids: readonly bigint[],
  place: Workplace,
  env: Env,
  mostTimes: number,
): Promise<void> {
  const { observed, database, counts } = place;
  const orders = ids.map((id) => ({ order: String(id), pet: place.nextPet++ }));
  const lines = orders.map(({ order, pet }) => {
    const [quantity, shipDate] = detailsFor(pet);
    const date = shipDate === undefined ? '' : `,"shipDate":"${shipDate}"`;
    return `{"id":${order},"petId":${pet},"quantity":${quantity}${date}}\n`;
  });
  const placed = orders.map(({ order, pet }) => ({ order, pet: String(pet) }));
  const changes = placed.map(({ pet }) => ({ type: 'placed', of: pet, by: undefined }) as const);
  const what = `an import of ${ids.length} orders`;
  const args = ['import', '-', '--database', database];
  for (let times = 1; ; times += 1) {
    const begin = performance.now();
    const { code, stderr } = await run(args, { env, input: lines.join('') });
    counts.set(`import ${code}`, (counts.get(`import ${code}`) ?? 0) + 1);
    if (code === 0) {
      observed.add({ what, begin, end: performance.now(), effect: { type: 'imported', placed } });
      return;
    }
    const end = Number.POSITIVE_INFINITY;
    observed.add({ what, begin, end, effect: { type: 'unknown', changes } });
    if (times === mostTimes) throw new Error(`the import failed: ${stderr}`);
  }
}
