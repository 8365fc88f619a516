import { hash } from 'node:crypto';
import {
  type ApiKey,
  digestWithoutSecret,
  hasSecret,
  IMPLIED_SCOPES,
  isAllowed,
  keyStatus,
  revoked,
  rotated,
  type Scope,
} from './api-key.ts';
import { formatTimestamp } from './timestamp.ts';

/** The scope with which an API key manages the others. */
export const MANAGES: Scope = 'keys:manage';
/** Keys of a store up to which keys create others; operators are not limited. Ended keys count, since none is deleted. */
export const MAX_KEYS = 2_000;
/** Acts of one manager in any hour, and of all: each is a record of the audit, and reads all keys. Revoking is not limited: a key ends once. */
export const MAX_ACTS = { ofOne: 100, ofAll: 500 } as const;
/** How long the ticket of an invitation is good. */
export const TICKET_MS = 3_600_000;
/** How long a repetition returns the secret that the first request has made. */
export const REPEATABLE_MS = 3_600_000;

type Ticket = NonNullable<ApiKey['ticket']>;

/** What a manager does to a key. */
export type KeyAct =
  | { readonly type: 'create'; readonly key: ApiKey }
  | { readonly type: 'update'; readonly id: string; readonly changes: KeyChanges }
  /** Gives the key another secret; the one before ends at `formerUntil`, or at once without it. */
  | {
      readonly type: 'rotate';
      readonly id: string;
      readonly digest: Uint8Array;
      readonly formerUntil: number | undefined;
    }
  | { readonly type: 'invite'; readonly id: string; readonly ticket: Ticket }
  | { readonly type: 'revoke'; readonly id: string };

/** Fields to set in a key; absent ones stay as they are. Times are in milliseconds since the epoch. */
interface KeyChanges
  extends Partial<Pick<ApiKey, 'name' | 'scopes' | 'cancelsPerHour' | 'placesPerHour'>> {
  /** "never" removes it. */
  readonly expiresAt?: number | 'never' | undefined;
  readonly endsFormer?: boolean;
}

export type KeyRefusal =
  | 'key_ended'
  | 'last_key_manager'
  | { readonly refusal: 'exceeds_own_key'; readonly problems: readonly KeyProblem[] };

/** @param pointer of a field: RFC 6901 */
interface KeyProblem {
  readonly pointer: string;
  readonly detail: string;
}

interface KeyScene {
  /** The key of the request, as it is in the transaction. */
  readonly manager: ApiKey;
  /** Whether a valid key other than the one of the act can manage keys. */
  readonly hasOtherManager: boolean;
  readonly now: number;
}

/**
 * Returns the key after an act, or why it is refused. No key gives what it does not have: what it creates, or gives another secret, is within its scopes, limits
 * and expiry; what it changes or revokes, within its scopes. An act without an effect returns the key itself.
 * @param key undefined for "create"
 */
export function keyAfter(
  act: KeyAct,
  key: ApiKey | undefined,
  scene: KeyScene,
): ApiKey | KeyRefusal {
  // Whoever has a secret that was replaced, perhaps since it has leaked, gets no other one by it, nor by a key that it makes.
  if (scene.manager.by === 'former') return exceeding([REPLACED]);
  if (act.type === 'create') return beyond(act.key, scene.manager) ?? act.key;
  const before = key!;
  const excess = scopesBeyond(before, scene.manager);
  if (excess.length > 0) return exceeding(excess);
  if (act.type === 'revoke') {
    if (before.revokedAt !== undefined) return before;
    return manages(before, scene.now) && !scene.hasOtherManager
      ? 'last_key_manager'
      : revoked(before, scene.now);
  }
  if (before.revokedAt !== undefined) return 'key_ended';
  if (act.type === 'update') return updated(before, act.changes, scene);
  if (keyStatus(before, scene.now) !== 'valid') return 'key_ended';
  const refused = beyond(before, scene.manager);
  if (refused !== undefined) return refused;
  return act.type === 'invite'
    ? invited(before, act.ticket, scene.manager.id)
    : rotated(before, act.digest, act.formerUntil, scene.manager.id);
}

/** Whether a key can manage others at `now`; one that has only an invitation cannot yet. */
export function manages(key: ApiKey, now: number): boolean {
  return hasSecret(key) && keyStatus(key, now) === 'valid' && isAllowed(key, MANAGES);
}

/** Returns a key with an invitation; its secret stays valid until that is redeemed. */
function invited(key: ApiKey, ticket: Ticket, secretBy: string): ApiKey {
  const digest = hasSecret(key) ? key.digest : digestWithoutSecret(ticket);
  return { ...key, digest, ticket, secretBy };
}

