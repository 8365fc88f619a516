import { hasBody, refuseAndClose } from './answers.ts';
import type { Authenticate } from './authentication.ts';
import type { Bodies } from './bodies.ts';
import type { Exchange } from './exchange.ts';
import type { FailedRequest } from './failures.ts';
import { malformation } from './well-formed.ts';

/**
 * The way of a request whose turn it is: only what is well formed, from somebody with a key, and there
 * with all of its body is carried out.
 */
export function pipeline(authenticate: Authenticate, bodies: Bodies, fail: FailedRequest) {
  const begin = (exchange: Exchange): void => {
    exchange.allowTime();
    const problem = malformation(exchange.request);
    if (problem === undefined) authenticate(exchange, awaitBody);
    else refuseAndClose(exchange, problem);
  };

  const awaitBody = (exchange: Exchange): void => {
    if (!hasBody(exchange.request)) {
      carryOut(exchange, fail);
      return;
    }
    bodies.discard(exchange.request, (problem) => {
      if (problem !== undefined) {
        refuseAndClose(exchange, problem);
        return;
      }
      exchange.allowTime();
      // The key may have been revoked meanwhile.
      authenticate(exchange, () => carryOut(exchange, fail));
    });
  };

  return begin;
}

/** Has a request answered by where it goes to or, if that fails, by `fail`. */
export function carryOut(exchange: Exchange, fail: FailedRequest): void {
  try {
    exchange.route.handle(exchange)?.catch((error) => fail(error, exchange));
  } catch (error) {
    fail(error, exchange);
  }
}
