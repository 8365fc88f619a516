import type { Placement } from '../../orders/placement.ts';
import { jsonRows, type Session } from './session.ts';

/** Returns those of the placements that the store remembers. */
export async function findPlacements(
  session: Session,
  wanted: readonly Pick<Placement, 'by' | 'idempotencyKey'>[],
): Promise<Placement[]> {
  if (wanted.length === 0) return [];
  const names = wanted.map(({ by, idempotencyKey }) => [by, idempotencyKey]);
  const rows = await session.query(FIND, [jsonRows(names)]);
  return rows.map(([by, idempotencyKey, digest, id, revision, at]) => ({
    by: by as string,
    idempotencyKey: idempotencyKey as string,
    digest: digest as string,
    id: id as bigint,
    revision: revision as bigint,
    at: Number(at),
  }));
}

const FIND = `SELECT key_id, idempotency_key, digest, order_id, revision, at
  FROM json_array_elements($1::json) AS asked CROSS JOIN placements
  WHERE key_id = asked.value ->> 0 AND idempotency_key = asked.value ->> 1`;
