import {
  type ApiKey,
  type Environment,
  isAllowed,
  keyBySecret,
  keyStatus,
  parseScopes,
  revoked,
  rotated,
  scopesText,
} from '../../domain/api-key.ts';
import {
  keyAfter,
  keyTag,
  MANAGES,
  MAX_KEYS,
  manages,
  REPEATABLE_MS,
} from '../../domain/key-management.ts';
import { type Store, StoreNotUsable } from '../store.ts';
import { mayActAt, recordAction } from './audit.ts';
import { digestOfKeys } from './audit-chain.ts';
import { findRequests, rememberRequest } from './bulk-requests.ts';
import {
  byText,
  type Commands,
  type Dialects,
  jsonRows,
  number,
  type Row,
  type Session,
  type StoreReads,
  text,
} from './session.ts';

/** What an act can change, in the order of `settingsOf`. */
const SETTINGS =
  'name, digest, scopes, cancels_per_hour, places_per_hour, expires_at, revoked_at, former_digest, former_until, former_used_at, ticket_digest, ticket_until, secret_by';
const PARAMETERS = SETTINGS.split(', ').map((_, index) => `$${index + 2}`);
const KEY_COLUMNS = `id, ${SETTINGS}, environment, created_at, created_by, last_used_at`;

function keyFromRow(row: Row): ApiKey {
  const [id, name, digest, scopes, cancelsPerHour, placesPerHour, expiresAt, ...more] = row;
  const [revokedAt, formerDigest, formerUntil, formerUsedAt, ticketDigest, ...others] = more;
  const [ticketUntil, secretBy, environment, createdAt, createdBy, lastUsedAt] = others;
  return {
    id: id as string,
    name: name as string,
    environment: environment as Environment,
    digest: digest as Uint8Array,
    former:
      formerDigest === null
        ? undefined
        : {
            digest: formerDigest as Uint8Array,
            until: Number(formerUntil),
            lastUsedAt: number(formerUsedAt),
          },
    ticket:
      ticketDigest === null
        ? undefined
        : { digest: ticketDigest as Uint8Array, until: Number(ticketUntil) },
    createdAt: Number(createdAt),
    createdBy: text(createdBy),
    secretBy: text(secretBy),
    expiresAt: number(expiresAt),
    revokedAt: number(revokedAt),
    lastUsedAt: number(lastUsedAt),
    scopes: parseScopes(scopes as string | null),
    cancelsPerHour: number(cancelsPerHour),
    placesPerHour: number(placesPerHour),
  };
}

/** The oldest first, if all keys are asked for. */
export const readKeys: StoreReads<Store>['keys'] = async (session, digests) => {
  const rows =
    digests === undefined
      ? await session.query(SQL.all[session.engine])
      : await session.query(BY_DIGEST[session.engine], [
          jsonRows(digests.map((digest) => [Buffer.from(digest).toString('hex')])),
        ]);
  return rows.map(keyFromRow);
};

export const readKeyPage: StoreReads<Store>['keyPage'] = async (session, query) => {
  const { state, after, limit, now } = query;
  const { createdAt = -1, id = '' } = after ?? {};
  const asked = [now, createdAt, id, state ?? '', limit + 1];
  const rows = await session.query(SQL.page[session.engine], asked);
  const counts = { valid: 0, expired: 0, revoked: 0 };
  for (const [name, count] of await session.query(SQL.states, [now])) {
    counts[name as keyof typeof counts] = Number(count);
  }
  return { keys: rows.slice(0, limit).map(keyFromRow), hasMore: rows.length > limit, counts };
};

export const keyNames: StoreReads<Store>['keyNames'] = async (session, ids) => {
  const rows = await session.query(SQL.names, [jsonRows(ids.map((id) => [id]))]);
  return new Map(rows as unknown as [string, string][]);
};

/** A trigger or a rule of the database can undo what was written: a key that only seems to be revoked is worse than an error. */
const UNDONE =
  'the change of the key was undone by the database itself, and has no effect; see "store-orders check"';

