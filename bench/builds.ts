import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newSecret } from '../src/domain/api-key.ts';
import { spread } from './compare.ts';
import { applyLoad, type Load } from './load.ts';
import { stopAll } from './processes.ts';
import { fill, type Service, startService } from './store-orders.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A service can be faster or slower for as long as it runs, so both are started several times. */
const STARTS = 4;
/** Rounds that count as warm, after a cold one: the first requests after the start. */
const ROUNDS = 2;
/** The duration of a warm round, and of the cold one. */
const SECONDS = 2;
const COLD_SECONDS = 1;
const CONNECTIONS = 64;
const LISTED = 1_000;
/** Enough pending orders for the cancels of all rounds. */
const CANCELLABLE = 600_000;

/** What is measured: the requests of a round. */
interface Measurement {
  readonly name: string;
  readonly orders: number;
  /** CONNECTIONS by default. */
  readonly connections?: number;
  readonly load: (service: Service, round: number) => Promise<Pick<Load, 'url'> & Partial<Load>>;
}

/**
 * Compares this checkout with a commit: both services run on the same core, and one after the other is under load, so that the
 * machine's changes of speed affect both. Prints the CPU time of the service per request, cold and warm, of which the least of all rounds
 * is compared, since the medians vary more than the code; and the throughput, by medians.
 * @param names of the measurements; all without any
 */
export async function compareBuilds(commit: string, names: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'store-orders-builds-'));
  const other = join(folder, 'checkout');
  execFileSync('git', ['worktree', 'add', '--detach', other, commit], { cwd: ROOT });
  try {
    console.error(`installing ${commit} …`);
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: other, stdio: 'ignore' });
    for (const measurement of MEASUREMENTS) {
      const isWanted = names.length === 0 || names.includes(measurement.name);
      if (isWanted) await measure(measurement, { commit, other, folder });
    }
  } finally {
    await stopAll();
    execFileSync('git', ['worktree', 'remove', '--force', other], { cwd: ROOT });
    rmSync(folder, { recursive: true, force: true });
  }
}

const MEASUREMENTS: readonly Measurement[] = [
  {
    name: 'list',
    orders: LISTED,
    load: async ({ list: url, headers }) => ({ url, headers }),
  },
  {
    name: 'unchanged',
    orders: LISTED,
    load: async ({ list: url, headers }) => {
      const { headers: received } = await fetch(url, { headers });
      return { url, headers: { ...headers, 'If-None-Match': received.get('etag')! } };
    },
  },
  {
    name: 'refused',
    orders: LISTED,
    load: async ({ list: url }) => ({
      url,
      headers: { Authorization: `Bearer ${newSecret('production')}` },
    }),
  },
  { name: 'cancel', orders: CANCELLABLE, load: cancels },
  { name: 'cancelOne', orders: CANCELLABLE, connections: 1, load: cancels },
  {
    name: 'cancelRandom',
    orders: CANCELLABLE,
    load: async (service, round) => ({
      ...(await cancels(service, round)),
      shuffledAmong: CANCELLABLE,
    }),
  },
];

/** Cancels orders one after another: each round has ids of its own. */
async function cancels({ list, headers }: Service, round: number) {
  const idsFrom = round * Math.floor(CANCELLABLE / (ROUNDS + 1));
  return { method: 'DELETE', url: `${list}/`, headers, idsFrom } as const;
}

async function measure(
  measurement: Measurement,
  { commit, other, folder }: { commit: string; other: string; folder: string },
): Promise<void> {
  const { name, orders } = measurement;
  const programs = [ROOT, other].map((checkout) => join(checkout, 'bin/store-orders.js'));
  const templates = programs.map((program, index) => {
    const path = join(folder, `${name}-${index}.db`);
    fill(`sqlite:${path}`, orders, program);
    return path;
  });
  const cold: number[][] = [[], []];
  const cpu: number[][] = [[], []];
  const rates: number[][] = [[], []];
  for (let start = 0; start < STARTS; start += 1) {
    const services = [];
    for (const [index, program] of programs.entries()) {
      const path = `${templates[index]!}.${start}`;
      copyFileSync(templates[index]!, path);
      services.push(await startService(`sqlite:${path}`, { program }));
    }
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [index, service] of services.entries()) {
        const result = await measureOnce(service, round, measurement, folder);
        (round === 0 ? cold : cpu)[index]!.push(result.cpuUs);
        if (round > 0) rates[index]!.push(result.requestsPerSecond);
      }
    }
    for (const service of services) await service.stop();
  }
  const beside = ([own, theirs]: readonly number[][], digits: number, by: 'least' | 'median') => {
    const [one, other] = [spread(own!)[by], spread(theirs!)[by]];
    return `${one.toFixed(digits)} beside ${other.toFixed(digits)} (${(one / other).toFixed(2)} ×)`;
  };
  console.log(
    `${name}, beside ${commit}: µs of CPU per request ${beside(cpu, 1, 'least')}, cold ${beside(cold, 1, 'least')}; ` +
      `requests/s ${beside(rates, 0, 'median')}`,
  );
}

/** Returns the throughput of a round, and the CPU time per request in microseconds. */
async function measureOnce(
  service: Service,
  round: number,
  { name, load, connections = CONNECTIONS }: Measurement,
  folder: string,
) {
  const asked = await load(service, round);
  const before = cpuMs(service.child.pid!);
  const seconds = round === 0 ? COLD_SECONDS : SECONDS;
  const result = await applyLoad({ connections, seconds, ...asked }, folder);
  const used = cpuMs(service.child.pid!) - before;
  if (result.errors > 0 && name !== 'refused') {
    throw new Error(`${name}: ${result.errors} requests have failed`);
  }
  return { requestsPerSecond: result.requestsPerSecond, cpuUs: (used * 1_000) / result.requests };
}

/** The CPU time that all threads of a process have used, in milliseconds; threads that have ended count no more. */
function cpuMs(pid: number): number {
  const files = globSync(`/proc/${pid}/task/*/schedstat`);
  return (
    files.reduce((sum, file) => sum + Number(readFileSync(file, 'utf8').split(' ')[0]), 0) / 1e6
  );
}
