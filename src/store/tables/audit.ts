import { LIMIT_WINDOW_MS } from '../../domain/hourly-limit.ts';
import { MAX_ACTS } from '../../domain/key-management.ts';
import { ACKNOWLEDGED, type Action } from '../audit.ts';
import type { History } from '../history.ts';
import {
  digestOfKeys,
  endOfChain,
  hashAfter,
  RECORD_COLUMNS,
  recordFromRow,
} from './audit-chain.ts';
import { jsonRows, type Session, type StoreReads } from './session.ts';

/**
 * Records an action, in a transaction that excludes all other writers. Returns the id of the record.
 * @param keysBefore the digest of the keys before the action, if it changes them
 */
export async function recordAction(
  session: Session,
  action: Action,
  keysBefore?: string,
): Promise<bigint> {
  const keysAfter = await digestOfKeys(session);
  const keys = `${keysBefore ?? keysAfter} ${keysAfter}`;
  if (action.command === ACKNOWLEDGED) await session.write(SQL.forgetDangling);
  // A record that was deleted by hand, but is still named by a revision, does not give its id to another one.
  const [[latest] = []] = await session.query(SQL.latestId);
  const [[named] = []] = await session.query(SQL.latestNamed);
  const last = (latest as bigint) > (named as bigint) ? latest : named;
  const record = { ...action, id: (last as bigint) + 1n, at: Date.now() };
  const hash = hashAfter(await endOfChain(session, action.command), record, keys);
  const { id, at, command, user, host, what } = record;
  await session.write(SQL.insert, [id, at, command, user, host, what, keys, hash]);
  await session.write(SQL.setHead, [hash]);
  return id;
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

export const readAudit: StoreReads<History>['audit'] = async (session, limit) =>
  (await session.query(SQL.latest, [limit])).map(recordFromRow);

export const readOperators: StoreReads<History>['operators'] = async (session, revisions) => {
  const rows = await session.query(SQL.operators, [jsonRows(revisions.map((each) => [each]))]);
  return new Map(rows.map(([revision, ...record]) => [revision as bigint, recordFromRow(record)]));
};

/** Returns when a key may manage keys again, in milliseconds since the epoch; undefined if it may now, by MAX_ACTS. */
export async function mayActAt(session: Session, id: string, now: number) {
  const within = [now - LIMIT_WINDOW_MS, now + LIMIT_WINDOW_MS];
  const latest = await session.query(SQL.actsOfKeys, [...within, MAX_ACTS.ofAll]);
  const own = latest.filter(([, user]) => user === id);
  const [at] = own[MAX_ACTS.ofOne - 1] ?? latest[MAX_ACTS.ofAll - 1] ?? [];
  return at === undefined ? undefined : Number(at) + LIMIT_WINDOW_MS;
}

const SQL = {
  actsOfKeys: `SELECT at, os_user FROM audit
    WHERE at BETWEEN $1 AND $2 AND substr(os_user, 1, 4) = 'key_' ORDER BY at DESC LIMIT $3`,
  latestId: 'SELECT coalesce(max(id), 0) FROM audit',
  latestNamed: 'SELECT coalesce(max(audit_id), 0) FROM operator_revisions',
  forgetDangling:
    'DELETE FROM operator_revisions WHERE NOT EXISTS (SELECT 1 FROM audit WHERE audit.id = audit_id)',
  insert: `INSERT INTO audit (id, at, command, os_user, host, what, keys, hash)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
  setHead: 'UPDATE store SET audit_head = $1',
  link: 'INSERT INTO operator_revisions (revision, audit_id) VALUES ($1, $2)',
  latest: `SELECT ${RECORD_COLUMNS} FROM audit ORDER BY id DESC LIMIT $1`,
  operators: `SELECT revision, ${RECORD_COLUMNS} FROM json_array_elements($1::json) AS asked
    CROSS JOIN operator_revisions CROSS JOIN audit
    WHERE revision = CAST(asked.value ->> 0 AS bigint) AND audit.id = audit_id`,
} as const;
