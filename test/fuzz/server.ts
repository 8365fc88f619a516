import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The resources that a process uses after a garbage collection. */
export interface ResourceUsage {
  /** Bytes of the heap and of buffers outside it. */
  readonly bytes: number;
  /** Bytes of memory of the process. */
  readonly resident: number;
  /** Open connections. */
  readonly sockets: number;
}

const PROGRAM = fileURLToPath(new URL('../../bin/store-orders.js', import.meta.url));
const PROBE = new URL('probe.ts', import.meta.url).href;

const LISTENING = /Server listening at http:\/\/[\d.]+:(\d+)/;

/** The program under test, in a process of its own that reports its resource usage. */
export class FuzzServer {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly port: number;
  /** The address of the admin listener. */
  readonly operations: string;
  /** Everything written to stderr; any output is a finding. */
  stderr = '';
  /** The log. */
  stdout = '';
  /** Exit code and signal; undefined while it runs. */
  ended: string | undefined;

  private constructor(child: ChildProcess, log: string) {
    this.#child = child;
    this.port = Number(LISTENING.exec(log)![1]);
    this.operations = /Admin listening at (http:\S+?)"/.exec(log)![1]!;
    this.stdout = log;
    child.stdout!.on('data', (chunk) => {
      this.stdout += chunk;
    });
    child.stderr!.on('data', (chunk) => {
      this.stderr += chunk;
    });
    this.#exited = once(child, 'exit').then(([code, signal]) => {
      this.ended = `exit ${code ?? signal}`;
    });
  }

  /** @param env variables that configure it */
  static async start(
    database: string,
    env: Readonly<Record<string, string>> = {},
  ): Promise<FuzzServer> {
    const flags = [
      '--port',
      '0',
      '--operations-port',
      '0',
      '--no-first-key',
      '--database',
      database,
    ];
    const node = ['--expose-gc', '--import', PROBE];
    const child = spawn(process.execPath, [...node, PROGRAM, 'serve', ...flags], {
      env: { PATH: process.env.PATH, ...env } as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let log = '';
    const errors: string[] = [];
    child.stderr!.on('data', (chunk) => errors.push(String(chunk)));
    for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false })) {
      log += chunk;
      if (LISTENING.test(log)) return new FuzzServer(child, log);
    }
    throw new Error(`the server did not start:\n${log}${errors.join('')}`);
  }

  async usage(): Promise<ResourceUsage> {
    const answered = once(this.#child, 'message');
    this.#child.send('usage');
    const usage = await Promise.race([answered, this.#exited]);
    if (this.ended !== undefined) throw new Error('the server ended before it reported its usage');
    return (usage as [ResourceUsage])[0];
  }

  /** Writes a heap snapshot, after a garbage collection. */
  async writeHeap(path: string): Promise<void> {
    const written = once(this.#child, 'message');
    this.#child.send({ heap: path });
    await written;
  }

  /** Open file descriptors; Linux only. */
  descriptors(): number {
    return readdirSync(`/proc/${this.#child.pid}/fd`).length;
  }

  /** Shuts it down gracefully. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#exited;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
