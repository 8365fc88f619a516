import { type Finding, ok, problem, warning } from '../../diagnosis.ts';
import { text } from '../../tables/session.ts';
import { type Host, parseAddress } from '../database/address.ts';
import { Session } from '../database/session.ts';
import { COMMAND } from '../database/session-settings.ts';

/** Limit for connecting to each host. */
const CONNECT_MS = 3_000;

/** Lists the hosts of a URL with several, with role, timeline and lag: an old primary that runs on can be read by mistake. */
export async function hostsOf(url: string): Promise<Finding[]> {
  const { hosts } = parseAddress(url);
  if (hosts.length < 2) return [];
  const states = await Promise.all(hosts.map(stateOf));
  const found = states.map((each) => each.found).join('; ');
  if (states.filter(({ isPrimary }) => isPrimary).length > 1) {
    const advice =
      'the one with the highest timeline is used; stop the others, which a promotion has superseded';
    return [problem('hosts', `several servers claim to be the primary: ${found}`, advice)];
  }
  if (states.every(({ isReachable }) => isReachable)) return [ok('hosts', found)];
  return [warning('hosts', found, 'start or repair those servers, or remove them from the URL')];
}

/** Returns a line for people, whether the host is a primary, and whether it answers, and a standby receives from its primary. */
async function stateOf(host: Host) {
  const options = { limits: COMMAND, connectMs: CONNECT_MS, mayBeStandby: true };
  try {
    using session = await Session.open(host, { ...options, onWarning: () => {} });
    const [row] = await session.query(STATE);
    const [isStandby, isReceiving, timeline, lag] = row!;
    if (isStandby === 0n) {
      const found = `${host.label}: primary, timeline ${session.server!.timeline ?? 'unknown'}`;
      return { isPrimary: true, isReachable: true, found };
    }
    const state =
      isReceiving === 0n
        ? 'receives nothing from a primary'
        : `timeline ${timeline ?? 'unknown'}, ${text(lag) ?? 'unknown'} s behind`;
    const found = `${host.label}: standby, ${state}`;
    return { isPrimary: false, isReachable: isReceiving === 1n, found };
  } catch (error) {
    const found = `${host.label}: ${(error as Error).message}`;
    return { isPrimary: false, isReachable: false, found };
  }
}

/** The timeline of a standby is that of the log that it receives; for a role without pg_read_all_stats, that of its last checkpoint. It is not behind if it has replayed all. */
const STATE = `SELECT pg_is_in_recovery(), EXISTS (SELECT FROM pg_stat_wal_receiver WHERE pid IS NOT NULL),
    coalesce((SELECT received_tli FROM pg_stat_wal_receiver), (SELECT timeline_id FROM pg_control_checkpoint())),
    CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN '0'
      ELSE round(extract(epoch FROM now() - pg_last_xact_replay_timestamp())::numeric, 1)::text END`;
