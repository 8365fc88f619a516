import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type AllowedTargets, guardedLookup } from '../addresses.ts';

/** How long an endpoint may take to answer, from the beginning of the connection on. */
export const ANSWER_WITHIN_MS = 15_000;

/** What became of a delivery. */
export type Answer =
  | {
      readonly status: number;
      readonly retryAfterMs: number | undefined;
      readonly problem?: undefined;
    }
  /** No answer arrived; `problem` is for the operator. */
  | { readonly problem: string };

/** A request to an endpoint. */
export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly allowed: AllowedTargets;
  /** Ends the request early. */
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request once, without following redirects. The body of the answer is discarded unread. */
export function post({ url, headers, body, allowed, signal }: Post): Promise<Answer> {
  const limit = AbortSignal.timeout(ANSWER_WITHIN_MS);
  return new Promise((resolve) => {
    const request = url.protocol === 'https:' ? requestHttps : requestHttp;
    const sent = request(url, {
      method: 'POST',
      // A connection of its own: endpoints are many, and most of them are called seldom.
      agent: false,
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      lookup: guardedLookup(url, allowed),
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    });
    sent.on('response', (response) => {
      const retryAfterMs = retryAfterOf(response.headers['retry-after']);
      resolve({ status: response.statusCode!, retryAfterMs });
      response.destroy();
    });
    sent.on('error', (error) => {
      const problem = limit.aborted ? `no answer within ${ANSWER_WITHIN_MS} ms` : error.message;
      resolve({ problem });
    });
    sent.end(body);
  });
}

/** Reads Retry-After (RFC 9110, section 10.2.3), in milliseconds; undefined without one. */
export function retryAfterOf(header: string | undefined, now = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
