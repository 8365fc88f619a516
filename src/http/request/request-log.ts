import type { IncomingMessage } from 'node:http';
import querystring from 'node:querystring';
import type { Logger } from 'pino';
import { withoutSecrets } from '../../domain/api-key.ts';
import { rounded } from '../../telemetry/logger.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { parseTraceparent, type Traces } from '../../telemetry/traces.ts';
import { whenClosed } from '../connection/lingering-close.ts';
import { ERROR_RECORDS } from '../error-records.ts';
import type { Exchange } from './exchange.ts';

/** Maximum characters of a path, and of X-Forwarded-For, that are logged. */
const MAX_LOGGED = 200;
/** Requests without a valid key that are logged in a second; of further ones only their number. */
const KEYLESS_PER_SECOND = 100;

/** Logs and counts a request once, when its response has been sent or the connection is closed. */
export function recordRequest(metrics: Metrics, logger: Logger, exchange: Exchange): void {
  const { response } = exchange;
  whenClosed(response, () => {
    const ms = performance.now() - exchange.arrivedAt;
    const status = response.headersSent ? String(response.statusCode) : 'aborted';
    const { operation, version } = exchange.route;
    // The duration of a stream depends on its client.
    const seconds = operation === 'streamChanges' ? undefined : ms / 1000;
    metrics.countRequest({ operation, version }, status, seconds);
    logRequest(logger, exchange, ms);
    endSpan(exchange);
  });
}

function logRequest(logger: Logger, exchange: Exchange, ms: number): void {
  const { id, request, response, path, keyId, refusal, client } = exchange;
  const level = response.statusCode >= 500 ? 'warn' : 'info';
  if (!logger.isLevelEnabled(level)) return;
  if (exchange.apiKey === undefined && !mayLogKeyless(logger)) return;
  const code = refusal === undefined ? undefined : ERROR_RECORDS[refusal].code;
  logger[level](
    {
      requestId: id,
      traceId: exchange.span?.traceId ?? parseTraceparent(request.headers.traceparent)?.traceId,
      spanId: exchange.span?.spanId,
      method: request.method,
      // Without the query: v1 defines no query parameters, and clients put secrets there.
      path: loggable(path.slice(0, MAX_LOGGED)),
      status: response.headersSent ? response.statusCode : undefined,
      ms: rounded(ms),
      code,
      reason: refusal === code ? undefined : refusal,
      key: keyId,
      client,
      forwardedFor: forwardedFor(request),
      aborted: response.writableFinished ? undefined : true,
    },
    'request',
  );
}

let keyless = 0;

/** Whether a request without a valid key is logged: clients that have none could fill the disk. */
export function mayLogKeyless(logger: Logger): boolean {
  keyless += 1;
  if (keyless === 1) setTimeout(() => endSecond(logger), 1_000).unref();
  return keyless <= KEYLESS_PER_SECOND;
}

function endSecond(logger: Logger): void {
  const count = keyless - KEYLESS_PER_SECOND;
  keyless = 0;
  if (count > 0) logger.info({ count }, 'further requests without a valid key were not logged');
}

export function beginSpan(traces: Traces, exchange: Exchange): void {
  const { request, path, route, client } = exchange;
  exchange.span = traces.begin({
    method: request.method!,
    path: loggable(path.slice(0, MAX_LOGGED)),
    route: route.template,
    client,
    traceparent: request.headers.traceparent,
  });
}

function endSpan({ span, response, route, id, keyId }: Exchange): void {
  span?.end(response.headersSent ? response.statusCode : undefined, {
    'store_orders.operation': route.operation,
    'store_orders.request_id': id,
    ...(keyId !== undefined && { 'store_orders.key': keyId }),
  });
}

/** Returns X-Forwarded-For, shortened and redacted. Any client can set it, not only a proxy. */
function forwardedFor({ headers }: IncomingMessage): string | undefined {
  const value = headers['x-forwarded-for'];
  if (value === undefined) return undefined;
  // Control characters could form terminal escape sequences.
  return loggable(String(value).slice(0, MAX_LOGGED).replaceAll(/\p{C}/gu, '?'));
}

/** Redacts API keys in `text`, including percent-encoded ones. */
function loggable(text: string): string {
  const decoded = text.includes('%') ? querystring.unescape(text) : text;
  const redacted = withoutSecrets(decoded);
  return redacted === decoded ? text : redacted;
}
