import type { StoreSizes } from '../store.ts';
import type { Session } from './database/session.ts';

/** Returns the size of the database; log and disk are the server's. */
export async function readSizes(session: Session): Promise<StoreSizes> {
  const [row] = await session.query('SELECT pg_database_size(current_database())');
  return { database: Number(row![0]) };
}
