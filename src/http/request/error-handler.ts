import type { Logger } from 'pino';
import { TimedOut } from '../../concurrency.ts';
import { NotConfirmed } from '../../store/group-commit.ts';
import { type Fault, needsOperator, StoreUnavailable } from '../../store/store.ts';
import type { Exchange } from './exchange.ts';
import { type ErrorReply, Refused, refuse, sendReply } from './reply.ts';

/** Errors of requests that the store could not carry out, or whose outcome is unknown. */
const UNAVAILABLE = [StoreUnavailable, NotConfirmed, TimedOut];

/** Sends the error response of a failed request and logs the cause. */
export type ErrorHandler = (error: unknown, exchange: Exchange) => void;

/**
 * Maps exceptions to the reply of a refusal, to 503 if the store is unavailable, otherwise to 500. If the head was already sent, or sending the
 * error fails, the response is destroyed.
 * @param onFault called with the reason why the store is unavailable
 */
export function errorHandler(logger: Logger, onFault: (fault: Fault) => void): ErrorHandler {
  const send = (exchange: Exchange, reply: ErrorReply) => {
    try {
      sendReply(exchange, reply);
    } catch (error) {
      logger.error({ requestId: exchange.id, err: error }, 'sending an error failed');
      exchange.response.destroy();
    }
  };
  return (error, exchange) => {
    const line = { requestId: exchange.id, err: error };
    if (exchange.response.headersSent) {
      logger.error(line, 'sending a response failed');
      exchange.response.destroy();
    } else if (error instanceof Refused) send(exchange, error.reply);
    else if (UNAVAILABLE.some((each) => error instanceof each)) {
      const fault = error instanceof StoreUnavailable ? error.fault : 'slow';
      onFault(fault);
      // watchStore logs faults that last until an operator acts, once.
      logger[needsOperator(fault) ? 'debug' : 'warn'](line, 'the store is not available');
      send(exchange, refuse('store_unavailable'));
    } else {
      logger.error(line, 'a request failed');
      send(exchange, refuse('internal_error'));
    }
  };
}
