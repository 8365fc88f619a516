import { randomBytes } from 'node:crypto';
import { INSUFFICIENT_PRIVILEGE, type Session, sqlState } from './session.ts';

/**
 * Gives the store a new id when its history is not the one that its id stands for: after a restore from
 * a dump or a point in time, and after a failover, which may have lost commits that clients have seen.
 * Otherwise the revisions that follow would carry ETags that other lists have had. Called with every
 * new session, before anything else is read.
 */
export async function confirmOrigin(session: Session): Promise<void> {
  const origin = await originOf(session);
  const [row] = await session.query({ text: 'SELECT origin FROM store' });
  if (row === undefined || row[0] === origin) return;
  await session.write({ text: 'UPDATE store SET id = $1, origin = $2 WHERE origin = $3' }, [
    newStoreId(),
    origin,
    row[0],
  ]);
}

export function newStoreId(): string {
  return randomBytes(8).toString('hex');
}

/**
 * Names the history that this server adds to: the cluster (a restored dump is in another), its timeline
 * (each promotion and each point-in-time recovery begins one), the database and the table.
 */
export async function originOf(session: Session): Promise<string> {
  const [row] = await session.query({
    text: `SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8),
      (SELECT oid FROM pg_database WHERE datname = current_database()), 'store'::regclass::oid`,
  });
  return [await clusterOf(session), ...row!].join('/');
}

/** Some hosted databases keep it to themselves. */
async function clusterOf(session: Session): Promise<string> {
  try {
    const [row] = await session.query({
      text: 'SELECT system_identifier FROM pg_control_system()',
    });
    return row![0]!;
  } catch (error) {
    if (sqlState(error) === INSUFFICIENT_PRIVILEGE) return 'unknown';
    throw error;
  }
}
