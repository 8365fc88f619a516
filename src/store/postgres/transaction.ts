import type { Session } from './session.ts';
import { present } from './store-row.ts';

/**
 * Alone among all writers of the database, from beginning to end. A session on which it fails is not
 * used again.
 */
export async function inTransaction<T>(session: Session, work: () => Promise<T>): Promise<T> {
  try {
    const [, locked] = await Promise.all([
      session.query({ text: 'BEGIN' }),
      session.query({ text: 'SELECT FROM store FOR UPDATE' }),
    ]);
    present(locked[0]);
    const result = await work();
    await session.write({ text: 'COMMIT' });
    return result;
  } catch (error) {
    session.destroy();
    throw error;
  }
}
