import type { Position } from '../../../../protocol/history.ts';
import { headFrom, headText } from '../../../domain/heads.ts';
import {
  AND_LATER,
  CHAINED_COLUMNS,
  computeHeads,
  EVENTS_AT_A_TIME,
  type HeadedRevision,
  lastHeaded,
} from '../../tables/heads.ts';
import type { Row } from '../../tables/session.ts';
import { arrayOf, byteaArray } from './arrays.ts';
import type { Session } from './session.ts';
import { BULK } from './session-settings.ts';

/** Computes the heads of all revisions from `from` on again, inside a transaction that excludes all other writers. */
export async function rechain(session: Session, from: bigint): Promise<void> {
  // No limit: an operator waits for the end.
  await session.run(`SET LOCAL statement_timeout = ${BULK.statement}`);
  await session.write(SQL.clear, [from]);
  let end = await lastHeaded(session);
  for await (const revisions of computeHeads(chainedRows(session, end.revision), end)) {
    end = await writeHeads(session, revisions);
  }
  // The last revisions may have been deleted; their records of operators go too.
  await session.write(SQL.setStore, [end.revision, headFrom(end.head)]);
  await session.write(SQL.forget, [end.revision]);
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
  setStore: 'UPDATE store SET revision = $1, chained_revision = $1, head = $2',
  forget: 'DELETE FROM operator_revisions WHERE revision > $1',
} as const;
