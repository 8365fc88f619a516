import type { MovedOption } from '../../store.ts';
import { expectNotMovedAway, requireStoreRow } from '../../tables/store-row.ts';
import type { Session } from './session.ts';

/** Runs `work` in a transaction that excludes all other writers of the database. Destroys the session on failure. */
export async function inTransaction<T>(
  session: Session,
  work: () => Promise<T>,
  { evenIfMoved }: MovedOption = { evenIfMoved: false },
): Promise<T> {
  try {
    const [, locked] = await Promise.all([
      session.run('BEGIN'),
      session.query('SELECT moved_to FROM store FOR UPDATE'),
    ]);
    const [movedTo] = requireStoreRow(locked[0]);
    if (!evenIfMoved) expectNotMovedAway(movedTo);
    const result = await work();
    await session.commit();
    return result;
  } catch (error) {
    session.destroy();
    throw error;
  }
}

/** Waits until the synchronous standby, if there is one, has all earlier commits: sends a commit that writes to the log only. */
export async function waitForStandby(session: Session): Promise<void> {
  await session.write('SELECT FROM store FOR UPDATE');
}
