import type { Bodies } from '../connection/bodies.ts';
import { requestProblem } from '../connection/well-formed.ts';
import type { Refusal } from '../error-records.ts';
import type { authentication } from './authentication.ts';
import type { Cors } from './cors.ts';
import type { ErrorHandler } from './error-handler.ts';
import type { Exchange } from './exchange.ts';
import { hasBody, sendError, sendReply } from './reply.ts';

/**
 * Returns the request pipeline: validate the request, respond to preflight requests, authenticate, read the whole body, call the handler. A
 * handler never runs before all of these have succeeded. `fail` handles exceptions in any of them; unhandled, they would end the process.
 */
export function pipeline(
  authenticate: ReturnType<typeof authentication>,
  bodies: Bodies,
  { fail, cors }: { readonly fail: ErrorHandler; readonly cors: Cors },
) {
  const attempt = (exchange: Exchange, step: () => void): void => {
    try {
      step();
    } catch (error) {
      fail(error, exchange);
    }
  };

  const begin = (exchange: Exchange): void => {
    exchange.allowTime();
    const problem = requestProblem(exchange.request, exchange.route.maxBodyBytes);
    const preflight = cors.preflight(exchange.request);
    if (problem !== undefined) sendErrorAndClose(exchange, problem);
    // Browsers send preflight requests without a key. The response is the same for every path.
    else if (preflight !== undefined) sendReply(exchange, { status: 204, headers: preflight });
    else authenticate(exchange, awaitBody);
  };

  const awaitBody = (exchange: Exchange) => {
    if (!hasBody(exchange.request)) return dispatch(exchange, fail);
    bodies.read(exchange.request, exchange.route.maxBodyBytes, (body, problem) =>
      attempt(exchange, () => {
        if (problem !== undefined) return sendErrorAndClose(exchange, problem);
        exchange.allowTime();
        exchange.body = body;
        // The key may have been revoked while the body arrived.
        authenticate(exchange, () => dispatch(exchange, fail));
      }),
    );
  };

  return (exchange: Exchange) => attempt(exchange, () => begin(exchange));
}

/** Sends an Error record and closes the connection, since the bytes that follow may not be a request. */
function sendErrorAndClose(exchange: Exchange, refusal: Refusal): void {
  exchange.response.shouldKeepAlive = false;
  sendError(exchange, refusal);
}

/** Calls the handler of the route; `fail` handles its exceptions. */
export function dispatch(exchange: Exchange, fail: ErrorHandler): void {
  try {
    exchange.route.handle(exchange)?.catch((error) => fail(error, exchange));
  } catch (error) {
    fail(error, exchange);
  }
}
