import { Mutex } from '../../concurrency.ts';
import type { OutcomeOf, StoreCommand } from '../commands.ts';
import { expectNothingMissing, schemaDifferences } from '../expected-schema.ts';
import { InFlight } from '../in-flight.ts';
import { mayMigrate, type OpenOptions } from '../open-options.ts';
import { type Store, StoreNotUsable } from '../store.ts';
import { readPositionBefore } from '../tables/feed.ts';
import { hasHeads } from '../tables/heads.ts';
import { idsOf } from '../tables/orders.ts';
import { historyOf, readsOf } from '../tables/reads.ts';
import { expectRows, readStatus } from '../tables/store-row.ts';
import { readWebhookLags } from '../tables/webhooks.ts';
import { countActivity } from './activity.ts';
import { isPostgresUrl, parseAddress } from './database/address.ts';
import { readSizes } from './database/blockers.ts';
import { describeSchema } from './database/catalog.ts';
import { Connection, newSession } from './database/connection.ts';
import { expectNoHazard } from './database/hazards.ts';
import { Origin } from './database/origin.ts';
import { expectOwnBackendBehindProxy } from './database/own-backend.ts';
import { KNOWN_MIGRATIONS, migrate, otherSchemas } from './database/schema.ts';
import type { Session } from './database/session.ts';
import {
  COMMAND,
  MIGRATIONS,
  SERVICE,
  SERVICE_WRITES,
  type TimeLimits,
} from './database/session-settings.ts';
import { readFeed, readPosition } from './feed.ts';
import { countMatching, readOrders, readPage } from './pages.ts';
import { readChangedOrders, scanOrders } from './scan.ts';
import { writerOn } from './writer.ts';

/**
 * How often a service with several hosts in its URL looks whether another one has become the primary: an old primary that runs on, without what
 * should stop it, answers reads until the next change fails there.
 */
const LOOK_FOR_PRIMARY_MS = 5_000;

