import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { type AllowedTargets, guardedLookup, urlProblem } from '../addresses.ts';

/** How long an endpoint may take to answer, from the beginning of the connection on. */
export const ANSWER_WITHIN_MS = 15_000;
/** How much of an answer's body is read, so that its connection can be used again; the rest is refused. */
const MAX_ANSWER_BYTES = 65_536;
/** How long an unused connection is kept open. */
const KEPT_OPEN_MS = 10_000;
/** Maximum length of `problem`, in characters. */
const MAX_PROBLEM = 200;

/** What became of a delivery. */
export type Answer =
  | {
      readonly status: number;
      readonly retryAfterMs: number | undefined;
      readonly problem?: undefined;
    }
  /** No answer arrived; `problem` is for the operator. */
  | { readonly status?: undefined; readonly problem: string };

export function isAccepted({ status }: Answer): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/** A request to an endpoint. */
export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly allowed: AllowedTargets;
  /** ANSWER_WITHIN_MS by default. */
  readonly withinMs?: number | undefined;
  /** Ends the request early. */
  readonly signal?: AbortSignal | undefined;
}

const AGENTS = {
  'http:': new HttpAgent({ keepAlive: true, timeout: KEPT_OPEN_MS }),
  'https:': new HttpsAgent({ keepAlive: true, timeout: KEPT_OPEN_MS }),
};

/** Sends a request once, without following redirects. The body of the answer is discarded. */
export async function post(wanted: Post): Promise<Answer> {
  const { url, allowed, signal, withinMs = ANSWER_WITHIN_MS } = wanted;
  // The operator can have restricted the addresses since the endpoint was accepted.
  const refused = urlProblem(url.href, allowed);
  if (refused !== undefined) return { problem: `the URL ${refused}` };
  const limit = AbortSignal.timeout(withinMs);
  const end = signal === undefined ? limit : AbortSignal.any([limit, signal]);
  const sent = await send(wanted, end);
  const { answer } = sent.isClosedBefore ? await send(wanted, end) : sent;
  if (!limit.aborted || answer.status !== undefined) return answer;
  return { problem: `no answer within ${withinMs} ms` };
}

/** @returns `isClosedBefore`: whether a connection of an earlier request was used, which the endpoint had closed meanwhile */
function send(
  { url, headers, body, allowed }: Post,
  signal: AbortSignal,
): Promise<{ readonly answer: Answer; readonly isClosedBefore: boolean }> {
  return new Promise((resolve) => {
    const isHttps = url.protocol === 'https:';
    const request = (isHttps ? requestHttps : requestHttp)(url, {
      method: 'POST',
      agent: AGENTS[isHttps ? 'https:' : 'http:'],
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      lookup: guardedLookup(url, allowed),
      signal,
    });
    request.on('response', (response) => {
      const retryAfterMs = retryAfterOf(response.headers['retry-after']);
      resolve({ answer: { status: response.statusCode!, retryAfterMs }, isClosedBefore: false });
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_ANSWER_BYTES) response.destroy();
      });
      // The rest of the answer does not matter.
      response.on('error', () => {});
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      const answer = { problem: error.message.slice(0, MAX_PROBLEM) };
      resolve({ answer, isClosedBefore: request.reusedSocket && error.code === 'ECONNRESET' });
    });
    request.end(body);
  });
}

/** Reads Retry-After (RFC 9110, section 10.2.3), in milliseconds; undefined without one. */
export function retryAfterOf(header: string | undefined, now = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