const createKey: Commands['createKey'] = async (session, { key }) => {
  const { id, environment, createdAt, createdBy } = key;
  const row = [id, ...settingsOf(key), environment, createdAt, createdBy];
  if ((await session.write(SQL.insert, row)) !== 1) throw new StoreNotUsable(UNDONE);
  return 'created';
};

/** In the order of SETTINGS. */
function settingsOf({ name, digest, scopes, former, ticket, ...key }: ApiKey) {
  const { expiresAt, revokedAt, cancelsPerHour, placesPerHour } = key;
  return [
    ...[name, digest, scopesText(scopes), cancelsPerHour, placesPerHour, expiresAt, revokedAt],
    ...[former?.digest, former?.until, former?.lastUsedAt, ticket?.digest, ticket?.until],
    key.secretBy,
  ];
}

export const findKey: StoreReads<Store>['key'] = async (session, id) => {
  const [row] = await session.query(SQL.byId[session.engine], [id]);
  return row && keyFromRow(row);
};

/** @throws StoreNotUsable if the database has undone it */
async function replaceKey(session: Session, key: ApiKey): Promise<void> {
  await session.write(SQL.replace, [key.id, ...settingsOf(key)]);
  const stored = await findKey(session, key.id);
  if (stored === undefined || keyTag(stored) !== keyTag(key)) throw new StoreNotUsable(UNDONE);
}

/** Changes a key for an operator. @param change returns the key itself if there is nothing to change */
async function changeKey<Outcome extends string>(
  session: Session,
  id: string,
  outcome: Outcome,
  change: (key: ApiKey) => ApiKey,
): Promise<Outcome | 'unchanged' | 'key_not_found'> {
  const key = await findKey(session, id);
  if (key === undefined) return 'key_not_found';
  const after = key.revokedAt === undefined ? change(key) : key;
  if (after === key) return 'unchanged';
  await replaceKey(session, after);
  return outcome;
}

const manageKey: Commands['manageKey'] = async (session, command) => {
  const { act, name, at, ifTag } = command;
  const known = await findKey(session, command.manager.id);
  const manager = known && keyBySecret(known, command.manager.digest);
  const status = manager === undefined ? 'revoked' : keyStatus(manager, at);
  if (status !== 'valid') return { refusal: `api_key_${status}` };
  if (!isAllowed(manager!, MANAGES)) return { refusal: 'scope_missing' };
  const [earlier] = await findRequests<[string, string]>(session, name ? [name] : []);
  if (earlier !== undefined) {
    if (earlier.digest !== name!.digest) return { refusal: 'idempotency_key_reused' };
    const [id, salt] = earlier.results;
    const key = (await findKey(session, id))!;
    return { key, effect: 'replayed', salt: at - earlier.at < REPEATABLE_MS ? salt : undefined };
  }
  const retryAt = act.type === 'revoke' ? undefined : await mayActAt(session, manager!.id, at);
  if (retryAt !== undefined) return { refusal: 'key_change_limit_reached', retryAt };
  const key = act.type === 'create' ? undefined : await findKey(session, act.id);
  if (key === undefined) {
    if (act.type !== 'create') return { refusal: 'key_not_found' };
    const [[count] = []] = await session.query(SQL.count);
    if (Number(count) >= MAX_KEYS) return { refusal: 'too_many_keys' };
  } else if (ifTag !== undefined && keyTag(key) !== ifTag) return { refusal: 'key_changed' };
  const managers = (await session.query(SQL.managers[session.engine])).map(keyFromRow);
  const hasOtherManager = managers.some((each) => each.id !== key?.id && manages(each, at));
  const after = keyAfter(act, key, { manager: manager!, hasOtherManager, now: at });
  if (typeof after === 'string' || 'refusal' in after) return { refusal: after };
  if (after === key) return { key, effect: 'none' };
  const keysBefore = await digestOfKeys(session);
  if (key === undefined) await createKey(session, { type: 'createKey', key: after });
  else await replaceKey(session, after);
  if (name !== undefined) {
    await rememberRequest(session, { ...name, results: [after.id, name.salt], at });
  }
  await recordAction(session, command.action, keysBefore);
  return { key: after, effect: 'changed' };
};

