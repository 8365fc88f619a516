import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { formatTimestamp } from '../../../domain/timestamp.ts';
import { connectionsWithin, FILES_NEEDED, openFilesLimit } from '../../../http/connection/limit.ts';
import { type Config, readConfig } from '../../../service/settings/config.ts';
import {
  ConfigError,
  misspelt,
  readEnvironment,
  type Settings,
} from '../../../service/settings/reader.ts';
import { databaseAt } from '../../../store/database.ts';
import { type Finding, ok, problem, warning } from '../../../store/diagnosis.ts';
import { COMMIT, VERSION } from '../../../version.ts';
import { type DatabaseFlags, databaseCommand, databaseSettings } from '../../command-database.ts';
import {
  CommandFailed,
  counted,
  table,
  terminal,
  writeJson,
  writeOut,
} from '../../terminal/terminal.ts';
import { portsOf } from './ports.ts';
import { rightsOf, storeOf } from './store.ts';

export function doctorCommand(): Command {
  return databaseCommand(
    'doctor',
    'check everything that the service needs, and report what to do; run it with the environment of the service',
    'npx store-orders doctor\nnpx store-orders doctor --json',
  )
    .option('--json', 'print a JSON object')
    .addHelpText(
      'after',
      '\nIt changes nothing, and can run while the service runs. Exit code 1: there are problems; warnings do not count.',
    )
    .action(doctor);
}

async function doctor(flags: DatabaseFlags & { json?: true }): Promise<void> {
  const findings = await findingsOf(flags);
  const count = (level: Finding['level']) =>
    findings.filter((finding) => finding.level === level).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  if (flags.json) await writeJson({ problems, warnings, findings });
  else {
    const rows = findings.flatMap(({ subject, level, found, advice }) => [
      // A message can list several.
      [subject, level, found.replaceAll(/\n\s*/g, ' ')],
      ...(advice === undefined ? [] : [['', '', `-> ${advice}`]]),
    ]);
    const total = `${counted(problems, 'problem')}, ${counted(warnings, 'warning')}`;
    await writeOut(`${table(rows)}\n${total}\n`);
  }
  if (problems > 0) throw new CommandFailed(`the service has ${counted(problems, 'problem')}`);
}

async function findingsOf(flags: DatabaseFlags): Promise<Finding[]> {
  let environment: Settings;
  let config: Config;
  try {
    environment = readEnvironment(terminal().env);
    config = readConfig(environment, databaseSettings(flags));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = 'see docs/configuration.md';
    const wrong = error.problems.map((each) => problem('configuration', each, advice));
    return [programOf(), ...wrong];
  }
  return [
    ...[programOf(), ...userOf(), ...configurationOf(config)],
    ...misspelt(environment).map(([name, meant]) => {
      const found = `${name} is not a known setting`;
      return warning('configuration', found, `if ${meant} is meant, rename it`);
    }),
    ...(await portsOf(config)),
    ...(await config.database.diagnose()),
    ...(await backupsOf(config)),
    ...(await storeOf(config)),
  ];
}

/** Default grace period of Kubernetes between SIGTERM and SIGKILL; container engines wait 10 s, systemd 90 s. */
const USUAL_STOP_SECONDS = 30;
const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

function programOf(): Finding {
  const { node, sqlite } = process.versions;
  return ok('versions', `store-orders ${VERSION} (${COMMIT}), Node.js ${node}, SQLite ${sqlite}`);
}

function userOf(): Finding[] {
  const findings: Finding[] = [];
  if (process.getuid?.() === 0) {
    const advice = 'run the service as an unprivileged user of its own';
    findings.push(warning('user', 'the user is root', advice));
  }
  const files = openFilesLimit();
  const connections = connectionsWithin(files);
  const found = `${files} open files allow ${connections} connections`;
  const advice = `raise the limit (LimitNOFILE, ulimit -n) to ${FILES_NEEDED}`;
  findings.push(files >= FILES_NEEDED ? ok('limits', found) : warning('limits', found, advice));
  return findings;
}

/** Finds valid settings that may be unintended, or contradict each other. */
function configurationOf(config: Config): Finding[] {
  const { environment, database, drainMs, stopLimitMs } = config;
  return [
    ok('configuration', `${environment}, ${database.label}`),
    ...exposureOf(config),
    ...rightsOf('files', config.databaseUrlFile, 'which can hold a password'),
    stopOf((drainMs + stopLimitMs) / 1_000),
  ];
}

function stopOf(seconds: number): Finding {
  const found = `a stop takes up to ${seconds} s, so the supervisor must wait longer (DRAIN_SECONDS, STOP_LIMIT_SECONDS)`;
  if (seconds < USUAL_STOP_SECONDS) return ok('stop', found);
  const advice = `set TimeoutStopSec, stop_grace_period or terminationGracePeriodSeconds to ${seconds + 5}`;
  return warning('stop', found, advice);
}

function exposureOf({ host, admin, rootUrl, corsOrigins }: Config): Finding[] {
  const findings: Finding[] = [];
  if (!LOOPBACK.includes(host) && !rootUrl.startsWith('https:')) {
    const found = `clients reach the service at ${rootUrl} without TLS, so keys can be intercepted`;
    findings.push(warning('exposure', found, 'put a TLS proxy in front of it, and set BASE_URL'));
  }
  if (!LOOPBACK.includes(admin.host)) {
    const found = `health and metrics need no key, and are at ${admin.host}:${admin.port}`;
    findings.push(warning('exposure', found, 'allow access only from the monitoring machines'));
  }
  if (corsOrigins.includes('*')) {
    const found = 'scripts of any origin may use the service from a browser (CORS_ORIGINS)';
    findings.push(warning('exposure', found, 'name the origins'));
  }
  return findings;
}

/** A disk that fails takes its backups with it. */
function sameDisk(folder: string, database: string): Finding[] {
  if (statSync(folder).dev !== statSync(dirname(database)).dev) return [];
  const found = `${folder} is on the same disk as the database, and is lost with it`;
  return [warning('backups', found, 'copy the backups to another machine, or use another disk')];
}

async function backupsOf({ backups, database }: Config): Promise<Finding[]> {
  if (backups === undefined) return [];
  const { folder, everyMs } = backups;
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    const found = `the folder ${folder} does not exist`;
    return [problem('backups', found, 'create it, or mount its disk')];
  }
  const advice = 'see the log of the service, which makes the backups';
  try {
    const latest = database.file!.latestBackup(folder);
    if (latest === undefined)
      return [warning('backups', `there is no backup in ${folder}`, advice)];
    const found = `the latest backup is of ${formatTimestamp(latest.at)}`;
    const { problems } = await databaseAt(`sqlite:${latest.file}`).check({
      isSample: true,
      areRowsSampled: true,
    });
    if (problems.length > 0) {
      return [problem('backups', `${latest.file} is damaged: ${problems[0]}`, 'make another one')];
    }
    const isOverdue = Date.now() - latest.at > 2 * everyMs;
    return [
      isOverdue ? warning('backups', found, advice) : ok('backups', found),
      ...sameDisk(folder, database.file!.path),
    ];
  } catch (error) {
    // For example a database that does not exist yet.
    return [warning('backups', (error as Error).message, advice)];
  }
}
