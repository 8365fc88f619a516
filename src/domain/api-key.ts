import { hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const ENVIRONMENTS = ['production', 'staging'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** An API key as stored: the digest of the secret, never the secret itself. */
export interface ApiKey {
  /** Public identifier of the key, used by `keys list` and `keys revoke`. */
  readonly id: string;
  /** Name given by the operator. */
  readonly name: string;
  readonly environment: Environment;
  /** SHA-256 of the secret, 32 bytes. */
  readonly digest: Uint8Array;
  /** The secret before the last rotation; undefined if the key was never rotated. */
  readonly former?: FormerSecret | undefined;
  /** The ticket of an invitation that was not redeemed. */
  readonly ticket?: Ticket | undefined;
  /** Set for a request that was authenticated with the former secret, or with a ticket. */
  readonly by?: 'former' | 'ticket';
  /** All times are in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Id of the key that has created it; undefined for operators. */
  readonly createdBy?: string | undefined;
  /** Id of the key that has made its present secret, or ticket; undefined for operators. */
  readonly secretBy?: string | undefined;
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
  /** Time of the latest request with the key, to within about an hour. */
  readonly lastUsedAt?: number | undefined;
  /** The operations that the key may call; undefined for IMPLIED_SCOPES. */
  readonly scopes?: readonly Scope[] | undefined;
  /** How many orders the key may cancel in any hour; undefined for any number. */
  readonly cancelsPerHour?: number | undefined;
  /** How many it may place. */
  readonly placesPerHour?: number | undefined;
}

/** How long a former secret is valid at most. */
export const MAX_OVERLAP_MS = 365 * 86_400_000;

/** With a ticket, the invited person makes the secret of the key, once. */
interface Ticket {
  /** SHA-256, 32 bytes. */
  readonly digest: Uint8Array;
  /** When it ends. */
  readonly until: number;
}

/** A secret that was replaced; it ends like a ticket. */
interface FormerSecret extends Ticket {
  /** Time of the latest request with it since it was replaced, to within about an hour. */
  readonly lastUsedAt?: number | undefined;
}

/**
 * Returns a key as it is for the client with one of its secrets: by the former secret, or a ticket, it expires when that ends. Undefined if the
 * digest is of none of them.
 */
export function keyBySecret(key: ApiKey, digest: Uint8Array): ApiKey | undefined {
  if (timingSafeEqual(key.digest, digest)) return key;
  const { former, ticket, expiresAt = Number.POSITIVE_INFINITY } = key;
  const isOf = (secret: Ticket | undefined) =>
    secret !== undefined && timingSafeEqual(secret.digest, digest);
  if (isOf(former)) {
    const { until, lastUsedAt } = former!;
    return { ...key, digest, expiresAt: Math.min(expiresAt, until), lastUsedAt, by: 'former' };
  }
  if (!isOf(ticket)) return undefined;
  return { ...key, digest, expiresAt: Math.min(expiresAt, ticket!.until), by: 'ticket' };
}

/** Returns the digest of a key that has only the ticket of an invitation: of no secret, since it is not of a text in their form. */
export function digestWithoutSecret(ticket: Ticket): Uint8Array {
  return hash('sha256', ticket.digest, 'buffer');
}

/** Whether a key has a secret; one that was created by an invitation has none until that is redeemed. */
export function hasSecret({ digest, ticket }: ApiKey): boolean {
  return ticket === undefined || !timingSafeEqual(digest, digestWithoutSecret(ticket));
}

/**
 * Returns a key with another secret; the one before ends at `formerUntil`, or at once without it, and an invitation at once.
 * @param secretBy id of the key that has made it; undefined for an operator
 */
export function rotated(
  key: ApiKey,
  digest: Uint8Array,
  formerUntil: number | undefined,
  secretBy: string | undefined,
): ApiKey {
  const former =
    formerUntil !== undefined && hasSecret(key)
      ? { digest: key.digest, until: formerUntil }
      : undefined;
  return { ...key, digest, former, ticket: undefined, secretBy };
}

/** Returns a key that was revoked at `now`, with its invitation. */
export function revoked(key: ApiKey, now: number): ApiKey {
  return { ...key, revokedAt: now, ticket: undefined };
}

export function isAllowed({ scopes }: ApiKey, scope: Scope): boolean {
  return (scopes ?? IMPLIED_SCOPES).includes(scope);
}

const PREFIX = { production: 'so_live_', staging: 'so_test_' } as const;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 256 bits in base 62. */
const BODY_LENGTH = 43;
/** CRC-32 in base 62. */
const CHECKSUM_LENGTH = 6;
const SECRET = new RegExp(
  `^(so_live_|so_test_)[0-9A-Za-z]{${BODY_LENGTH}}[0-9A-Za-z]{${CHECKSUM_LENGTH}}$`,
);
/** Matches anything that looks like the beginning of a secret, anywhere in a text. */
const LIKE_SECRET = /so_(?:live|test)_\w*/i;
const SECRETS = new RegExp(LIKE_SECRET, 'gi');

/** Returns a new secret: environment prefix, 256 random bits, checksum. It is shown once and never stored. */
export function newSecret(environment: Environment, bits: Buffer = randomBytes(32)): string {
  const start = PREFIX[environment] + base62(BigInt(`0x${bits.toString('hex')}`), BODY_LENGTH);
  return start + checksum(start);
}

/**
 * Returns the secret that a request makes (HKDF-SHA256, RFC 5869), so that a repetition of the request makes it again, and the store does not need it.
 * @param own the secret with which the request was authenticated
 * @param salt 32 random bytes in Base64; useless without `own`
 */
export function secretMadeBy(own: string, salt: string, environment: Environment): string {
  const bits = hkdfSync('sha256', own, Buffer.from(salt, 'base64url'), 'store-orders API key', 32);
  return newSecret(environment, Buffer.from(bits));
}

/** Returns the environment that a secret belongs to, or undefined if it is not a secret of this service. */
export function environmentOfSecret(secret: string): Environment | undefined {
  if (!SECRET.test(secret)) return undefined;
  const start = secret.slice(0, -CHECKSUM_LENGTH);
  if (checksum(start) !== secret.slice(-CHECKSUM_LENGTH)) return undefined;
  return secret.startsWith(PREFIX.production) ? 'production' : 'staging';
}

/** Returns the SHA-256 digest, 32 bytes. Salt and stretching are unnecessary: 256 random bits cannot be guessed. */
export function secretDigest(secret: string): Uint8Array {
  return hash('sha256', secret, 'buffer');
}

/** Redacts the secrets of this service in `text`, for logs. */
export function withoutSecrets(text: string): string {
  return text.replace(SECRETS, 'so_[secret]');
}

/** Returns the end of a secret: CRC-32 of what is before it. A secret with another one is refused without a lookup. */
export function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

/** Formats a number, with leading zeros. */
function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = BASE62[Number(rest % 62n)] + text;
  return text.padStart(length, '0');
}

export function newApiKey(
  secret: string,
  { now, ...details }: Omit<ApiKey, 'id' | 'digest' | 'createdAt'> & { readonly now: number },
): ApiKey {
  const id = `key_${base62(BigInt(`0x${randomBytes(6).toString('hex')}`), 9)}`;
  return { id, ...details, digest: secretDigest(secret), createdAt: now };
}

/** Whether `text` can be the name of a key: 1 to 100 printable characters, without those that change how others are shown, and no secret. */
export function isKeyName(text: string): boolean {
  return (
    /^[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u.test(text) && text.trim() !== '' && !LIKE_SECRET.test(text)
  );
}

export function keyStatus(key: ApiKey, now: number): 'valid' | 'revoked' | 'expired' {
  if (key.revokedAt !== undefined) return 'revoked';
  return key.expiresAt !== undefined && key.expiresAt <= now ? 'expired' : 'valid';
}

/** The scopes of the contract: each allows a key some operations. */
export const SCOPES = [
  'orders:read',
  'orders:place',
  'orders:cancel',
  'orders:ship',
  'changes:read',
  'webhooks:manage',
  'webhooks:manage-all',
  'keys:manage',
] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes that a key has only if they are named. */
export const NAMED_SCOPES: readonly Scope[] = ['webhooks:manage-all', 'keys:manage'];

/** The scopes of a key that was created without any. */
export const IMPLIED_SCOPES: readonly Scope[] = SCOPES.filter(
  (scope) => !NAMED_SCOPES.includes(scope),
);

/** Formats scopes as they are stored; undefined for a key that has IMPLIED_SCOPES. */
export function scopesText(scopes: readonly Scope[] | undefined): string | undefined {
  return scopes?.join(' ');
}

/** Parses stored scopes. Scopes of later releases are ignored. */
export function parseScopes(text: string | null | undefined): readonly Scope[] | undefined {
  if (text === null || text === undefined) return undefined;
  const names = text.split(' ');
  return SCOPES.filter((scope) => names.includes(scope));
}
