import { type Finding, ok, problem, warning } from '../../diagnosis.ts';
import { text } from '../../tables/session.ts';
import { type Host, parseAddress } from '../database/address.ts';
import { Session } from '../database/session.ts';
import { COMMAND } from '../database/time-limits.ts';

/** Limit for connecting to each host. */
const CONNECT_MS = 3_000;

interface HostState {
  readonly isPrimary: boolean;
  readonly isReachable: boolean;
  /** One line, for people. */
  readonly found: string;
}

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
  return [warning('hosts', found, 'start those servers, or remove them from the URL')];
}

async function stateOf(host: Host): Promise<HostState> {
  const options = { limits: COMMAND, connectMs: CONNECT_MS, mayBeStandby: true };
  let session: Session;
  try {
    session = await Session.open(host, { ...options, onWarning: () => {} });
  } catch (error) {
    const found = `${host.label}: ${(error as Error).message}`;
    return { isPrimary: false, isReachable: false, found };
  }
  try {
    const [row] = await session.query(STATE);
    const [isStandby, timeline, lag] = row!;
    const isPrimary = isStandby === 0n;
    const role = isPrimary ? 'primary' : 'standby';
    const behind = isPrimary || lag == null ? '' : `, ${text(lag)} s behind`;
    const found = `${host.label}: ${role}, timeline ${session.server!.timeline ?? timeline ?? 'unknown'}${behind}`;
    return { isPrimary, isReachable: true, found };
  } finally {
    session.destroy();
  }
}

/** The timeline of a standby is that of the log that it receives. It is not behind if it has replayed all that it has received. */
const STATE = `SELECT pg_is_in_recovery(), (SELECT received_tli FROM pg_stat_wal_receiver),
    CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN '0'
      ELSE round(extract(epoch FROM now() - pg_last_xact_replay_timestamp())::numeric, 1)::text END`;
