import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync } from 'node:fs';
import { eventually } from '../postgres.ts';
import type { Image } from './build-image.ts';

/** Time for a command in the container. */
const COMMAND_LIMIT_MS = 30_000;

/**
 * Makes the image's files the root of a new process 1, read-only but for the volume, as an engine does with
 * --read-only: $1 is their folder, $2 the volume's; what follows is run.
 */
const ENTER = `set -e
root=$1 volume=$2
shift 2
mount --bind "$root" "$root"
mount --bind "$volume" "$root/data"
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -o remount,bind,ro "$root"
exec chroot "$root" "$@"`;

/** A volume as an engine makes it: with the owner and mode of the folder in the image. */
export function makeVolume(image: Image, folder: string): string {
  mkdirSync(folder, { mode: 0o700 });
  const [uid, gid] = image.config.User.split(':').map(Number);
  chownSync(folder, uid!, gid!);
  return folder;
}

/** The command with the environment, folder and user of the image, without any capability. */
function asConfigured({ config }: Image, env: Settings, args: readonly string[]): string[] {
  const [uid, gid] = config.User.split(':');
  const variables = [...config.Env, ...Object.entries(env).map((each) => each.join('='))];
  const user = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const rights = ['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];
  return [
    'env',
    '-i',
    '-C',
    config.WorkingDir,
    ...variables,
    'setpriv',
    ...user,
    ...rights,
    ...args,
  ];
}

type Settings = Readonly<Record<string, string>>;

/** A process 1 that runs the image, with the network of this machine. */
export class Container {
  readonly #image: Image;
  readonly #env: Settings;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  stdout = '';
  stderr = '';

  /** @param args instead of the image's CMD, if there are any */
  constructor(image: Image, volume: string, env: Settings = {}, args: readonly string[] = []) {
    this.#image = image;
    this.#env = env;
    const { Entrypoint, Cmd } = image.config;
    const run = asConfigured(image, env, [...Entrypoint, ...(args.length > 0 ? args : Cmd)]);
    const enter = ['sh', '-c', ENTER, 'sh', image.root, volume, ...run];
    const spaces = ['--mount', '--pid', '--fork', '--kill-child'];
    this.#child = spawn('unshare', [...spaces, ...enter], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stdout!.on('data', (chunk) => {
      this.stdout += chunk;
    });
    this.#child.stderr!.on('data', (chunk) => {
      this.stderr += chunk;
    });
    this.#ended = once(this.#child, 'close');
  }

  /** Resolves to the first group once the output matches. */
  async printed(pattern: RegExp): Promise<string> {
    const text = () => `${this.stdout}\n${this.stderr}`;
    let match: RegExpExecArray | null = null;
    await eventually(
      async () => {
        match = pattern.exec(text());
        if (match === null) throw new Error(`the container did not print ${pattern}`);
      },
      () => text(),
    );
    return match![1]!;
  }

  /** Process 1, by its id outside. */
  get pid(): number {
    const { pid } = this.#child;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
  }

  /** A line of /proc/1/status. */
  status(name: string): string {
    const text = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(text)![1]!;
  }

  /** Runs another command in the container. */
  exec(args: readonly string[], input = '') {
    const where = ['--target', String(this.pid), '--mount', '--pid', '--root'];
    const run = asConfigured(this.#image, this.#env, args);
    const options = { input, encoding: 'utf8', timeout: COMMAND_LIMIT_MS } as const;
    const { status, stdout, stderr } = spawnSync('nsenter', [...where, ...run], options);
    return { code: status, stdout, stderr };
  }

  /** Resolves to the exit code. */
  async ended(): Promise<unknown> {
    return (await this.#ended)[0];
  }

  /** Resolves to the exit code and the time that it took. */
  async stop(): Promise<{ code: unknown; ms: number }> {
    const start = performance.now();
    process.kill(this.pid, 'SIGTERM');
    return { code: await this.ended(), ms: performance.now() - start };
  }

  async remove(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
