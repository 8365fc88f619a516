import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newSecret } from '../src/domain/api-key.ts';
import { spread } from './compare.ts';
import { applyLoad, type Load } from './load.ts';
import { startServer, stopAll } from './processes.ts';
import { fill, type Service, startService } from './store-orders.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BARE = fileURLToPath(new URL('peers/node-http.ts', import.meta.url));

/** A service can cost half as much again for as long as it runs: with 4 starts, a build differed from itself, or from an equal one, by a fifth. */
const STARTS = 12;
/** Rounds that count as warm, after a cold one: the first requests after the start. */
const ROUNDS = 2;
/** The duration of a warm round, and of the cold one. */
const SECONDS = 2;
const COLD_SECONDS = 1;
const CONNECTIONS = 64;
const LISTED = 1_000;
/** Enough pending orders for the cancels of all rounds. */
const CANCELLABLE = 300_000;

/** What is measured: the requests of a round. */
interface Measurement {
  readonly name: string;
  /** In the table. */
  readonly title: string;
  readonly orders: number;
  /** CONNECTIONS by default. */
  readonly connections?: number;
  readonly load: (service: Service, round: number) => Promise<Pick<Load, 'url'> & Partial<Load>>;
}

/** A build of the service, or a server that does nothing. */
interface Side {
  readonly name: string;
  /** Absent for the server that does nothing. */
  readonly program?: string;
}

/**
 * Compares this checkout with other commits, and with a bare node:http server: all run on the same core, and one after the other is under load, so
 * that the machine's changes of speed affect all. Prints a table of the CPU time of the service per request, of which the least of all rounds is
 * shown, since the medians vary more than the code; and the throughput, by medians.
 * @param names of the measurements; all without any
 */
export async function compareBuilds(
  commits: readonly string[],
  names: readonly string[],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'store-orders-builds-'));
  const checkouts = commits.map((commit) => ({ commit, path: join(folder, commit) }));
  const programOf = (checkout: string) => join(checkout, 'bin/store-orders.js');
  try {
    for (const { commit, path } of checkouts) {
      execFileSync('git', ['worktree', 'add', '--detach', path, commit], { cwd: ROOT });
      console.error(`installing ${commit} …`);
      execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: path, stdio: 'ignore' });
    }
    const sides: Side[] = [
      { name: 'this checkout', program: programOf(ROOT) },
      ...checkouts.map(({ commit, path }) => ({ name: commit, program: programOf(path) })),
      { name: 'bare node:http' },
    ];
    const rows = [];
    for (const measurement of MEASUREMENTS) {
      if (names.length > 0 && !names.includes(measurement.name)) continue;
      console.error(`measuring ${measurement.name} …`);
      rows.push(await measure(measurement, sides, folder));
    }
    const head = `| µs of CPU per request, warm / cold (requests a second) | ${sides.map(({ name }) => name).join(' | ')} |`;
    console.log([head, `| --- |${' --- |'.repeat(sides.length)}`, ...rows].join('\n'));
  } finally {
    await stopAll();
    for (const { path } of checkouts) {
      execFileSync('git', ['worktree', 'remove', '--force', path], { cwd: ROOT });
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

const MEASUREMENTS: readonly Measurement[] = [
  {
    name: 'list',
    title: 'list of 1,000 orders, 64 connections',
    orders: LISTED,
    load: async ({ list: url, headers }) => ({ url, headers }),
  },
  {
    name: 'unchanged',
    title: '304, 64 connections',
    orders: LISTED,
    load: async ({ list: url, headers }) => {
      const { headers: received } = await fetch(url, { headers });
      return { url, headers: { ...headers, 'If-None-Match': received.get('etag') ?? '"1"' } };
    },
  },
  {
    name: 'refused',
    title: '401, 64 connections',
    orders: LISTED,
    load: async ({ list: url }) => ({
      url,
      headers: { Authorization: `Bearer ${newSecret('production')}` },
    }),
  },
  { name: 'cancel', title: 'cancel, 64 connections', orders: CANCELLABLE, load: cancels },
  {
    name: 'cancelOne',
    title: 'cancel, 1 connection',
    orders: CANCELLABLE,
    connections: 1,
    load: cancels,
  },
  {
    name: 'cancelRandom',
    title: 'cancel, 64 connections, random ids',
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

/** Returns a row of the table. */
async function measure(
  measurement: Measurement,
  sides: readonly Side[],
  folder: string,
): Promise<string> {
  const { name, orders } = measurement;
  const measured = sides.filter(({ program }) => program !== undefined || name !== 'list');
  const results = new Map(
    measured.map((side) => [
      side,
      { cold: [] as number[], warm: [] as number[], rates: [] as number[] },
    ]),
  );
  const templateOf = (side: Side) => join(folder, `${name}-${side.name.replaceAll(' ', '-')}.db`);
  for (const side of measured) {
    if (side.program !== undefined) fill(`sqlite:${templateOf(side)}`, orders, side.program);
  }
  for (let start = 0; start < STARTS; start += 1) {
    const services = new Map<Side, Service>();
    // The side that is first finds a machine that has rested.
    for (const side of start % 2 === 0 ? measured : measured.toReversed()) {
      services.set(side, await startSide(side, templateOf(side), start));
    }
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const [side, service] of services) {
        const { cold, warm, rates } = results.get(side)!;
        const result = await measureOnce(service, round, measurement, folder);
        (round === 0 ? cold : warm).push(result.cpuUs);
        if (round > 0) rates.push(result.requestsPerSecond);
      }
    }
    for (const service of services.values()) await service.stop();
  }
  const cells = sides.map((side) => {
    const result = results.get(side);
    if (result === undefined) return '';
    const [warm, cold] = [spread(result.warm).least, spread(result.cold).least];
    const rate = Math.round(spread(result.rates).median).toLocaleString('en');
    return `${warm.toFixed(1)} / ${cold.toFixed(1)} (${rate})`;
  });
  return `| ${measurement.title} | ${cells.join(' | ')} |`;
}

async function startSide({ program }: Side, template: string, start: number): Promise<Service> {
  if (program === undefined) {
    const server = await startServer(() => [process.execPath, BARE], { portVariable: 'PORT' });
    // It answers every request alike, without a key.
    return { ...server, list: `${server.origin}/v1/store/orders`, headers: {}, key: '' };
  }
  const path = `${template}.${start}`;
  copyFileSync(template, path);
  return startService(`sqlite:${path}`, { program });
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
