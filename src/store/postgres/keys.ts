import type { ApiKey, Environment } from '../../keys/api-key.ts';
import type { CommandOf, OutcomeOf } from '../store.ts';
import type { Row, Session } from './session.ts';
import { byteaArray, textArray, time } from './values.ts';

const KEY_COLUMNS =
  'id, name, environment, digest, created_at, expires_at, revoked_at, last_used_at';

function keyFromRow(row: Row): ApiKey {
  const [id, name, environment, digest, createdAt, expiresAt, revokedAt, lastUsedAt] = row;
  return {
    id: id!,
    name: name!,
    environment: environment as Environment,
    // bytea in hex format: "\x" and hexadecimal digits.
    digest: Buffer.from(digest!.slice(2), 'hex'),
    createdAt: Number(createdAt),
    expiresAt: time(expiresAt),
    revokedAt: time(revokedAt),
    lastUsedAt: time(lastUsedAt),
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
  const { id, name, environment, digest, createdAt, expiresAt } = key;
  const values = [id, name, environment, Buffer.from(digest), createdAt, expiresAt ?? null];
  await session.write(SQL.insert, values);
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
    text: `INSERT INTO api_keys (id, name, environment, digest, created_at, expires_at)
      VALUES ($1, $2, $3, $4, $5, $6)`,
  },
  anyKey: { text: 'SELECT 1 FROM api_keys WHERE environment = $1 LIMIT 1' },
  revokedAt: { text: 'SELECT revoked_at FROM api_keys WHERE id = $1' },
  revoke: { text: 'UPDATE api_keys SET revoked_at = $1 WHERE id = $2' },
  recordUse: {
    text: `UPDATE api_keys SET last_used_at = greatest(last_used_at, $1) WHERE id = ANY ($2::text[])`,
  },
} as const;
