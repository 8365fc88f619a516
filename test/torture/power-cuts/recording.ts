import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { PROGRAM } from '../../process/program.ts';
import { type Answer, type Call, parse, send } from '../http.ts';
import { type Claim, digestOf } from './claims.ts';
import { Disk, type ImageFile } from './disk.ts';
import { type Entry, readRecord } from './record.ts';

/** Time for a request, and for the start of the service. */
const LIMIT_MS = 30_000;
/** Time after which a recorded process is killed. */
const PROCESS_LIMIT_MS = 100_000;

/** A complete record, with what was claimed at which of its entries. */
export interface Recorded {
  readonly root: string;
  readonly entries: readonly Entry[];
  /** The index of the first entry after which the power may fail. */
  readonly from: number;
  /** The claims by the index of the entry at which they were made; those that hold from the beginning have -1. */
  readonly claims: readonly { readonly at: number; readonly claim: Claim }[];
  readonly requested: readonly string[];
  readonly secret: string;
  /** The disk before the first entry. */
  readonly begin: () => Disk;
}

/** Runs the program in a folder, under the shim, and notes what it acknowledges. */
export class Recording {
  /** The folder of all files, which is the current folder of the program. */
  readonly root: string;
  readonly #shim: string;
  readonly #record: string;
  readonly #initial: ReadonlyMap<string, ImageFile | undefined>;
  readonly #secret: string;
  readonly #requested = new Set<string>();
  /** Claims by what marks them in the record: a request id, a process, or a text that was printed. */
  readonly #claims: { readonly mark: string | undefined; readonly claim: Claim }[] = [];
  #requests = 0;
  #from = 0;

  /** @param root its present content is durable; no other program may change it from now on */
  constructor(root: string, shim: string, secret: string) {
    this.root = root;
    this.#shim = shim;
    this.#secret = secret;
    this.#record = `${root}.record`;
    closeSync(openSync(this.#record, 'wx'));
    this.#initial = filesBelow(root);
  }

  /** Claims what was acknowledged before the record, or from the moment when the record has `mark`. */
  claim(claim: Claim, mark?: string): void {
    this.#claims.push({ mark, claim });
  }

  /** The power fails only from now on. */
  beginCuts(): void {
    this.#from = readRecord(this.#record).length;
  }

  /** Notes that a change may be found, whether or not it is acknowledged. */
  mayFind(...changes: readonly string[]): void {
    for (const change of changes) this.#requested.add(change);
  }

  /** Notes that orders, which belong to the pets of the same numbers, may be placed and cancelled. */
  mayCancel(ids: readonly number[]): void {
    for (const id of ids) this.mayFind(`placed ${id}`, `cancelled ${id}`);
  }

  /** Starts the service on a database in the folder, and waits until it listens. */
  async serve({
    file = 'store.db',
    env = {},
  }: {
    file?: string;
    env?: Record<string, string>;
  } = {}) {
    const ports = ['--port', '0', '--operations-port', '0'];
    const child = this.#start(['serve', '--database', `sqlite:${file}`, ...ports], env);
    const printed = printedBy(child);
    const [, port] = await printed(/Server listening at http:\S+:(\d+)/);
    const agent = new Agent({ keepAlive: true });
    const sending = { port: Number(port), agent, limitMs: LIMIT_MS };
    return {
      printed,
      request: (call: Call) => this.#request(sending, call),
      stop: async () => {
        agent.destroy();
        const ended = once(child, 'close');
        child.kill('SIGTERM');
        const [code] = await ended;
        if (code !== 0) throw new Error(`the service ended with ${code}`);
      },
      /** Ends it as a crash does: the database keeps its log. */
      kill: async () => {
        agent.destroy();
        const ended = once(child, 'close');
        child.kill('SIGKILL');
        await ended;
      },
    };
  }

  /** Runs a command until it ends with success, which makes `claims`. */
  async command(
    args: readonly string[],
    { input, claims = [] }: { input?: string; claims?: readonly Claim[] } = {},
  ): Promise<void> {
    const child = this.#start(args, {});
    let output = '';
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (chunk) => {
        output += chunk;
      });
    }
    child.stdin!.end(input);
    for (const claim of claims) this.claim(claim, `exit of ${child.pid}`);
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${args.join(' ')} failed:\n${output}`);
  }

  /** Sends a request, and notes what the response claims. */
  async #request(sending: Parameters<typeof send>[0], call: Call): Promise<Answer> {
    this.#requests += 1;
    const id = `op-${this.#requests}.`;
    const headers = { ...call.headers, 'x-request-id': id };
    const answer = await send(sending, { secret: this.#secret, ...call, headers });
    for (const claim of claimsOf(call, answer)) this.claim(claim, id);
    return answer;
  }

  #start(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
    return spawn(process.execPath, [PROGRAM, ...args], {
      cwd: this.root,
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        LD_PRELOAD: this.#shim,
        TORTURE_ROOT: this.root,
        TORTURE_RECORD: this.#record,
        UV_USE_IO_URING: '0',
        ...env,
      } as NodeJS.ProcessEnv,
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: PROCESS_LIMIT_MS,
      killSignal: 'SIGKILL',
    });
  }

  /**
   * Ends the record.
   * @throws Error if it does not lead to the files that the programs have left
   */
  end(): Recorded {
    const entries = readRecord(this.#record);
    const begin = () => {
      const disk = new Disk(this.root);
      for (const [path, file] of this.#initial) disk.add(path, file);
      return disk;
    };
    const disk = begin();
    for (const entry of entries) disk.apply(entry);
    expectSame(disk.now(), filesBelow(this.root));
    const marks = marksOf(entries);
    const claims = this.#claims.flatMap(({ mark, claim }) => {
      const at = mark === undefined ? -1 : marks(mark);
      return at === undefined ? [] : [{ at, claim }];
    });
    return {
      root: this.root,
      entries,
      from: this.#from,
      claims,
      requested: [...this.#requested],
      secret: this.#secret,
      begin,
    };
  }
}

/**
 * Returns a function that waits until the process has printed a text, on either output.
 * It throws an Error, and the process is killed, if that does not happen in time.
 */
function printedBy(child: ChildProcess): (pattern: RegExp) => Promise<RegExpExecArray> {
  const changes = new EventEmitter();
  let output = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (chunk) => {
      output += chunk;
      changes.emit('change');
    });
  }
  return async (pattern) => {
    const signal = AbortSignal.timeout(LIMIT_MS);
    for (;;) {
      const found = pattern.exec(output);
      if (found !== null) return found;
      try {
        await once(changes, 'change', { signal });
      } catch {
        child.kill('SIGKILL');
        throw new Error(`the service did not print ${pattern}:\n${output}`);
      }
    }
  };
}

