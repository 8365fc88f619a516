import { run } from '../../process/program.ts';
import { detailsFor } from './actions/place.ts';
import type { Effect } from './operation.ts';
import type { Workplace } from './worker.ts';

/** Beyond the integers that a Number can represent. */
const FIRST_ID = 2n ** 53n + 1n;
/** Above the other ids that are imported: the ids that the store gives come after it. */
const HIGHEST_ID = FIRST_ID + 1_000_000n;
/** More orders than a block of the list has, and than a page examines in one turn. */
const FIRST_IMPORTED = 1_200;

/** Imports some orders, and one with the highest id. @throws Error if that fails */
export async function importFirstOrders(place: Workplace, env: Env): Promise<void> {
  const ids = Array.from({ length: FIRST_IMPORTED }, (_, index) => FIRST_ID + BigInt(index));
  const stderr = await importIds([...ids, HIGHEST_ID], place, env);
  if (stderr !== undefined) throw new Error(`the import failed: ${stderr}`);
  place.imported.push(...ids.map(String));
}

/** Imports more orders, with the ids after those that were imported before. It may fail. */
export async function importOrders(place: Workplace, count: number, env: Env): Promise<void> {
  const first = BigInt(place.imported.at(-1)!) + 1n;
  const ids = Array.from({ length: count }, (_, index) => first + BigInt(index));
  place.imported.push(...ids.map(String));
  await importIds(ids, place, env);
}

type Env = Readonly<Record<string, string>>;

/** Imports orders by the command, and notes the effect. @returns what it printed, if it failed */
async function importIds(
  ids: readonly bigint[],
  place: Workplace,
  env: Env,
): Promise<string | undefined> {
  const { observed, database } = place;
  const orders = ids.map((id) => ({ order: String(id), pet: place.nextPet++ }));
  const lines = orders.map(({ order, pet }) => {
    const [quantity, shipDate] = detailsFor(pet);
    const date = shipDate === undefined ? '' : `,"shipDate":"${shipDate}"`;
    return `{"id":${order},"petId":${pet},"quantity":${quantity}${date}}\n`;
  });
  const begin = performance.now();
  const args = ['import', '-', '--database', database];
  const { code, stderr } = await run(args, { env, input: lines.join('') });
  const placed = orders.map(({ order, pet }) => ({ order, pet: String(pet) }));
  const changes = placed.map(({ pet }) => ({ type: 'placed', of: pet, by: undefined }) as const);
  const [effect, end]: readonly [Effect, number] =
    code === 0
      ? [{ type: 'imported', placed }, performance.now()]
      : [{ type: 'unknown', changes }, Number.POSITIVE_INFINITY];
  observed.add({ what: `an import of ${ids.length} orders`, begin, end, effect });
  return code === 0 ? undefined : stderr;
}
