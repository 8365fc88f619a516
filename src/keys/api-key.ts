import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const ENVIRONMENTS = ['production', 'staging'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** An API key as the store keeps it: everything but the secret, of which it knows only the digest. */
export interface ApiKey {
  /** Public name of the key, as in `keys list` and `keys revoke`. */
  readonly id: string;
  /** What the operator called it. */
  readonly name: string;
  readonly environment: Environment;
  /** SHA-256 of the secret, 32 bytes. */
  readonly digest: Uint8Array;
  /** All times in milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
  /** When a request last came with it, to the hour or so. */
  readonly lastUsedAt?: number | undefined;
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
/** Anything that looks like the beginning of a secret, wherever it stands. */
const SECRETS = /so_(?:live|test)_\w*/gi;

/** A new secret: prefix of the environment, 256 random bits, checksum. It is shown once, never kept. */
export function newSecret(environment: Environment): string {
  const random = BigInt(`0x${randomBytes(32).toString('hex')}`);
  const start = PREFIX[environment] + base62(random, BODY_LENGTH);
  return start + checksum(start);
}

/** A new key around `secret`. */
export function newApiKey(
  secret: string,
  details: { name: string; environment: Environment; now: number; expiresAt?: number | undefined },
): ApiKey {
  const id = `key_${base62(BigInt(`0x${randomBytes(6).toString('hex')}`), 9)}`;
  const { name, environment, now, expiresAt } = details;
  return { id, name, environment, digest: digestOf(secret), createdAt: now, expiresAt };
}

/** The environment a secret belongs to, or undefined if it was never a secret of this service. */
export function environmentOf(secret: string): Environment | undefined {
  if (!SECRET.test(secret)) return undefined;
  const start = secret.slice(0, -CHECKSUM_LENGTH);
  if (checksum(start) !== secret.slice(-CHECKSUM_LENGTH)) return undefined;
  return secret.startsWith(PREFIX.production) ? 'production' : 'staging';
}

/** SHA-256, 32 bytes. No salt or stretching: 256 random bits cannot be guessed. */
export function digestOf(secret: string): Uint8Array {
  return hash('sha256', secret, 'buffer');
}

/** What can be said of a known key at `now`. */
export function standingOf(key: ApiKey, now: number): 'valid' | 'revoked' | 'expired' {
  if (key.revokedAt !== undefined) return 'revoked';
  return key.expiresAt !== undefined && key.expiresAt <= now ? 'expired' : 'valid';
}

/** `text` without any secret of this service, for logs. */
export function withoutSecrets(text: string): string {
  return text.replace(SECRETS, 'so_[secret]');
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = BASE62[Number(rest % 62n)] + text;
  return text.padStart(length, '0');
}
