import type { Authenticate } from './authentication.ts';
import type { Bodies } from './connection/bodies.ts';
import { requestProblem } from './connection/well-formed.ts';
import type { Exchange } from './exchange.ts';
import type { ErrorHandler } from './failures.ts';
import { hasBody, sendErrorAndClose } from './responses.ts';

/**
 * The way of a request whose turn it is: only what is well formed, from somebody with a key, and there
 * with all of its body is carried out.
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
      // The key may have been revoked meanwhile.
      authenticate(exchange, () => dispatch(exchange, fail));
    });
  };

  return begin;
}

/** Has a request answered by where it goes to or, if that fails, by `fail`. */
export function dispatch(exchange: Exchange, fail: ErrorHandler): void {
  try {
    exchange.route.handle(exchange)?.catch((error) => fail(error, exchange));
  } catch (error) {
    fail(error, exchange);
  }
}
