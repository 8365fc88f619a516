import type { Authenticate } from './authentication.ts';
import type { Bodies } from './connection/bodies.ts';
import { requestProblem } from './connection/well-formed.ts';
import type { Exchange } from './exchange.ts';
import type { ErrorHandler } from './failures.ts';
import { hasBody, sendErrorAndClose } from './responses.ts';

/**
 * Returns the request pipeline: validate the request, authenticate, read the whole body, call the handler. A handler
 * never runs before all of these have succeeded.
 */
export function pipeline(authenticate: Authenticate, bodies: Bodies, fail: ErrorHandler) {
  const begin = (exchange: Exchange): void => {
    exchange.allowTime();
    const problem = requestProblem(exchange.request);
    if (problem === undefined) authenticate(exchange, awaitBody);
    else sendErrorAndClose(exchange, problem);
  };

  const awaitBody = (exchange: Exchange): void => {
    if (!hasBody(exchange.request)) {
      dispatch(exchange, fail);
      return;
    }
    const keep = exchange.route.takesBody === true;
    bodies.read(exchange.request, keep, (body, problem) => {
      if (problem !== undefined) {
        sendErrorAndClose(exchange, problem);
        return;
      }
      exchange.allowTime();
      exchange.body = body;
      // The key may have been revoked while the body arrived.
      authenticate(exchange, () => dispatch(exchange, fail));
    });
  };

  return begin;
}

/** Calls the handler of the route; `fail` handles its exceptions. */
export function dispatch(exchange: Exchange, fail: ErrorHandler): void {
  try {
    exchange.route.handle(exchange)?.catch((error) => fail(error, exchange));
  } catch (error) {
    fail(error, exchange);
  }
}
