import type { Batch } from '../../orders/batch.ts';
import type { ChangeAllName, ChangedAll, ChangeResult } from '../../orders/change-all.ts';
import { PLACEMENT_KEPT_MS } from '../../orders/placement.ts';
import { jsonRows, type Session } from './session.ts';

/** Returns those of the commands that the store remembers. */
export async function findChangedAll(
  session: Session,
  wanted: readonly Pick<ChangeAllName, 'by' | 'idempotencyKey'>[],
): Promise<ChangedAll[]> {
  if (wanted.length === 0) return [];
  const names = wanted.map(({ by, idempotencyKey }) => [by, idempotencyKey]);
  const rows = await session.query(SQL.find, [jsonRows(names)]);
  return rows.map(([by, idempotencyKey, digest, results, at]) => ({
    by: by as string,
    idempotencyKey: idempotencyKey as string,
    digest: digest as string,
    results: JSON.parse(results as string) as ChangeResult[],
    at: Number(at),
  }));
}

/** Records the commands of a batch, inside its transaction, and deletes up to twice as many that have expired. */
export async function recordChangedAll(
  session: Session,
  { changedAll, now }: Pick<Batch, 'changedAll' | 'now'>,
): Promise<void> {
  if (changedAll.length === 0) return;
  await session.write(SQL.deleteExpired, [now - PLACEMENT_KEPT_MS, 2 * changedAll.length]);
  for (const { by, idempotencyKey, digest, results, at } of changedAll) {
    await session.write(SQL.insert, [by, idempotencyKey, digest, JSON.stringify(results), at]);
  }
}

const SQL = {
  find: `SELECT key_id, idempotency_key, digest, results, at
    FROM json_array_elements($1::json) AS asked CROSS JOIN changed_all
    WHERE key_id = asked.value ->> 0 AND idempotency_key = asked.value ->> 1`,
  deleteExpired: `DELETE FROM changed_all WHERE (key_id, idempotency_key) IN
    (SELECT key_id, idempotency_key FROM changed_all WHERE at < $1 ORDER BY at LIMIT $2)`,
  insert: `INSERT INTO changed_all (key_id, idempotency_key, digest, results, at)
    VALUES ($1, $2, $3, $4, $5)`,
} as const;
