import type { Pet } from '../../pets/pet.ts';
import type { Session } from './session.ts';
import { presentHere } from './store-row.ts';
import { arrayOf, textArray } from './values.ts';

export async function findPet(session: Session, id: bigint): Promise<Pet | undefined> {
  const [row] = await session.query(SQL.find, [id]);
  if (row === undefined) return undefined;
  return { id: BigInt(row[0]!), name: row[1] ?? undefined, tag: row[2] ?? undefined };
}

/** Stores pets in one statement, which locks the row of the table store first, as every writer does. */
export async function putPets(session: Session, pets: readonly Pet[]): Promise<'stored'> {
  // ON CONFLICT cannot update a row twice in one statement.
  const last = [...new Map(pets.map((pet) => [pet.id, pet])).values()];
  const [row] = await session.write(SQL.put, [
    arrayOf(last.map(({ id }) => id)),
    textArray(last.map(({ name }) => name)),
    textArray(last.map(({ tag }) => tag)),
  ]);
  presentHere(row);
  return 'stored';
}

const SQL = {
  find: { name: 'pet', text: 'SELECT id, name, tag FROM pets WHERE id = $1' },
  put: {
    text: `WITH turn AS (SELECT only_row FROM store WHERE moved_to IS NULL FOR UPDATE),
      stored AS (
        INSERT INTO pets (id, name, tag)
        SELECT p.id, p.name, p.tag
        FROM turn, unnest($1::bigint[], $2::text[], $3::text[]) AS p (id, name, tag)
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, tag = excluded.tag)
      SELECT FROM turn`,
  },
} as const;
