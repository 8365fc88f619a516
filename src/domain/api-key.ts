import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
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
  /** All times are in milliseconds since the epoch. */
  readonly createdAt: number;
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

/** A secret that was replaced. */
interface FormerSecret {
  /** SHA-256, 32 bytes. */
  readonly digest: Uint8Array;
  /** When it ends. */
  readonly until: number;
}

/**
 * Returns a key as it is for the client with one of its secrets: by the former secret it expires when that ends. Undefined if the digest is of
 * neither secret.
 */
export function keyBySecret(key: ApiKey, digest: Uint8Array): ApiKey | undefined {
  if (timingSafeEqual(key.digest, digest)) return key;
  const { former, expiresAt = Number.POSITIVE_INFINITY } = key;
  if (former === undefined || !timingSafeEqual(former.digest, digest)) return undefined;
  return { ...key, digest, expiresAt: Math.min(expiresAt, former.until) };
}

/** Returns whether a key has the scope `scope`. */
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
const SECRETS = /so_(?:live|test)_\w*/gi;

/** Returns a new secret: environment prefix, 256 random bits, checksum. It is shown once and never stored. */
export function newSecret(environment: Environment): string {
  const random = BigInt(`0x${randomBytes(32).toString('hex')}`);
  const start = PREFIX[environment] + base62(random, BODY_LENGTH);
  return start + checksum(start);
}

/** Returns a new key for `secret`. */
export function newApiKey(
  secret: string,
  { now, ...details }: Omit<ApiKey, 'id' | 'digest' | 'createdAt'> & { readonly now: number },
): ApiKey {
  const id = `key_${base62(BigInt(`0x${randomBytes(6).toString('hex')}`), 9)}`;
  return { id, ...details, digest: secretDigest(secret), createdAt: now };
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

/** Returns the state of a key at `now`. */
export function keyStatus(key: ApiKey, now: number): 'valid' | 'revoked' | 'expired' {
  if (key.revokedAt !== undefined) return 'revoked';
  return key.expiresAt !== undefined && key.expiresAt <= now ? 'expired' : 'valid';
}

/** Redacts the secrets of this service in `text`, for logs. */
export function withoutSecrets(text: string): string {
  return text.replace(SECRETS, 'so_[secret]');
}

/** Returns the end of a secret: CRC-32 of what is before it. A secret with another one is refused without a lookup. */
export function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = BASE62[Number(rest % 62n)] + text;
  return text.padStart(length, '0');
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
] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes of a key that was created without any: all except access to the webhooks of other keys. */
export const IMPLIED_SCOPES: readonly Scope[] = SCOPES.filter(
  (scope) => scope !== 'webhooks:manage-all',
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

/** Tolerated difference between the clocks of nodes, database and commands. */
export const CLOCK_TOLERANCE_MS = 5_000;

/**
 * The clock that keys expire by. It never goes backwards: if the system clock is set back, it stands still until the
 * system clock has caught up, so that an expired key stays expired.
 */
export class KeyClock {
  readonly #timeOfDay: () => number;
  #latest = 0;

  /** @param timeOfDay returns milliseconds since the epoch */
  constructor(timeOfDay: () => number = Date.now) {
    this.#timeOfDay = timeOfDay;
  }

  /** Returns the current time in milliseconds since the epoch. */
  now(): number {
    return this.notBefore(this.#timeOfDay());
  }

  /** Advances the clock to at least `at`, the time of an event that has happened, and returns the time. */
  notBefore(at: number): number {
    this.#latest = Math.max(this.#latest, at);
    return this.#latest;
  }

  /** Returns how many milliseconds the system clock is behind this clock. */
  behindMs(): number {
    return this.now() - this.#timeOfDay();
  }
}
