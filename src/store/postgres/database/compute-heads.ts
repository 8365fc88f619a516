import { headFrom, headText } from '../../../domain/heads.ts';
import { CHAINED, computeHeads, EVENTS_AT_A_TIME, lastHeaded } from '../../tables/heads.ts';
import type { Commands, Row } from '../../tables/session.ts';
import { arrayOf, byteaArray } from './arrays.ts';
import { batchesOf } from './cursor.ts';
import type { Session } from './session.ts';
import { BULK } from './session-settings.ts';

/** Computes the heads of all revisions from `from` on again, inside a transaction that excludes all other writers. */
export const rechain: Commands<Session>['rechain'] = async (session, { from }) => {
  // No limit: an operator waits for the end.
  await session.run(`SET LOCAL statement_timeout = ${BULK.statement}`);
  await session.write(SQL.clear, [from]);
  let end = await lastHeaded(session);
  for await (const revisions of computeHeads(chainedRows(session, end.revision), end)) {
    await session.write(SQL.setHeads, [
      arrayOf(revisions.map(({ revision }) => revision)),
      arrayOf(revisions.map(({ orderId }) => orderId)),
      arrayOf(revisions.map(({ type }) => type)),
      byteaArray(revisions.map(({ head }) => head)),
    ]);
    const { revision, head } = revisions.at(-1)!;
    end = { revision, head: headText(head) };
  }
  // The last revisions may have been deleted; their records of operators go too.
  await session.write(SQL.setStore, [end.revision, headFrom(end.head)]);
  await session.write(SQL.forget, [end.revision]);
  return 'rechained';
};

/** Reads CHAINED after a revision, inside a transaction. */
export function chainedRows(session: Session, after: bigint): AsyncIterable<readonly Row[]> {
  return batchesOf(session, { cursor: 'chained', size: EVENTS_AT_A_TIME }, CHAINED, [after]);
}

const SQL = {
  setHeads: `UPDATE order_events SET head = given.head
    FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bytea[]) AS given (revision, order_id, type, head)
    WHERE order_events.revision = given.revision AND order_events.order_id = given.order_id
      AND order_events.type = given.type`,
  clear: 'UPDATE order_events SET head = NULL WHERE revision >= $1 AND head IS NOT NULL',
  setStore: 'UPDATE store SET revision = $1, chained_revision = $1, head = $2',
  forget: 'DELETE FROM operator_revisions WHERE revision > $1',
} as const;
