import type { DatabaseSync } from 'node:sqlite';
import type { Position } from '../../../../protocol/history.ts';
import type { Environment } from '../../../domain/api-key.ts';
import { schemaDifferences } from '../../expected-schema.ts';
import { StoreNotUsable } from '../../store.ts';
import { checkAudit } from '../../tables/audit-chain.ts';
import {
  type Counters,
  countedRows,
  type Findings,
  type StoreCheck,
} from '../../tables/consistency.ts';
import { headFromColumn } from '../../tables/feed.ts';
import { checkHeads } from '../../tables/heads.ts';
import type { Column } from '../../tables/session.ts';
import { COPY_NOT_COMPLETE } from '../../tables/store-row.ts';
import { describeSchema, foreignObjects } from '../database/catalog.ts';
import { chainedRows } from '../database/compute-heads.ts';
import { openForReading, readableLocation } from '../database/connection.ts';
import { codeOf, damageOf, openError, unlessCorrupt, withOpenErrors } from '../database/errors.ts';
import { MIGRATIONS, migrationsOf } from '../database/schema.ts';
import { Session } from '../database/session.ts';

/** Checks every page too. All of it takes some seconds for a million orders, and blocks the thread. */
export async function checkSqlite(path: string, options: StoreCheck = {}): Promise<Findings> {
  using db = withOpenErrors(path, () => openForReading(readableLocation(path)));
  try {
    return await findingsOf(db, options);
  } catch (error) {
    throw openError(path, error);
  }
}

async function findingsOf(db: DatabaseSync, options: StoreCheck): Promise<Findings> {
  const schema = { has: migrationsOf(db), knows: MIGRATIONS.length };
  db.exec('BEGIN');
  // Corrupt pages are a finding of their own.
  const nothing = () => [];
  const foreign = unlessCorrupt(() => foreignObjects(db), nothing);
  const session = new Session(db);
  const store = rowOf(db);
  const counters = store as unknown as Counters;
  const isCurrent = schema.has === schema.knows;
  const differences = isCurrent
    ? unlessCorrupt(() => schemaDifferences('sqlite', describeSchema(db)), nothing)
    : [];
  const revision = store.revision as bigint;
  const head = headFromColumn(store.head as Column);
  // A column that is missing is listed already.
  const isKnown = (error: unknown) => codeOf(error) === 'corrupt' || differences.length > 0;
  const { isSample, orders, problems } = await countedRows(
    session,
    { has: schema.has, counters },
    options,
    isKnown,
  );
  const damage = isSample ? [] : damageOf(db);
  const isUnsound = damage.length + problems.length > 0;
  const unlinked = isSample || isUnsound ? [] : unlinkedEvents(session, schema.has);
  const unreadable: string[] = [];
  const readHeads = (latest: Position | undefined) =>
    checkHeads(session, (after) => chainedRows(session, after), latest, options).catch((error) => {
      // Events on corrupt pages cannot be read.
      if (codeOf(error) !== 'corrupt') throw error;
      unreadable.push(`the events cannot be read: ${(error as Error).message}`);
      return undefined;
    });
  // A column that is missing is listed already.
  const canRead = isCurrent && differences.length === 0;
  const latest = head === undefined ? undefined : { revision, head };
  const heads = canRead ? await readHeads(latest) : undefined;
  const audit = canRead && !isUnsound ? await checkAudit(session) : [];
  return {
    schema,
    schemaDifferences: differences,
    foreign,
    audit,
    identity: (store.identity ?? undefined) as string | undefined,
    environment: (store.environment ?? undefined) as Environment | undefined,
    movedTo: (store.moved_to ?? undefined) as string | undefined,
    isSample,
    revision,
    head,
    heads,
    orders,
    problems: [...damage, ...problems, ...unlinked, ...unreadable],
  };
}

/** The first schema version with the column previous. */
const PREVIOUS_SINCE = 2;

/** Returns a problem if events are not linked to the event that placed their order. */
function unlinkedEvents(session: Session, has: number): string[] {
  if (has < PREVIOUS_SINCE) return [];
  const count = session.query(UNLINKED)[0]![0] as bigint;
  return count === 0n ? [] : [`${count} events are not linked to the event before`];
}

const UNLINKED = `SELECT count(*) FROM order_events AS event
  WHERE iif(type = 'placed', previous <> 0, NOT EXISTS (SELECT 1 FROM order_events AS placed
    WHERE placed.revision = iif(event.previous = 0, event.revision, event.previous)
      AND placed.order_id = event.order_id AND placed.type = 'placed'))`;

/** Returns the row of the table store with the columns of its schema. If the row is corrupt, returns zeros for the counters and no other columns. */
function rowOf(db: DatabaseSync): Record<string, unknown> {
  const row = unlessCorrupt(
    () => db.prepare('SELECT * FROM store').get(),
    () => ({ revision: 0n, pending: 0n, shipped: 0n, cancelled: 0n }),
  );
  if (row === undefined) throw new StoreNotUsable(COPY_NOT_COMPLETE);
  return row;
}
