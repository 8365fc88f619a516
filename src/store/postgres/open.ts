import type { Command, OpenOptions, OutcomeOf, Store } from '../store.ts';
import { StoreNotUsable, StoreUnavailable } from '../store.ts';
import { type Address, parseAddress } from './address.ts';
import { Connection } from './connection.ts';
import { confirmOrigin } from './origin.ts';
import { Reader, scan } from './reader.ts';
import { hasStore, migrate } from './schema.ts';
import type { Session, TimeLimits } from './session.ts';
import { Writer } from './writer.ts';

/** A transaction that stands still for longer than this is ended, so that others get its locks. */
const IDLE_IN_TRANSACTION_MS = 2_000;
/** For a service: a client is answered within 2 s. For a person: as long as people wait. */
const LIMITS: TimeLimits = {
  lock: 1_000,
  statement: 1_500,
  idleInTransaction: IDLE_IN_TRANSACTION_MS,
};
const PATIENT_LIMITS: TimeLimits = {
  lock: 10_000,
  statement: 60_000,
  idleInTransaction: IDLE_IN_TRANSACTION_MS,
};
/** For reading everything at the pace of whoever wants it. */
export const UNLIMITED: TimeLimits = { lock: 10_000, statement: 0, idleInTransaction: 0 };

/** The engine for many nodes: three connections, each made anew when it is lost. */
export async function openPostgres(url: string, options: OpenOptions): Promise<Store> {
  await usingSession(url, PATIENT_LIMITS, async (session) => {
    await migrate(session, options.create);
    const rows = await session.query({ text: 'SELECT FROM store' });
    if (rows.length === 0) {
      throw new StoreNotUsable('a copy into it has not ended; run "store-orders copy" again');
    }
  });
  const address = parseAddress(url);
  const limits = options.isPatient ? PATIENT_LIMITS : LIMITS;
  const connect = () => new Connection(address, limits, confirmOrigin);
  const [reading, changing, writing] = [connect(), connect(), connect()];
  const reader = new Reader(reading, changing);
  const writer = new Writer(writing);
  let closing: Promise<unknown> | undefined;
  return {
    apply: <C extends Command>(commands: readonly C[]) =>
      writer.apply(commands) as Promise<OutcomeOf<C>[]>,
    changes: (since, visit) => reader.changes(since, visit),
    find: (ids) => reader.find(ids),
    history: (id) => reader.history(id),
    scan: async (visit) => {
      const session = await new Connection(address, UNLIMITED).session();
      try {
        await scan(session, visit);
      } finally {
        session.destroy();
      }
    },
    pet: (id) => reader.pet(id),
    keys: (digests) => reader.keys(digests),
    status: () => reader.status(),
    close: async () => {
      closing ??= close(reader, writer, [reading, changing, writing]);
      await closing;
    },
  };
}

async function close(reader: Reader, writer: Writer, connections: readonly Connection[]) {
  await Promise.all([reader.idle(), writer.idle()]);
  await Promise.all(connections.map((connection) => connection.close()));
}

/** Whether there is a store at `url`. @throws StoreNotUsable */
export async function postgresStoreExists(url: string): Promise<boolean> {
  return usingSession(url, PATIENT_LIMITS, hasStore);
}

/** A session for one piece of work. @throws StoreNotUsable with words for the operator */
export async function usingSession<T>(
  url: string,
  limits: TimeLimits,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  let address: Address | undefined;
  let session: Session | undefined;
  try {
    address = parseAddress(url);
    session = await new Connection(address, limits).session();
    return await use(session);
  } catch (error) {
    if (!(error instanceof StoreUnavailable || error instanceof StoreNotUsable) && address)
      throw error;
    const label = address?.label ?? 'that DATABASE_URL names';
    const { message } = error as Error;
    throw new StoreNotUsable(`cannot use the database ${label}: ${message}`, { cause: error });
  } finally {
    session?.destroy();
  }
}
