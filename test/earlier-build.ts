// Earlier releases and states of the main branch, for tests of upgrades.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { npm } from './client/packed.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The last beta before 2.0.0. */
export const LAST_BETA = '8ce2a30';

/** The folder of the checkouts. Not below node_modules, where Node.js runs no TypeScript. */
export const BUILDS = mkdtempSync(join(tmpdir(), 'store-orders-builds-'));
after(() => rmSync(BUILDS, { recursive: true, force: true }));

/** Checks out the state of a commit and installs it, once. Returns its program; undefined, and skips the test, in a clone without history. */
export function earlierBuild(
  t: TestContext,
  commit: string,
): { readonly program: readonly [node: string, path: string] } | undefined {
  const folder = join(BUILDS, commit);
  const { status } = spawnSync('git', ['cat-file', '-e', commit], { cwd: ROOT });
  if (status !== 0) {
    t.skip(`this clone does not have the commit ${commit}`);
    return undefined;
  }
  if (!existsSync(folder)) checkOut(commit, folder);
  return { program: [process.execPath, join(folder, 'bin/store-orders.js')] };
}

function checkOut(commit: string, folder: string): void {
  const options = { cwd: ROOT, maxBuffer: 1 << 28, stdio: 'pipe' } as const;
  const archive = execFileSync('git', ['archive', commit], options);
  mkdirSync(folder);
  execFileSync('tar', ['-x'], { cwd: folder, input: archive });
  npm(['ci', '--omit=dev'], folder);
}
