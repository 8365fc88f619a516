import { spawnSync } from 'node:child_process';

/** Of the range that is reserved for benchmarks of networks (RFC 2544); another one for each process of the suite. */
const PREFIX = `198.18.${process.pid % 256}`;

/** Of Linux, in characters. */
const MAX_LINK_NAME = 15;

/** A network namespace that is connected to this machine by one link, which can be cut. */
export class OtherMachine {
  readonly #name: string;
  /** The address of this machine, as the other one sees it. */
  readonly here = `${PREFIX}.1`;
  readonly there = `${PREFIX}.2`;
  readonly network = `${PREFIX}.0/30`;

  private constructor(name: string) {
    this.#name = name;
  }

  /** @returns the reason if there can be none */
  static make(): OtherMachine | string {
    const name = `torture-${process.pid}`;
    const machine = new OtherMachine(name);
    process.once('exit', () => machine.remove());
    const { here, there } = machine;
    const link = `${name.slice(-MAX_LINK_NAME + 1)}h`;
    const commands = [
      `netns add ${name}`,
      `link add ${link} type veth peer name n0 netns ${name}`,
      `address add ${here}/30 dev ${link}`,
      `link set ${link} up`,
      `-n ${name} address add ${there}/30 dev n0`,
      `-n ${name} link set n0 up`,
      `-n ${name} link set lo up`,
    ];
    for (const command of commands) {
      const { status, stderr, error } = ip(command);
      if (error !== undefined) return 'a node in a network of its own: Debian has ip as iproute2';
      if (status !== 0)
        return `a node in a network of its own needs root (ip ${command}: ${stderr.trim()})`;
    }
    return machine;
  }

  /** A command that runs a program there. */
  get wrapper(): readonly string[] {
    return ['ip', 'netns', 'exec', this.#name];
  }

  /** Cuts the link, or connects it again. Both sides lose packets without notice. */
  connect(isOn: boolean): void {
    ip(`-n ${this.#name} link set n0 ${isOn ? 'up' : 'down'}`);
  }

  remove(): void {
    ip(`netns delete ${this.#name}`);
  }
}

function ip(command: string) {
  return spawnSync('ip', command.split(' '), { encoding: 'utf8' });
}
