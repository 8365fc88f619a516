import type { Logger } from 'pino';
import { onceClosed } from './close-in-stages.ts';
import type { Exchange } from './exchange.ts';
import { logRequest } from './logging.ts';
import type { Metrics } from './metrics.ts';

/** Has a request logged and counted once, when its answer is out or its reader gone. */
export function account(metrics: Metrics, logger: Logger, exchange: Exchange): void {
  const { response, route } = exchange;
  onceClosed(response, () => {
    const ms = performance.now() - exchange.arrivedAt;
    const status = response.headersSent ? String(response.statusCode) : 'aborted';
    metrics.countRequest(route.operation, status, ms / 1000);
    logRequest(logger, exchange, ms);
  });
}
