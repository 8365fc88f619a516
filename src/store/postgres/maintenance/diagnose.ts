import { CLOCK_TOLERANCE_MS } from '../../../domain/key-clock.ts';
import { type Finding, inMs, medianMs, ok, problem, warning } from '../../diagnosis.ts';
import { StoreNotUsable, StoreUnavailable } from '../../store.ts';
import { type Column, text } from '../../tables/session.ts';
import { type Host, parseAddress } from '../database/address.ts';
import { OLDEST_TRANSACTION_AGE, oldSnapshots, watchBlockers } from '../database/blockers.ts';
import { collationProblem } from '../database/catalog.ts';
import { newSession } from '../database/connection.ts';
import { hazardsOf, TABLES_HERE } from '../database/hazards.ts';
import { hasSchema, missingMigrations } from '../database/schema.ts';
import { identityProblem, Session, serverName } from '../database/session.ts';
import { COMMAND } from '../database/session-settings.ts';

/** A request makes up to four round trips one after another. */
const SLOW_ROUND_TRIP_MS = 5;
/** A cancel waits for one commit, as long as no others wait with it. */
const SLOW_COMMIT_MS = 20;
/** A node has four connections, and commands have their own. */
const FEWEST_CONNECTIONS = 8;

/** Transactions since the oldest id in use; PostgreSQL freezes ids by itself from 200 million on, and stops at about 2 billion. */
const OLD_TRANSACTION = 1_000_000_000;

/** Checks the servers of a database, and the duration of a round trip and a commit. Changes no table. */
export async function diagnosePostgres(url: string): Promise<Finding[]> {
  const hosts = await hostsOf(url);
  try {
    using session = await newSession(url, COMMAND);
    const [settings] = await session.query(SETTINGS);
    const [version, now, oldestTransactionAge, fsync, fullPageWrites, retries, ...free] = settings!;
    return [
      ...hosts,
      await roundTrip(session, version as string),
      ...durabilityOf({ fsync, full_page_writes: fullPageWrites, retries }),
      await commitCost(session),
      await diskOf(session),
      ...(await locksOf(session, url)),
      clockOf(Number(now)),
      connectionsOf(free),
      await snapshotsOf(session),
      transactionsOf(Number(oldestTransactionAge)),
      ...(await rightsOf(session)),
      ...(await collationOf(session)),
      ...(await hazardsOf(session)),
    ];
  } catch (error) {
    if (!(error instanceof StoreNotUsable || error instanceof StoreUnavailable)) throw error;
    return [...hosts, problem('database', error.message, 'see docs/postgresql.md')];
  }
}

/** Limit for connecting to each host. */
const CONNECT_MS = 3_000;

