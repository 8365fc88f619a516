import type { Action, AuditRecord } from '../audit.ts';
import { jsonRows, type Row, type Session } from './session.ts';

/** Records an action, in a transaction that excludes all other writers. Returns the id of the record. */
export async function recordAction(
  session: Session,
  { command, user, host, what }: Action,
): Promise<bigint> {
  const [row] = await session.query(SQL.insert, [Date.now(), command, user, host, what]);
  return row![0] as bigint;
}

/** Records that the revisions from `first` to `last` were made by a recorded action. */
export async function recordOperator(
  session: Session,
  { first, last }: { readonly first: bigint; readonly last: bigint },
  auditId: bigint,
): Promise<void> {
  for (let revision = first; revision <= last; revision += 1n) {
    await session.write(SQL.link, [revision, auditId]);
  }
}

export async function readAudit(session: Session, limit: number): Promise<AuditRecord[]> {
  return (await session.query(SQL.latest, [limit])).map(recordFromRow);
}

export async function readOperators(
  session: Session,
  revisions: readonly bigint[],
): Promise<Map<bigint, AuditRecord>> {
  const rows = await session.query(SQL.operators, [jsonRows(revisions.map((each) => [each]))]);
  return new Map(rows.map(([revision, ...record]) => [revision as bigint, recordFromRow(record)]));
}

/** Reads RECORD_COLUMNS. */
export function recordFromRow([id, at, command, user, host, what]: Row): AuditRecord {
  return {
    id: id as bigint,
    at: Number(at),
    command: command as string,
    user: user as string,
    host: host as string,
    what: what as string,
  };
}

export const RECORD_COLUMNS = 'audit.id, at, command, os_user, host, what';

const SQL = {
  insert: `INSERT INTO audit (id, at, command, os_user, host, what)
    SELECT coalesce(max(id), 0) + 1, $1::bigint, $2::text, $3::text, $4::text, $5::text FROM audit RETURNING id`,
  link: 'INSERT INTO operator_revisions (revision, audit_id) VALUES ($1, $2)',
  latest: `SELECT ${RECORD_COLUMNS} FROM audit ORDER BY id DESC LIMIT $1`,
  operators: `SELECT revision, ${RECORD_COLUMNS} FROM json_array_elements($1::json) AS asked
    CROSS JOIN operator_revisions CROSS JOIN audit
    WHERE revision = CAST(asked.value ->> 0 AS bigint) AND audit.id = audit_id`,
} as const;
