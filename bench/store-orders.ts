import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { newPort, type Server, type StartOptions, startServer } from './processes.ts';

const PROGRAM = fileURLToPath(new URL('../bin/store-orders.js', import.meta.url));

export interface Service extends Server {
  readonly list: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly key: string;
}

/**
 * Runs a command and returns its stdout.
 * @param program the program of another checkout
 */
export function cli(
  args: readonly string[],
  database: string,
  input?: Buffer,
  program = PROGRAM,
): string {
  const output = execFileSync(process.execPath, [program, ...args], {
    env: { ...process.env, DATABASE_URL: database },
    ...(input !== undefined && { input }),
    stdio: ['pipe', 'pipe', 'ignore'],
    maxBuffer: 2 ** 31 - 1,
  });
  return String(output);
}

/** Fills a new database with pending orders. */
export function fill(database: string, count: number, program = PROGRAM): void {
  const input = execFileSync(process.execPath, [program, 'sample', String(count)], {
    maxBuffer: 2 ** 31 - 1,
  });
  const pending = Buffer.from(
    input.toString('latin1').replaceAll('"shipped"', '"pending"'),
    'latin1',
  );
  cli(['import', '-'], database, pending, program);
}

/** Starts the service with a key, and waits until it is ready and, with `listsFirst`, has its list. */
export async function startService(
  database: string,
  options: StartOptions & { key?: string; program?: string; listsFirst?: boolean } = {},
): Promise<Service> {
  const { program = PROGRAM, listsFirst = true } = options;
  const create = ['keys', 'create', '--name', 'bench'];
  const key = options.key ?? cli(create, database, undefined, program).trim();
  const operationsPort = newPort();
  const server = await startServer(
    (port) => [
      ...[process.execPath, program, 'serve', '--no-first-key', '--log-level', 'warn'],
      ...['--port', String(port), '--operations-port', String(operationsPort)],
    ],
    {
      ...options,
      env: { DATABASE_URL: database, ...options.env },
      readyUrl: `http://127.0.0.1:${operationsPort}/readyz`,
    },
  );
  const list = `${server.origin}/v1/store/orders`;
  const headers = { Authorization: `Bearer ${key}` };
  while (listsFirst && (await fetch(list, { method: 'HEAD', headers })).status === 503) {
    await sleep(200);
  }
  return { ...server, list, headers, key };
}

/** Waits until lists are sent in a content coding; the first ones may be sent uncompressed. */
export async function untilCompressed(service: Service, coding: string): Promise<void> {
  const headers = { ...service.headers, 'accept-encoding': coding };
  for (;;) {
    const response = await fetch(service.list, { method: 'HEAD', headers });
    if (response.headers.get('content-encoding') === coding) return;
    await sleep(200);
  }
}
