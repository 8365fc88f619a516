import { timingSafeEqual } from 'node:crypto';
import { type ApiKey, type Environment, parseScopes, scopesText } from '../../domain/api-key.ts';
import { StoreNotUsable } from '../store.ts';
import {
  byText,
  type Commands,
  type Dialects,
  jsonRows,
  number,
  type Row,
  type Session,
} from './session.ts';

const KEY_COLUMNS =
  'id, name, environment, digest, created_at, expires_at, revoked_at, last_used_at, scopes, cancels_per_hour, places_per_hour, former_digest, former_until';

function keyFromRow(row: Row): ApiKey {
  const [id, name, environment, digest, createdAt, expiresAt, revokedAt, lastUsedAt, ...limits] =
    row;
  const [scopes, cancelsPerHour, placesPerHour, formerDigest, formerUntil] = limits;
  return {
    id: id as string,
    name: name as string,
    environment: environment as Environment,
    digest: digest as Uint8Array,
    former:
      formerDigest === null
        ? undefined
        : { digest: formerDigest as Uint8Array, until: Number(formerUntil) },
    createdAt: Number(createdAt),
    expiresAt: number(expiresAt),
    revokedAt: number(revokedAt),
    lastUsedAt: number(lastUsedAt),
    scopes: parseScopes(scopes as string | null),
    cancelsPerHour: number(cancelsPerHour),
    placesPerHour: number(placesPerHour),
  };
}

/** Returns the keys with secrets of these digests, or all keys, the oldest first. */
export async function readKeys(
  session: Session,
  digests?: readonly Uint8Array[],
): Promise<ApiKey[]> {
  const rows =
    digests === undefined
      ? await session.query(SQL.all[session.engine])
      : await session.query(BY_DIGEST[session.engine], [
          jsonRows(digests.map((digest) => [Buffer.from(digest).toString('hex')])),
        ]);
  return rows.map(keyFromRow);
}

/** Returns the names of those of the keys that exist, by id. */
export async function keyNames(
  session: Session,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await session.query(SQL.names, [jsonRows(ids.map((id) => [id]))]);
  return new Map(rows as unknown as [string, string][]);
}

/** A trigger or a rule of the database can undo what was written: a key that only seems to be revoked is worse than an error. */
const UNDONE =
  'the change of the key was undone by the database itself, and has no effect; see "store-orders check"';

const createKey: Commands['createKey'] = async (session, { key }) => {
  const { id, name, environment, digest, createdAt, expiresAt, scopes } = key;
  const values = [id, name, environment, digest, createdAt, expiresAt, scopesText(scopes)];
  await session.write(SQL.insert, [...values, key.cancelsPerHour, key.placesPerHour]);
  return 'created';
};

export const keyCommands = {
  createKey,

  async createFirstKey(session, { key }) {
    const [existing] = await session.query(SQL.anyKey, [key.environment]);
    if (existing !== undefined) return 'unchanged';
    return createKey(session, { type: 'createKey', key });
  },

  async revokeKey(session, { id }) {
    const [key] = await session.query(SQL.revokedAt, [id]);
    if (key === undefined) return 'key_not_found';
    if (key[0] !== null) return 'unchanged';
    await session.write(SQL.revoke, [Date.now(), id]);
    const [[revokedAt] = []] = await session.query(SQL.revokedAt, [id]);
    if (revokedAt == null) throw new StoreNotUsable(UNDONE);
    return 'revoked';
  },

  async rotateKey(session, { id, digest, formerUntil }) {
    const [key] = await session.query(SQL.revokedAt, [id]);
    if (key === undefined) return 'key_not_found';
    if (key[0] !== null) return 'unchanged';
    if (formerUntil === undefined) await session.write(SQL.replace, [digest, id]);
    else await session.write(SQL.rotate, [digest, id, formerUntil]);
    const [[stored] = []] = await session.query(SQL.digest, [id]);
    if (!(stored instanceof Uint8Array) || !timingSafeEqual(stored, digest)) {
      throw new StoreNotUsable(UNDONE);
    }
    return 'rotated';
  },

  async endOverlap(session, { id }) {
    const [key] = await session.query(SQL.formerUntil, [id]);
    if (key === undefined) return 'key_not_found';
    if (key[0] === null) return 'unchanged';
    await session.write(SQL.endOverlap, [id]);
    const [[until] = []] = await session.query(SQL.formerUntil, [id]);
    if (until !== null) throw new StoreNotUsable(UNDONE);
    return 'ended';
  },

  async recordKeyUse(session, { ids, at }) {
    await session.write(SQL.recordUse, [at, jsonRows(ids.map((id) => [id]))]);
    return 'recorded';
  },
} satisfies Partial<Commands>;

const ASKED = '(SELECT value ->> 0 FROM json_array_elements($1::json))';

const SQL = {
  all: byText((c) => `SELECT ${KEY_COLUMNS} FROM api_keys ORDER BY created_at, id${c}`),
  names: `SELECT id, name FROM api_keys WHERE id IN ${ASKED}`,
  insert: `INSERT INTO api_keys (id, name, environment, digest, created_at, expires_at, scopes, cancels_per_hour, places_per_hour)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
  anyKey: 'SELECT 1 FROM api_keys WHERE environment = $1 LIMIT 1',
  revokedAt: 'SELECT revoked_at FROM api_keys WHERE id = $1',
  digest: 'SELECT digest FROM api_keys WHERE id = $1',
  formerUntil: 'SELECT former_until FROM api_keys WHERE id = $1',
  endOverlap: 'UPDATE api_keys SET former_digest = NULL, former_until = NULL WHERE id = $1',
  revoke: 'UPDATE api_keys SET revoked_at = $1 WHERE id = $2',
  // The digest on the right is the one before.
  rotate:
    'UPDATE api_keys SET former_digest = digest, former_until = $3, digest = $1 WHERE id = $2',
  replace:
    'UPDATE api_keys SET former_digest = NULL, former_until = NULL, digest = $1 WHERE id = $2',
  recordUse: `UPDATE api_keys SET last_used_at = $1
    WHERE id IN (SELECT value ->> 0 FROM json_array_elements($2::json)) AND coalesce(last_used_at, 0) < $1`,
} as const;

/** Each part by an index of its own. */
const byDigest = (asked: string) =>
  ['digest', 'former_digest']
    .map((column) => `SELECT ${KEY_COLUMNS} FROM api_keys WHERE ${column} IN (${asked})`)
    .join(' UNION ALL ');

const BY_DIGEST: Dialects = {
  sqlite: byDigest('SELECT unhex(value ->> 0) FROM json_array_elements($1)'),
  postgresql: byDigest(`SELECT decode(value ->> 0, 'hex') FROM json_array_elements($1::json)`),
};
