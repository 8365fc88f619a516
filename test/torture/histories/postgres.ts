import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { Cluster, eventually, freePort } from '../../postgres.ts';
import { EIO, ENOSPC, Faults } from '../shim/faults.ts';
import type { Deployment, Fault } from './deployment.ts';
import { changesOf } from './feed.ts';
import { OtherMachine } from './network.ts';
import { Node } from './node.ts';
import { processFaults, stopAndContinue } from './node-faults.ts';
import { type Address, relay } from './relay.ts';

const NODES = 3;
const DATABASE = 'orders';
/** SQLSTATE: the server has ended one of two sessions that wait for each other. */
const DEADLOCK = '40P01';
const SHORT_MS = 700;
const LONG_MS = 3_000;
const OFF_MS = 14_000;
/** Longer than a client waits for an answer. */
const HANGS_MS = 6_000;
/** Of the way between the servers and the first node: see relay. */
const FAR_MS = 5;
const LOST = 0.05;
/** Each may come between a commit and its confirmation. */
const TERMINATIONS = 8;
/** While the standby is not connected, this much is written that a failover then loses. */
const LOST_MS = 1_500;
/** How often the sessions that wait for a standby are ended; each time, some of their changes are requested again. */
const UNCONFIRMED = 6;

/** Three nodes on PostgreSQL with streaming replication; one of them in a network of its own, if that is permitted. */
export async function onPostgres({
  folder,
  shim,
  env,
}: {
  folder: string;
  shim: string;
  env: Readonly<Record<string, string>>;
}): Promise<Deployment> {
  const machine = OtherMachine.make();
  const other = typeof machine === 'string' ? undefined : machine;
  const host = other?.here ?? '127.0.0.1';
  const servers = await Servers.start(folder, shim, host, other?.network);
  const network = await FarNetwork.to(servers);
  const nodes: Node[] = [];
  for (let index = 1; index <= NODES; index += 1) {
    const isAway = index === NODES && other !== undefined;
    const database = index === 1 ? network.url : servers.url;
    nodes.push(
      new Node({
        ...{ name: `node-${index}`, database, folder, shim, root: folder, env },
        ...{ host: isAway ? other.there : '127.0.0.1', port: await freePort() },
        wrapper: isAway ? other.wrapper : [],
      }),
    );
  }
  for (const node of nodes) node.start();
  const cut: Fault[] = other === undefined ? [] : [cutOff(other)];
  return {
    name: `PostgreSQL, ${NODES} nodes`,
    ...{ nodes, database: servers.url, host, env, folder },
    faults: [
      ...processFaults(nodes),
      ...cut,
      hang(nodes),
      lostResponses(network),
      ...serverFaults(servers, nodes),
    ],
    endSessions: () => servers.endSessions(),
    skipped: typeof machine === 'string' ? [machine] : [],
    end: async () => {
      await Promise.all(nodes.map((node) => node.stop('SIGKILL')));
      await servers.remove();
      other?.remove();
    },
  };
}

/** A primary, and the standby that takes its place at a failover. */
class Servers {
  readonly #host: string;
  readonly #ports: readonly [number, number];
  readonly faults: Faults;
  #primary: Cluster;
  #standby: Cluster | undefined;

  private constructor(host: string, faults: Faults, primary: Cluster, otherPort: number) {
    this.#host = host;
    this.faults = faults;
    this.#primary = primary;
    this.#ports = [primary.port, otherPort];
  }

  static async start(
    folder: string,
    shim: string,
    host: string,
    network: string | undefined,
  ): Promise<Servers> {
    const data = join(folder, 'postgres');
    mkdirSync(data);
    const faults = new Faults(join(folder, 'postgres.faults'));
    chmodSync(faults.path, 0o666);
    const settings = {
      ...{ listen_addresses: `127.0.0.1${host === '127.0.0.1' ? '' : `,${host}`}` },
      // In its folder, so that a killed server leaves nothing behind.
      dynamic_shared_memory_type: 'mmap',
      ...{ shared_buffers: '32MB', max_connections: '60', wal_keep_size: '256MB' },
    };
    const env = { LD_PRELOAD: shim, TORTURE_ROOT: data, TORTURE_FAULTS: faults.path };
    const primary = await Cluster.start(settings, data, env);
    if (network !== undefined) await primary.trust(network);
    await primary.admin(`CREATE DATABASE ${DATABASE}`);
    return new Servers(host, faults, primary, await freePort());
  }

