import type { Logger } from 'pino';
import { NotConfirmed } from '../store/batcher.ts';
import { type Fault, StoreUnavailable } from '../store/store.ts';
import type { Exchange } from './exchange.ts';
import { sendError } from './responses.ts';

/** Answers a request that could not be carried out, and says why in the log. */
export type ErrorHandler = (error: unknown, exchange: Exchange) => void;

/**
 * For what nobody has foreseen, and for a store that is not there.
 * @param onFault is told why the store was not available
 */
export function errorHandler(logger: Logger, onFault: (fault: Fault) => void): ErrorHandler {
  return (error, exchange) => {
    const line = { requestId: exchange.id, err: error };
    if (exchange.response.headersSent) {
      logger.error(line, 'sending a response failed');
      exchange.response.destroy();
    } else if (error instanceof StoreUnavailable || error instanceof NotConfirmed) {
      const fault = error instanceof StoreUnavailable ? error.fault : 'slow';
      onFault(fault);
      logger[fault === 'damaged' ? 'error' : 'warn'](line, 'the store is not available');
      sendError(exchange, 'store_unavailable');
    } else {
      logger.error(line, 'a request failed');
      sendError(exchange, 'internal_error');
    }
  };
}
