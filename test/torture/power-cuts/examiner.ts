import { type ChildProcess, fork } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PowerCut } from './cuts.ts';
import type { Image } from './disk.ts';
import type { Assignment, Examined } from './examine.ts';

const PROGRAM = fileURLToPath(new URL('examine.ts', import.meta.url));
/** Images that a process examines before another takes its place, since it starts the service in its own memory each time. */
const IMAGES_PER_PROCESS = 400;
/** Time for one image. */
const LIMIT_MS = 60_000;

/** A process that examines images in a folder of its own. */
export class Examiner {
  readonly #folder: string;
  readonly #shim: string;
  #child: ChildProcess | undefined;
  #examined = 0;
  #errors = '';

  constructor(folder: string, shim: string) {
    this.#folder = folder;
    this.#shim = shim;
  }

  get #image(): string {
    return join(this.#folder, 'image');
  }

  /** @returns the finding, if there is one */
  async examine({ scenario, recorded, point, seed, image }: PowerCut): Promise<string | undefined> {
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#image, { recursive: true });
    writeImage(image, recorded.root, this.#image, join(this.#folder, 'identities'));
    const { secret, requested } = recorded;
    const claims = recorded.claims.filter(({ at }) => at <= point).map(({ claim }) => claim);
    const assignment: Assignment = {
      ...{ scenario: scenario.name, folder: this.#image, seed, secret },
      ...{ claims, requested },
    };
    writeFileSync(join(this.#folder, 'assignment.json'), JSON.stringify(assignment));
    // The image as it was before it was examined.
    cpSync(this.#image, join(this.#folder, 'original'), { recursive: true });
    return this.#send(assignment);
  }

  /** Keeps the last image, to examine it again. */
  keep(path: string): void {
    rmSync(path, { recursive: true, force: true });
    cpSync(this.#folder, path, { recursive: true });
  }

  end(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  async #send(assignment: Assignment): Promise<string | undefined> {
    if (this.#examined % IMAGES_PER_PROCESS === 0) this.end();
    this.#examined += 1;
    this.#child ??= this.#start();
    const child = this.#child;
    const finding = await new Promise<string | undefined>((resolve) => {
      const overdue = () => resolve(`not examined within ${LIMIT_MS / 1000} s: ${this.#errors}`);
      const limit = setTimeout(overdue, LIMIT_MS);
      child.once('message', (examined: Examined) => {
        clearTimeout(limit);
        resolve(examined.finding);
      });
      child.once('exit', (code) => {
        clearTimeout(limit);
        resolve(`the process that examined it ended with ${code}: ${this.#errors}`);
      });
      child.send(assignment);
    });
    child.removeAllListeners('message').removeAllListeners('exit');
    if (finding !== undefined) this.end();
    return finding;
  }

  #start(): ChildProcess {
    this.#errors = '';
    const child = fork(PROGRAM, [], {
      env: {
        ...process.env,
        LD_PRELOAD: this.#shim,
        TORTURE_IDENTITIES: join(this.#folder, 'identities'),
      },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    child.stderr!.on('data', (chunk) => {
      this.#errors = (this.#errors + chunk).slice(-2_000);
    });
    return child;
  }
}

/** Writes the files of an image, and what passes them off as the original ones. */
function writeImage(image: Image, root: string, folder: string, identities: string): void {
  const original: bigint[] = [];
  const paths = [...image].sort(([one], [other]) => one.length - other.length);
  const written = new Set<bigint>();
  for (const [path, file] of paths) {
    const target = join(folder, relative(root, path));
    if (file === undefined) {
      mkdirSync(target, { recursive: true, mode: 0o700 });
      continue;
    }
    writeFileSync(target, file.bytes, { mode: 0o600 });
    const { ino } = statSync(target, { bigint: true });
    if (!written.has(file.inode)) original.push(ino, file.inode, file.born);
    written.add(file.inode);
  }
  writeFileSync(identities, new BigInt64Array(original));
}
