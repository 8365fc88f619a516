import { withTimeout } from '../../../concurrency.ts';
import type { OpenOptions } from '../../open-options.ts';
import { isTransient, StoreNotUsable, StoreUnavailable } from '../../store.ts';
import { type Host, parseAddress } from './address.ts';
import { expectOwnBackend } from './own-backend.ts';
import { Session } from './session.ts';
import type { TimeLimits } from './session-settings.ts';

/** Limit for establishing a connection, and again for setting up the session. */
const CONNECT_MS = 3_000;
/** Shorter limit with several hosts: during a failover the next attempt should come soon. */
const CONNECT_ONE_OF_SEVERAL_MS = 1_000;
/** How long the other hosts may take to answer once one has: during a failover, the new primary may be slower than the old one. */
const OTHERS_MS = 1_000;
/** Pause after a failed attempt; prevents flooding a server that has no connections left. */
const RETRY_PAUSE_MS = 100;

/** Callbacks for the sessions of a connection. */
interface ConnectionListeners extends Pick<OpenOptions, 'onConnection' | 'onWarning'> {
  /**
   * Called with every new session before it is used for anything else.
   * @param openAnother opens a further session at the same address
   */
  readonly welcome?: (session: Session, openAnother: () => Promise<Session>) => Promise<void>;
}

/** A connection to the primary, established on first use and again after it is lost. Concurrent callers share one attempt. */
export class Connection {
  readonly #address: () => { readonly hosts: readonly Host[] };
  readonly #limits: TimeLimits;
  readonly #listeners: ConnectionListeners;
  #session: Promise<Session> | undefined;
  #failure: { readonly error: unknown; readonly until: number } | undefined;
  #isClosed = false;

  /** @param address called for each attempt, since the password may have changed */
  constructor(
    address: () => { readonly hosts: readonly Host[] },
    limits: TimeLimits,
    listeners: ConnectionListeners = {},
  ) {
    this.#address = address;
    this.#limits = limits;
    this.#listeners = listeners;
  }

  /** Returns the current session, connecting if necessary. */
  async session(): Promise<Session> {
    if (this.#isClosed) throw new StoreUnavailable('the store is closed', 'unreachable');
    if (this.#failure !== undefined && performance.now() < this.#failure.until) {
      throw this.#failure.error;
    }
    this.#session ??= this.#connect();
    return this.#session;
  }

  /** Closes the connection once all sent statements have been answered. */
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
        this.#listeners.onConnection?.('connected to PostgreSQL', session.server);
        const lose = () => {
          forget();
          if (this.#isClosed) return;
          this.#listeners.onConnection?.('a connection to PostgreSQL was lost');
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

  /** Tries all hosts at once. Of several primaries, the one that was promoted last is used: an old one may still run. */
  async #openOnPrimary(): Promise<Session> {
    const { hosts } = this.#address();
    const options = {
      limits: this.#limits,
      connectMs: hosts.length === 1 ? CONNECT_MS : CONNECT_ONE_OF_SEVERAL_MS,
      onWarning: this.#listeners.onWarning ?? (() => {}),
    };
    const primaries = await latestFirst(
      hosts.map(async (host) => ({ session: await Session.open(host, options), host })),
    );
    let used: Session | undefined;
    const errors: Error[] = [];
    for (const { session, host } of primaries) {
      if (used === undefined) {
        try {
          await this.#listeners.welcome?.(session, () => Session.open(host, options));
          used = session;
        } catch (error) {
          errors.push(error as Error);
        }
      }
      if (session !== used) session.destroy();
    }
    if (used === undefined) throw inOne(errors);
    return used;
  }
}

interface Primary {
  readonly session: Session;
  readonly host: Host;
}

/**
 * Waits until one host has answered, and OTHERS_MS for the others. Sessions that are made later are closed.
 * @returns the sessions, that on the latest timeline first
 * @throws StoreUnavailable without any, and if their servers are of different systems, whose timelines cannot be compared
 */
async function latestFirst(attempts: readonly Promise<Primary>[]): Promise<readonly Primary[]> {
  const opened: Primary[] = [];
  let isChosen = false;
  for (const attempt of attempts) {
    attempt.then(
      (each) => (isChosen ? each.session.destroy() : opened.push(each)),
      () => {},
    );
  }
  try {
    await Promise.any(attempts);
  } catch (error) {
    throw inOne((error as AggregateError).errors);
  }
  if (attempts.length > 1) {
    await withTimeout(OTHERS_MS, () => Promise.allSettled(attempts)).catch(() => {});
  }
  isChosen = true;
  if (new Set(opened.map(({ session }) => session.server!.system)).size > 1) {
    for (const { session } of opened) session.destroy();
    const hosts = opened.map(({ host }) => host.label).join(', ');
    const words = `PostgreSQL: ${hosts} are primaries of different systems; name one of them in the URL`;
    throw new StoreUnavailable(words, 'failed');
  }
  const timelineOf = ({ session }: Primary) => session.server!.timeline ?? 0;
  return opened.toSorted((one, other) => timelineOf(other) - timelineOf(one));
}

/**
 * Combines the errors of all hosts into one. The result is StoreUnavailable unless one of the errors is a bug: an
 * operator can fix the other causes while the service runs.
 */
function inOne(errors: readonly Error[]): Error {
  const isExpected = (error: Error) =>
    error instanceof StoreUnavailable || error instanceof StoreNotUsable;
  const bug = errors.find((error) => !isExpected(error));
  if (bug !== undefined) return bug;
  const reasons = [...new Set(errors.map(({ message }) => message))];
  const faults = errors.map((error) =>
    error instanceof StoreUnavailable ? error.fault : 'failed',
  );
  const fault = faults.includes('unreachable') ? 'unreachable' : faults[0]!;
  return new StoreUnavailable(reasons.join('; '), fault, { cause: errors[0] });
}

/**
 * Opens a session for one task and prepares it.
 * @throws StoreUnavailable while the database cannot be reached, StoreNotUsable if waiting does not help; both with messages for the operator
 */
export async function newSession(
  url: string,
  limits: TimeLimits,
  prepare: (session: Session) => Promise<void> = async () => {},
): Promise<Session> {
  const address = parseAddress(url);
  try {
    const welcome = async (session: Session, openAnother: () => Promise<Session>) => {
      await expectOwnBackend(session, openAnother);
      await prepare(session);
    };
    return await new Connection(() => address, limits, { welcome }).session();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    const message = `cannot use the database ${address.label}: ${error.message}`;
    if (isTransient(error)) {
      throw new StoreUnavailable(message, error.fault, { cause: error });
    }
    throw new StoreNotUsable(message, { cause: error });
  }
}
