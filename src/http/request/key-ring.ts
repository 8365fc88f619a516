import {
  type ApiKey,
  type Environment,
  environmentOfSecret,
  isAllowed,
  keyBySecret,
  keyStatus,
  type Scope,
  secretDigest,
} from '../../domain/api-key.ts';
import type { KeyClock } from '../../domain/key-clock.ts';
import type { Refusal } from '../error-records.ts';

/** How long a key is cached without reading the store again; a revocation takes effect within this time. */
const TRUST_MS = 500;
/** Resolution of a key's last use; limits recording it to one write per hour. */
const USE_RECORDED_EVERY_MS = 3_600_000;
/** Pause after a use could not be recorded. */
const RETRY_AFTER_MS = 60_000;
/** Keys that `recheck` reads in one call; on SQLite that blocks the event loop for about a millisecond. */
const KEYS_AT_A_TIME = 200;
/** Maximum number of cached keys; when it is reached, the cache is cleared. */
const MAX_REMEMBERED = 10_000;

export type Authentication =
  | { readonly key: ApiKey; readonly refusal?: undefined; readonly keyId?: undefined }
  /** `keyId` is present if the refused key is known. */
  | { readonly key?: undefined; readonly refusal: Refusal; readonly keyId?: string | undefined };

interface KeyRingParts {
  /** Returns the existing keys with secrets of these digests, in any order. */
  readonly findKeys: (digests: readonly Uint8Array[]) => Promise<readonly ApiKey[]>;
  readonly environment: Environment;
  /** The clock that keys expire by. */
  readonly clock: KeyClock;
  /**
   * Records when valid keys were used that were looked up, and whose last use was not recorded within the past hour.
   * @param formers those of them whose former secret was used
   */
  readonly recordUse: (
    keyIds: readonly string[],
    formers: readonly string[],
    at: number,
  ) => Promise<unknown>;
}

/**
 * Authenticates secrets. Only keys that were not revoked are cached, for TRUST_MS. Other secrets are always looked up, so a new key works at
 * once and guesses take no memory.
 */
export class KeyRing {
  readonly #parts: KeyRingParts;
  /** By secret. A Map compares seeded hashes first, so timing reveals nothing about a secret. */
  readonly #remembered = new Map<string, { readonly key: ApiKey; readonly until: number }>();
  #isRecording = false;
  /** No use is recorded before, in the time of performance.now(). */
  #recordsFrom = 0;

  constructor(parts: KeyRingParts) {
    this.#parts = parts;
  }

  /** Authenticates a secret without reading the store; returns undefined if the store must be read. */
  recall(secret: string): Authentication | undefined {
    const remembered = this.#remembered.get(secret);
    if (remembered !== undefined) {
      // By the monotonic clock: setting back the system clock must not prolong trust.
      if (performance.now() < remembered.until) return this.#authentication(remembered.key);
      this.#remembered.delete(secret);
    }
    const environment = environmentOfSecret(secret);
    if (environment === this.#parts.environment) return undefined;
    return { refusal: environment === undefined ? 'api_key_invalid' : 'api_key_wrong_environment' };
  }

  /**
   * Authenticates secrets that `recall` cannot, in their order; each distinct secret is looked up once.
   * @throws whatever `findKeys` throws: without an answer a revocation could be missed
   */
  async lookUp(secrets: readonly string[]): Promise<Authentication[]> {
    const askedAt = performance.now();
    const digests = new Map([...new Set(secrets)].map((secret) => [secret, secretDigest(secret)]));
    const keys = await this.#parts.findKeys([...digests.values()]);
    const bySecret = keysBySecret(keys);
    const found = new Map<string, Authentication>();
    for (const [secret, digest] of digests) {
      const key = bySecret(digest);
      if (key !== undefined && key.revokedAt === undefined) {
        this.#remember(secret, key, askedAt + TRUST_MS);
      } else this.#remembered.delete(secret);
      const known = key && this.#authentication(key);
      found.set(secret, known ?? { refusal: 'api_key_invalid' });
    }
    this.#recordUse(found.values());
    return secrets.map((secret) => found.get(secret)!);
  }

  /**
   * Returns those of the keys that are still valid and have the scope, by the secrets with which they were authenticated.
   * @throws whatever `findKeys` throws
   */
  async recheck(keys: readonly ApiKey[], scope: Scope): Promise<ReadonlySet<ApiKey>> {
    const valid = new Set<ApiKey>();
    for (let from = 0; from < keys.length; from += KEYS_AT_A_TIME) {
      const part = keys.slice(from, from + KEYS_AT_A_TIME);
      const bySecret = keysBySecret(await this.#parts.findKeys(part.map(({ digest }) => digest)));
      const now = this.#parts.clock.now();
      for (const asked of part) {
        const key = bySecret(asked.digest);
        if (key === undefined || keyStatus(key, now) !== 'valid') continue;
        if (isAllowed(key, scope)) valid.add(asked);
      }
    }
    return valid;
  }

  #authentication(key: ApiKey): Authentication {
    const standing = keyStatus(key, this.#parts.clock.now());
    return standing === 'valid' ? { key } : { refusal: `api_key_${standing}`, keyId: key.id };
  }

  /** At most one write is active and none is queued: a use that is not recorded is found again at the next lookup of the key. */
  #recordUse(found: Iterable<Authentication>): void {
    if (this.#isRecording || performance.now() < this.#recordsFrom) return;
    const now = Date.now();
    const used = [...found].flatMap(({ key }) =>
      key !== undefined &&
      key.by !== 'ticket' &&
      (key.lastUsedAt ?? 0) <= now - USE_RECORDED_EVERY_MS
        ? key
        : [],
    );
    if (used.length === 0) return;
    const formers = used.filter(({ by }) => by === 'former').map(({ id }) => id);
    const ids = used.map(({ id }) => id);
    this.#isRecording = true;
    this.#parts
      .recordUse(ids, formers, now)
      .catch(() => {
        this.#recordsFrom = performance.now() + RETRY_AFTER_MS;
      })
      .finally(() => {
        this.#isRecording = false;
      });
  }

  #remember(secret: string, key: ApiKey, until: number): void {
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(secret, { key, until });
  }
}

/** Returns a function that finds keys as they are by a secret; see `keyBySecret`. */
function keysBySecret(keys: readonly ApiKey[]): (digest: Uint8Array) => ApiKey | undefined {
  const byDigest = new Map<string, ApiKey>();
  for (const key of keys) {
    for (const secret of [key.ticket, key.former, key]) {
      if (secret !== undefined) byDigest.set(nameOf(secret.digest), key);
    }
  }
  return (digest) => {
    const key = byDigest.get(nameOf(digest));
    return key && keyBySecret(key, digest);
  };
}

function nameOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString('latin1');
}
