import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiKey } from '../keys/api-key.ts';
import type { Refusal } from './errors.ts';
import { ANSWER_WITHIN_MS } from './limits.ts';
import { requestId } from './request-id.ts';
import type { Route, Routes } from './routes.ts';
import { pathOf } from './well-formed.ts';

/** One request and its answer, on their way through the server. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Names the request in its answer and in the log. */
  readonly id: string;
  /** As it was sent, in origin form and without the query. */
  readonly path: string;
  readonly route: Route;
  /** See Match. */
  readonly parameter: string;
  /** When its headers had come: milliseconds on the clock of performance.now(). */
  readonly arrivedAt = performance.now();
  /** Until when it is to be answered, on the same clock. */
  answerBy = this.arrivedAt + ANSWER_WITHIN_MS;
  /** Whose request it is; undefined until that is known, and on public routes. */
  apiKey: ApiKey | undefined = undefined;
  /** Of the key that came with it, also where that is refused; for the log. */
  keyId: string | undefined = undefined;
  /** What it was refused for; for the log. */
  refusal: Refusal | undefined = undefined;
  /** The address that the request came from: a proxy's, where there is one. */
  readonly client: string | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, routes: Routes) {
    this.request = request;
    this.response = response;
    // Now, since a connection that is gone has none.
    this.client = request.socket.remoteAddress;
    this.id = requestId(request);
    this.path = pathOf(request.url!);
    const { route, parameter } = routes.find(request.method!, this.path);
    this.route = route;
    this.parameter = parameter;
  }

  /**
   * Gives it all the time there is to answer, from now on: when its turn comes, however long an answer before
   * it took on its way, and when its body has come.
   */
  allowTime(): void {
    this.answerBy = performance.now() + ANSWER_WITHIN_MS;
  }
}
