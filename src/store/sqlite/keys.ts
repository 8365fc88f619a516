import type { ApiKey, Environment } from '../../keys/api-key.ts';
import { parseScopes, scopesText } from '../../keys/scopes.ts';
import type { CommandOf, OutcomeOf } from '../commands.ts';
import type { Row, Session } from './session.ts';
import { inSnapshot } from './transaction.ts';
import { number } from './values.ts';

const KEY_COLUMNS =
  'id, name, environment, digest, created_at, expires_at, revoked_at, last_used_at, scopes, cancels_per_hour';

function keyFromRow(row: Row): ApiKey {
  const [id, name, environment, digest, createdAt, expiresAt, revokedAt, lastUsedAt, ...limits] =
    row;
  const [scopes, cancelsPerHour] = limits;
  return {
    id: id as string,
    name: name as string,
    environment: environment as Environment,
    digest: digest as Uint8Array,
    createdAt: Number(createdAt),
    expiresAt: number(expiresAt),
    revokedAt: number(revokedAt),
    lastUsedAt: number(lastUsedAt),
    scopes: parseScopes(scopes as string | null),
    cancelsPerHour: number(cancelsPerHour),
  };
}

/** Returns the keys with these digests, or all keys. */
export function readKeys(session: Session, digests?: readonly Uint8Array[]): ApiKey[] {
  const rows = digests === undefined ? session.query(SQL.all) : findRows(session, digests);
  return rows.map(keyFromRow);
}

/** Looks up all keys in one transaction: starting one is most of the cost of a lookup. */
function findRows(session: Session, digests: readonly Uint8Array[]): Row[] {
  return inSnapshot(session, () =>
    digests.flatMap((digest) => session.query(SQL.byDigest, digest)),
  );
}

export function createKey(session: Session, key: ApiKey): 'created' {
  const { id, name, environment, digest, createdAt, expiresAt, scopes, cancelsPerHour } = key;
  const values = [id, name, environment, digest, createdAt, expiresAt];
  session.write(SQL.insert, ...values, scopesText(scopes), cancelsPerHour);
  return 'created';
}

export function createFirstKey(session: Session, key: ApiKey): 'created' | 'unchanged' {
  const [existing] = session.query(SQL.anyKey, key.environment);
  return existing === undefined ? createKey(session, key) : 'unchanged';
}

export function revokeKey(session: Session, id: string): OutcomeOf<CommandOf<'revokeKey'>> {
  const [key] = session.query(SQL.revokedAt, id);
  if (key === undefined) return 'key_not_found';
  if (key[0] !== null) return 'unchanged';
  session.write(SQL.revoke, Date.now(), id);
  return 'revoked';
}

export function recordKeyUse(session: Session, { ids, at }: CommandOf<'recordKeyUse'>): 'recorded' {
  for (const id of ids) session.write(SQL.recordUse, at, id);
  return 'recorded';
}

const SQL = {
  all: `SELECT ${KEY_COLUMNS} FROM api_keys ORDER BY created_at, id`,
  byDigest: `SELECT ${KEY_COLUMNS} FROM api_keys WHERE digest = ?`,
  insert: `INSERT INTO api_keys (id, name, environment, digest, created_at, expires_at, scopes, cancels_per_hour)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  anyKey: 'SELECT 1 FROM api_keys WHERE environment = ? LIMIT 1',
  revokedAt: 'SELECT revoked_at FROM api_keys WHERE id = ?',
  revoke: 'UPDATE api_keys SET revoked_at = ? WHERE id = ?',
  recordUse: 'UPDATE api_keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?',
} as const;
