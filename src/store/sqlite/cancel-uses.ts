import type { Batch } from '../../orders/batch.ts';
import { CANCEL_WINDOW_MS, type CancelUse, secondOf } from '../../orders/cancel-limit.ts';
import type { Session } from './session.ts';

/** Returns the recorded cancels of keys with a limit. */
export function findCancelUses(
  session: Session,
  keyIds: readonly string[],
): (CancelUse & { by: string })[] {
  return keyIds.flatMap((by) =>
    session.query(SQL.find, by).map(([second, count]) => ({
      ...{ by, second: Number(second), count: Number(count) },
    })),
  );
}

/** Records the cancels of keys with a limit, and deletes those that no longer count. */
export function recordCancelUses(session: Session, { allowances, now }: Batch): void {
  for (const [by, { taken }] of allowances) {
    if (taken === 0) continue;
    session.write(SQL.deleteExpired, by, Math.floor((now - CANCEL_WINDOW_MS) / 1000));
    session.write(SQL.record, by, secondOf(now), taken);
  }
}

const SQL = {
  find: 'SELECT second, count FROM cancel_uses WHERE key_id = ?',
  deleteExpired: 'DELETE FROM cancel_uses WHERE key_id = ? AND second <= ?',
  record: `INSERT INTO cancel_uses (key_id, second, count) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET count = count + excluded.count`,
} as const;
