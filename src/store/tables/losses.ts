import {
  ACKNOWLEDGED,
  type Acknowledgement,
  type Action,
  type AuditRecord,
  LOST,
  type LostChanges,
  unacknowledged,
} from '../audit.ts';
import { isPast } from '../feed.ts';
import { RECORD_COLUMNS, recordAction, recordFromRow } from './audit.ts';
import { headFromColumn, positionFromColumns } from './feed.ts';
import { number, type Row, type Session } from './session.ts';
import { requireStoreRow } from './store-row.ts';

/** Records that are read; each loss has one of each node. */
const MOST = 1_000;

/** See History.losses. */
export async function readLosses(session: Session): Promise<AuditRecord[]> {
  return unacknowledged((await session.query(SQL.losses)).map(recordFromRow).reverse());
}

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
 * Returns what the store has lost of what was acknowledged; undefined if it has that position, is another store, or an operator has
 * computed its heads anew.
 * @param last undefined if nothing is known
 */
export async function lostChanges(
  session: Session,
  last: Acknowledgement | undefined,
): Promise<LostChanges | undefined> {
  if (last === undefined) return undefined;
  const { position: acknowledged } = last;
  const [row] = await session.query(SQL.positions, [acknowledged.revision, last.at]);
  const [identity, revision, head, latestAt, headThen, isRechained] = row ?? [];
  if (identity !== last.identity || head == null || Number(isRechained) === 1) return undefined;
  const now = positionFromColumns([revision!, head]);
  if (isPast(acknowledged, now, headFromColumn(headThen))) return undefined;
  return { acknowledged, now, latestAt: number(latestAt) };
}

const SQL = {
  losses: `SELECT ${RECORD_COLUMNS} FROM audit WHERE command IN ('${LOST}', '${ACKNOWLEDGED}') ORDER BY id DESC LIMIT ${MOST}`,
  positions: `SELECT identity, revision, head, (SELECT at FROM order_events ORDER BY revision DESC LIMIT 1),
      (SELECT head FROM order_events WHERE revision = $1 AND head IS NOT NULL LIMIT 1),
      EXISTS (SELECT 1 FROM audit WHERE command = 'rechain' AND at >= $2)
    FROM store`,
  now: 'SELECT identity, revision, head FROM store',
} as const;
