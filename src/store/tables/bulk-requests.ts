import type { Batch } from '../../domain/batch.ts';
import type { BulkName, BulkRequest, ChangeResult } from '../../domain/bulk.ts';
import { PLACEMENT_KEPT_MS } from '../../domain/placement.ts';
import type { RequestName } from '../commands.ts';
import { byText, jsonRows, type Row, type Session } from './session.ts';

/** A request of an API key that can be repeated, and its result. */
interface RememberedRequest extends RequestName {
  /** Digest of the request; a repetition with another one is refused. */
  readonly digest: string;
  /** A JSON value. */
  readonly result: unknown;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Returns a request that the store remembers. */
export async function findRequest(
  session: Session,
  { by, idempotencyKey }: RequestName,
): Promise<RememberedRequest | undefined> {
  const [row] = await session.query(SQL.find[session.engine], [jsonRows([[by, idempotencyKey]])]);
  return row && requestFromRow(row);
}

/** Records a request, inside its transaction, and deletes up to two that have expired. */
export async function rememberRequest(
  session: Session,
  { by, idempotencyKey, digest, result, at }: RememberedRequest,
): Promise<void> {
  await session.write(SQL.deleteExpired[session.engine], [at - PLACEMENT_KEPT_MS, 2]);
  await session.write(SQL.insert, [by, idempotencyKey, digest, JSON.stringify(result), at]);
}

function requestFromRow([by, idempotencyKey, digest, result, at]: Row): RememberedRequest {
  return {
    by: by as string,
    idempotencyKey: idempotencyKey as string,
    digest: digest as string,
    result: JSON.parse(result as string),
    at: Number(at),
  };
}

/** Returns those of the commands that the store remembers. */
export async function findBulkRequests(
  session: Session,
  wanted: readonly Pick<BulkName, 'by' | 'idempotencyKey'>[],
): Promise<BulkRequest[]> {
  if (wanted.length === 0) return [];
  const names = wanted.map(({ by, idempotencyKey }) => [by, idempotencyKey]);
  const rows = await session.query(SQL.find[session.engine], [jsonRows(names)]);
  return rows
    .map(requestFromRow)
    .map(({ result, ...name }) => ({ ...name, results: result as ChangeResult[] }));
}

/** Records the commands of a batch, inside its transaction. */
export async function recordBulkRequests(
  session: Session,
  { bulkRequests }: Pick<Batch, 'bulkRequests'>,
): Promise<void> {
  for (const { results, ...name } of bulkRequests) {
    await rememberRequest(session, { ...name, result: results });
  }
}

const SQL = {
  find: byText(
    (c) => `SELECT key_id, idempotency_key, digest, results, at
    FROM json_array_elements($1::json) AS asked CROSS JOIN changed_all
    WHERE key_id${c} = asked.value ->> 0 AND idempotency_key${c} = asked.value ->> 1`,
  ),
  deleteExpired: byText(
    (c) => `DELETE FROM changed_all WHERE (key_id${c}, idempotency_key${c}) IN
    (SELECT key_id, idempotency_key FROM changed_all WHERE at < $1 ORDER BY at LIMIT $2)`,
  ),
  insert: `INSERT INTO changed_all (key_id, idempotency_key, digest, results, at)
    VALUES ($1, $2, $3, $4, $5)`,
} as const;
