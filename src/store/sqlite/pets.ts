import type { Pet } from '../../pets/pet.ts';
import type { Session } from './session.ts';
import { text } from './values.ts';

export function findPet(session: Session, id: bigint): Pet | undefined {
  const [row] = session.query(SQL.find, id);
  if (row === undefined) return undefined;
  return { id: row[0] as bigint, name: text(row[1]), tag: text(row[2]) };
}

export function putPets(session: Session, pets: readonly Pet[]): 'stored' {
  for (const { id, name, tag } of pets) session.write(SQL.put, id, name, tag);
  return 'stored';
}

const SQL = {
  find: 'SELECT id, name, tag FROM pets WHERE id = ?',
  put: 'INSERT OR REPLACE INTO pets (id, name, tag) VALUES (?, ?, ?)',
} as const;
