import type { IncomingMessage } from 'node:http';
import type { HeaderList } from '../error-records.ts';

/** Response headers that scripts may read, in addition to the CORS-safelisted ones. */
const EXPOSED =
  'Accept, Accept-Patch, Allow, Deprecation, ETag, Idempotent-Replayed, Link, Location, Retry-After, Sunset, WWW-Authenticate, X-Request-Id';
const METHODS = 'GET, HEAD, POST, PATCH, DELETE';
const REQUEST_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, traceparent, tracestate, X-Request-Id';
/** How long a browser may cache the response to a preflight request. */
const MAX_AGE_S = 600;

/** The CORS protocol (https://fetch.spec.whatwg.org/#http-cors-protocol) for scripts of some origins, which can change while the service runs. */
export class Cors {
  #origins: readonly string[];

  /** @param origins such as https://shop.example, or "*" for all; without any, no script may read responses */
  constructor(origins: readonly string[]) {
    this.#origins = origins;
  }

  allow(origins: readonly string[]): void {
    this.#origins = origins;
  }

  /** Returns the headers of every response to a request. */
  headersFor({ headers: { origin } }: Pick<IncomingMessage, 'headers'>): HeaderList {
    if (this.#origins.length === 0) return [];
    const exposed = ['access-control-expose-headers', EXPOSED];
    // All responses have the headers, even without Origin, since a cache may return them to any origin.
    if (this.#origins.includes('*')) return ['access-control-allow-origin', '*', ...exposed];
    // Responses depend on the origin, so all of them need Vary, for caches.
    if (!isPermitted(origin, this.#origins)) return ['vary', 'Origin'];
    return ['vary', 'Origin', 'access-control-allow-origin', origin, ...exposed];
  }

  /** Returns the headers of the answer to a preflight request; undefined for any other request. */
  preflight({ method, headers }: IncomingMessage): HeaderList | undefined {
    const isPreflight = headers['access-control-request-method'] !== undefined;
    if (method !== 'OPTIONS' || !isPreflight) return undefined;
    if (!isPermitted(headers.origin, this.#origins)) return undefined;
    return [
      ...['access-control-allow-methods', METHODS],
      ...['access-control-allow-headers', REQUEST_HEADERS],
      ...['access-control-max-age', String(MAX_AGE_S)],
    ];
  }
}

function isPermitted(origin: string | undefined, origins: readonly string[]): origin is string {
  const isForAll = origins.includes('*');
  return origin !== undefined && (isForAll || origins.includes(origin));
}

/** Joins the headers of a response with those of `headersFor`; both can have Vary. */
export function withCors(headers: HeaderList, cors: HeaderList): HeaderList {
  // Only names are compared: a client can choose "vary" as the value of X-Request-Id.
  const at = headers.findIndex((each, index) => index % 2 === 0 && each === 'vary');
  if (cors[0] !== 'vary' || at === -1) return [...headers, ...cors];
  return [...headers.with(at + 1, `${headers[at + 1]}, ${cors[1]}`), ...cors.slice(2)];
}
