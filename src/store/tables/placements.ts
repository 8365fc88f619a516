import type { Lookups } from '../../domain/batch.ts';
import { PLACEMENT_KEPT_MS, type Placement } from '../../domain/placement.ts';
import { repeatable } from './bulk-requests.ts';
import { expectWritten, jsonRows, type Session } from './session.ts';

/** Returns those of the placements that the store remembers. */
export async function findPlacements(session: Session, wanted: Lookups['placements']) {
  if (wanted.length === 0) return [];
  const names = wanted.map(({ by, idempotencyKey }) => [by, idempotencyKey]);
  const rows = await session.query(SQL.find[session.engine], [jsonRows(names)]);
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
  const expired = [now - PLACEMENT_KEPT_MS, 2 * placements.length];
  await session.write(SQL.deleteExpired[session.engine], expired);
  const rows = placements.map(({ by, idempotencyKey, digest, id, revision, at }) => [
    ...[by, idempotencyKey, digest, id, revision, at],
  ]);
  expectWritten(await session.write(SQL.record, [jsonRows(rows)]), rows.length);
}

const SQL = {
  ...repeatable('placements', 'digest, order_id, revision, at'),
  record: `INSERT INTO placements (key_id, idempotency_key, digest, order_id, revision, at)
    SELECT value ->> 0, value ->> 1, value ->> 2, CAST(value ->> 3 AS bigint), CAST(value ->> 4 AS bigint), CAST(value ->> 5 AS bigint)
    FROM json_array_elements($1::json)`,
} as const;
