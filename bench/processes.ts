import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';

/** Servers run on the first core and the load on the second, so that neither slows the other. */
export const SERVER_CORE = '0';
const LOAD_CORE = '1';
export const BOTH_CORES = `${SERVER_CORE},${LOAD_CORE}`;
/** How long a server may take to start. */
const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 3_000;
/** Pause between checks whether a server is up; the checks take time from it. */
const POLL_MS = 10;

export interface Server {
  readonly origin: string;
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Not bound to a core: for servers that share both cores with a database. */
  readonly isFree?: boolean;
  /** The environment variable for the port, if the command does not contain it. */
  readonly portVariable?: string;
  /** A URL that is polled until it returns 200; without it, an open port is enough. */
  readonly readyUrl?: string;
}

const running = new Set<ChildProcess>();

/** Below the ephemeral ports, of which clients use many here. */
let lastPort = 21_000;

export function newPort(): number {
  lastPort += 1;
  return lastPort;
}

/** Stops all processes that a failed scenario left behind. */
export async function stopAll(): Promise<void> {
  for (const child of running) await stop(child);
}

/** Starts a program that listens on the given port, and waits until it is up. */
export async function startServer(
  command: (port: number) => readonly string[],
  { env = {}, isFree = false, cwd, portVariable, readyUrl }: StartOptions = {},
): Promise<Server> {
  const port = newPort();
  const bound = isFree ? [] : ['taskset', '-c', SERVER_CORE];
  const [program, ...args] = [...bound, ...command(port)];
  const child = spawn(program!, args, {
    ...(cwd !== undefined && { cwd }),
    env: {
      ...process.env,
      NODE_ENV: 'production',
      ...(portVariable !== undefined && { [portVariable]: String(port) }),
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  running.add(child);
  const isUp = readyUrl === undefined ? () => accepts(port) : () => answers(readyUrl);
  const begin = performance.now();
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error(`${program} ended (${child.exitCode})`);
    if (performance.now() - begin > START_LIMIT_MS)
      throw new Error(`${args.join(' ')} does not respond`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return { origin: `http://127.0.0.1:${port}`, child, stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  running.delete(child);
  if (child.exitCode !== null) return;
  const ended = once(child, 'close');
  // Gracefully: a killed master process leaves its workers behind.
  child.kill('SIGTERM');
  const overdue = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await ended;
  clearTimeout(overdue);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).status === 200;
  } catch {
    return false;
  }
}

/** Runs a program on the load core until it ends, and returns its output. */
export function runOnLoadCore(command: readonly string[]): Promise<string> {
  return runOnCore(LOAD_CORE, command);
}

/** Runs a program on one core or both until it ends, and returns its output. */
export async function runOnCore(core: string, command: readonly string[]): Promise<string> {
  const [program, ...args] = ['taskset', '-c', core, ...command];
  const child = spawn(program!, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command.join(' ')} failed (${code}):\n${output}`);
  return output;
}

/** The first line of the version that `program` prints, or undefined if it is not installed. */
export function versionOf(program: string, flag: string): string | undefined {
  // Some programs print it on stderr, and some exit with an error.
  const { stdout, stderr, error } = spawnSync(program, [flag], { encoding: 'utf8' });
  return error === undefined ? `${stdout}${stderr}`.trim().split('\n')[0] : undefined;
}
