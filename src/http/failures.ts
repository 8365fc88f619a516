import type { Logger } from 'pino';
import { CommandNotConfirmed } from '../orders/command-queue.ts';
import { type Fault, StoreUnavailable } from '../store/store.ts';
import { refuse } from './answers.ts';
import type { Exchange } from './exchange.ts';

/** Answers a request that could not be carried out, and says why in the log. */
export type FailedRequest = (error: unknown, exchange: Exchange) => void;

/**
 * For what nobody has foreseen, and for a store that is not there.
 * @param onFault is told why the store was not available
 */
export function failing(logger: Logger, onFault: (fault: Fault) => void): FailedRequest {
  return (error, exchange) => {
    const line = { requestId: exchange.id, err: error };
    if (exchange.response.headersSent) {
      logger.error(line, 'an answer failed on its way');
      exchange.response.destroy();
    } else if (error instanceof StoreUnavailable || error instanceof CommandNotConfirmed) {
      const fault = error instanceof StoreUnavailable ? error.fault : 'slow';
      onFault(fault);
      logger[fault === 'damaged' ? 'error' : 'warn'](line, 'the store is not available');
      refuse(exchange, 'store_unavailable');
    } else {
      logger.error(line, 'a request failed');
      refuse(exchange, 'internal_error');
    }
  };
}
