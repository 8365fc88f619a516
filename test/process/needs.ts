import { execFileSync, spawnSync } from 'node:child_process';

/** Why a test that needs a disk or process ids of its own is skipped; most containers permit no namespaces. */
export const NEEDS_NAMESPACES = canUnshare() ? false : 'needs Linux with user namespaces';

function canUnshare(): boolean {
  const spaces = ['--user', '--map-root-user', '--mount', '--pid', '--fork'];
  const mount = ['mount', '-t', 'tmpfs', 'tmpfs', '/tmp'];
  return spawnSync('unshare', [...spaces, ...mount], { stdio: 'ignore' }).status === 0;
}

/** Starts a program as a user without rights of its own. */
export const AS_NOBODY = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'];

/** Why a test with another user is skipped; that user must be able to read this folder, too. */
export const NEEDS_OTHER_USER = canRunAsNobody()
  ? false
  : 'needs root, in a folder that others can read';

function canRunAsNobody(): boolean {
  const [setpriv, ...options] = AS_NOBODY;
  const program = [process.execPath, import.meta.filename];
  return spawnSync(setpriv!, [...options, ...program], { stdio: 'ignore' }).status === 0;
}

/** Why a test of a Python program is skipped. */
export const NEEDS_PYTHON = isThere('python3', '--version') ? false : 'needs python3';

/** Why a test of a program with jq is skipped. */
export const NEEDS_JQ = isThere('jq', '--version') ? false : 'needs jq';

function isThere(program: string, flag: string): boolean {
  return spawnSync(program, [flag], { stdio: 'ignore' }).status === 0;
}

/** Why a test that runs curl as integrators do is skipped: false, if this machine has what the pages say. */
export const NEEDS_CURL = hasCurl() ? false : 'needs bash and curl 7.84';

function hasCurl(): boolean {
  try {
    execFileSync('bash', ['--version']);
    const [, major, minor] = /^curl (\d+)\.(\d+)/.exec(
      execFileSync('curl', ['--version'], { encoding: 'utf8' }),
    )!;
    return Number(major) * 1000 + Number(minor) >= 7084;
  } catch {
    return false;
  }
}
