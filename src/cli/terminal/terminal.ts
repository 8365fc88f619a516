import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable, Writable } from 'node:stream';

/** Standard streams and environment of a command; `process` conforms to it. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}

const terminals = new AsyncLocalStorage<Terminal>();

/** Returns the terminal of the running command: `process`, unless `runIn` has set another. */
export function terminal(): Terminal {
  return terminals.getStore() ?? process;
}

export function runIn<T>(own: Terminal, command: () => Promise<T>): Promise<T> {
  return terminals.run(own, command);
}
