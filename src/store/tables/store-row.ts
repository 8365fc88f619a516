import type { Environment } from '../../domain/api-key.ts';
import { type Head, headFrom, headText } from '../../domain/heads.ts';
import { type FreeIds, leapAbove } from '../../domain/ids.ts';
import { StoreNotUsable, type StoreStatus, StoreUnavailable } from '../store.ts';
import { type Commands, type Dialects, number, type Row, type Session, text } from './session.ts';

/** Message for the operator if the row of the table store is missing: a copy writes it last. */
export const COPY_NOT_COMPLETE =
  'a copy into this database is incomplete; run "store-orders copy" again';

/**
 * Returns `row`, which includes the row of the table store.
 * @throws StoreUnavailable if it is missing
 */
export function requireStoreRow<T extends Row>(row: T | undefined): T {
  if (row === undefined) throw new StoreUnavailable(COPY_NOT_COMPLETE, 'moved');
  return row;
}

/** Returns the error of a write that had no effect because the store was moved to another database. */
export function storeNotHere(): StoreUnavailable {
  return new StoreUnavailable(
    'the store was moved to another database, or a copy into this database is incomplete, or its heads are not computed',
    'moved',
  );
}

/**
 * Checks that a store may be listed or written.
 * @param movedTo the column of that name in the table store; undefined in an older schema
 * @throws StoreUnavailable
 */
export function expectNotMovedAway(movedTo: unknown): void {
  if (movedTo === null || movedTo === undefined) return;
  throw new StoreUnavailable(`the store was moved to ${movedTo}; use that database`, 'moved');
}

/**
 * Refuses a store whose rows are gone: a dump that was restored in part, since the disk was full or a table was left out. Its list would be empty, and
 * its counters would be those of before.
 * @throws StoreNotUsable
 */
export async function expectRows(session: Session): Promise<void> {
  const [[table, isBehind] = []] = await session.query(SQL.wholeness);
  if (table == null && Number(isBehind ?? 0) === 0) return;
  const wrong =
    table == null
      ? 'its events are of later revisions than its counters'
      : `its table ${table} is empty, but its counters are not`;
  throw new StoreNotUsable(
    `${wrong}, as after a dump that was restored in part, or into a store that was there; restore it as a whole, and run "store-orders check"`,
  );
}

export async function readStatus(session: Session): Promise<StoreStatus> {
  const row = requireStoreRow((await session.query(STATUS[session.engine]))[0]);
  const [identity, environment, movedTo, latestAt, listedAt, head, ...integers] = row;
  const [revision, pending, shipped, cancelled, reservedId, last, highest] = integers as bigint[];
  return {
    identity: identity as string,
    environment: text(environment) as Environment | undefined,
    movedTo: text(movedTo),
    latestAt: number(latestAt),
    listedAt: number(listedAt),
    head: head === null ? undefined : headText(head as Head),
    revision: revision!,
    orders: { pending: pending!, shipped: shipped!, cancelled: cancelled! },
    reservedId: reservedId!,
    freeIds: { highest: highest!, last: last! },
  };
}

/** Inserts the row of the table store, which turns a complete copy into the store described by `status`. */
export async function insertStoreRow(session: Session, status: StoreStatus): Promise<void> {
  const { identity, environment, revision, head, orders, reservedId, freeIds } = status;
  const { pending, shipped, cancelled } = orders;
  const counters = [revision, pending, shipped, cancelled, reservedId, freeIds.last];
  await session.write(SQL.insert, [
    ...[true, identity, environment],
    ...[...counters, head && headFrom(head)],
  ]);
}

export async function readRevision(session: Session): Promise<bigint> {
  return requireStoreRow((await session.query(SQL.revision))[0])[0] as bigint;
}

export async function readRevisionAt(session: Session, time: number): Promise<bigint> {
  const [row] = await session.query(REVISION_AT[session.engine], [time]);
  return requireStoreRow(row)[0] as bigint;
}

