import { onceClosed } from './close-in-stages.ts';
import type { Exchange } from './exchange.ts';
import { logRequest, type RequestLog } from './logging.ts';
import type { Metrics } from './metrics.ts';

/** Has a request logged and counted once, when its answer is out or its reader gone. */
export function account(metrics: Metrics, log: RequestLog, exchange: Exchange): void {
  const { response, route } = exchange;
  onceClosed(response, () => {
    const ms = performance.now() - exchange.arrivedAt;
    metrics.requests.add(
      route.operation,
      response.headersSent ? response.statusCode : 0,
      ms / 1000,
    );
    logRequest(log, exchange, ms);
  });
}
