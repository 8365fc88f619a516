import type { Command, OpenOptions, OutcomeOf, Store } from '../store.ts';
import { StoreNotUsable } from '../store.ts';
import { COPY_NOT_COMPLETE } from '../tables.ts';
import { parseAddress } from './address.ts';
import { Connection, newSession } from './connection.ts';
import { confirmOrigin } from './origin.ts';
import { Reader, scan } from './reader.ts';
import { hasStore, migrate } from './schema.ts';
import type { TimeLimits } from './session.ts';
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
const UNLIMITED: TimeLimits = { lock: 10_000, statement: 0, idleInTransaction: 0 };

/** The engine for many nodes: three connections, each made anew when it is lost. */
export async function openPostgres(url: string, options: OpenOptions): Promise<Store> {
  const session = await newSession(url, PATIENT_LIMITS, async (each) => {
    await migrate(each, options.create);
    const rows = await each.query({ text: 'SELECT FROM store' });
    if (rows.length === 0) throw new StoreNotUsable(COPY_NOT_COMPLETE);
  });
  await session.end();
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
      const session = await newSession(url, UNLIMITED);
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
  const session = await newSession(url, PATIENT_LIMITS);
  try {
    return await hasStore(session);
  } finally {
    session.destroy();
  }
}