/** Returns the ids that orders without an id may be assigned. */
export async function readFreeIds(session: Session): Promise<FreeIds> {
  const row = requireStoreRow((await session.query(FREE_IDS[session.engine]))[0]);
  const [highest, last] = row as readonly bigint[];
  return { highest: highest!, last: last! };
}

export const storeCommands = {
  async limitIds(session, { last }) {
    await session.write(SQL.limitIds, [last]);
    await session.write(SQL.keepReserved, [leapAbove(await readFreeIds(session))]);
    return readFreeIds(session);
  },

  async skipIds(session) {
    // Locks the row, so that no id is assigned between the read and the write.
    await session.write(SQL.lock);
    await session.write(SQL.reserveIds, [leapAbove(await readFreeIds(session))]);
    return readFreeIds(session);
  },

  async recordEnvironment(session, { environment }) {
    await session.write(SQL.recordEnvironment, [environment]);
    return requireStoreRow((await session.query(SQL.environment))[0])[0] as Environment;
  },

  async recordListUse(session, { at }) {
    await session.write(SQL.recordListUse, [at]);
    return 'recorded';
  },

  async moveAway(session, { to, revision }) {
    return (await session.write(SQL.moveAway, [to, revision])) === 0 ? 'changed' : 'moved';
  },

  async reactivate(session) {
    return (await session.write(SQL.reactivate)) === 0 ? 'unchanged' : 'reactivated';
  },
} satisfies Partial<Commands>;

const STATUS = inBoth(
  (highestId) => `SELECT identity, environment, moved_to,
      (SELECT at FROM order_events ORDER BY revision DESC LIMIT 1), listed_at, head,
      revision, pending, shipped, cancelled, reserved_id, last_id, ${highestId}
    FROM store`,
);

const FREE_IDS = inBoth((highestId) => `SELECT ${highestId}, last_id FROM store`);

function inBoth(sql: (highestId: string) => string): Dialects {
  return {
    sqlite: sql('(SELECT id FROM highest_id)'),
    postgresql: sql('store_orders_highest_id()'),
  };
}

const revisionAt = (events: string) =>
  `SELECT coalesce((SELECT min(revision) - 1 FROM order_events WHERE ${events}), store.revision) FROM store`;

const REVISION_AT: Dialects = {
  // SQLite has an index of the last events of revisions, which have the head.
  sqlite: revisionAt('at > $1 AND head IS NOT NULL'),
  postgresql: revisionAt('at > $1'),
};

const SQL = {
  insert: `INSERT INTO store
      (only_row, identity, environment, revision, pending, shipped, cancelled, reserved_id, last_id, head, audit_head)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, (SELECT hash FROM audit ORDER BY id DESC LIMIT 1))`,
  wholeness: `SELECT CASE WHEN pending + shipped + cancelled > 0 AND NOT EXISTS (SELECT 1 FROM orders) THEN 'orders'
      WHEN revision > 0 AND NOT EXISTS (SELECT 1 FROM order_events) THEN 'order_events'
      WHEN NOT EXISTS (SELECT 1 FROM webhook_lease) THEN 'webhook_lease' END,
      EXISTS (SELECT 1 FROM order_events WHERE order_events.revision > store.revision) FROM store`,
  revision: 'SELECT revision FROM store',
  limitIds: 'UPDATE store SET last_id = $1',
  keepReserved: 'UPDATE store SET reserved_id = $1 WHERE reserved_id > last_id',
  lock: 'UPDATE store SET reserved_id = reserved_id',
  reserveIds: 'UPDATE store SET reserved_id = $1',
  recordEnvironment: 'UPDATE store SET environment = $1 WHERE environment IS NULL',
  environment: 'SELECT environment FROM store',
  recordListUse: 'UPDATE store SET listed_at = $1',
  moveAway: 'UPDATE store SET moved_to = $1 WHERE revision = $2',
  reactivate: 'UPDATE store SET moved_to = NULL WHERE moved_to IS NOT NULL',
} as const;