/** What a response acknowledges. */
function claimsOf({ method, path }: Call, { status, headers, body }: Answer): Claim[] {
  if (status >= 300) return [];
  const cancelled = /^\/v1\/store\/orders\/(\d+)$/.exec(path)?.[1];
  if (method === 'DELETE' && cancelled !== undefined) {
    return [{ type: 'order', id: cancelled, status: 'cancelled' }];
  }
  if (method === 'GET' && path === '/v1/store/orders') {
    return [{ type: 'list', etag: String(headers.etag), digest: digestOf(body) }];
  }
  const found = parse(body);
  const orderOf = (order: { id: bigint; status: string }, etag?: string): Claim => {
    return { type: 'order', id: String(order.id), status: order.status, etag };
  };
  if (found.changesAfter !== undefined) return [{ type: 'cursor', cursor: found.changesAfter }];
  if (found.results !== undefined) {
    const changed = found.results.filter(({ order }: { order?: unknown }) => order !== undefined);
    return changed.map(({ order }: { order: { id: bigint; status: string } }) => orderOf(order));
  }
  if (found.next !== undefined) return [{ type: 'cursor', cursor: String(found.next) }];
  return found.status === undefined ? [] : [orderOf(found, String(headers.etag))];
}

/** Returns a function that finds the first entry with a mark. */
function marksOf(entries: readonly Entry[]): (mark: string) => number | undefined {
  const requests = new Map<string, number>();
  for (const [index, entry] of entries.entries()) {
    if (entry.kind === 'exited' && entry.status === 0) requests.set(`exit of ${entry.pid}`, index);
    if (entry.kind !== 'sent') continue;
    for (const [, id] of entry.bytes.toString('latin1').matchAll(/x-request-id: (op-\d+\.)/g)) {
      if (!requests.has(id!)) requests.set(id!, index);
    }
  }
  return (mark) => {
    const known = requests.get(mark);
    if (known !== undefined || mark.startsWith('exit of ')) return known;
    const found = entries.findIndex((each) => each.kind === 'sent' && each.bytes.includes(mark));
    return found === -1 ? undefined : found;
  };
}

/** Reads all files and folders below a folder. */
function filesBelow(root: string): Map<string, ImageFile | undefined> {
  const found = new Map<string, ImageFile | undefined>([[root, undefined]]);
  for (const { name, parentPath } of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(parentPath, name);
    const stats = statSync(path, { bigint: true });
    const { ino: inode, birthtimeNs: born } = stats;
    found.set(path, stats.isFile() ? { bytes: readFileSync(path), inode, born } : undefined);
  }
  return found;
}

/** The index of an SQLite log is shared memory: it is not written by calls, and rebuilt after a power cut. */
function isIndex(path: string): boolean {
  return path.endsWith('-shm');
}

function expectSame(
  recorded: ReadonlyMap<string, ImageFile | undefined>,
  found: ReadonlyMap<string, ImageFile | undefined>,
): void {
  const differs = [...new Set([...recorded.keys(), ...found.keys()])].filter((path) => {
    if (!found.has(path) || !recorded.has(path)) return true;
    const [one, other] = [recorded.get(path), found.get(path)];
    if (one === undefined || other === undefined) return one !== other;
    return !isIndex(path) && !one.bytes.equals(other.bytes);
  });
  const [first] = differs;
  if (first !== undefined)
    throw new Error(`the record is not complete: it does not lead to ${first}`);
}

/** Creates an empty folder for a recording. */
export function newRoot(parent: string, name: string): string {
  const root = join(parent, name);
  mkdirSync(root);
  return root;
}
