import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseExactJson } from '../../protocol/exact-json.ts';
import { run as runProgram } from '../../src/cli/program.ts';
import { type Answer, checkAnswer, parseAnswers } from '../http/contract-check.ts';
import { temporaryFolder } from '../temporary.ts';

export const PROGRAM = fileURLToPath(new URL('../../bin/store-orders.js', import.meta.url));

/** An executable to be tested, as its path: every command is then a process of it. By default, the program is that of the clone. */
const EXECUTABLE = process.env.STORE_ORDERS_EXECUTABLE;

/** A run that takes longer is killed by default; its exit code is then null. */
const RUN_LIMIT_MS = 100_000;

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeFlags?: readonly string[];
  /** A command that runs the program, for example in a namespace. */
  readonly wrapper?: readonly string[];
  /** The Node.js and the program; by default those of the tests. */
  readonly program?: readonly [node: string, path: string];
  /** An executable in their place. */
  readonly executable?: string;
  /** When a run in a process of its own is killed; after RUN_LIMIT_MS by default. */
  readonly limitMs?: number;
}

/** Starts the real program without any inherited variable that would configure it. */
function start(args: readonly string[], options: RunOptions): ChildProcess {
  const { PATH, HOME, TMPDIR } = process.env;
  const { env = {}, nodeFlags = [], wrapper = [], program } = options;
  const executable = options.executable ?? (program === undefined ? EXECUTABLE : undefined);
  const [node, path] = program ?? [process.execPath, PROGRAM];
  const started = executable === undefined ? [node, ...nodeFlags, path] : [executable];
  const [command, ...rest] = [...wrapper, ...started, ...args];
  return spawn(command!, rest, {
    env: { PATH, HOME, TMPDIR, ...env } as NodeJS.ProcessEnv,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Starts the program; it is killed after the test. */
export function spawnProgram(t: TestContext, args: readonly string[]): ChildProcess {
  const child = start(args, {});
  const ended = once(child, 'close');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return child;
}

/** Runs a command until it ends: in this process or, where that matters, in one of its own. */
export async function run(args: readonly string[], options: RunOptions = {}): Promise<Result> {
  const { nodeFlags, wrapper, program, executable = EXECUTABLE, input, env = {} } = options;
  const asksForProcess = (nodeFlags ?? wrapper ?? program ?? executable) !== undefined;
  const needsProcess = args[0] === 'serve' || asksForProcess;
  if (needsProcess) return runInOwnProcess(args, options);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [collect(stdout), collect(stderr)];
  const stdin = Readable.from(input === undefined ? [] : [Buffer.from(input)]);
  const code = await runProgram(args, { stdin, stdout, stderr, env });
  return strict({ code, stdout: out(), stderr: err() });
}

/** Runs the program until it ends, in a process of its own. */
export async function runInOwnProcess(
  args: readonly string[],
  options: RunOptions = {},
): Promise<Result> {
  const child = start(args, options);
  const stdout = collect(child.stdout!);
  const stderr = collect(child.stderr!);
  child.stdin!.on('error', () => {});
  child.stdin!.end(options.input);
  const overdue = setTimeout(() => child.kill('SIGKILL'), options.limitMs ?? RUN_LIMIT_MS);
  const [code] = await once(child, 'close');
  clearTimeout(overdue);
  return strict({ code, stdout: stdout(), stderr: stderr() });
}

/** Fails if JSON or NDJSON on stdout names a field twice, which JSON.parse lets through and strict parsers do not. */
function strict(result: Result): Result {
  const { code, stdout } = result;
  if (code !== 0 || !/^[{[]/.test(stdout)) return result;
  const isLines = stdout.startsWith('{') && !/^\{\n/.test(stdout);
  for (const text of isLines ? stdout.trimEnd().split('\n') : [stdout]) {
    assert.equal(parseExactJson(text).repeatedName, undefined, text.slice(0, 500));
  }
  return result;
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}

export interface Running {
  readonly child: ChildProcess;
  readonly port: number;
  readonly origin: string;
  readonly operations: string;
  readonly database: string;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The secret of the first key that the program printed; otherwise empty. */
  readonly secret: string;
  readonly call: (
    method: string,
    path: string,
    headers?: Readonly<Record<string, string>>,
    body?: string,
  ) => Promise<Answer>;
  /** Sends bytes as they are. @returns the responses until the connection closes */
  readonly raw: (bytes: string | Buffer) => Promise<Answer[]>;
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>;
}

/** Starts `serve` on free ports and waits until it listens; it is killed after the test. */
export async function serve(
  t: TestContext,
  args: readonly string[] = [],
  options: RunOptions & { database?: string; expectsKey?: boolean } = {},
): Promise<Running> {
  const database = options.database ?? `sqlite:${join(temporaryFolder(t), 'store.db')}`;
  const ports = ['--port', '0', '--operations-port', '0'];
  const where = options.env?.DATABASE_URL_FILE === undefined ? ['--database', database] : [];
  const child = start(['serve', ...ports, ...where, ...args], options);
  const stdout = collect(child.stdout!);
  const stderr = collect(child.stderr!);
  const ended = once(child, 'close');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const origin = await waitForMatch(child, stdout, /Server listening at (http:\S+?)"/, stderr);
  const operations = await waitForMatch(
    child,
    stdout,
    /(?:Admin|Operations) listening at (http:\S+?)"/,
    stderr,
  );
  const port = Number(new URL(origin).port);
  const needsSecret = (options.expectsKey ?? true) && !args.includes('--no-first-key');
  const secret = needsSecret ? await waitForMatch(child, stderr, /(so_\w+_\w{49})\s/, stdout) : '';

  return {
    child,
    port,
    origin,
    operations,
    database,
    stdout,
    stderr,
    secret,
    call: async (method, path, headers = {}, body) => {
      const response = await fetch(origin + path, {
        method,
        headers: { authorization: `Bearer ${secret}`, ...headers },
        ...(body !== undefined && { body }),
      });
      const answer = {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await response.text(),
      };
      checkAnswer(method, path, '', answer);
      return answer;
    },
    raw: (bytes) => exchange(port, bytes),
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      const [code] = await ended;
      return code;
    },
  };
}

/** Waits until `text` matches, for at most 20 s or until the program ends. */
async function waitForMatch(
  child: ChildProcess,
  text: () => string,
  pattern: RegExp,
  other: () => string,
): Promise<string> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const match = pattern.exec(text());
    if (match !== null) return match[1]!;
    if (child.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`the program did not print ${pattern}:\n${text()}\n${other()}`);
}

async function exchange(port: number, bytes: string | Buffer): Promise<Answer[]> {
  const socket = connect(port, '127.0.0.1');
  const received = collect(socket);
  socket.on('error', () => {});
  socket.write(bytes);
  await once(socket, 'close');
  const answers = parseAnswers(received());
  for (const answer of answers) checkAnswer('RAW', '', '', answer);
  return answers;
}
