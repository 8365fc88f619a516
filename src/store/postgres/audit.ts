import type { Action, AuditRecord } from '../audit.ts';
import type { Row, Session } from './session.ts';
import { arrayOf } from './values.ts';

/** Records an action, in a transaction that excludes all other writers. Returns the id of the record. */
export async function recordAction(
  session: Session,
  { command, user, host, what }: Action,
): Promise<bigint> {
  const [row] = await session.write(SQL.insert, [Date.now(), command, user, host, what]);
  return BigInt(row![0]!);
}

/** Records that the revisions from `first` to `last` were made by a recorded action. */
export async function recordOperator(
  session: Session,
  { first, last }: { readonly first: bigint; readonly last: bigint },
  auditId: bigint,
): Promise<void> {
  await session.write(SQL.link, [first, last, auditId]);
}

export async function readAudit(session: Session, limit: number): Promise<AuditRecord[]> {
  return (await session.query(SQL.latest, [limit])).map(recordFromRow);
}

export async function readOperators(
  session: Session,
  revisions: readonly bigint[],
): Promise<Map<bigint, AuditRecord>> {
  const rows = await session.query(SQL.operators, [arrayOf(revisions)]);
  return new Map(rows.map(([revision, ...record]) => [BigInt(revision!), recordFromRow(record)]));
}

function recordFromRow([id, at, command, user, host, what]: Row): AuditRecord {
  return {
    ...{ id: BigInt(id!), at: Number(at), command: command! },
    ...{ user: user!, host: host!, what: what! },
  };
}

const COLUMNS = 'id, at, command, os_user, host, what';

const SQL = {
  insert: {
    text: `INSERT INTO audit (${COLUMNS})
      SELECT coalesce(max(id), 0) + 1, $1::bigint, $2::text, $3::text, $4::text, $5::text FROM audit RETURNING id`,
  },
  link: {
    text: 'INSERT INTO operator_revisions SELECT generate_series($1::bigint, $2::bigint), $3',
  },
  latest: { text: `SELECT ${COLUMNS} FROM audit ORDER BY id DESC LIMIT $1` },
  operators: {
    text: `SELECT revision, ${COLUMNS} FROM operator_revisions JOIN audit ON audit.id = audit_id
      WHERE revision = ANY ($1::bigint[])`,
  },
} as const;
