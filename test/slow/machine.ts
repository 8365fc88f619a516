import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from '../postgres.ts';
import { type Running, serve } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

/** The command that a page gives to a machine's service manager. */
const SYSTEMCTL = /^systemctl (start|stop|restart) store-orders$/;

/** No command of a page takes longer. */
const COMMAND_LIMIT_MS = 60_000;

/** A machine with the folders and the names of the pages of docs/: /opt, /backup, $as, systemctl. It is a folder of this one. */
export class Machine {
  /** The URL of the store, which the service and commands use. */
  database: string;
  readonly #t: TestContext;
  readonly #folder: string;
  /** The package that stands where a page has ./store-orders-X.Y.Z.tgz. */
  readonly #tarball: string;
  readonly #ports: readonly [service: number, admin: number];
  #service: Running | undefined;

  static async with(
    t: TestContext,
    options: { readonly database: string; readonly tarball: string },
  ): Promise<Machine> {
    return new Machine(t, options, [await freePort(), await freePort()]);
  }

  private constructor(
    t: TestContext,
    { database, tarball }: { readonly database: string; readonly tarball: string },
    ports: readonly [number, number],
  ) {
    this.database = database;
    this.#t = t;
    this.#tarball = tarball;
    this.#ports = ports;
    this.#folder = temporaryFolder(t);
    for (const name of ['opt', 'backup']) mkdirSync(join(this.#folder, name));
  }

  get service(): Running {
    assert.ok(this.#service !== undefined, 'the service does not run');
    return this.#service;
  }

  /** Installs a release of which there is a checkout, and lets the machine use it. */
  use(checkout: string, version: string): void {
    symlinkSync(checkout, this.#path(`/opt/store-orders-${version}`));
    symlinkSync(checkout, this.#path('/opt/store-orders'));
  }

  async start({ expectsKey = false } = {}): Promise<Running> {
    const [port, admin] = this.#ports;
    const args = ['--port', String(port), '--operations-port', String(admin)];
    const options = { program: [process.execPath, this.#program()] as const };
    this.#service = await serve(this.#t, args, {
      ...options,
      database: this.database,
      expectsKey,
    });
    return this.#service;
  }

  /** Runs the commands of a block, one line each. @param env further variables of the shell */
  async run(block: string, env: Readonly<Record<string, string>> = {}): Promise<void> {
    for (const line of block.trim().split('\n')) {
      const command = line.replace(/\s+#.*$/, '');
      const [, action] = SYSTEMCTL.exec(command) ?? [];
      if (action === undefined) await this.#shell(command, env);
      if (action === 'stop' || action === 'restart') assert.equal(await this.service.stop(), 0);
      if (action === 'start' || action === 'restart') await this.start();
    }
  }

  async #shell(command: string, env: Readonly<Record<string, string>>): Promise<void> {
    const text = command
      .replaceAll(/\.\/store-orders-[\w.-]+\.tgz/g, this.#tarball)
      .replaceAll(/\/(?:opt|backup)\//g, (folder) => this.#path(folder))
      .replaceAll('127.0.0.1:8081', `127.0.0.1:${this.#ports[1]}`);
    const as = `${process.execPath} ${this.#program()}`;
    await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', text], {
      env: {
        // As in other tests, npm is configured by the environment.
        ...{ ...process.env, npm_config_audit: 'false', as, DATABASE_URL: this.database },
        ...{ PORT: String(this.#ports[0]), OPERATIONS_PORT: String(this.#ports[1]), ...env },
      } as NodeJS.ProcessEnv,
      timeout: COMMAND_LIMIT_MS,
    });
  }

  #path(name: string): string {
    return this.#folder + name;
  }

  /** The program of /opt/store-orders, which is a checkout or has an npm package. */
  #program(): string {
    const used = this.#path('/opt/store-orders');
    const installed = join(used, 'node_modules/store-orders');
    return join(existsSync(installed) ? installed : used, 'bin/store-orders.js');
  }
}