/** Lists the hosts of a URL with several, with role, timeline and lag: an old primary that runs on can be read by mistake. */
async function hostsOf(url: string): Promise<Finding[]> {
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

const SETTINGS = `SELECT current_setting('server_version'), round(extract(epoch FROM clock_timestamp()) * 1000), ${OLDEST_TRANSACTION_AGE},
  current_setting('fsync'), current_setting('full_page_writes'), current_setting('data_sync_retry'),
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
    - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
  (SELECT nullif(rolconnlimit, -1) - (SELECT count(*) FROM pg_stat_activity WHERE usename = session_user)
    FROM pg_roles WHERE rolname = session_user),
  (SELECT nullif(datconnlimit, -1) - (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database())
    FROM pg_database WHERE datname = current_database())`;

async function roundTrip(session: Session, version: string): Promise<Finding> {
  const ms = await medianMs(() => session.query('SELECT'));
  const found = `PostgreSQL ${version} at ${serverName(session.server!)}; a round trip takes ${inMs(ms)}`;
  if (ms < SLOW_ROUND_TRIP_MS) return ok('database', found);
  return warning('database', found, 'run the nodes near the server');
}

function durabilityOf({ retries, ...settings }: Readonly<Record<string, Column | undefined>>) {
  const off = Object.entries(settings)
    .filter(([, value]) => value === 'off')
    .map(([name]) => name);
  const found = [
    off.length > 0 && `${off.join(', ')}: off, so a crash of the server can destroy the database`,
    retries === 'on' && 'data_sync_retry: on, so the server goes on after a write that has failed',
  ].filter((each) => each !== false);
  return found.map((each) => problem('durability', each, "correct the server's configuration"));
}

/** Measures a commit that the server must make durable; its message changes no table. */
async function commitCost(session: Session): Promise<Finding> {
  const statement = "SELECT pg_logical_emit_message(true, 'store-orders', '')";
  try {
    const ms = await medianMs(() => session.query(statement));
    const found = `a commit takes ${inMs(ms)}`;
    if (ms < SLOW_COMMIT_MS) return ok('durability', found);
    return warning('durability', found, 'each change waits for this: use a faster disk or standby');
  } catch (error) {
    return ok('durability', `a commit was not measured: ${(error as Error).message}`);
  }
}

/** How long a change of a working store holds its locks, at most. */
const HELD_MS = 3_000;

/** Takes the locks of a change, in a transaction that is rolled back: while another transaction has them, every change fails. */
async function locksOf(session: Session, url: string): Promise<Finding[]> {
  if (!(await hasSchema(session))) return [];
  let failure = await failureOf(session, LOCKS);
  let holders: readonly string[] = [];
  if (failure?.fault === 'locked') {
    const [[pid] = []] = await session.query('SELECT pg_backend_pid()');
    using _watching = watchBlockers(await newSession(url, COMMAND), pid as bigint, (found) => {
      holders = found;
    });
    // The transaction can have ended by now.
    failure = await failureOf(session, LOCKS);
  }
  if (failure === undefined) return [ok('locks', 'no transaction is in the way of changes')];
  if (failure.fault !== 'locked') return [ok('locks', `they were not tried: ${failure.message}`)];
  const found = `every change fails: its locks are held by ${holders.join('; ') || 'another transaction'}`;
  const advice =
    'end the session (pg_terminate_backend), or the prepared transaction (ROLLBACK PREPARED)';
  return [problem('locks', found, advice)];
}

const LOCKS = `SET LOCAL lock_timeout = ${HELD_MS}; SELECT FROM store FOR UPDATE; LOCK TABLE orders IN ROW EXCLUSIVE MODE`;

/** Returns why statements fail, in a transaction that is rolled back; undefined if they do not. */
async function failureOf(session: Session, sql: string): Promise<StoreUnavailable | undefined> {
  try {
    await session.run(`BEGIN; ${sql}; ROLLBACK`);
    return undefined;
  } catch (error) {
    await session.run('ROLLBACK').catch(() => {});
    return error as StoreUnavailable;
  }
}

/** Writes pages that need space on the disk, in a transaction that is rolled back: what fits into allocated space shows nothing. */
async function diskOf(session: Session): Promise<Finding> {
  const failure = await failureOf(session, `${TABLESPACE}; ${FILL}`);
  if (failure === undefined) return ok('disk', 'a table can grow');
  const { fault, message } = failure;
  if (fault === 'full') return problem('disk', message, 'free space on the disk of the server');
  return ok('disk', `whether a table can grow was not tried: ${message}`);
}

/** The table is made where that of the orders is. */
const TABLESPACE = `SELECT set_config('temp_tablespaces', coalesce((SELECT spcname FROM pg_class
    JOIN pg_tablespace ON pg_tablespace.oid = reltablespace WHERE pg_class.oid = to_regclass('orders')), ''), true)`;

/** 1 MiB, in rows that are too short to be compressed. */
const FILL = `CREATE TEMPORARY TABLE store_orders_fill ON COMMIT DROP AS
    SELECT repeat(md5(part::text), 59) AS filler FROM generate_series(1, 512) AS part`;

function transactionsOf(age: number): Finding {
  const found = `the oldest transaction id in use is ${age} transactions old`;
  if (age < OLD_TRANSACTION) return ok('transactions', found);
  const advice =
    'PostgreSQL refuses all writes at about 2 billion: end what keeps an old snapshot, then run VACUUM in the oldest database (pg_database.datfrozenxid)';
  return warning('transactions', found, advice);
}

function clockOf(serverNow: number): Finding {
  const skewMs = Date.now() - serverNow;
  const found = `the clock of the server differs by ${Math.abs(Math.round(skewMs))} ms`;
  if (Math.abs(skewMs) < CLOCK_TOLERANCE_MS) return ok('clock', found);
  return warning('clock', found, 'synchronize the clocks of all machines by NTP');
}

/** @param free connections of the server, of the role and of the database; null without a limit */
function connectionsOf(free: readonly (Column | undefined)[]): Finding {
  const fewest = Math.min(...free.filter((each) => each != null).map(Number));
  const found = `${fewest} connections are free (the minimum of server, role and database)`;
  if (fewest >= FEWEST_CONNECTIONS) return ok('connections', found);
  const advice =
    'a node needs four: raise max_connections, or the CONNECTION LIMIT of role or database';
  return warning('connections', found, advice);
}

async function snapshotsOf(session: Session): Promise<Finding> {
  const old = await oldSnapshots(session);
  if (old.length === 0) return ok('snapshots', 'no old snapshot slows down changes');
  const found = `the server cannot remove old versions of rows, which makes each change slower: held by ${old.join('; ')}`;
  const advice =
    'end the session (pg_terminate_backend), finish the transaction (COMMIT PREPARED or ROLLBACK PREPARED), or drop the slot if its standby is gone';
  return warning('snapshots', found, advice);
}

/** Checks whether the role has permission to write the tables or, if they do not exist, to create them. */
async function rightsOf(session: Session): Promise<Finding[]> {
  const [[readOnly, hasTables, schema, searchPath] = []] = await session.query(
    `SELECT current_setting('transaction_read_only'), to_regclass('store') IS NOT NULL, current_schema(),
      current_setting('search_path')`,
  );
  if (readOnly === 'on') {
    const advice = 'turn default_transaction_read_only off for this role and database';
    return [problem('rights', 'the database is read-only', advice)];
  }
  if (schema === null) {
    const advice =
      'create the schema, or name another one in the URL (options=-c%20search_path%3D…)';
    return [problem('rights', `no schema of the search path exists: ${searchPath}`, advice)];
  }
  const hiding = hasTables === 1n ? await session.query(HIDING) : [];
  if (hiding.length > 0) {
    const found = `row-level security hides rows from this role in ${hiding.map(([name]) => name).join(', ')}`;
    return [problem('rights', found, RLS_ADVICE)];
  }
  const [[lacking, role] = []] = await session.query(
    hasTables === 1n ? NOT_WRITABLE : NOT_CREATABLE,
  );
  if (lacking != null) {
    const found = `the role ${role} lacks permission to ${hasTables === 1n ? 'read and write' : 'create tables in'} ${lacking}`;
    return [problem('rights', found, 'see "Roles" in docs/postgresql.md')];
  }
  const unidentified = identityProblem(session.server!);
  if (unidentified === undefined)
    return [ok('rights', 'the role has the permissions that it needs')];
  return [problem('rights', unidentified, 'see "Failover" in docs/postgresql.md')];
}

async function collationOf(session: Session): Promise<Finding[]> {
  if (!(await hasSchema(session))) return [];
  // Without rights, or of a newer schema, which are findings of their own.
  const missing = await missingMigrations(session).catch(() => []);
  const wrong = await collationProblem(session, missing);
  return wrong === undefined ? [] : [problem('collation', wrong.found, wrong.advice)];
}

const RLS_ADVICE =
  'use a role that has BYPASSRLS, or that owns the tables unless they have FORCE ROW LEVEL SECURITY, or disable it: ' +
  'ALTER TABLE … DISABLE ROW LEVEL SECURITY';

const HIDING = `SELECT relname FROM pg_class WHERE ${TABLES_HERE} AND row_security_active(oid) ORDER BY relname`;

const NOT_WRITABLE = `SELECT string_agg(relname, ', ' ORDER BY relname), current_user
  FROM pg_class WHERE ${TABLES_HERE} AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
    AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))`;

const NOT_CREATABLE = `SELECT current_schema(), current_user WHERE NOT has_schema_privilege(current_schema(), 'CREATE')`;
