import { timingSafeEqual } from 'node:crypto';
import { type ApiKey, digestOf, type Environment, environmentOf, standingOf } from './api-key.ts';
import type { KeyClock } from './key-clock.ts';

/** How long a key is trusted without asking the store again: a revocation takes effect within it. */
const TRUST_MS = 500;
/** How coarse the record of a key's last use is, so that it costs one write an hour. */
const USE_RECORDED_EVERY_MS = 3_600_000;
/** Most keys remembered; beyond it all are asked for again. */
const MAX_REMEMBERED = 10_000;

export type KeyRefusal =
  | 'api_key_invalid'
  | 'api_key_expired'
  | 'api_key_revoked'
  | 'api_key_wrong_environment';

export type Authentication =
  | { readonly key: ApiKey; readonly refusal?: undefined; readonly keyId?: undefined }
  /** `keyId` where it is known which key is refused. */
  | { readonly key?: undefined; readonly refusal: KeyRefusal; readonly keyId?: string | undefined };

export interface KeyRingParts {
  /** The keys with these digests, those there are, in any order. */
  readonly findKeys: (digests: readonly Uint8Array[]) => Promise<readonly ApiKey[]>;
  readonly environment: Environment;
  /** By which keys expire. */
  readonly clock: KeyClock;
  /** Is told of good keys that were looked up and whose last use was not recorded for a while. */
  readonly onUse?: (keyIds: readonly string[], at: number) => void;
}

/**
 * Tells whose secret it is. Only good keys are remembered, and only briefly; a secret that is not
 * remembered is always looked up, so a new key works at once and guesses take no memory.
 */
export class KeyRing {
  readonly #parts: KeyRingParts;
  /** By secret. A Map compares by a seeded hash first, so how long it takes tells nothing of a secret. */
  readonly #remembered = new Map<string, { readonly key: ApiKey; readonly until: number }>();

  constructor(parts: KeyRingParts) {
    this.#parts = parts;
  }

  /** What can be said of a secret without asking the store; undefined if nothing can. */
  recall(secret: string): Authentication | undefined {
    const remembered = this.#remembered.get(secret);
    if (remembered !== undefined) {
      // The monotonic clock: a wall clock set back must not prolong trust.
      if (performance.now() < remembered.until) return this.#authentication(remembered.key);
      this.#remembered.delete(secret);
    }
    const environment = environmentOf(secret);
    if (environment === this.#parts.environment) return undefined;
    return { refusal: environment === undefined ? 'api_key_invalid' : 'api_key_wrong_environment' };
  }

  /**
   * Whose the secrets are that could not be recalled, in their order; each is looked up once, however
   * often it is there.
   * @throws what `findKeys` throws: without an answer nobody knows whether a key was revoked.
   */
  async lookUp(secrets: readonly string[]): Promise<Authentication[]> {
    const askedAt = performance.now();
    const digests = new Map([...new Set(secrets)].map((secret) => [secret, digestOf(secret)]));
    const keys = await this.#parts.findKeys([...digests.values()]);
    const byDigest = new Map(keys.map((key) => [nameOf(key.digest), key]));
    const found = new Map<string, Authentication>();
    for (const [secret, digest] of digests) {
      const key = byDigest.get(nameOf(digest));
      const isKnown = key !== undefined && timingSafeEqual(key.digest, digest);
      if (isKnown && key.revokedAt === undefined) {
        this.#remember(secret, key, askedAt + TRUST_MS);
      } else this.#remembered.delete(secret);
      found.set(secret, isKnown ? this.#authentication(key) : { refusal: 'api_key_invalid' });
    }
    this.#tellUse(found.values());
    return secrets.map((secret) => found.get(secret)!);
  }

  #authentication(key: ApiKey): Authentication {
    const standing = standingOf(key, this.#parts.clock.now());
    return standing === 'valid' ? { key } : { refusal: `api_key_${standing}`, keyId: key.id };
  }

  #tellUse(found: Iterable<Authentication>): void {
    const now = Date.now();
    const ids = [...found].flatMap(({ key }) =>
      key !== undefined && (key.lastUsedAt ?? 0) <= now - USE_RECORDED_EVERY_MS ? key.id : [],
    );
    if (ids.length > 0) this.#parts.onUse?.(ids, now);
  }

  #remember(secret: string, key: ApiKey, until: number): void {
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(secret, { key, until });
  }
}

function nameOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString('latin1');
}
