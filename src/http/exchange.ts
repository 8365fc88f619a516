import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiKey } from '../keys/api-key.ts';
import { whenClosed } from './connection/lingering-close.ts';
import { pathOf, queryOf } from './connection/well-formed.ts';
import type { Headers, Refusal } from './errors.ts';
import { ANSWER_WITHIN_MS } from './limits.ts';
import { requestId } from './request-id.ts';

/** Answers a request. What it throws becomes an Error record. */
export type Handle = (exchange: Exchange) => void | Promise<void>;

/** What answers the requests of a path and a method. */
export interface Route {
  /** The operation's name in the contract; "none" outside the contract. */
  readonly operation: string;
  /** Whether requests need no API key. */
  readonly isPublic: boolean;
  /** Headers of every response, whatever it is. */
  readonly headers: Headers;
  /** Whether the handler reads `body`; otherwise bodies are discarded. */
  readonly takesBody?: boolean;
  readonly handle: Handle;
}

/** The route of a request, with the decoded parameters of its path. */
export interface Match {
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string | undefined>>;
}

/** A request and its response on their way through the server. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Names the request in its response and in the log. */
  readonly id: string;
  /** As sent, in origin form and without the query. */
  readonly path: string;
  readonly route: Route;
  readonly parameters: Match['parameters'];
  /** As sent, without the question mark. */
  readonly query: string;
  /** Of a route that takes one; empty without one. */
  body: Buffer = Buffer.alloc(0);
  /** When the headers had arrived, on the clock of performance.now(). */
  readonly arrivedAt = performance.now();
  /** Until when the request has to be answered, on the same clock. */
  answerBy = this.arrivedAt + ANSWER_WITHIN_MS;
  /** The key of the client; undefined before authentication, and on public routes. */
  apiKey: ApiKey | undefined = undefined;
  /** The id of the key that was sent, also of one that is refused; for the log. */
  keyId: string | undefined = undefined;
  /** Why the request was answered with an Error record; for the log. */
  refusal: Refusal | undefined = undefined;
  /** The peer's address: a proxy's, where there is one. */
  readonly client: string | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    find: (method: string, path: string) => Match,
  ) {
    this.request = request;
    this.response = response;
    // Read now: a closed connection has none.
    this.client = request.socket.remoteAddress;
    this.id = requestId(request);
    this.path = pathOf(request.url!);
    this.query = queryOf(request.url!);
    const { route, parameters } = find(request.method!, this.path);
    this.route = route;
    this.parameters = parameters;
  }

  /** Aborted when the client leaves before the response has been sent. */
  get signal(): AbortSignal {
    const controller = new AbortController();
    whenClosed(this.response, () => {
      if (!this.response.writableFinished) controller.abort();
    });
    return controller.signal;
  }

  /** Restarts the time to answer: when the request's turn comes, and when its body has arrived. */
  allowTime(): void {
    this.answerBy = performance.now() + ANSWER_WITHIN_MS;
  }
}