export const keyCommands = {
  createKey,

  async createFirstKey(session, { key }) {
    const [existing] = await session.query(SQL.anyKey, [key.environment]);
    if (existing !== undefined) return 'unchanged';
    return createKey(session, { type: 'createKey', key });
  },

  revokeKey: (session, { id }) =>
    changeKey(session, id, 'revoked', (key) => revoked(key, Date.now())),

  rotateKey: (session, { id, digest, formerUntil }) =>
    changeKey(session, id, 'rotated', (key) => rotated(key, digest, formerUntil, undefined)),

  endOverlap: (session, { id }) =>
    changeKey(session, id, 'ended', (key) =>
      key.former === undefined ? key : { ...key, former: undefined },
    ),

  async redeemInvitation(session, { id, ticket, digest, at, action }) {
    const key = await findKey(session, id);
    const known = key && keyBySecret(key, ticket);
    if (known?.by !== 'ticket' || keyStatus(known, at) !== 'valid') return 'no_invitation';
    const keysBefore = await digestOfKeys(session);
    const redeemed = rotated(key!, digest, undefined, key!.secretBy);
    await replaceKey(session, redeemed);
    await recordAction(session, action, keysBefore);
    return redeemed;
  },

  async recordKeyUse(session, { ids, formers, at }) {
    const rows = ids.map((id) => [id, Number(formers.includes(id))]);
    await session.write(SQL.recordUse, [at, jsonRows(rows)]);
    return 'recorded';
  },
  manageKey,
} satisfies Partial<Commands>;

/** As `keyStatus`. */
const STATE = `CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= $1 THEN 'expired' ELSE 'valid' END`;

const SQL = {
  page: byText(
    (c) => `SELECT ${KEY_COLUMNS} FROM api_keys
      WHERE (created_at, id${c}) > ($2, $3) AND ($4 = '' OR ${STATE} = $4) ORDER BY created_at, id${c} LIMIT $5`,
  ),
  states: `SELECT ${STATE} AS state, count(*) FROM api_keys GROUP BY 1`,
  all: byText((c) => `SELECT ${KEY_COLUMNS} FROM api_keys ORDER BY created_at, id${c}`),
  names: `SELECT id, name FROM api_keys
    WHERE id IN (SELECT value ->> 0 FROM json_array_elements($1::json))`,
  count: 'SELECT count(*) FROM api_keys',
  managers: byText(
    (c) => `SELECT ${KEY_COLUMNS} FROM api_keys
      WHERE revoked_at IS NULL AND scopes${c} LIKE '%${MANAGES}%'`,
  ),
  byId: byText((c) => `SELECT ${KEY_COLUMNS} FROM api_keys WHERE id${c} = $1`),
  insert: `INSERT INTO api_keys (id, ${SETTINGS}, environment, created_at, created_by)
    VALUES ($1, ${PARAMETERS.join(', ')}, $15, $16, $17)`,
  replace: `UPDATE api_keys SET (${SETTINGS}) = (${PARAMETERS.join(', ')}) WHERE id = $1`,
  anyKey: 'SELECT 1 FROM api_keys WHERE environment = $1 LIMIT 1',
  recordUse: `UPDATE api_keys SET last_used_at = $1,
      former_used_at = CASE WHEN CAST(used.value ->> 1 AS bigint) = 1 THEN $1 ELSE former_used_at END
    FROM json_array_elements($2::json) AS used
    WHERE api_keys.id = used.value ->> 0 AND coalesce(last_used_at, 0) < $1`,
} as const;

/** Each part by an index of its own. */
const byDigest = (asked: string) =>
  ['digest', 'former_digest', 'ticket_digest']
    .map((column) => `SELECT ${KEY_COLUMNS} FROM api_keys WHERE ${column} IN (${asked})`)
    .join(' UNION ALL ');

const BY_DIGEST: Dialects = {
  sqlite: byDigest('SELECT unhex(value ->> 0) FROM json_array_elements($1)'),
  postgresql: byDigest(`SELECT decode(value ->> 0, 'hex') FROM json_array_elements($1::json)`),
};
