import { type ChildProcess, fork } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PowerCut } from './cuts.ts';
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
  async examine(cut: PowerCut): Promise<string | undefined> {
    rmSync(this.#folder, { recursive: true, force: true });
    writeImage(cut, this.#image, join(this.#folder, 'identities'));
    return this.#send(assignmentOf(cut, this.#image));
  }

  /** Keeps the image that was examined last, to examine it again: as it was before, and as it is now. */
  keep(cut: PowerCut, path: string): void {
    rmSync(path, { recursive: true, force: true });
    cpSync(this.#image, join(path, 'image'), { recursive: true });
    writeImage(cut, join(path, 'original'), join(path, 'identities'));
    writeFileSync(join(path, 'assignment.json'), JSON.stringify(assignmentOf(cut, this.#image)));
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

function assignmentOf({ scenario, recorded, point, seed }: PowerCut, folder: string): Assignment {
  const { secret, requested } = recorded;
  const claims = recorded.claims.filter(({ at }) => at <= point).map(({ claim }) => claim);
  return { scenario: scenario.name, folder, seed, secret, claims, requested };
}

/** Writes the files of an image, and what passes them off as the original ones. */
function writeImage({ image, recorded }: PowerCut, folder: string, identities: string): void {
  mkdirSync(folder, { recursive: true });
  const original: bigint[] = [];
  const paths = [...image].sort(([one], [other]) => one.length - other.length);
  const written = new Set<bigint>();
  for (const [path, file] of paths) {
    const target = join(folder, relative(recorded.root, path));
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
