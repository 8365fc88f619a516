import type { Position } from '../../../../protocol/history.ts';
import { headFrom, headText } from '../../../domain/heads.ts';
import { actionOf } from '../../audit.ts';
import { recordAction } from '../../tables/audit.ts';
import {
  CHAINED,
  computeHeads,
  EVENTS_AT_A_TIME,
  type HeadedRevision,
  lastHeaded,
} from '../../tables/heads.ts';
import type { Commands, Row } from '../../tables/session.ts';
import { readRevision } from '../../tables/store-row.ts';
import type { Session } from './session.ts';
import { inTransaction } from './transaction.ts';

/**
 * Computes the heads of a store that an earlier release has written, in many transactions: if it is interrupted, it continues after the last
 * one. Several processes can do this at once: each computes the same. Blocks the thread; until it ends, no process writes orders.
 * @param report gets a line for the operator every two seconds
 */
export async function completeHeads(
  session: Session,
  lockWaitMs: number,
  report: (line: string) => void,
): Promise<void> {
  const options = { lockWaitMs, evenIfMoved: true };
  const total = await readRevision(session);
  const begin = await lastHeaded(session);
  let end = begin;
  let reportAt = performance.now() + REPORT_EVERY_MS;
  for await (const revisions of computeHeads(chainedRows(session, end.revision), end)) {
    end = await inTransaction(session, async () => writeHeads(session, revisions), options);
    if (performance.now() < reportAt) continue;
    reportAt = performance.now() + REPORT_EVERY_MS;
    report(`the heads of the history are computed: ${end.revision} of ${total} revisions`);
  }
  const complete = async () => {
    session.write(SQL.setFirstStoreHead, [headFrom(end.head)]);
    if (end.revision === begin.revision) return;
    // Without the record, heads that are deleted later would leave no trace.
    const what = `computed the heads of the revisions from ${begin.revision + 1n} to ${end.revision}`;
    await recordAction(session, actionOf('migrate', what));
  };
  // Another process may have finished before, and written orders since.
  await inTransaction(session, complete, options);
}

const REPORT_EVERY_MS = 2_000;

/** Computes the heads of all revisions from `from` on again, inside a transaction. */
export const rechain: Commands<Session>['rechain'] = async (session, { from }) => {
  session.write(SQL.clear, [from]);
  let end = await lastHeaded(session);
  for await (const revisions of computeHeads(chainedRows(session, end.revision), end)) {
    end = writeHeads(session, revisions);
  }
  // The last revisions may have been deleted; their records of operators go too.
  session.write(SQL.setStore, [end.revision, headFrom(end.head)]);
  session.write(SQL.forget, [end.revision]);
  return 'rechained';
};

/** @returns the position after the revisions */
function writeHeads(session: Session, revisions: readonly HeadedRevision[]): Position {
  for (const { revision, orderId, type, head } of revisions) {
    session.write(SQL.setHead, [head, revision, orderId, type]);
  }
  const { revision, head } = revisions.at(-1)!;
  return { revision, head: headText(head) };
}

/** Reads CHAINED after a revision, in pages of whole revisions. */
export function* chainedRows(session: Session, after: bigint): Generator<readonly Row[]> {
  for (let limit = EVENTS_AT_A_TIME; ; ) {
    const rows = session.query(SQL.chained, [after, limit]);
    const isCut = rows.length === limit;
    const lastRevision = rows.at(-1)?.[0];
    const page = isCut ? rows.filter(([revision]) => revision !== lastRevision) : rows;
    if (page.length > 0) {
      yield page;
      after = page.at(-1)![0] as bigint;
    } else limit *= 2;
    if (!isCut) return;
  }
}

const SQL = {
  chained: `${CHAINED} LIMIT $2`,
  setHead: 'UPDATE order_events SET head = ? WHERE revision = ? AND order_id = ? AND type = ?',
  clear: 'UPDATE order_events SET head = NULL WHERE revision >= ? AND head IS NOT NULL',
  forget: 'DELETE FROM operator_revisions WHERE revision > ?',
  setFirstStoreHead: 'UPDATE store SET head = ? WHERE head IS NULL',
  setStore: 'UPDATE store SET revision = ?, head = ?',
} as const;