  /** Both servers: nodes find the primary. */
  get url(): string {
    return urlOf(this.addresses);
  }

  get addresses(): readonly Address[] {
    return this.#ports.map((port) => ({ host: this.#host, port }));
  }

  get primary(): Cluster {
    return this.#primary;
  }

  /** Makes the standby that a failover needs, and waits until it has everything. */
  async #withStandby(isSynchronous: boolean): Promise<Cluster> {
    const port = this.#ports.find((each) => each !== this.#primary.port)!;
    this.#standby ??= await this.#primary.makeStandby(this.#host, port);
    const names = isSynchronous ? "'*'" : "''";
    await this.#primary.admin(`ALTER SYSTEM SET synchronous_standby_names = ${names}`);
    await this.#primary.admin('SELECT pg_reload_conf()');
    const state = isSynchronous ? "sync_state = 'sync'" : "state = 'streaming'";
    await eventually(async () => {
      const found = await this.#primary.admin(`SELECT 1 FROM pg_stat_replication WHERE ${state}`);
      if (found.length === 0) throw new Error('the standby is not connected');
    });
    return this.#standby;
  }

  async #promote(): Promise<Cluster> {
    const old = this.#primary;
    await this.#standby!.admin('SELECT pg_promote(true, 20)');
    await this.#standby!.admin('ALTER SYSTEM RESET synchronous_standby_names');
    await this.#standby!.admin('SELECT pg_reload_conf()');
    this.#primary = this.#standby!;
    this.#standby = undefined;
    return old;
  }

  /** The machine of the primary is lost, and its synchronous standby, which has everything that was acknowledged, is promoted. */
  async failOver(): Promise<void> {
    await this.#withStandby(true);
    await pause(SHORT_MS);
    await this.#primary.lose();
    const old = await this.#promote();
    await old.remove();
  }

  /**
   * The standby loses its connection; later the primary dies. A synchronous standby confirms no commit meanwhile, and the sessions that
   * wait for it are ended, so that others see what it does not have.
   * @returns how to promote the standby, and to read the old server
   */
  async loseTail({ isSynchronous = false } = {}) {
    const standby = await this.#withStandby(isSynchronous);
    // Until all sessions wait for a synchronous one.
    await pause(SHORT_MS);
    await standby.admin("ALTER SYSTEM SET primary_conninfo = ''");
    await standby.admin('SELECT pg_reload_conf()');
    await pause(LOST_MS);
    for (let times = 0; isSynchronous && times < UNCONFIRMED; times += 1) {
      await this.endSessions();
      await pause(SHORT_MS);
    }
    await this.#primary.stop('kill');
    return async () => {
      const old = await this.#promote();
      const before = await old.elsewhere((server) => changesOf(server.url(DATABASE)));
      await old.remove();
      return before;
    };
  }

  async endSessions(): Promise<void> {
    await this.#primary.admin(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${DATABASE}'`,
    );
  }

  async remove(): Promise<void> {
    await this.#standby?.remove();
    await this.#primary.remove();
  }
}

function urlOf(addresses: readonly Address[]): string {
  const hosts = addresses.map(({ host, port }) => `${host}:${port}`);
  return `postgres://postgres@${hosts.join(',')}/${DATABASE}`;
}

/** A network to the servers that is slow, so that what one node does happens between the steps and statements of another. */
class FarNetwork {
  readonly url: string;
  loses = () => false;

  private constructor(url: string) {
    this.url = url;
  }

  static async to({ addresses }: Servers): Promise<FarNetwork> {
    let network: FarNetwork | undefined;
    const loses = () => network?.loses() ?? false;
    const ports = await Promise.all(
      addresses.map((address) => relay(() => address, { loses, delayMs: FAR_MS })),
    );
    network = new FarNetwork(urlOf(ports.map((port) => ({ host: '127.0.0.1', port }))));
    return network;
  }
}

