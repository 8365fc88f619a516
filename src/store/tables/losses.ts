import { positionText } from '../../../protocol/history.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { ACKNOWLEDGED, type Acknowledgement, type Action, actionOf } from '../audit.ts';
import { isPast } from '../feed.ts';
import type { History } from '../history.ts';
import { recordAction } from './audit.ts';
import { RECORD_COLUMNS, recordFromRow } from './audit-chain.ts';
import { headFromColumn, positionFromColumns } from './feed.ts';
import { number, type Row, type Session, type StoreReads } from './session.ts';
import { requireStoreRow } from './store-row.ts';

/** The command of the records of changes that were lost. */
const LOST = 'lost changes';
/** Records that are read; each loss has one of each node. */
const MOST = 1_000;

export const readLosses: StoreReads<History>['losses'] = async (session) => {
  const records = (await session.query(SQL.losses)).map(recordFromRow);
  const acknowledged = records.findIndex(({ command }) => command === ACKNOWLEDGED);
  return records.slice(0, acknowledged === -1 ? records.length : acknowledged).reverse();
};

/** Records a loss once, also if its transaction is repeated since its commit was not confirmed; in a transaction that excludes all other writers. */
export async function recordLoss(session: Session, record: Action): Promise<void> {
  const known = await readLosses(session);
  if (known.every(({ what }) => what !== record.what)) await recordAction(session, record);
}

/** Returns the acknowledgement of what the store has now. @throws StoreUnavailable if its heads have not been computed */
export async function readAcknowledgement(session: Session): Promise<Acknowledgement> {
  return acknowledgementFrom(requireStoreRow((await session.query(SQL.now))[0]));
}

/** Reads the columns identity, revision and head. */
export function acknowledgementFrom([identity, ...position]: Row): Acknowledgement {
  return { identity: identity as string, position: positionFromColumns(position), at: Date.now() };
}

/**
 * Returns the record of what the store has lost of what was acknowledged: it was restored, or a failover has lost it. Undefined if the store has
 * that position, is another store, or an operator has computed its heads anew.
 * @param last undefined if nothing is known
 * @param where names the database
 */
export async function findLoss(session: Session, last: Acknowledgement | undefined, where: string) {
  if (last === undefined) return undefined;
  const { position } = last;
  const [row] = await session.query(SQL.positions, [position.revision, last.at]);
  const [identity, revision, head, latestAt, headThen, isRechained] = row ?? [];
  if (identity !== last.identity || head == null || Number(isRechained) === 1) return undefined;
  const now = positionFromColumns([revision!, head]);
  if (isPast(position, now, headFromColumn(headThen))) return undefined;
  const at = number(latestAt);
  const latest = at === undefined ? 'without changes' : `of ${formatTimestamp(at)}`;
  return actionOf(
    LOST,
    `${positionText(position)} was acknowledged and is not in ${where}, which was at ${positionText(now)} (${latest})`,
  );
}

const SQL = {
  losses: `SELECT ${RECORD_COLUMNS} FROM audit WHERE command IN ('${LOST}', '${ACKNOWLEDGED}') ORDER BY id DESC LIMIT ${MOST}`,
  positions: `SELECT identity, revision, head, (SELECT at FROM order_events ORDER BY revision DESC LIMIT 1),
      (SELECT head FROM order_events WHERE revision = $1 AND head IS NOT NULL LIMIT 1),
      EXISTS (SELECT 1 FROM audit WHERE command = 'rechain' AND at >= $2)
    FROM store`,
  now: 'SELECT identity, revision, head FROM store',
} as const;
