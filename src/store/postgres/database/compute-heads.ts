import type { Position } from '../../../../protocol/history.ts';
import { headFrom, headText } from '../../../domain/heads.ts';
import {
  AND_LATER,
  CHAINED_COLUMNS,
  computeHeads,
  EVENTS_AT_A_TIME,
  type HeadedRevision,
  lastHeaded,
  recordHeads,
} from '../../tables/heads.ts';
import type { Row } from '../../tables/session.ts';
import { readRevision } from '../../tables/store-row.ts';
import { arrayOf, byteaArray } from './arrays.ts';
import { BEGIN_SNAPSHOT, type Session } from './session.ts';
import { BULK } from './session-settings.ts';

/** Once fewer revisions are left, nodes of an earlier release, which write until then, wait for the rest. */
const FEW = 5_000n;
/** Maximum number of passes without a lock, if those nodes write faster than heads are computed. */
const MAX_PASSES = 10;

/**
 * Computes the heads of a store that an earlier release has written. Events never change, so only the last transaction excludes the nodes of
 * that release; before it, they can write. If it is interrupted, it continues after the last head.
 * @param session holds the migration lock
 * @param openReader opens another session
 * @param onProgress called with the number of revisions done, and of all
 */
export async function completeHeads(
  session: Session,
  openReader: () => Promise<Session>,
  onProgress: (done: bigint, total: bigint) => void,
): Promise<void> {
  const begin = await lastHeaded(session);
  let end = begin;
  const reader = await openReader();
  try {
    for (let pass = 0; pass < MAX_PASSES; pass += 1) {
      const total = await readRevision(session);
      if (total - end.revision < FEW) break;
      await reader.run(BEGIN_SNAPSHOT);
      for await (const revisions of computeHeads(chainedRows(reader, end.revision), end)) {
        end = await writeHeads(session, revisions);
        onProgress(end.revision, total);
      }
      await reader.run('COMMIT');
    }
  } finally {
    reader.destroy();
  }
  await session.run('BEGIN');
  await session.query('SELECT FROM store FOR UPDATE');
  end = await completeInTransaction(session, end);
  await session.write(SQL.setStoreHead, [headFrom(end.head)]);
  await recordHeads(session, begin.revision, end.revision);
  await session.commit();
}

/** Computes the heads of all revisions from `from` on again, inside a transaction that excludes all other writers. */
export async function rechain(session: Session, from: bigint): Promise<void> {
  // No limit: an operator waits for the end.
  await session.run(`SET LOCAL statement_timeout = ${BULK.statement}`);
  await session.write(SQL.clear, [from]);
  const end = await completeInTransaction(session, await lastHeaded(session));
  // The last revisions may have been deleted; their records of operators go too.
  await session.write(SQL.setStore, [end.revision, headFrom(end.head)]);
  await session.write(SQL.forget, [end.revision]);
}

async function completeInTransaction(session: Session, from: Position): Promise<Position> {
  let end = from;
  for await (const revisions of computeHeads(chainedRows(session, end.revision), end)) {
    end = await writeHeads(session, revisions);
  }
  return end;
}

/** @returns the position after the revisions */
async function writeHeads(
  session: Session,
  revisions: readonly HeadedRevision[],
): Promise<Position> {
  await session.write(SQL.setHeads, [
    arrayOf(revisions.map(({ revision }) => revision)),
    arrayOf(revisions.map(({ orderId }) => orderId)),
    arrayOf(revisions.map(({ type }) => type)),
    byteaArray(revisions.map(({ head }) => head)),
  ]);
  const { revision, head } = revisions.at(-1)!;
  return { revision, head: headText(head) };
}

/** Reads CHAINED_COLUMNS of all events after a revision, inside a transaction. */
export async function* chainedRows(
  session: Session,
  after: bigint,
): AsyncGenerator<readonly Row[]> {
  await session.query(SQL.declare, [after]);
  try {
    for (let rows = await session.query(SQL.fetch); rows.length > 0; ) {
      const next = session.query(SQL.fetch);
      // Awaited below; the empty handler prevents an unhandled rejection until then.
      next.catch(() => {});
      yield rows;
      rows = await next;
    }
  } finally {
    // After a failed read, the transaction is over, and the error of the read is thrown.
    await session.run('CLOSE chained').catch(() => {});
  }
}

const SQL = {
  declare: `DECLARE chained NO SCROLL CURSOR FOR
    SELECT ${CHAINED_COLUMNS} FROM order_events AS event ${AND_LATER} WHERE event.revision > $1
    ORDER BY event.revision, event.order_id, event.type = 'placed' DESC`,
  fetch: `FETCH ${EVENTS_AT_A_TIME} FROM chained`,
  setHeads: `UPDATE order_events SET head = given.head
    FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bytea[]) AS given (revision, order_id, type, head)
    WHERE order_events.revision = given.revision AND order_events.order_id = given.order_id
      AND order_events.type = given.type`,
  clear: 'UPDATE order_events SET head = NULL WHERE revision >= $1 AND head IS NOT NULL',
  setStoreHead: 'UPDATE store SET head = $1',
  setStore: 'UPDATE store SET revision = $1, chained_revision = $1, head = $2',
  forget: 'DELETE FROM operator_revisions WHERE revision > $1',
} as const;
