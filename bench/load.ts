import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Side } from './compare.ts';
import type { Context } from './context.ts';
import { runOnLoadCore, versionOf } from './processes.ts';

const AUTOCANNON = fileURLToPath(new URL('node_modules/.bin/autocannon', import.meta.url));
const hasWrk = versionOf('wrk', '--version') !== undefined;

export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly method?: 'GET' | 'DELETE' | 'POST';
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** If set, an increasing number after this one is appended to the URL of each request, or is its `idHeader`. */
  readonly idsFrom?: number;
  readonly idHeader?: string;
  /** If set, the numbers in the URL are those up to this one, each once, in no order. */
  readonly shuffledAmong?: number;
}

export interface Result {
  readonly requestsPerSecond: number;
  readonly requests: number;
  /** Responses with a status of 400 or more. */
  readonly errors: number;
}

/** Sends requests for `seconds`, on each connection as fast as responses arrive. */
export function applyLoad(load: Load, folder: string): Promise<Result> {
  return hasWrk ? withWrk(load, folder) : withAutocannon(load);
}

/** Measures repeated requests for one URL; fails on error responses unless they are expected. */
export function asking(
  name: string,
  load: Pick<Load, 'url' | 'headers' | 'connections'>,
  { seconds, folder }: Context,
  { expectsErrors = false } = {},
): Side {
  return {
    name,
    measure: async () => {
      const { requestsPerSecond, errors } = await applyLoad({ ...load, seconds }, folder);
      if (errors > 0 && !expectsErrors) throw new Error(`${name} returned ${errors} errors`);
      return requestsPerSecond;
    },
  };
}

async function withWrk(load: Load, folder: string): Promise<Result> {
  const { url, connections, seconds, method = 'GET', headers = {}, body, idsFrom } = load;
  const script = join(folder, 'load.lua');
  const settings = [
    `wrk.method = ${lua(method)}`,
    ...Object.entries(headers).map(([name, value]) => `wrk.headers[${lua(name)}] = ${lua(value)}`),
    ...(body === undefined ? [] : [`wrk.body = ${lua(body)}`]),
    ...(idsFrom === undefined ? [] : [countingRequests(load, idsFrom)]),
  ];
  writeFileSync(script, settings.join('\n'));
  const output = await runOnLoadCore([
    ...['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s'],
    ...['-s', script, url],
  ]);
  return {
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)![1]),
    requests: Number(/(\d+) requests in /.exec(output)![1]),
    errors: Number(/Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? 0),
  };
}

const lua = (text: string) => JSON.stringify(text);

/** A prime: multiples of it modulo a smaller number are all numbers below that, in no order. */
const PRIME = 7_368_787;

function countingRequests({ url, idHeader, shuffledAmong }: Load, from: number): string {
  const path = lua(new URL(url).pathname);
  const id = shuffledAmong === undefined ? 'id' : `((id * ${PRIME}) % ${shuffledAmong} + 1)`;
  // Clients choose random keys.
  const key = `string.format("%08x-%d", (id * ${PRIME}) % 4294967291, id)`;
  const format =
    idHeader === undefined
      ? `return wrk.format(nil, ${path} .. string.format("%d", ${id}))`
      : `wrk.headers[${lua(idHeader)}] = ${key}\n  return wrk.format(nil, ${path})`;
  return `local id = ${from}
function request()
  id = id + 1
  ${format}
end`;
}

async function withAutocannon(load: Load): Promise<Result> {
  const { url, connections, seconds, method = 'GET', headers = {}, idsFrom } = load;
  if (idsFrom !== undefined) throw new Error('cancelling and placing need wrk');
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
  const output = await runOnLoadCore([
    ...[process.execPath, AUTOCANNON, '--json', '--no-progress', '-m', method],
    ...['-c', String(connections), '-d', String(seconds), ...fields, url],
  ]);
  const result = JSON.parse(output);
  return {
    requestsPerSecond: result.requests.average,
    requests: result.requests.total,
    errors: result['4xx'] + result['5xx'],
  };
}
