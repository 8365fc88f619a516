import { type ChildProcess, spawn, spawnSync } from 'node:child_process';

/** Of the range that is reserved for benchmarks of networks (RFC 2544); another one for each process of the suite. */
const PREFIX = `198.19.${process.pid % 256}`;
/** The user "nobody": PostgreSQL refuses to run as root. */
export const NOBODY = 65_534;

/** The address of this machine, where nodes and proxy run, and the one at which the others find etcd. */
export const HERE = `${PREFIX}.1`;
export const ETCD = `${PREFIX}.2`;
export const NETWORK = `${PREFIX}.0/24`;

/** A network namespace as a machine of its own, on a bridge of this machine. */
export class Machine {
  readonly name: string;
  readonly address: string;
  readonly #namespace: string;
  readonly #link: string;

  private constructor(index: number) {
    this.name = `m${index}`;
    this.address = `${PREFIX}.${10 + index}`;
    this.#namespace = `failover-${process.pid}-${index}`;
    this.#link = `f${process.pid}m${index}`;
  }

  /** Makes machines, which are removed when this process ends. @returns the reason if there can be none */
  static make(count: number): Machine[] | string {
    const bridge = `f${process.pid}`;
    const machines = Array.from({ length: count }, (_, index) => new Machine(index + 1));
    process.once('exit', () => {
      for (const machine of machines) machine.#remove();
      ip(`link delete ${bridge}`);
    });
    const commands = [
      `link add ${bridge} type bridge`,
      `address add ${HERE}/24 dev ${bridge}`,
      `address add ${ETCD}/24 dev ${bridge}`,
      `link set ${bridge} up`,
      ...machines.flatMap((machine) => machine.#commands(bridge)),
    ];
    for (const command of commands) {
      const { status, stderr, error } = ip(command);
      if (error !== undefined) return 'it needs ip (Debian: apt-get install iproute2)';
      if (status !== 0) return `it needs root (ip ${command}: ${stderr.trim()})`;
    }
    return machines;
  }

  #commands(bridge: string): string[] {
    const [namespace, link] = [this.#namespace, this.#link];
    return [
      `netns add ${namespace}`,
      `link add ${link} type veth peer name n0 netns ${namespace}`,
      `link set ${link} master ${bridge}`,
      `link set ${link} up`,
      `-n ${namespace} address add ${this.address}/24 dev n0`,
      `-n ${namespace} link set n0 up`,
      `-n ${namespace} link set lo up`,
    ];
  }

  /** Runs a program there, as a user without rights. */
  spawn(program: string, args: readonly string[], cwd: string): ChildProcess {
    const user = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups'];
    const command = ['netns', 'exec', this.#namespace, 'setpriv', ...user, program, ...args];
    return spawn('ip', command, {
      cwd,
      env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', HOME: cwd } as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** The ids of its processes whose command line matches. */
  pids(pattern = /./): number[] {
    const { stdout } = ip(`netns pids ${this.#namespace}`);
    const pids = stdout.split('\n').filter(Boolean).map(Number);
    return pids.filter((pid) => {
      const { stdout: command } = spawnSync('ps', ['-o', 'args=', '-p', String(pid)], {
        encoding: 'utf8',
      });
      return pattern.test(command);
    });
  }

  signal(signal: NodeJS.Signals, pattern?: RegExp): void {
    for (const pid of this.pids(pattern)) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended.
      }
    }
  }

  /** Cuts it off from all others, or connects it again. Both sides lose packets without notice. */
  connect(isOn: boolean): void {
    ip(`link set ${this.#link} ${isOn ? 'up' : 'down'}`);
  }

  /** Cuts it off from etcd only, or connects it again. */
  connectToEtcd(isOn: boolean): void {
    ip(`-n ${this.#namespace} route ${isOn ? 'delete' : 'add'} blackhole ${ETCD}/32`);
  }

  #remove(): void {
    this.signal('SIGKILL');
    ip(`netns delete ${this.#namespace}`);
  }
}

function ip(command: string) {
  return spawnSync('ip', command.split(' '), { encoding: 'utf8' });
}