function updated(
  key: ApiKey,
  { name = key.name, endsFormer, ...changes }: KeyChanges,
  { manager, hasOtherManager, now }: KeyScene,
): ApiKey | KeyRefusal {
  const { scopes = key.scopes, cancelsPerHour = key.cancelsPerHour } = changes;
  const { placesPerHour = key.placesPerHour, expiresAt = key.expiresAt } = changes;
  const until = expiresAt === 'never' ? undefined : expiresAt;
  const former = endsFormer ? undefined : key.former;
  const after: ApiKey = { ...key, name, scopes, cancelsPerHour, placesPerHour, former };
  const wider = [
    ...scopesBeyond(after, key).map(({ pointer }) => ({ pointer, detail: 'can only be fewer' })),
    ...LIMITS.filter((limit) => exceeds(after[limit], key[limit])).map((limit) => ({
      pointer: `/${limit}`,
      detail: `can only become less than ${key[limit]}`,
    })),
    // The manager's own end is the latest, so no key makes its own end later.
    ...(exceeds(until, key.expiresAt)
      ? problemsBeyond({ ...after, expiresAt: until }, manager)
      : []),
  ];
  if (wider.length > 0) return exceeding(wider);
  const isSooner = exceeds(key.expiresAt, until) || !isAllowed(after, MANAGES);
  if (isSooner && manages(key, now) && !hasOtherManager) return 'last_key_manager';
  const result = { ...after, expiresAt: until };
  return keyTag(result) === keyTag(key) ? key : result;
}

const REPLACED = {
  pointer: '',
  detail: 'the secret of the request was replaced; send the present one',
};

const LIMITS = ['cancelsPerHour', 'placesPerHour'] as const;
/** The scope whose use a limit counts. */
const LIMITED = { cancelsPerHour: 'orders:cancel', placesPerHour: 'orders:place' } as const;

/** Refuses a key that could do more than `manager`, or for longer. */
function beyond(key: ApiKey, manager: ApiKey): KeyRefusal | undefined {
  const problems = problemsBeyond(key, manager);
  return problems.length > 0 ? exceeding(problems) : undefined;
}

function problemsBeyond(key: ApiKey, manager: ApiKey): KeyProblem[] {
  const limits = LIMITS.filter(
    (limit) => isAllowed(key, LIMITED[limit]) && exceeds(key[limit], manager[limit]),
  ).map((limit) => ({
    pointer: `/${limit}`,
    detail: `must be at most ${manager[limit]}, as for the API key of the request`,
  }));
  return [...scopesBeyond(key, manager), ...limits, ...expiryBeyond(key, manager)];
}

function scopesBeyond(key: ApiKey, { scopes: own = IMPLIED_SCOPES }: ApiKey): KeyProblem[] {
  return (key.scopes ?? IMPLIED_SCOPES)
    .filter((scope) => !own.includes(scope))
    .map((scope) => ({
      pointer: '/scopes',
      detail: `the API key of the request does not have ${scope}`,
    }));
}

function expiryBeyond({ expiresAt }: ApiKey, manager: ApiKey): KeyProblem[] {
  if (!exceeds(expiresAt, manager.expiresAt)) return [];
  const end = formatTimestamp(manager.expiresAt!);
  return [
    {
      pointer: '/expiresAt',
      detail: `must be ${end} at the latest, when the API key of the request ends`,
    },
  ];
}

/** Compares two limits, or two ends; undefined is none. */
function exceeds(one: number | undefined, other: number | undefined): boolean {
  return (one ?? Number.POSITIVE_INFINITY) > (other ?? Number.POSITIVE_INFINITY);
}

function exceeding(problems: readonly KeyProblem[]): KeyRefusal {
  return { refusal: 'exceeds_own_key', problems };
}

/** Names the settings of a key and its secrets; use, expiry and webhooks do not change it. */
export function keyTag(key: ApiKey): string {
  const { id, name, scopes, cancelsPerHour, placesPerHour, expiresAt, revokedAt } = key;
  const secrets = [key.digest, key.former?.digest, key.ticket?.digest].map(
    (digest) => digest && Buffer.from(digest).toString('base64'),
  );
  const set = [id, name, scopes, cancelsPerHour, placesPerHour, expiresAt, revokedAt];
  const text = JSON.stringify([...set, ...secrets, key.former?.until, key.ticket?.until]);
  return hash('sha256', text, 'hex').slice(0, 16);
}
