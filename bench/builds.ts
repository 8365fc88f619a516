import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newSecret } from '../src/keys/api-key.ts';
import { spread } from './compare.ts';
import { applyLoad, type Load } from './load.ts';
import { stopAll } from './processes.ts';
import { fill, type Service, startService } from './store-orders.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Rounds that count, after one to warm up, and the duration of a measurement. */
const ROUNDS = 8;
const SECONDS = 2;
const CONNECTIONS = 64;
const LISTED = 1_000;
/** Enough pending orders for the cancels of all rounds. */
const CANCELLABLE = 1_200_000;

/** A service of a build. */
interface Build {
  readonly name: string;
  readonly service: Service;
}

/** What is measured: the requests of a round. */
interface Measurement {
  readonly name: string;
  readonly orders: number;
  readonly load: (build: Build, round: number) => Promise<Pick<Load, 'url'> & Partial<Load>>;
}

/**
 * Compares this checkout with a commit: both services run on the same core, and one after the other is under load, so that the
 * machine's changes of speed affect both. Prints the CPU time of the service per request, of which the least of all rounds
 * is compared, since the medians vary more than the code; and the throughput, by medians.
 */
export async function compareBuilds(commit: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'store-orders-builds-'));
  const other = join(folder, 'checkout');
  try {
    execFileSync('git', ['worktree', 'add', '--detach', other, commit], { cwd: ROOT });
    console.error(`installing ${commit} …`);
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: other, stdio: 'ignore' });
    for (const measurement of MEASUREMENTS) await measure(measurement, { commit, other, folder });
  } finally {
    await stopAll();
    execFileSync('git', ['worktree', 'remove', '--force', other], { cwd: ROOT });
    rmSync(folder, { recursive: true, force: true });
  }
}

const MEASUREMENTS: readonly Measurement[] = [
  {
    name: `list of ${LISTED} orders`,
    orders: LISTED,
    load: async ({ service }) => ({ url: service.list, headers: service.headers }),
  },
  {
    name: 'unchanged list (304)',
    orders: LISTED,
    load: async ({ service: { list: url, headers } }) => {
      const { headers: received } = await fetch(url, { headers });
      return { url, headers: { ...headers, 'If-None-Match': received.get('etag')! } };
    },
  },
  {
    name: 'refused key (401)',
    orders: LISTED,
    load: async ({ service }) => ({
      url: service.list,
      headers: { Authorization: `Bearer ${newSecret('production')}` },
    }),
  },
  {
    name: 'durable cancel',
    orders: CANCELLABLE,
    load: async ({ service }, round) => ({
      method: 'DELETE',
      url: `${service.list}/`,
      headers: service.headers,
      idsFrom: round * Math.floor(CANCELLABLE / (ROUNDS + 1)),
    }),
  },
];

async function measure(
  { name, orders, load }: Measurement,
  { commit, other, folder }: { commit: string; other: string; folder: string },
): Promise<void> {
  const builds: Build[] = [];
  for (const [build, checkout] of [
    ['this checkout', ROOT],
    [commit, other],
  ] as const) {
    const program = join(checkout, 'bin/store-orders.js');
    const database = `sqlite:${join(folder, `${builds.length}-${orders}-${Date.now()}.db`)}`;
    fill(database, orders, program);
    builds.push({ name: build, service: await startService(database, { program }) });
  }
  const cpu: number[][] = [[], []];
  const rates: number[][] = [[], []];
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [index, build] of builds.entries()) {
      const asked = await load(build, round);
      const before = cpuMs(build.service.child.pid!);
      const result = await applyLoad(
        { connections: CONNECTIONS, seconds: SECONDS, ...asked },
        folder,
      );
      const used = cpuMs(build.service.child.pid!) - before;
      const isExpected = result.errors === 0 || name.includes('401');
      if (!isExpected) throw new Error(`${name}: ${build.name} returned ${result.errors} errors`);
      if (round === 0) continue;
      cpu[index]!.push((used * 1_000) / result.requests);
      rates[index]!.push(result.requestsPerSecond);
    }
  }
  for (const { service } of builds) await service.stop();
  const [own, theirs] = cpu.map((values) => spread(values).least) as [number, number];
  const [rate, otherRate] = rates.map((values) => spread(values).median) as [number, number];
  console.log(
    `${name}: ${own.toFixed(1)} µs of CPU per request, ${commit} ${theirs.toFixed(1)} µs (${(own / theirs).toFixed(2)} ×); ` +
      `${Math.round(rate)} requests/s, ${commit} ${Math.round(otherRate)} (${(rate / otherRate).toFixed(2)} ×)`,
  );
}

/** The CPU time that all threads of a process have used, in milliseconds; threads that have ended count no more. */
function cpuMs(pid: number): number {
  const files = globSync(`/proc/${pid}/task/*/schedstat`);
  return (
    files.reduce((sum, file) => sum + Number(readFileSync(file, 'utf8').split(' ')[0]), 0) / 1e6
  );
}
