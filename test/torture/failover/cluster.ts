import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../postgres.ts';
import { ETCD, HERE, Machine, NETWORK, NOBODY } from './machines.ts';

const MEMBERS = 3;
/** The shortest that Patroni permits for a leader, and short pauses between its looks: a failover takes 20 to 30 s. */
const TIMES = { ttl: 20, loop_wait: 2, retry_timeout: 3 };
const SETTLED_WITHIN_MS = 120_000;
const LOOK_MS = 200;
/** Limit for an answer of Patroni. */
const ANSWER_MS = 1_000;
const GUIDE = new URL('../../../docs/postgresql-failover.md', import.meta.url);
const DATABASE = 'orders';
export const POSTGRES = /postgres/;
export const PATRONI = /patroni/;

/** Programs of Debian's packages, with the names of these. */
const NEEDED = [
  ['/usr/bin/patroni', 'patroni python3-etcd'],
  ['/usr/bin/etcd', 'etcd-server'],
  ['/usr/sbin/haproxy', 'haproxy'],
  ['/usr/lib/postgresql/15/bin/postgres', 'postgresql-15'],
] as const;

interface Member {
  readonly machine: Machine;
  readonly folder: string;
}

/** Three members of PostgreSQL under Patroni, etcd, and HAProxy in front of the leader. */
export class PatroniCluster {
  readonly #members: readonly Member[];
  readonly #folder: string;
  readonly #children: ChildProcess[] = [];
  #haproxy: ChildProcess | undefined;
  /** Through HAProxy, configured as in the guide. */
  readonly proxyUrl: string;

