import { mayPass, type OpenOptions, StoreNotUsable, StoreUnavailable } from '../store.ts';
import { type Address, parseAddress } from './address.ts';
import { Session } from './session.ts';
import type { TimeLimits } from './time-limits.ts';

/** Until a connection is made, and again until it is set up. */
const CONNECT_MS = 3_000;
/** Of several hosts one may be gone and another about to become the primary: it is asked again soon. */
const CONNECT_ONE_OF_SEVERAL_MS = 1_000;
/** After an attempt that failed; a server that has no connection left is not flooded with attempts. */
const RETRY_PAUSE_MS = 100;

/** Who is told of the sessions of a connection. */
export interface ConnectionListeners {
  /** Is called with every new session before anybody else may use it. */
  readonly welcome?: (session: Session) => Promise<void>;
  readonly onConnection?: OpenOptions['onConnection'];
}

/**
 * One connection to the primary, made when it is first needed and made anew after it was lost. However
 * many ask for it, one attempt is under way at a time.
 */
export class Connection {
  readonly #address: () => Pick<Address, 'hosts'>;
  readonly #limits: TimeLimits;
  readonly #listeners: ConnectionListeners;
  #session: Promise<Session> | undefined;
  #failure: { readonly error: unknown; readonly until: number } | undefined;
  #isClosed = false;

  /** @param address is asked for each attempt: a password may have changed */
  constructor(
    address: () => Pick<Address, 'hosts'>,
    limits: TimeLimits,
    listeners: ConnectionListeners = {},
  ) {
    this.#address = address;
    this.#limits = limits;
    this.#listeners = listeners;
  }

  /** @throws StoreUnavailable */
  async session(): Promise<Session> {
    if (this.#isClosed) throw new StoreUnavailable('the store is closed', 'unreachable');
    if (this.#failure !== undefined && performance.now() < this.#failure.until) {
      throw this.#failure.error;
    }
    this.#session ??= this.#connect();
    return this.#session;
  }

  /** Ends it after what was sent has been answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const session = await this.#session?.catch(() => undefined);
    await session?.end();
  }

  #connect(): Promise<Session> {
    const attempt = this.#openOnPrimary();
    const forget = () => {
      if (this.#session === attempt) this.#session = undefined;
    };
    attempt.then(
      (session) => {
        this.#failure = undefined;
        this.#listeners.onConnection?.('connected to PostgreSQL', { ...session.server });
        const lose = () => {
          forget();
          if (this.#isClosed) return;
          this.#listeners.onConnection?.('a connection to PostgreSQL was lost', {});
        };
        if (session.isLost) lose();
        else session.onLost = lose;
      },
      (error) => {
        this.#failure = { error, until: performance.now() + RETRY_PAUSE_MS };
        forget();
      },
    );
    return attempt;
  }

  /** All hosts are asked at once, so that one that is gone costs no time; the first primary is it. */
  async #openOnPrimary(): Promise<Session> {
    const { hosts } = this.#address();
    const connectMs = hosts.length === 1 ? CONNECT_MS : CONNECT_ONE_OF_SEVERAL_MS;
    const attempts = hosts.map(async (host) => {
      const session = await Session.open(host, this.#limits, connectMs);
      try {
        await this.#listeners.welcome?.(session);
        return session;
      } catch (error) {
        session.destroy();
        throw error;
      }
    });
    try {
      const first = await Promise.any(attempts);
      for (const attempt of attempts) {
        attempt.then(
          (session) => session !== first && session.destroy(),
          () => {},
        );
      }
      return first;
    } catch (error) {
      throw inOne((error as AggregateError).errors);
    }
  }
}

/** Why no host would do. What may be mended while the service runs is no reason to end it. */
function inOne(errors: readonly Error[]): Error {
  const isExpected = (error: Error) =>
    error instanceof StoreUnavailable || error instanceof StoreNotUsable;
  const bug = errors.find((error) => !isExpected(error));
  if (bug !== undefined) return bug;
  const reasons = [...new Set(errors.map(({ message }) => message))];
  const isUnreachable = errors.some(
    (error) => error instanceof StoreUnavailable && error.fault === 'unreachable',
  );
  const [first] = errors;
  const other = first instanceof StoreUnavailable ? first.fault : 'failed';
  const fault = isUnreachable ? 'unreachable' : other;
  return new StoreUnavailable(reasons.join('; '), fault, { cause: errors[0] });
}

/**
 * A session for one piece of work, prepared for it.
 * @throws StoreUnavailable while it cannot be reached, StoreNotUsable when waiting does not help; both with words
 * for the operator
 */
export async function newSession(
  url: string,
  limits: TimeLimits,
  prepare: (session: Session) => Promise<void> = async () => {},
): Promise<Session> {
  const address = parseAddress(url);
  try {
    return await new Connection(() => address, limits, { welcome: prepare }).session();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    const message = `cannot use the database ${address.label}: ${error.message}`;
    if (mayPass(error)) {
      throw new StoreUnavailable(message, error.fault, { cause: error });
    }
    throw new StoreNotUsable(message, { cause: error });
  }
}