/** Commits are made whose confirmation does not arrive. */
function lostResponses(network: FarNetwork): Fault {
  return {
    name: 'a network that loses responses of PostgreSQL',
    happen: async ({ random }) => {
      network.loses = () => random.chance(LOST);
      await pause(LONG_MS);
      network.loses = () => false;
    },
  };
}

/** A node is stopped, perhaps in a transaction, and the others go on. */
function hang(nodes: readonly Node[]): Fault {
  return {
    name: 'a node that hangs',
    happen: async ({ random, othersWork }) => {
      const node = random.pick(nodes);
      node.signal('SIGSTOP');
      try {
        await othersWork(node);
      } finally {
        node.signal('SIGCONT');
      }
    },
  };
}

function serverFaults(servers: Servers, nodes: readonly Node[]): Fault[] {
  const fails = (name: string, begin: (faults: Faults) => void): Fault => ({
    name,
    happen: async () => {
      begin(servers.faults);
      await pause(SHORT_MS);
      servers.faults.end();
      // The server may have given up, and its supervisor starts it again.
      await servers.primary.stop('immediate');
      await servers.primary.run();
    },
  });
  return [
    {
      name: 'a kill of PostgreSQL',
      happen: async () => {
        await servers.primary.stop('kill');
        await servers.primary.run();
      },
    },
    {
      name: 'a restart of PostgreSQL',
      happen: async ({ random }) => {
        await servers.primary.stop('fast');
        // Longer than a node waits between two attempts to connect, however often it has failed.
        if (random.chance(0.5)) await pause(OFF_MS);
        await servers.primary.run();
      },
    },
    {
      name: 'the end of all sessions',
      happen: async ({ random }) => {
        for (let times = 0; times < TERMINATIONS; times += 1) {
          await servers.endSessions();
          await pause(random.below(SHORT_MS));
        }
      },
    },
    {
      name: 'sessions that stop and continue',
      isAnswered: true,
      happen: async ({ random }) => {
        const rows = await servers.primary.admin(
          `SELECT pid FROM pg_stat_activity WHERE datname = '${DATABASE}'`,
        );
        const sessions = rows.map(([pid]) => (name: NodeJS.Signals) => {
          try {
            process.kill(Number(pid), name);
          } catch {
            // The session has ended.
          }
        });
        await stopAndContinue(random, sessions, HANGS_MS);
      },
    },
    { name: 'a foreign lock', isAnswered: true, happen: () => lockTables(servers.primary) },
    fails('a full disk of PostgreSQL', (faults) => faults.failWrites(ENOSPC)),
    fails('syncs of PostgreSQL that fail (EIO)', (faults) => faults.failSyncs(EIO)),
    { name: 'a failover to a synchronous standby', happen: () => servers.failOver() },
    {
      name: 'a failover to a synchronous standby that was cut off',
      happen: async ({ replaceHistory }) => {
        const complete = await servers.loseTail({ isSynchronous: true });
        await replaceHistory(async () => ({ ...(await complete()), keepsAcknowledged: true }));
      },
    },
    {
      name: 'a failover to a standby that lacks the latest changes',
      happen: async ({ random, replaceHistory }) => {
        const complete = await servers.loseTail();
        await replaceHistory(async () => {
          // Nodes that begin now do not know what was lost.
          if (random.chance(0.5)) for (const node of nodes) node.kill();
          return complete();
        });
      },
    },
  ];
}

/** Another session holds a lock on the tables. */
async function lockTables(primary: Cluster): Promise<void> {
  const client = new Client({ connectionString: primary.url(DATABASE) });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('BEGIN; LOCK TABLE orders, store IN ACCESS EXCLUSIVE MODE');
    await pause(LONG_MS);
    await client.query('ROLLBACK');
  } catch (error) {
    if ((error as { code?: string }).code !== DEADLOCK) throw error;
  } finally {
    await client.end();
  }
}

function cutOff(machine: OtherMachine): Fault {
  return {
    name: 'a cut of the network',
    happen: async ({ random }) => {
      machine.connect(false);
      await pause(random.chance(0.5) ? SHORT_MS : LONG_MS);
      machine.connect(true);
    },
  };
}
