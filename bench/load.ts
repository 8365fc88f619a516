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
  readonly method?: 'GET' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** If set, an increasing number after this one is appended to the URL of each request. */
  readonly idsFrom?: number;
}

export interface Result {
  readonly requestsPerSecond: number;
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
  const { url, connections, seconds, method = 'GET', headers = {}, idsFrom } = load;
  const script = join(folder, 'load.lua');
  const settings = [
    `wrk.method = ${lua(method)}`,
    ...Object.entries(headers).map(([name, value]) => `wrk.headers[${lua(name)}] = ${lua(value)}`),
    ...(idsFrom === undefined ? [] : [countingRequests(new URL(url).pathname, idsFrom)]),
  ];
  writeFileSync(script, settings.join('\n'));
  const output = await runOnLoadCore([
    ...['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s'],
    ...['-s', script, url],
  ]);
  return {
    requestsPerSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)![1]),
    errors: Number(/Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? 0),
  };
}

const lua = (text: string) => JSON.stringify(text);

function countingRequests(path: string, from: number): string {
  return `local id = ${from}
function request()
  id = id + 1
  return wrk.format(nil, ${lua(path)} .. id)
end`;
}

async function withAutocannon(load: Load): Promise<Result> {
  const { url, connections, seconds, method = 'GET', headers = {}, idsFrom } = load;
  if (idsFrom !== undefined) throw new Error('cancelling needs wrk');
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
  const output = await runOnLoadCore([
    ...[process.execPath, AUTOCANNON, '--json', '--no-progress', '-m', method],
    ...['-c', String(connections), '-d', String(seconds), ...fields, url],
  ]);
  const result = JSON.parse(output);
  return { requestsPerSecond: result.requests.average, errors: result['4xx'] + result['5xx'] };
}
