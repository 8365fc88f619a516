import { expectNotMovedAway } from '../tables.ts';
import type { Session } from './session.ts';
import { present } from './store-row.ts';

/**
 * Alone among all writers of the database, from beginning to end. A session on which it fails is not
 * used again.
 * @param evenIfMoved whether a store that was moved to another database is not refused
 */
export async function inTransaction<T>(
  session: Session,
  work: () => Promise<T>,
  { evenIfMoved } = { evenIfMoved: false },
): Promise<T> {
  try {
    const [, locked] = await Promise.all([
      session.query({ text: 'BEGIN' }),
      session.query({ text: 'SELECT moved_to FROM store FOR UPDATE' }),
    ]);
    const [movedTo] = present(locked[0]);
    if (!evenIfMoved) expectNotMovedAway(movedTo);
    const result = await work();
    await session.write({ text: 'COMMIT' });
    return result;
  } catch (error) {
    session.destroy();
    throw error;
  }
}
