import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { PROGRAM } from '../../process/program.ts';
import { Faults } from '../shim/faults.ts';
import type { Target } from './worker.ts';

/** Bytes that the system buffers for a client that does not read, so that a stream falls behind soon. */
const SEND_BUFFER = 8_192;

export interface NodeOptions {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly database: string;
  /** For its log and the file of its faults. */
  readonly folder: string;
  /** The library of the faults, and the folder whose files fail. */
  readonly shim: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** A command that runs the program, for example in a namespace. */
  readonly wrapper: readonly string[];
}

/** A process of the service, which is started again at once whenever it ends, as a supervisor does. */
export class Node implements Target {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly faults: Faults;
  readonly #options: NodeOptions;
  #child: ChildProcess | undefined;
  #isWanted = false;
  #firstLine = Promise.withResolvers<void>();
  /** How often it has ended with an error by itself. */
  failures = 0;

  constructor(options: NodeOptions) {
    this.name = options.name;
    this.host = options.host;
    this.port = options.port;
    this.#options = options;
    this.faults = new Faults(`${options.folder}/${options.name}.faults`);
    // Before its folder is removed.
    process.prependOnceListener('exit', () => this.#child?.kill('SIGKILL'));
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** Fulfilled when the process has written its first line: how long the start of a runtime takes depends on the load of the machine. */
  get runs(): Promise<void> {
    return this.#firstLine.promise;
  }

  start(): void {
    this.#isWanted = true;
    const { wrapper, database, port, shim, root, env, folder, name, host } = this.#options;
    const flags = [
      '--host',
      host,
      '--port',
      String(port),
      '--operations-port',
      '0',
      '--no-first-key',
    ];
    const [command, ...args] = [
      ...wrapper,
      process.execPath,
      PROGRAM,
      'serve',
      '--database',
      database,
      ...flags,
    ];
    const child = spawn(command!, args, {
      env: {
        ...{ PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
        ...{ LD_PRELOAD: shim, TORTURE_ROOT: root, TORTURE_FAULTS: this.faults.path },
        TORTURE_SEND_BUFFER: String(SEND_BUFFER),
        ...{ LOG_LEVEL: 'info', DRAIN_SECONDS: '0', ...env },
      } as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const log = createWriteStream(`${folder}/${name}.log`, { flags: 'a' });
    child.stdout!.once('data', this.#firstLine.resolve).pipe(log, { end: false });
    child.stderr!.pipe(log, { end: false });
    this.#child = child;
    child.once('exit', (code) => {
      if (code !== null && code !== 0) this.failures += 1;
      if (this.#isWanted && this.#child === child)
        setTimeout(() => this.#isWanted && this.start(), 50);
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child!.kill(signal);
  }

  /** Kills the process, which is started again. */
  kill(): void {
    this.#firstLine = Promise.withResolvers();
    this.#child!.kill('SIGKILL');
  }

  /** Sends a signal that ends the process, which is started again. @returns its exit code @throws Error if it does not end in time */
  async ended(signal: NodeJS.Signals, withinMs: number): Promise<number | null> {
    const exit = once(this.#child!, 'exit', { signal: AbortSignal.timeout(withinMs) });
    this.#firstLine = Promise.withResolvers();
    this.#child!.kill(signal);
    const [code] = await exit.catch(() => {
      throw new Error(`${this.name} did not end within ${withinMs} ms after ${signal}`);
    });
    return code;
  }

  /** Ends the process for good. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#isWanted = false;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}