  private constructor(members: readonly Member[], folder: string, proxyPort: number) {
    this.#members = members;
    this.#folder = folder;
    this.proxyUrl = urlOf(`127.0.0.1:${proxyPort}`);
    process.prependOnceListener('exit', () => {
      for (const child of this.#children) child.kill('SIGKILL');
    });
  }

  /** @returns the reason if it cannot run here */
  static async start(folder: string): Promise<PatroniCluster | string> {
    const missing = NEEDED.filter(([path]) => !existsSync(path)).map(([, name]) => name);
    if (missing.length > 0)
      return `it needs Debian's packages: apt-get install ${missing.join(' ')}`;
    const machines = Machine.make(MEMBERS);
    if (typeof machines === 'string') return machines;
    const members = machines.map((machine) => {
      const own = join(folder, machine.name);
      mkdirSync(own);
      chownSync(own, NOBODY, NOBODY);
      return { machine, folder: own };
    });
    const port = await freePort();
    const cluster = new PatroniCluster(members, folder, port);
    cluster.#startEtcd();
    cluster.startProxy(port);
    for (const member of members) cluster.startPatroni(member.machine);
    const leader = await cluster.settled();
    cluster.query(leader, `CREATE DATABASE ${DATABASE}`);
    return cluster;
  }

  /** All members: nodes find the primary. */
  get url(): string {
    return urlOf(this.#members.map(({ machine }) => `${machine.address}:5432`).join(','));
  }

  urlAt(machine: Machine): string {
    return urlOf(`${machine.address}:5432`);
  }

  get machines(): readonly Machine[] {
    return this.#members.map(({ machine }) => machine);
  }

  #startEtcd(): void {
    const [clients, peers] = [`http://${ETCD}:2379`, `http://${ETCD}:2380`];
    const flags = [
      ...['--data-dir', join(this.#folder, 'etcd'), '--enable-v2'],
      ...['--listen-client-urls', clients, '--advertise-client-urls', clients],
      ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers],
      ...['--initial-cluster', `default=${peers}`],
    ];
    this.#keep(spawn('/usr/bin/etcd', flags, { stdio: ['ignore', 'pipe', 'pipe'] }), 'etcd');
  }

  /** Starts HAProxy with the configuration of the guide, for these addresses. */
  startProxy(port = Number(new URL(this.proxyUrl).port)): void {
    const [, block] = /```\n(listen postgresql\n.*?)```/s.exec(readFileSync(GUIDE, 'utf8')) ?? [];
    const text = block!
      .replace('127.0.0.1:5000', `127.0.0.1:${port}`)
      .replaceAll(/10\.0\.0\.(\d)/g, (_, index) => this.machines[Number(index) - 1]!.address);
    const path = join(this.#folder, 'haproxy.cfg');
    writeFileSync(path, text);
    this.#haproxy = spawn('/usr/sbin/haproxy', ['-db', '-f', path], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#keep(this.#haproxy, 'haproxy');
  }

  async stopProxy(): Promise<void> {
    const ended = once(this.#haproxy!, 'exit');
    this.#haproxy!.kill('SIGKILL');
    await ended;
  }

  startPatroni(machine: Machine): void {
    const { folder } = this.#members.find((each) => each.machine === machine)!;
    const config = join(folder, 'patroni.json');
    // JSON is YAML.
    writeFileSync(config, JSON.stringify(configOf(machine, folder)));
    this.#keep(machine.spawn('/usr/bin/patroni', [config], folder), machine.name);
  }

  #keep(child: ChildProcess, name: string): void {
    const log = createWriteStream(join(this.#folder, `${name}.log`), { flags: 'a' });
    child.stdout!.pipe(log, { end: false });
    child.stderr!.pipe(log, { end: false });
    this.#children.push(child);
  }

  /** Waits until there is one leader, and the other members follow it. @returns the leader */
  async settled({ isSynchronous = true } = {}): Promise<Machine> {
    const until = performance.now() + SETTLED_WITHIN_MS;
    for (let roles: string[] = []; performance.now() < until; await pause(LOOK_MS)) {
      const leader = await this.leader();
      roles = leader === undefined ? [] : await rolesAt(leader);
      const standby = isSynchronous ? 'sync_standby' : 'replica';
      if (roles.includes('leader') && roles.includes(standby) && roles.length === MEMBERS)
        return leader!;
    }
    throw new Error('Patroni has no leader with two members that follow it');
  }

  /** Waits until another member than `before` leads. */
  async leaderAfter(before: Machine): Promise<Machine> {
    const until = performance.now() + SETTLED_WITHIN_MS;
    while (performance.now() < until) {
      const leader = await this.leader(before);
      if (leader !== undefined) return leader;
      await pause(LOOK_MS);
    }
    throw new Error('Patroni has promoted no other member');
  }

  /** Returns the member that has the lock, and is not `except`; undefined without one. */
  async leader(except?: Machine): Promise<Machine | undefined> {
    const others = this.machines.filter((machine) => machine !== except);
    const asked = others.map(async (machine) => {
      const answer = await ask(machine, '/primary');
      return answer?.status === 200 ? machine : undefined;
    });
    return (await Promise.all(asked)).find((machine) => machine !== undefined);
  }

  /** Sets a value of Patroni's dynamic configuration, for all members. */
  async configure(values: Readonly<Record<string, unknown>>): Promise<void> {
    const leader = (await this.leader())!;
    await ask(leader, '/config', { method: 'PATCH', body: JSON.stringify(values) });
  }

  async switchOver(leader: Machine): Promise<void> {
    const body = JSON.stringify({ leader: leader.name });
    await ask(leader, '/switchover', { method: 'POST', body }, SETTLED_WITHIN_MS);
  }

  /** Runs a statement as the superuser on a member. */
  query(machine: Machine, sql: string, database = 'postgres'): string {
    const flags = ['-h', machine.address, '-U', 'postgres', '-d', database, '-AtXc', sql];
    const { status, stdout, stderr } = spawnSync('/usr/lib/postgresql/15/bin/psql', flags, {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${sql} failed: ${stderr}`);
    return stdout.trim();
  }
}

async function rolesAt(leader: Machine): Promise<string[]> {
  const answer = await ask(leader, '/cluster');
  const { members = [] } = answer === undefined ? {} : JSON.parse(answer.body);
  const isUp = ({ state }: { state: string }) => ['running', 'streaming'].includes(state);
  return members.filter(isUp).map(({ role }: { role: string }) => role);
}

/** Returns the answer of the Patroni of a machine; undefined without one. */
async function ask(
  { address }: Machine,
  path: string,
  init: RequestInit = {},
  withinMs = ANSWER_MS,
): Promise<{ status: number; body: string } | undefined> {
  try {
    const signal = AbortSignal.timeout(withinMs);
    const response = await fetch(`http://${address}:8008${path}`, { ...init, signal });
    return { status: response.status, body: await response.text() };
  } catch {
    return undefined;
  }
}

function urlOf(hosts: string): string {
  return `postgres://postgres@${hosts}/${DATABASE}`;
}

function configOf({ name, address }: Machine, folder: string) {
  return {
    scope: 'orders',
    name,
    restapi: { listen: `${address}:8008`, connect_address: `${address}:8008` },
    etcd: { host: `${ETCD}:2379` },
    bootstrap: {
      dcs: {
        ...TIMES,
        synchronous_mode: true,
        // What the standbys lack is to be lost.
        maximum_lag_on_failover: 1e9,
        postgresql: {
          use_pg_rewind: true,
          parameters: {
            ...{ wal_log_hints: 'on', max_connections: 100, shared_buffers: '32MB' },
            ...{ wal_keep_size: '256MB', tcp_keepalives_idle: 5 },
            // In its folder, so that a killed server leaves nothing behind.
            dynamic_shared_memory_type: 'mmap',
          },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }],
    },
    postgresql: {
      listen: `${address}:5432`,
      connect_address: `${address}:5432`,
      data_dir: join(folder, 'data'),
      bin_dir: '/usr/lib/postgresql/15/bin',
      pg_hba: [
        'local all all trust',
        `host all all ${NETWORK} trust`,
        `host replication all ${NETWORK} trust`,
      ],
      parameters: { unix_socket_directories: folder },
      authentication: {
        replication: { username: 'replicator' },
        superuser: { username: 'postgres' },
      },
    },
  };
}

/** Where nodes reach endpoints of webhooks. */
export const NODES_HOST = HERE;
