import type { Placement } from '../../orders/placement.ts';
import type { Session } from './session.ts';
import { textArray } from './values.ts';

/** Returns those of the placements that the store remembers. */
export async function findPlacements(
  session: Session,
  wanted: readonly Pick<Placement, 'by' | 'idempotencyKey'>[],
): Promise<Placement[]> {
  if (wanted.length === 0) return [];
  const rows = await session.query(FIND, [
    textArray(wanted.map(({ by }) => by)),
    textArray(wanted.map(({ idempotencyKey }) => idempotencyKey)),
  ]);
  return rows.map(([by, idempotencyKey, digest, id, revision, at]) => ({
    ...{ by: by!, idempotencyKey: idempotencyKey!, digest: digest! },
    ...{ id: BigInt(id!), revision: BigInt(revision!), at: Number(at) },
  }));
}

const FIND = {
  name: 'findPlacements',
  text: `SELECT key_id, idempotency_key, digest, order_id, revision, at FROM placements
    WHERE (key_id, idempotency_key) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
} as const;
