import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';

/** Servers run on the first core, the load that they get on the second, so that neither slows the other. */
export const SERVER_CORE = '0';
const LOAD_CORE = '1';
export const BOTH_CORES = `${SERVER_CORE},${LOAD_CORE}`;
/** How long a server may take to answer. */
const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 3_000;
/** Between two looks whether a server is up; looking takes time that it could use. */
const POLL_MS = 10;

export interface Server {
  readonly origin: string;
  readonly child: ChildProcess;
  /** Milliseconds from its start until it answered. */
  readonly startMs: number;
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Not bound to a core: for what shares the machine with a database. */
  readonly isFree?: boolean;
  /** The environment variable that tells it the port, where its command does not. */
  readonly portVariable?: string;
  /** What is asked until it answers 200; otherwise an open port will do. */
  readonly readyUrl?: string;
}

const running = new Set<ChildProcess>();

/** Below those that the system gives to clients, of which there are many here. */
let lastPort = 21_000;

export function newPort(): number {
  lastPort += 1;
  return lastPort;
}

/** Ends what a scenario that failed has left. */
export async function stopAll(): Promise<void> {
  for (const child of running) await stop(child);
}

/** Starts a program that listens on the port it is given, and waits until it does. */
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
    if (child.exitCode !== null) throw new Error(`${program} has ended (${child.exitCode})`);
    if (performance.now() - begin > START_LIMIT_MS)
      throw new Error(`${args.join(' ')} does not answer`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const startMs = performance.now() - begin;
  return { origin: `http://127.0.0.1:${port}`, child, startMs, stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  running.delete(child);
  if (child.exitCode !== null) return;
  const ended = once(child, 'close');
  // In good order: a master that is killed leaves its workers behind.
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

/** Runs a program on the core of the load, to its end; what it printed. */
export function runOnLoadCore(command: readonly string[]): Promise<string> {
  return runOnCore(LOAD_CORE, command);
}

/** Runs a program on a core, or on both, to its end; what it printed. */
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
  if (code !== 0) throw new Error(`${command.join(' ')} has failed (${code}):\n${output}`);
  return output;
}

/** The first line that `program` prints of its version, or undefined if it is not there. */
export function versionOf(program: string, flag: string): string | undefined {
  // Some print it on stderr, and some call it an error.
  const { stdout, stderr, error } = spawnSync(program, [flag], { encoding: 'utf8' });
  return error === undefined ? `${stdout}${stderr}`.trim().split('\n')[0] : undefined;
}
