import type { Batch } from '../../domain/batch.ts';
import { CANCEL_WINDOW_MS, type CancelUse, secondOf } from '../../domain/cancel-limit.ts';
import { byText, jsonRows, type Session } from './session.ts';

/** Returns the recorded cancels of keys with a limit. */
export async function findCancelUses(
  session: Session,
  keyIds: readonly string[],
): Promise<(CancelUse & { by: string })[]> {
  if (keyIds.length === 0) return [];
  const rows = await session.query(SQL.find[session.engine], [jsonRows(keyIds.map((id) => [id]))]);
  return rows.map(([by, second, count]) => ({
    by: by as string,
    second: Number(second),
    count: Number(count),
  }));
}

/** Records the cancels of keys with a limit, inside a transaction, and deletes those that no longer count. */
export async function recordCancelUses(
  session: Session,
  { allowances, now }: Batch,
): Promise<void> {
  for (const [by, { taken }] of allowances) {
    if (taken === 0) continue;
    await session.write(SQL.deleteExpired[session.engine], [
      by,
      Math.floor((now - CANCEL_WINDOW_MS) / 1000),
    ]);
    await session.write(SQL.record, [by, secondOf(now), taken]);
  }
}

const SQL = {
  find: byText(
    (c) => `SELECT key_id, second, count FROM cancel_uses
    WHERE key_id${c} IN (SELECT value ->> 0 FROM json_array_elements($1::json))`,
  ),
  deleteExpired: byText((c) => `DELETE FROM cancel_uses WHERE key_id${c} = $1 AND second <= $2`),
  record: `INSERT INTO cancel_uses (key_id, second, count) VALUES ($1, $2, $3)
    ON CONFLICT (key_id, second) DO UPDATE SET count = cancel_uses.count + excluded.count`,
} as const;
