import { timingSafeEqual } from 'node:crypto';
import { type ApiKey, digestOf, type Environment, environmentOf, standingOf } from './api-key.ts';

/** How long a key is trusted without asking the store again: a revocation takes effect within it. */
const TRUST_MS = 500;
/** Most keys remembered; beyond it all are asked for again. */
const MAX_REMEMBERED = 10_000;

export type KeyRefusal =
  | 'api_key_invalid'
  | 'api_key_expired'
  | 'api_key_revoked'
  | 'api_key_wrong_environment';

export type Authentication =
  | { readonly key: ApiKey; readonly refusal?: undefined }
  | { readonly key?: undefined; readonly refusal: KeyRefusal };

/** The key with each of `digests`, in their order; `find` need not keep it. */
export async function findInOrder(
  digests: readonly Uint8Array[],
  find: (digests: readonly Uint8Array[]) => Promise<ApiKey[]>,
): Promise<(ApiKey | undefined)[]> {
  const names = digests.map(nameOf);
  const asked = [...new Map(names.map((name, index) => [name, digests[index]!])).values()];
  const found = new Map((await find(asked)).map((key) => [nameOf(key.digest), key]));
  return names.map((name) => found.get(name));
}

function nameOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString('latin1');
}

/** Finds the key with a digest. */
export type FindKey = (digest: Uint8Array) => Promise<ApiKey | undefined>;

/**
 * Tells whose secret it is. Only good keys are remembered, and only briefly; a secret that is not
 * remembered is always looked up, so a new key works at once and guesses take no memory.
 */
export class KeyRing {
  readonly #findKey: FindKey;
  readonly #environment: Environment;
  /** By secret. A Map compares by a seeded hash first, so how long it takes tells nothing of a secret. */
  readonly #remembered = new Map<string, { readonly key: ApiKey; readonly until: number }>();

  constructor(findKey: FindKey, environment: Environment) {
    this.#findKey = findKey;
    this.#environment = environment;
  }

  /** What can be said of a secret without asking the store; undefined if nothing can. */
  remembered(secret: string): Authentication | undefined {
    const remembered = this.#remembered.get(secret);
    if (remembered === undefined) return undefined;
    // The monotonic clock: a wall clock set back must not prolong trust.
    if (performance.now() < remembered.until) return authentication(remembered.key);
    this.#remembered.delete(secret);
    return undefined;
  }

  /** @throws what `findKey` throws: without an answer nobody knows whether the key was revoked. */
  async authenticate(secret: string): Promise<Authentication> {
    const environment = environmentOf(secret);
    if (environment === undefined) return { refusal: 'api_key_invalid' };
    if (environment !== this.#environment) return { refusal: 'api_key_wrong_environment' };

    const digest = digestOf(secret);
    const askedAt = performance.now();
    const key = await this.#findKey(digest);
    if (key === undefined || !timingSafeEqual(key.digest, digest)) {
      return { refusal: 'api_key_invalid' };
    }
    if (key.revokedAt === undefined) {
      if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
      this.#remembered.set(secret, { key, until: askedAt + TRUST_MS });
    }
    return authentication(key);
  }
}

function authentication(key: ApiKey): Authentication {
  const standing = standingOf(key, Date.now());
  return standing === 'valid' ? { key } : { refusal: `api_key_${standing}` };
}
