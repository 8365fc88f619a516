import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const PATCHES = import.meta.dirname;
/** A fault must be found within this time. */
const FOUND_WITHIN_MS = 600_000;
/** What is no proof of a fault. */
const LATE =
  / did not work \d+ ms after | got a delivery \d+ ms after |^ +files and logs|^\w+ failed in /;
/** Exit code of a run with findings. */
const FOUND = 1;
/** Exit code of a run that ended early. */
const BROKEN = 4;
/** A hunt ends after so many of them: the fault, or the suite, does not let it run. */
const MOST_BROKEN = 3;
/** Exit code of a run without such a scenario. */
const NOT_RUN = 2;

/** How a fault is looked for: a part, its scenario, and the minutes of one run; it is repeated with other seeds until it finds the fault. */
type Hunt = readonly [
  part: 'power-cuts' | 'histories' | 'hostile',
  only: string,
  minutes: number,
  /** The only fault of processes, disks and so on that happens, if it shows after that one. */
  fault?: string,
];

const LOAD = ['power-cuts', 'cancels and placements under load', 0.3] as const;
const ON_SQLITE = ['histories', 'sqlite-1', 0.7] as const;
const ON_SQLITE_3 = ['histories', 'sqlite-3', 0.7] as const;
const ON_POSTGRESQL = ['histories', 'postgresql', 1] as const;

/** By the name of the patch in this folder, whose first line has the fault in words. */
const HUNTS: Readonly<Record<string, Hunt>> = {
  'acknowledged-before-commit': LOAD,
  'asynchronous-commits': [...ON_POSTGRESQL, 'a kill of PostgreSQL'],
  'attempt-forgotten': ON_SQLITE,
  'backup-not-synced': ['power-cuts', 'a backup', 0.6],
  'block-border': [...ON_SQLITE, 'an import'],
  'conflict-of-another-key': ON_SQLITE,
  'copy-without-references': ['power-cuts', 'a copy', 1],
  'cursor-includes-its-revision': ON_SQLITE,
  'endless-body': ['hostile', 'go on sending', 1],
  'etag-of-a-position': ON_SQLITE,
  'etag-without-history': [...ON_SQLITE, 'a restore'],
  'expired-key-revived': [...ON_SQLITE, 'expires'],
  'failed-read-kept': [...ON_SQLITE, 'reads that fail'],
  'filtered-events-shared': ON_SQLITE,
  'follows-another-history': [...ON_POSTGRESQL, 'lacks the latest changes'],
  'header-sought-among-values': ['hostile', 'odd values', 1],
  'id-rounded': ON_SQLITE,
  'ids-after-restore': [...ON_SQLITE, 'a restore'],
  'import-counts-new-orders': ['power-cuts', 'an import', 0.6],
  'import-not-synced': ['power-cuts', 'an import', 0.6],
  'keys-changed-during-a-copy': [...ON_SQLITE, 'a move'],
  'keys-in-broken-encoding': ['hostile', 'valid and wrong keys', 1],
  'keys-kept-for-a-day': [...ON_SQLITE_3, 'a day ahead'],
  'keys-of-a-moved-store': [...ON_SQLITE, 'a move'],
  'limit-per-node': ON_SQLITE_3,
  'limit-read-before-the-lock': ON_SQLITE_3,
  'linger-renewed': ['hostile', 'go on sending', 1],
  'list-one-revision-late': ON_SQLITE,
  'migration-loses-a-column': ['power-cuts', 'a migration', 0.2],
  'moved-after-the-copy': ['power-cuts', 'a copy', 1],
  'new-folder-not-synced': ['power-cuts', 'the first start', 0.2],
  'new-store-not-synced': ['power-cuts', 'the first start', 0.5],
  'page-of-several-moments': ON_SQLITE,
  'page-skips-an-order': ON_SQLITE,
  'paused-webhook-delivers': [...ON_SQLITE, 'paused'],
  'period-begins-late': ON_SQLITE,
  'placement-recorded-later': ON_SQLITE,
  'position-read-last': ON_POSTGRESQL,
  'repetition-grows': ON_SQLITE,
  'restore-not-synced': ['power-cuts', 'a restore', 0.8],
  'restore-removes-first': ['power-cuts', 'a restore', 0.8],
  'reused-key-accepted': ON_SQLITE,
  'revision-split': ON_SQLITE,
  'same-time-skipped': ON_SQLITE,
  'stale-read': ON_POSTGRESQL,
  'stream-drops-a-change': [...ON_SQLITE, 'falls behind'],
  'streams-counted-early': ['hostile', 'streams of changes', 1],
  'synchronous-off': LOAD,
  'two-in-a-batch': ON_SQLITE,
  'unconfirmed-acknowledged': [...ON_POSTGRESQL, 'was cut off'],
  'undated-in-a-range': ON_SQLITE,
  'unknown-as-refused': [...ON_SQLITE, 'syncs that fail'],
  'unread-streams-stay': ['hostile', 'streams of changes', 1],
  'webhook-moves-before-the-answer': [...ON_SQLITE, 'kill'],
  'webhook-read-before-its-lock': [...ON_POSTGRESQL, 'a new secret'],
};

/** The faults that are planted, each as a patch with its description. */
export function plantedFaults(): {
  name: string;
  patch: string;
  words: string;
  hunt: Hunt | undefined;
}[] {
  return readdirSync(PATCHES)
    .filter((file) => file.endsWith('.patch'))
    .sort()
    .map((file) => {
      const [name, patch] = [basename(file, '.patch'), join(PATCHES, file)];
      return { name, patch, words: readFileSync(patch, 'utf8').split('\n')[0]!, hunt: HUNTS[name] };
    });
}

/** Plants a fault in a copy of the project. */
export function applyPatch(copy: string, patch: string): void {
  const { status, stderr } = spawnSync('git', ['apply', patch], { cwd: copy, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${patch} does not apply: ${stderr}`);
}

/** Runs a part on a copy with one seed after another until it has a finding, or the time is over. @returns the first finding */
export async function hunted(copy: string, hunt: Hunt, seed: number): Promise<string | undefined> {
  const until = performance.now() + FOUND_WITHIN_MS;
  const broken: string[] = [];
  for (let run = 0; performance.now() < until && broken.length < MOST_BROKEN; run += 1) {
    const { code, output } = await look(copy, hunt, seed + run);
    // Where two runs share the processors, a node may start late in a project without a fault.
    const findings = code === FOUND ? output.split('\n\n').slice(1) : [];
    const finding = findings.find((each) => !LATE.test(each));
    if (finding !== undefined) return finding;
    if (code === BROKEN) broken.push(output);
  }
  for (const output of broken) console.error(output);
  return undefined;
}

/** Runs a part on a copy. @returns its exit code, and what it printed @throws Error if it could not be started */
async function look(
  copy: string,
  [part, only, minutes, fault]: Hunt,
  seed: number,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const flags = ['--only', only, '--minutes', String(minutes), '--seed', String(seed)];
  if (fault !== undefined) flags.push('--fault', fault);
  const child = spawn(process.execPath, [join(copy, 'test/torture/main.ts'), part, ...flags], {
    cwd: copy,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: FOUND_WITHIN_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const [code] = await once(child, 'close');
  // A program that cannot be started ends with the same code as one with findings.
  const isBroken = code === FOUND && !output.includes(`\n${part} failed in `);
  if (isBroken || code === NOT_RUN) throw new Error(output);
  return { code, output };
}