/** Opens the engine for several nodes: five connections, each reestablished when it is lost. */
export async function openPostgres(url: string, options: OpenOptions): Promise<Store> {
  const currentUrl = () => {
    const now = options.currentUrl?.() ?? url;
    return isPostgresUrl(now) ? now : url;
  };
  await prepareSchema(currentUrl(), options);
  const isService = options.purpose === 'service';
  const limits = isService ? SERVICE : COMMAND;
  const origin = new Origin(options.onLost);
  const connect = (own: TimeLimits = limits, prepare = async (_: Session) => {}) =>
    new Connection(() => parseAddress(currentUrl()), own, {
      welcome: async (session, openAnother) => {
        await expectOwnBackendBehindProxy(session, openAnother);
        await origin.confirm(session);
        await prepare(session);
      },
      onConnection: options.onConnection,
      onWarning: options.onWarning,
    });
  // Pages and feeds, and counts, have their own connections, since they would delay other reads, and counts would delay pages.
  const [reading, paging, counting, listing] = [connect(), connect(), connect(), connect()];
  /** A connection has one snapshot at a time. */
  const snapshots = new Mutex();
  const writing = connect(isService ? SERVICE_WRITES : COMMAND, (each) => origin.confirmIds(each));
  const write = writerOn(writing, origin);
  const operations = new InFlight();
  const readBy = <T>(connection: Connection, use: (session: Session) => Promise<T>) =>
    operations.run(async () => use(await connection.session()));
  const read = <T>(use: (session: Session) => Promise<T>) => readBy(reading, use);
  /** The guard is sent first, and the read follows without waiting for its answer. */
  const served = <T>(use: (session: Session) => Promise<T>) =>
    read(async (session) => {
      const [, found] = await Promise.all([readPosition(session), use(session)]);
      return found;
    });
  const connections = [reading, paging, counting, writing, listing];
  const hasSeveralHosts = parseAddress(currentUrl()).hosts.length > 1;
  const looking = isService && hasSeveralHosts ? setInterval(look, LOOK_FOR_PRIMARY_MS) : undefined;
  looking?.unref();
  /** A new session is to the latest primary, and ends those to former ones: see Origin.confirm. */
  function look(): void {
    const own = connect();
    own.session().then(
      () => own.close(),
      () => {},
    );
  }
  let closing: Promise<void> | undefined;
  const closeAll = async () => {
    clearInterval(looking);
    await operations.close();
    await Promise.all(connections.map((each) => each.close()));
  };
  const close = () => (closing ??= closeAll());
  return {
    engine: { name: 'postgresql', schema: KNOWN_MIGRATIONS },
    history: historyOf(read, (visit, at) =>
      operations.run(() => scanOrders(currentUrl(), visit, at)),
    ),
    ...readsOf(read, served),
    apply: <C extends StoreCommand>(commands: readonly C[]) =>
      operations.run(() => write(commands) as Promise<OutcomeOf<C>[]>),
    changedOrders: (since, visit) =>
      operations.run(async () => {
        const now = await snapshots.run(async () =>
          readChangedOrders(await listing.session(), since, visit),
        );
        // Another history: a new session that writes compares it with what was acknowledged.
        if (now === undefined) (await writing.session()).destroy();
        return now;
      }),
    orders: (ids, options) => read((session) => readOrders(session, ids, options)),
    idsOf: (references) => readBy(paging, (session) => idsOf(session, references)),
    page: (query) => readBy(paging, (session) => readPage(session, query)),
    count: (filter) => readBy(counting, (session) => countMatching(session, filter)),
    feed: (after, limit) => readBy(paging, (session) => readFeed(session, after, limit)),
    positionBefore: (time) => readBy(paging, (session) => readPositionBefore(session, time)),
    activity: (query) => readBy(counting, (session) => countActivity(session, query)),
    webhookLags: (revisions) => read((session) => readWebhookLags(session, revisions)),
    sizes: () => read(readSizes),
    connected: () =>
      operations.run(async () => {
        await Promise.all([reading, paging, writing].map((each) => each.session()));
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Of a build that was never released; 1.0.0 had no PostgreSQL. */
const WITHOUT_HEADS = 'its history has no heads, so no release of this program has written it';

/** Migrates the schema, or checks that it is current, depending on the purpose. */
async function prepareSchema(
  url: string,
  { create, purpose, onMigrated, onWaiting, onWarning }: OpenOptions,
): Promise<void> {
  const observe = () => newSession(url, COMMAND);
  const session = await newSession(url, MIGRATIONS, async (each) => {
    if (purpose !== 'read') await expectNoHazard(each);
    const update = mayMigrate(purpose);
    const migrated = await migrate(each, { create, update, observe, onWaiting });
    if (migrated !== undefined) onMigrated?.(migrated.from, migrated.to);
    const others = migrated?.from === 0 ? await otherSchemas(each) : undefined;
    if (others !== undefined) onWarning?.({ source: 'search_path', message: others });
    if (update) {
      const found = await describeSchema(each);
      expectNothingMissing(schemaDifferences('postgresql', found));
      expectNoChildren(found);
    }
    await readStatus(each);
    if (purpose === 'service') await expectRows(each);
    if (purpose !== 'read' && !(await hasHeads(each))) throw new StoreNotUsable(WITHOUT_HEADS);
  });
  await session.end();
}

/** @throws StoreNotUsable if a table inherits from one of the store: its rows would be taken for orders, or for keys */
function expectNoChildren(found: readonly string[]): void {
  const child = found.map((line) => /^child (\w+) (.*)$/.exec(line)).find((each) => each !== null);
  if (child === undefined) return;
  const [, parent, table] = child;
  throw new StoreNotUsable(
    `the table ${table} inherits from ${parent}, so its rows are taken for those of the store: ALTER TABLE ${table} NO INHERIT ${parent}, or drop it`,
  );
}
