import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable, Writable } from 'node:stream';

/** What a command reads from and writes to; a process is one. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}

const terminals = new AsyncLocalStorage<Terminal>();

/** The terminal of the command that is running: the process's own, unless `runIn` has set another. */
export function terminal(): Terminal {
  return terminals.getStore() ?? process;
}

export function runIn<T>(own: Terminal, command: () => Promise<T>): Promise<T> {
  return terminals.run(own, command);
}
