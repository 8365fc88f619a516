import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { cut } from '../../domain/text.ts';
import { type AllowedTargets, guardedLookup, urlProblem } from './addresses.ts';

/** How long an endpoint may take to answer, counted from the start of the connection. */
const ANSWER_WITHIN_MS = 15_000;
/** Most bytes in the headers of an answer; with more, there is no answer. */
const MAX_ANSWER_HEADER_BYTES = 65_536;
/** How much of an answer's body is read, and for how long; so that the connection can be used again. Beyond it, the connection is closed. */
const MAX_ANSWER_BYTES = 65_536;
const ANSWER_ENDS_WITHIN_MS = 1_000;
/** How long an unused connection is kept open. */
const KEPT_OPEN_MS = 10_000;
/** Maximum length of `problem`, in characters. */
const MAX_PROBLEM = 200;

/** The answer to a delivery, or the problem. */
export type EndpointAnswer =
  | {
      readonly status: number;
      readonly retryAfterMs: number | undefined;
      readonly problem?: undefined;
    }
  /** No answer arrived; `problem` is for the operator. */
  | { readonly status?: undefined; readonly retryAfterMs?: undefined; readonly problem: string };

export function isAccepted({ status }: EndpointAnswer): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

interface Post {
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
export async function post(wanted: Post): Promise<EndpointAnswer> {
  const { url, allowed, signal, withinMs = ANSWER_WITHIN_MS } = wanted;
  // The operator can have restricted the addresses since the endpoint was accepted.
  const refused = urlProblem(url.href, allowed);
  if (refused !== undefined) return { problem: `the URL ${refused}` };
  const limit = AbortSignal.timeout(withinMs);
  const end = signal === undefined ? limit : AbortSignal.any([limit, signal]);
  const sent = await send(wanted, end, AGENTS[url.protocol as keyof typeof AGENTS]);
  // Retried on a new connection.
  const { answer } = sent.isClosedBefore ? await send(wanted, end, false) : sent;
  if (!limit.aborted || answer.status !== undefined) return answer;
  return { problem: `no answer within ${withinMs} ms` };
}

/**
 * Resolves when the answer, or its connection, has ended.
 * @returns `isClosedBefore`: whether the connection of an earlier request was reused, and the endpoint had closed it
 */
function send(
  { url, headers, body, allowed }: Post,
  signal: AbortSignal,
  agent: HttpAgent | HttpsAgent | false,
): Promise<{ readonly answer: EndpointAnswer; readonly isClosedBefore: boolean }> {
  return new Promise((resolve) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      lookup: guardedLookup(url, allowed),
      maxHeaderSize: MAX_ANSWER_HEADER_BYTES,
      insecureHTTPParser: false,
      signal,
    });
    let answer: EndpointAnswer = { problem: 'the connection was closed' };
    let isClosedBefore = false;
    request.on('response', (response) => {
      const retryAfterMs = retryAfterOf(response.headers['retry-after']);
      answer = { status: response.statusCode!, retryAfterMs };
      discard(response);
    });
    request.on('error', ({ message, code }: NodeJS.ErrnoException) => {
      if (answer.status !== undefined) return;
      answer = { problem: cut(message, MAX_PROBLEM) };
      isClosedBefore = request.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');
    });
    // Always the last event, and after an answer that switches protocols the only one.
    request.on('close', () => resolve({ answer, isClosedBefore }));
    request.end(body);
  });
}

/** Discards the rest of an answer, so that its connection can be used again. */
function discard(response: IncomingMessage): void {
  const timer = setTimeout(() => response.destroy(), ANSWER_ENDS_WITHIN_MS);
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) response.destroy();
  });
  response.on('error', () => {});
  response.on('close', () => clearTimeout(timer));
}

/** Reads Retry-After (RFC 9110, section 10.2.3), in milliseconds; undefined without one. */
function retryAfterOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
