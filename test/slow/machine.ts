import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from '../postgres.ts';
import { type Running, serve } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

/** No command of a page takes longer. */
const COMMAND_LIMIT_MS = 60_000;

const SYSTEMCTL = /^systemctl (start|stop|restart|daemon-reload)/;
const ASSIGNMENT = /^(\w+)="(.*)"$/;
const FOLDERS = ['/opt', '/backup', '/etc/systemd/system', '/usr/local/bin'];
const UNIT = '/etc/systemd/system/store-orders.service';

/**
 * A machine as the pages of docs/ have it: with their folders, a unit and systemctl. It is a folder of this one, in which the service manager is
 * simulated, and all commands are run by the same user.
 */
export class Machine {
  /** The URL of the store, which the service and commands use. */
  database: string;
  readonly #t: TestContext;
  readonly #folder: string;
  /** The package that stands where a page has ./store-orders-X.Y.Z.tgz. */
  readonly #tarball: string;
  readonly #ports: readonly [service: number, admin: number];
  /** Variables of the shell in which the commands are typed. */
  readonly #variables: Record<string, string> = {};
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
    for (const name of FOLDERS) mkdirSync(this.#path(name), { recursive: true });
  }

  get service(): Running {
    assert.ok(this.#service !== undefined, 'the service does not run');
    return this.#service;
  }

  /** Installs a clone as 1.0.0 has it: in /opt/store-orders itself, with a unit that names its files. */
  useClone(checkout: string): void {
    cpSync(checkout, this.#path('/opt/store-orders'), { recursive: true, verbatimSymlinks: true });
    this.#writeUnit('/opt/store-orders/bin/store-orders.js');
  }

  /** Installs a clone in a folder of its own, with a link to it, as later releases are. */
  useRelease(checkout: string, version: string): void {
    symlinkSync(checkout, this.#path(`/opt/store-orders-${version}`));
    symlinkSync(checkout, this.#path('/opt/store-orders'));
    this.#variables.as = `${process.execPath} ${this.#path('/opt/store-orders/bin/store-orders.js')}`;
  }

  async start({ expectsKey = false } = {}): Promise<Running> {
    const [port, admin] = this.#ports;
    const args = ['--port', String(port), '--operations-port', String(admin)];
    this.#service = await serve(this.#t, args, {
      program: [process.execPath, this.#program()],
      database: this.database,
      expectsKey,
    });
    return this.#service;
  }

  /** Runs the commands of a block, one line each. @param env further variables of the shell */
  async run(block: string, env: Readonly<Record<string, string>> = {}): Promise<void> {
    Object.assign(this.#variables, env);
    for (const line of block.trim().split('\n')) {
      const command = line.replace(/\s+#.*$/, '');
      const [, action] = SYSTEMCTL.exec(command) ?? [];
      const [, name, value] = ASSIGNMENT.exec(command) ?? [];
      if (name !== undefined) this.#variables[name] = this.#here(value!);
      else if (action === undefined) await this.#shell(command);
      if (action === 'stop' || action === 'restart') assert.equal(await this.service.stop(), 0);
      if (action === 'start' || action === 'restart') await this.start();
    }
  }

  async #shell(command: string): Promise<void> {
    const [port, admin] = this.#ports;
    await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', this.#here(command)], {
      env: {
        // As in other tests, npm is configured by the environment.
        ...{ ...process.env, npm_config_audit: 'false', DATABASE_URL: this.database },
        ...{ PORT: String(port), OPERATIONS_PORT: String(admin), ...this.#variables },
      } as NodeJS.ProcessEnv,
      timeout: COMMAND_LIMIT_MS,
    });
  }

  /** Returns a text with the folders, the port and the package of this machine, and without users. */
  #here(text: string): string {
    return text
      .replaceAll(/\.\/store-orders-[\w.-]+\.tgz/g, this.#tarball)
      .replaceAll(new RegExp(`(?<![\\w/])(?:${FOLDERS.join('|')})(?=/| |$)`, 'g'), (folder) =>
        this.#path(folder),
      )
      .replaceAll('127.0.0.1:8081', `127.0.0.1:${this.#ports[1]}`)
      .replaceAll(/runuser -u store-orders -- |-o store-orders -g store-orders /g, '');
  }

  #path(name: string): string {
    return this.#folder + name;
  }

  #writeUnit(program: string): void {
    writeFileSync(this.#path(UNIT), `[Service]\nExecStart=/usr/bin/node ${program} serve\n`);
  }

  /** The program that the unit starts; without a unit, that of the clone or the package in /opt/store-orders. */
  #program(): string {
    const unit = this.#path(UNIT);
    const [, named] = existsSync(unit)
      ? /^ExecStart=\S+ (\S+\.js) /m.exec(readFileSync(unit, 'utf8'))!
      : [];
    if (named !== undefined) return this.#path(named);
    const used = this.#path('/opt/store-orders');
    const installed = join(used, 'node_modules/store-orders');
    return join(existsSync(installed) ? installed : used, 'bin/store-orders.js');
  }
}
