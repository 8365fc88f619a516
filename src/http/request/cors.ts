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

/** The CORS protocol (https://fetch.spec.whatwg.org/#http-cors-protocol) for scripts of some origins. */
export interface Cors {
  /** Returns the headers of every response to a request. */
  readonly headersFor: (request: Pick<IncomingMessage, 'headers'>) => HeaderList;
  /** Returns the headers of the answer to a preflight request; undefined for any other request. */
  readonly preflight: (request: IncomingMessage) => HeaderList | undefined;
}

/** The CORS protocol for origins that can change while the service runs. */
export class LiveCors implements Cors {
  #current: Cors;

  /** @param origins see `corsFor` */
  constructor(origins: readonly string[]) {
    this.#current = corsFor(origins);
  }

  allow(origins: readonly string[]): void {
    this.#current = corsFor(origins);
  }

  headersFor(request: Pick<IncomingMessage, 'headers'>): HeaderList {
    return this.#current.headersFor(request);
  }

  preflight(request: IncomingMessage): HeaderList | undefined {
    return this.#current.preflight(request);
  }
}

/** @param origins such as https://shop.example, or "*" for all; without any, no script may read responses */
export function corsFor(origins: readonly string[]): Cors {
  const isForAll = origins.includes('*');
  const allowed = (origin: string | undefined) =>
    origin !== undefined && (isForAll || origins.includes(origin));
  // If responses depend on the origin, all of them need Vary, for caches.
  const vary = origins.length === 0 || isForAll ? [] : ['vary', 'Origin'];
  // With "*", all responses have the headers, even without Origin, since a cache may return them to any origin.
  const headersFor: Cors['headersFor'] = ({ headers: { origin } }) => {
    if (!isForAll && !allowed(origin)) return vary;
    const allowOrigin = ['access-control-allow-origin', isForAll ? '*' : origin!];
    return [...vary, ...allowOrigin, 'access-control-expose-headers', EXPOSED];
  };
  return {
    headersFor,
    preflight: ({ method, headers }) => {
      const isPreflight = headers['access-control-request-method'] !== undefined;
      if (method !== 'OPTIONS' || !isPreflight || !allowed(headers.origin)) return undefined;
      return [
        ...['access-control-allow-methods', METHODS],
        ...['access-control-allow-headers', REQUEST_HEADERS],
        ...['access-control-max-age', String(MAX_AGE_S)],
      ];
    },
  };
}

/** Joins the headers of a response with those of `headersFor`; both can have Vary. */
export function withCors(headers: HeaderList, cors: HeaderList): HeaderList {
  // Only names are compared: a client can choose "vary" as the value of X-Request-Id.
  const at = headers.findIndex((each, index) => index % 2 === 0 && each === 'vary');
  if (cors[0] !== 'vary' || at === -1) return [...headers, ...cors];
  return [...headers.with(at + 1, `${headers[at + 1]}, ${cors[1]}`), ...cors.slice(2)];
}
