import { PLACEMENT_KEPT_MS, type Placement } from '../../domain/placement.ts';
import { byText, jsonRows, type Session } from './session.ts';

/** Returns those of the placements that the store remembers. */
export async function findPlacements(
  session: Session,
  wanted: readonly Pick<Placement, 'by' | 'idempotencyKey'>[],
): Promise<Placement[]> {
  if (wanted.length === 0) return [];
  const names = wanted.map(({ by, idempotencyKey }) => [by, idempotencyKey]);
  const rows = await session.query(FIND[session.engine], [jsonRows(names)]);
  return rows.map(([by, idempotencyKey, digest, id, revision, at]) => ({
    by: by as string,
    idempotencyKey: idempotencyKey as string,
    digest: digest as string,
    id: id as bigint,
    revision: revision as bigint,
    at: Number(at),
  }));
}

/** Records placements, and deletes up to twice as many that have expired; under the lock of a transaction. */
export async function recordPlacements(
  session: Session,
  placements: readonly Placement[],
  now: number,
): Promise<void> {
  if (placements.length === 0) return;
  await session.write(DELETE_EXPIRED[session.engine], [
    now - PLACEMENT_KEPT_MS,
    2 * placements.length,
  ]);
  const rows = placements.map(({ by, idempotencyKey, digest, id, revision, at }) => [
    ...[by, idempotencyKey, digest, id, revision, at],
  ]);
  await session.write(RECORD, [jsonRows(rows)]);
}

const DELETE_EXPIRED = byText(
  (c) => `DELETE FROM placements WHERE (key_id${c}, idempotency_key${c}) IN
  (SELECT key_id, idempotency_key FROM placements WHERE at < $1 ORDER BY at LIMIT $2)`,
);

const RECORD = `INSERT INTO placements (key_id, idempotency_key, digest, order_id, revision, at)
  SELECT value ->> 0, value ->> 1, value ->> 2, CAST(value ->> 3 AS bigint), CAST(value ->> 4 AS bigint), CAST(value ->> 5 AS bigint)
  FROM json_array_elements($1::json)`;

const FIND = byText(
  (c) => `SELECT key_id, idempotency_key, digest, order_id, revision, at
  FROM json_array_elements($1::json) AS asked CROSS JOIN placements
  WHERE key_id${c} = asked.value ->> 0 AND idempotency_key${c} = asked.value ->> 1`,
);
