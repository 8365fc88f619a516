import type { ApiKey, Environment } from '../../keys/api-key.ts';
import { parseScopes, scopesText } from '../../keys/scopes.ts';
import type { CommandOf, OutcomeOf } from '../commands.ts';
import type { Row, Session } from './session.ts';
import { byteaArray, number, textArray } from './values.ts';

const KEY_COLUMNS =
  'id, name, environment, digest, created_at, expires_at, revoked_at, last_used_at, scopes, cancels_per_hour';

function keyFromRow(row: Row): ApiKey {
  const [id, name, environment, digest, createdAt, expiresAt, revokedAt, lastUsedAt, ...limits] =
    row;
  const [scopes, cancelsPerHour] = limits;
  return {
    id: id!,
    name: name!,
    environment: environment as Environment,
    // bytea in hex format: "\x" and hexadecimal digits.
    digest: Buffer.from(digest!.slice(2), 'hex'),
    createdAt: Number(createdAt),
    expiresAt: number(expiresAt),
    revokedAt: number(revokedAt),
    lastUsedAt: number(lastUsedAt),
    scopes: parseScopes(scopes),
    cancelsPerHour: number(cancelsPerHour),
  };
}

/** Returns the keys with these digests, or all keys. */
export async function readKeys(
  session: Session,
  digests?: readonly Uint8Array[],
): Promise<ApiKey[]> {
  const rows =
    digests === undefined
      ? await session.query(SQL.all)
      : await session.query(SQL.byDigest, [byteaArray(digests)]);
  return rows.map(keyFromRow);
}

export async function createKey(session: Session, key: ApiKey): Promise<'created'> {
  const { id, name, environment, digest, createdAt, expiresAt, scopes, cancelsPerHour } = key;
  const values = [id, name, environment, Buffer.from(digest), createdAt, expiresAt ?? null];
  const limits = [scopesText(scopes) ?? null, cancelsPerHour ?? null];
  await session.write(SQL.insert, [...values, ...limits]);
  return 'created';
}

export async function createFirstKey(
  session: Session,
  key: ApiKey,
): Promise<'created' | 'unchanged'> {
  const [existing] = await session.query(SQL.anyKey, [key.environment]);
  return existing === undefined ? createKey(session, key) : 'unchanged';
}

export async function revokeKey(
  session: Session,
  id: string,
): Promise<OutcomeOf<CommandOf<'revokeKey'>>> {
  const [key] = await session.query(SQL.revokedAt, [id]);
  if (key === undefined) return 'key_not_found';
  if (key[0] !== null) return 'unchanged';
  await session.write(SQL.revoke, [Date.now(), id]);
  return 'revoked';
}

export async function recordKeyUse(
  session: Session,
  { ids, at }: CommandOf<'recordKeyUse'>,
): Promise<'recorded'> {
  await session.write(SQL.recordUse, [at, textArray(ids)]);
  return 'recorded';
}

const SQL = {
  all: {
    name: 'keys',
    text: `SELECT ${KEY_COLUMNS} FROM api_keys ORDER BY created_at, id COLLATE "C"`,
  },
  byDigest: {
    name: 'keysByDigest',
    text: `SELECT ${KEY_COLUMNS} FROM api_keys WHERE digest = ANY ($1::bytea[])`,
  },
  insert: {
    text: `INSERT INTO api_keys (id, name, environment, digest, created_at, expires_at, scopes, cancels_per_hour)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
  },
  anyKey: { text: 'SELECT 1 FROM api_keys WHERE environment = $1 LIMIT 1' },
  revokedAt: { text: 'SELECT revoked_at FROM api_keys WHERE id = $1' },
  revoke: { text: 'UPDATE api_keys SET revoked_at = $1 WHERE id = $2' },
  recordUse: {
    text: `UPDATE api_keys SET last_used_at = greatest(last_used_at, $1) WHERE id = ANY ($2::text[])`,
  },
} as const;
