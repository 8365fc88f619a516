import {
  ACKNOWLEDGED,
  type Acknowledgement,
  type AuditRecord,
  LOST,
  type LostChanges,
  unacknowledged,
} from '../audit.ts';
import { isPast } from '../feed.ts';
import { RECORD_COLUMNS, recordFromRow } from './audit.ts';
import { headFromColumn, positionFromColumns } from './feed.ts';
import { number, type Session } from './session.ts';

/** See History.losses. */
export async function readLosses(session: Session): Promise<AuditRecord[]> {
  return unacknowledged((await session.query(SQL.losses)).map(recordFromRow));
}

/**
 * Returns what the store has lost of what was acknowledged; undefined if it has that position, or is another store.
 * @param last undefined if nothing is known
 */
export async function lostChanges(
  session: Session,
  last: Acknowledgement | undefined,
): Promise<LostChanges | undefined> {
  if (last === undefined) return undefined;
  const { position: acknowledged } = last;
  const [row] = await session.query(SQL.positions, [acknowledged.revision]);
  const [identity, revision, head, latestAt, headThen] = row ?? [];
  if (identity !== last.identity || head == null) return undefined;
  const now = positionFromColumns([revision!, head]);
  if (isPast(acknowledged, now, headFromColumn(headThen))) return undefined;
  return { acknowledged, now, latestAt: number(latestAt) };
}

const SQL = {
  losses: `SELECT ${RECORD_COLUMNS} FROM audit WHERE command IN ('${LOST}', '${ACKNOWLEDGED}') ORDER BY id`,
  positions: `SELECT identity, revision, head, (SELECT at FROM order_events ORDER BY revision DESC LIMIT 1),
      (SELECT head FROM order_events WHERE revision = $1 AND head IS NOT NULL LIMIT 1)
    FROM store`,
} as const;
