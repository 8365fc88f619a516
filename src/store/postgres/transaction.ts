import { expectNotMovedAway } from '../tables.ts';
import type { Session } from './session.ts';
import { present } from './store-row.ts';

/**
 * Runs `work` in a transaction that excludes all other writers of the database. Destroys the session on failure.
 * @param evenIfMoved whether to allow a store that was moved to another database
 * @throws StoreUnavailable
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
