import { type Finding, inMs, medianMs, ok, problem, warning } from '../diagnosis.ts';
import { StoreNotUsable, StoreUnavailable } from '../store.ts';
import { newSession } from './connection.ts';
import type { Session } from './session.ts';
import { PATIENT } from './time-limits.ts';

/** A request makes up to four round trips one after another. */
const SLOW_ROUND_TRIP_MS = 5;
/** A cancel waits for one commit, as long as no others wait with it. */
const SLOW_COMMIT_MS = 20;
/** Clocks of nodes and server may differ by this much; keys expire, and events are dated, by them. */
const CLOCK_TOLERANCE_MS = 5_000;
/** A node has four connections, and commands have their own. */
const FEWEST_CONNECTIONS = 8;

/** Looks at the server of a database and what it costs to reach it. Writes nothing that stays. */
export async function diagnosePostgres(url: string): Promise<Finding[]> {
  let session: Session;
  try {
    session = await newSession(url, PATIENT);
  } catch (error) {
    if (!(error instanceof StoreNotUsable || error instanceof StoreUnavailable)) throw error;
    return [problem('database', error.message, 'see "PostgreSQL" in docs/operating.md')];
  }
  try {
    const settings = await settingsOf(session);
    return [
      await roundTrip(session, settings.version),
      ...durabilityOf(settings),
      await commitCost(session),
      clockOf(Number(settings.now)),
      connectionsOf(Number(settings.most) - Number(settings.used)),
    ];
  } finally {
    session.destroy();
  }
}

interface Settings {
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly now: string;
  readonly most: string;
  readonly used: string;
}

async function settingsOf(session: Session): Promise<Settings> {
  const [row] = await session.query({ text: SETTINGS });
  const [fsync, fullPageWrites, version, now, most, used] = row as string[];
  return {
    ...{ fsync: fsync!, fullPageWrites: fullPageWrites!, version: version! },
    ...{ now: now!, most: most!, used: used! },
  };
}

const SETTINGS = `SELECT current_setting('fsync'), current_setting('full_page_writes'),
  current_setting('server_version'), round(extract(epoch FROM clock_timestamp()) * 1000),
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')`;

async function roundTrip(session: Session, version: string): Promise<Finding> {
  const ms = await medianMs(() => session.query({ text: 'SELECT' }));
  const found = `PostgreSQL ${version} at ${session.server!.host}; a round trip takes ${inMs(ms)}`;
  if (ms < SLOW_ROUND_TRIP_MS) return ok('database', found);
  return warning('database', found, 'run the nodes near the server');
}

function durabilityOf({ fsync, fullPageWrites }: Settings): Finding[] {
  const settings = Object.entries({ fsync, full_page_writes: fullPageWrites });
  const off = settings.filter(([, value]) => value === 'off').map(([name]) => name);
  if (off.length === 0) return [];
  const found = `${off.join(', ')}: off, so a crash of the server can destroy the database`;
  return [problem('durability', found, "turn them on in the server's configuration")];
}

/** Measures a commit that the server must make durable; its message is for no one and leaves no trace in a table. */
async function commitCost(session: Session): Promise<Finding> {
  const statement = { text: "SELECT pg_logical_emit_message(true, 'store-orders', '')" };
  try {
    const ms = await medianMs(() => session.query(statement));
    const found = `a commit takes ${inMs(ms)}`;
    if (ms < SLOW_COMMIT_MS) return ok('durability', found);
    return warning('durability', found, 'each change waits for this: use a faster disk or standby');
  } catch (error) {
    return ok('durability', `a commit was not measured: ${(error as Error).message}`);
  }
}

function clockOf(serverNow: number): Finding {
  const skewMs = Date.now() - serverNow;
  const found = `the clock of the server differs by ${Math.abs(Math.round(skewMs))} ms`;
  if (Math.abs(skewMs) < CLOCK_TOLERANCE_MS) return ok('clock', found);
  return warning('clock', found, 'synchronize the clocks of all machines by NTP');
}

function connectionsOf(free: number): Finding {
  const found = `the server has ${free} free connections`;
  if (free >= FEWEST_CONNECTIONS) return ok('connections', found);
  return warning('connections', found, 'raise max_connections: a node needs four');
}
