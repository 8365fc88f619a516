import type { StoreSizes } from '../store.ts';
import type { Session } from './database/session.ts';
import { readHeldBack } from './database/snapshots.ts';

/** Returns the size of the database and what holds back its cleanup; log and disk are the server's. */
export async function readSizes(session: Session): Promise<StoreSizes> {
  const [[row], heldBack] = await Promise.all([
    session.query('SELECT pg_database_size(current_database())'),
    readHeldBack(session),
  ]);
  return { database: Number(row![0]), heldBack };
}
