import type { Action, AuditRecord } from '../audit.ts';
import type { Row, Session } from './session.ts';
import { jsonArray } from './values.ts';

/** Records an action. Returns the id of the record. */
export function recordAction(session: Session, { command, user, host, what }: Action): bigint {
  return session.query(SQL.insert, Date.now(), command, user, host, what)[0]![0] as bigint;
}

/** Records that the revisions from `first` to `last` were made by a recorded action. */
export function recordOperator(
  session: Session,
  { first, last }: { readonly first: bigint; readonly last: bigint },
  auditId: bigint,
): void {
  for (let revision = first; revision <= last; revision += 1n) {
    session.write(SQL.link, revision, auditId);
  }
}

export function readAudit(session: Session, limit: number): AuditRecord[] {
  return session.query(SQL.latest, limit).map(recordFromRow);
}

export function readOperators(
  session: Session,
  revisions: readonly bigint[],
): Map<bigint, AuditRecord> {
  const rows = session.query(SQL.operators, jsonArray(revisions));
  return new Map(rows.map(([revision, ...record]) => [revision as bigint, recordFromRow(record)]));
}

function recordFromRow([id, at, command, user, host, what]: Row): AuditRecord {
  return {
    ...{ id: id as bigint, at: Number(at), command: command as string },
    ...{ user: user as string, host: host as string, what: what as string },
  };
}

const COLUMNS = 'audit.id, at, command, os_user, host, what';

const SQL = {
  insert:
    'INSERT INTO audit (at, command, os_user, host, what) VALUES (?, ?, ?, ?, ?) RETURNING id',
  link: 'INSERT INTO operator_revisions (revision, audit_id) VALUES (?, ?)',
  latest: `SELECT ${COLUMNS} FROM audit ORDER BY id DESC LIMIT ?`,
  operators: `SELECT revision, ${COLUMNS} FROM json_each(?) AS asked
    CROSS JOIN operator_revisions ON revision = asked.value CROSS JOIN audit ON audit.id = audit_id`,
} as const;
