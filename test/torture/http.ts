import { once } from 'node:events';
import { type Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { parseExactJson } from '../../protocol/exact-json.ts';

/** A key that is revoked or expires is refused by every node after this time, as docs/keys.md promises. */
export const REFUSED_WITHIN_MS = 1_000;

/** A request to a service on this machine. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: string;
}

/** A complete response. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Sends a request, and reads the whole response. @throws Error if there is none, or it does not end in time */
export async function send(
  { host = '127.0.0.1', port, agent, limitMs }: Sending,
  { method, path, secret, headers = {}, body }: Call,
): Promise<Answer> {
  const sent = request({
    ...{ host, port, agent, method, path },
    signal: AbortSignal.timeout(limitMs),
    headers: {
      ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const bytes = await buffer(response);
  const isCompressed = response.headers['content-encoding'] === 'gzip';
  const text = (isCompressed ? gunzipSync(bytes) : bytes).toString();
  return { status: response.statusCode!, headers: response.headers, body: text };
}

/** Opens a stream of changes, and discards them. @throws Error if it is refused */
export async function openStream(
  { host = '127.0.0.1', port }: { readonly host?: string; readonly port: number },
  secret: string,
) {
  const ending = new AbortController();
  const response = await fetch(`http://${host}:${port}/v2/store/changes/stream?after=now`, {
    headers: { authorization: `Bearer ${secret}` },
    signal: ending.signal,
  });
  if (response.status !== 200) throw new Error(`a stream was answered ${response.status}`);
  let hasEnded = false;
  const note = () => {
    hasEnded = true;
  };
  response.body!.pipeTo(new WritableStream()).then(note, note);
  return { hasEnded: () => hasEnded, close: () => ending.abort() };
}

export interface Sending {
  readonly host?: string;
  readonly port: number;
  readonly agent: Agent;
  /** Milliseconds until the response must have been read. */
  readonly limitMs: number;
}

// biome-ignore lint/suspicious/noExplicitAny: the shapes of responses are what these tests check
export type Json = any;

/** Parses JSON with its integers as bigint. @throws SyntaxError */
export function parse(text: string): Json {
  return parseExactJson(text, () => Number.NaN).value;
}
