import type { Store } from '../store.ts';
import { type Commands, type Dialects, jsonRows, type StoreReads, text } from './session.ts';
import { expectNotMovedAway, requireStoreRow, storeNotHere } from './store-row.ts';

export const findPet: StoreReads<Store>['pet'] = async (session, id) => {
  const [row] = await session.query('SELECT id, name, tag FROM pets WHERE id = $1', [id]);
  if (row === undefined) return undefined;
  return { id: row[0] as bigint, name: text(row[1]), tag: text(row[2]) };
};

/** Inserts or replaces pets, in one statement; of two with the same id the last one counts. */
export const putPets: Commands['putPets'] = async (session, { pets }) => {
  if (pets.length === 0) {
    const [row] = await session.query('SELECT moved_to FROM store');
    expectNotMovedAway(requireStoreRow(row)[0]);
    return 'stored';
  }
  // PostgreSQL's ON CONFLICT cannot update a row twice in one statement.
  const last = [...new Map(pets.map((pet) => [pet.id, pet])).values()];
  const rows = jsonRows(last.map(({ id, name, tag }) => [id, name, tag]));
  const stored = await session.write(PUT[session.engine], [rows]);
  if (stored < last.length) throw storeNotHere();
  return 'stored';
};

const PETS = 'SELECT CAST(value ->> 0 AS bigint), value ->> 1, value ->> 2 FROM';
const REPLACE = 'ON CONFLICT (id) DO UPDATE SET name = excluded.name, tag = excluded.tag';

const PUT: Dialects = {
  sqlite: `INSERT INTO pets (id, name, tag) ${PETS} json_array_elements($1) WHERE true ${REPLACE}`,
  // Locks the row of the table store first, as every writer does, so that it cannot run beside a move or a copy.
  postgresql: `WITH turn AS (SELECT only_row FROM store WHERE moved_to IS NULL FOR UPDATE)
    INSERT INTO pets (id, name, tag) ${PETS} turn, json_array_elements($1::json) ${REPLACE}`,
};
