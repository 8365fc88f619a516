import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { TimedOut, withTimeout } from '../../concurrency.ts';
import { type ApiKey, type Scope, withoutSecrets } from '../../domain/api-key.ts';
import type { RequestSpan } from '../../telemetry/traces.ts';
import { NO_BODY } from '../connection/bodies.ts';
import { pathOf, queryOf } from '../connection/well-formed.ts';
import type { HeaderList, Refusal } from '../error-records.ts';
import { ANSWER_WITHIN_MS } from '../limits.ts';

/** Handles a request. Exceptions become Error records. */
export type Handle = (exchange: Exchange) => void | Promise<void>;

/** The handler of a path and method, with its properties. */
export interface Route {
  /** The operation's name in the contract; "none" outside the contract. */
  readonly operation: string;
  /** Version of the contract, such as "v1"; "none" outside the contract. */
  readonly version: string;
  /** Whether requests need no API key. */
  readonly isPublic: boolean;
  /** The scope that an API key needs; undefined if every key may. */
  readonly scope?: Scope | undefined;
  /** Headers of every response, including errors. */
  readonly headers?: HeaderList;
  /** Maximum size of the body that the handler gets; if it is absent, bodies are discarded. */
  readonly maxBodyBytes?: number | undefined;
  readonly handle: Handle;
  /** The path with parameters, as it was added to the router; undefined for paths that do not exist. */
  readonly template?: string;
}

/** The part of a route that its operation defines; the scope, if the contract does not name one. */
export type RouteHandler = Pick<Route, 'handle' | 'maxBodyBytes' | 'scope' | 'headers'>;

/** A matched route and the decoded path parameters. */
export interface Match {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string | undefined>>;
}

/** A request, its response, and the state of their processing. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The X-Request-Id of the response, and of the log lines of the request. */
  readonly id: string;
  /** Path as sent, in origin form and without the query. */
  readonly path: string;
  readonly route: Route;
  readonly parameters: Match['parameters'];
  /** The body, if the route takes one; otherwise empty. */
  body: Buffer = NO_BODY;
  corsHeaders: HeaderList = [];
  /** When the headers had arrived, by performance.now(). */
  readonly arrivedAt = performance.now();
  /** Deadline of the response, by performance.now(). */
  answerBy = this.arrivedAt + ANSWER_WITHIN_MS;
  /** The authenticated key; undefined before authentication and on public routes. */
  apiKey: ApiKey | undefined = undefined;
  /** Id of the key that was sent, even if it was rejected; for the log. */
  keyId: string | undefined = undefined;
  /** Why an Error record was sent; for the log. */
  refusal: Refusal | undefined = undefined;
  /** The span of the request, if requests are traced. */
  span: RequestSpan | undefined = undefined;
  /** Remote address of the connection: the proxy's, if there is one. */
  readonly client: string | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    routes: { find(method: string, path: string): Match },
  ) {
    this.request = request;
    this.response = response;
    // Read now, since it is undefined once the connection is closed.
    this.client = request.socket.remoteAddress;
    this.id = requestId(request);
    this.path = pathOf(request.url!);
    const { route, parameters } = routes.find(request.method!, this.path);
    this.route = route;
    this.parameters = parameters;
  }

  /** The query as sent, without the question mark. */
  get query(): string {
    return queryOf(this.request.url!);
  }

  /** Restarts the deadline: when processing begins, and when the body has arrived. */
  allowTime(): void {
    this.answerBy = performance.now() + ANSWER_WITHIN_MS;
  }
}

/** Random per-process prefix (96 bits); a counter completes the id. */
const PROCESS = randomBytes(12).toString('hex');
let made = 0;

/** Returns the X-Request-Id of the request if it is safe to log; otherwise a new id. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  const isSane =
    typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) && withoutSecrets(given) === given;
  return isSane ? given : newRequestId();
}

/** Returns a new id; used directly when no request could be parsed. */
export function newRequestId(): string {
  made += 1;
  return `${PROCESS}-${made.toString(36)}`;
}

/**
 * Calls `ask` and waits for its result until the deadline of the request. The work itself goes on.
 * @throws TimedOut after the deadline; if it had passed before, `ask` is not called
 */
export async function inTime<T>(
  request: Pick<Exchange, 'answerBy'>,
  ask: () => Promise<T>,
): Promise<T> {
  const result = await withTimeout(timeLeft(request), ask);
  // The timer can be late, but no result counts after the deadline.
  if (timeLeft(request) <= 0) throw new TimedOut('no result before the deadline of the request');
  return result;
}

/** @throws TimedOut after the deadline of a request: its client has got a 503, so no further work is begun for it */
export function expectTime(request: Pick<Exchange, 'answerBy'>): void {
  if (timeLeft(request) <= 0) throw new TimedOut('the time was up before the operation began');
}

/** Returns the milliseconds until the deadline of the request; may be negative. */
export function timeLeft({ answerBy }: Pick<Exchange, 'answerBy'>): number {
  return answerBy - performance.now();
}
