import { statSync } from 'node:fs';
import { connectionsWithin, FILES_NEEDED, openFilesLimit } from '../../../http/connection/limit.ts';
import type { Config } from '../../../service/settings/config.ts';
import type { Settings } from '../../../service/settings/settings.ts';
import { misspelt } from '../../../service/settings/similar-names.ts';
import { type Finding, ok, warning } from '../../../store/diagnosis.ts';
import { COMMIT, VERSION } from '../../../version.ts';

/** Default grace period of Kubernetes between SIGTERM and SIGKILL; container engines wait 10 s, systemd 90 s. */
const USUAL_STOP_SECONDS = 30;
const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

export function programOf(): Finding {
  const { node, sqlite } = process.versions;
  return ok('versions', `store-orders ${VERSION} (${COMMIT}), Node.js ${node}, SQLite ${sqlite}`);
}

/** Checks the user of the process, and its limits. */
export function userOf(): Finding[] {
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
export function configurationOf(config: Config): Finding[] {
  const { environment, database, drainMs, stopLimitMs } = config;
  return [
    ok('configuration', `${environment}, ${database.label}`),
    ...exposureOf(config),
    ...rightsOf(config.databaseUrlFile),
    stopOf((drainMs + stopLimitMs) / 1_000),
  ];
}

/** Finds variables that are probably misspelt. */
export function misspeltOf(environment: Settings): Finding[] {
  return misspelt(environment).map(([name, meant]) =>
    warning('configuration', `${name} is not a known setting`, `if ${meant} is meant, rename it`),
  );
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

function rightsOf(path: string | undefined): Finding[] {
  if (path === undefined || (statSync(path).mode & 0o077) === 0) return [];
  const found = `other users may read ${path}, which can hold a password`;
  return [warning('files', found, `chmod 600 ${path}`)];
}
