import type { Batch } from '../../orders/batch.ts';
import { PLACEMENT_KEPT_MS, type Placement } from '../../orders/placement.ts';
import type { Session } from './session.ts';

/** Returns those of the placements that the store remembers. */
export function findPlacements(
  session: Session,
  wanted: readonly Pick<Placement, 'by' | 'idempotencyKey'>[],
): Placement[] {
  return wanted.flatMap(({ by, idempotencyKey }) =>
    session.query(SQL.find, by, idempotencyKey).map(([digest, id, revision, at]) => ({
      ...{ by, idempotencyKey, digest: digest as string },
      ...{ id: id as bigint, revision: revision as bigint, at: Number(at) },
    })),
  );
}

/** Records the placements of a batch, and deletes up to twice as many that have expired. */
export function recordPlacements(
  session: Session,
  { placements, now }: Batch,
  revision: bigint,
): void {
  if (placements.length === 0) return;
  session.write(SQL.deleteExpired, now - PLACEMENT_KEPT_MS, 2 * placements.length);
  for (const { by, idempotencyKey, digest, id, at } of placements) {
    session.write(SQL.insert, by, idempotencyKey, digest, id, revision, at);
  }
}

const SQL = {
  find: `SELECT digest, order_id, revision, at FROM placements
    WHERE key_id = ? AND idempotency_key = ?`,
  deleteExpired: `DELETE FROM placements WHERE (key_id, idempotency_key) IN
    (SELECT key_id, idempotency_key FROM placements WHERE at < ? ORDER BY at LIMIT ?)`,
  insert: `INSERT INTO placements (key_id, idempotency_key, digest, order_id, revision, at)
    VALUES (?, ?, ?, ?, ?, ?)`,
} as const;
