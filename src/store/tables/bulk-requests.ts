import type { Lookups } from '../../domain/batch.ts';
import { PLACEMENT_KEPT_MS, type RepeatableRequest } from '../../domain/placement.ts';
import { byText, expectWritten, jsonRows, type Session } from './session.ts';

/** A request of an API key that can be repeated, and its results, which are a JSON value. */
interface RememberedRequest<Results> extends RepeatableRequest {
  readonly results: Results;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Returns those of the requests that the store remembers. */
export async function findRequests<Results>(
  session: Session,
  wanted: Lookups['bulkRequests'],
): Promise<RememberedRequest<Results>[]> {
  if (wanted.length === 0) return [];
  const names = wanted.map(({ by, idempotencyKey }) => [by, idempotencyKey]);
  const rows = await session.query(SQL.find[session.engine], [jsonRows(names)]);
  return rows.map(([by, idempotencyKey, digest, results, at]) => ({
    by: by as string,
    idempotencyKey: idempotencyKey as string,
    digest: digest as string,
    results: JSON.parse(results as string),
    at: Number(at),
  }));
}

/** Records a request, inside its transaction, and deletes up to two that have expired. */
export async function rememberRequest(
  session: Session,
  { by, idempotencyKey, digest, results, at }: RememberedRequest<unknown>,
): Promise<void> {
  await session.write(SQL.deleteExpired[session.engine], [at - PLACEMENT_KEPT_MS, 2]);
  const row = [by, idempotencyKey, digest, JSON.stringify(results), at];
  expectWritten(await session.write(SQL.insert, row), 1);
}

/** Statements for a table of what an API key can repeat by an idempotency key. @param columns what is found beside the two */
export const repeatable = (table: string, columns: string) => ({
  find: byText(
    (c) => `SELECT key_id, idempotency_key, ${columns}
    FROM json_array_elements($1::json) AS asked CROSS JOIN ${table}
    WHERE key_id${c} = asked.value ->> 0 AND idempotency_key${c} = asked.value ->> 1`,
  ),
  deleteExpired: byText(
    (c) => `DELETE FROM ${table} WHERE (key_id${c}, idempotency_key${c}) IN
    (SELECT key_id, idempotency_key FROM ${table} WHERE at < $1 ORDER BY at LIMIT $2)`,
  ),
});

const SQL = {
  ...repeatable('changed_all', 'digest, results, at'),
  insert: `INSERT INTO changed_all (key_id, idempotency_key, digest, results, at)
    VALUES ($1, $2, $3, $4, $5)`,
} as const;
