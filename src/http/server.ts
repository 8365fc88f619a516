import { createServer, IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Traces } from '../telemetry/traces.ts';
import { Bodies } from './connection/bodies.ts';
import { prepareShutdown } from './connection/graceful-close.ts';
import { connectionLimit } from './connection/limit.ts';
import { lingeringClose } from './connection/lingering-close.ts';
import { Pipelining } from './connection/pipelining.ts';
import { closeStalled, openSockets } from './connection/stalled-sockets.ts';
import {
  DRAIN_LINGER_MS,
  HEADERS_TIMEOUT_MS,
  IDLE_TIMEOUT_MS,
  LINGER_MS,
  MAX_HEADER_BYTES,
  REQUEST_TIMEOUT_MS,
  TIMEOUT_CHECK_INTERVAL_MS,
} from './limits.ts';
import { type ListenAddress, listen } from './listen.ts';
import { clientErrorListeners } from './parser-errors.ts';
import { authentication } from './request/authentication.ts';
import { Cors } from './request/cors.ts';
import { errorHandler } from './request/error-handler.ts';
import { Exchange } from './request/exchange.ts';
import type { KeyRing } from './request/key-ring.ts';
import { pipeline } from './request/pipeline.ts';
import { beginSpan, recordRequest } from './request/request-log.ts';
import type { Router } from './request/router.ts';

interface ServerParts {
  readonly router: Router;
  readonly keyRing: KeyRing;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly cors?: Cors;
  /** Undefined unless requests are traced. */
  readonly traces?: Traces | undefined;
}

/** The public HTTP listener. Every response conforms to the contract. */
export type PublicServer = ReturnType<typeof buildServer>;

/** Builds the public listener; request processing is wired here, in order. */
export function buildServer({
  router,
  keyRing,
  metrics,
  logger,
  cors = new Cors([]),
  traces,
}: ServerParts) {
  const fail = errorHandler(logger, metrics.countFault);
  const turns = new Pipelining();
  const bodies = new Bodies();
  const begin = pipeline(authentication(keyRing, fail), bodies, { fail, cors });
  let isClosing = false;
  const server = createHttpServer();
  server.maxConnections = connectionLimit(logger);
  server.on('request', (request, response) => {
    const exchange = new Exchange(request, response, router);
    exchange.corsHeaders = cors.headersFor(request);
    recordRequest(metrics, logger, exchange);
    if (traces !== undefined) beginSpan(traces, exchange);
    // Node loses requests that follow an ignored Upgrade on the same connection.
    if (isClosing || request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    turns.take(request.socket, response, () => begin(exchange));
  });
  const broken = clientErrorListeners(logger, metrics, { turns, bodies, cors });
  server.on('clientError', broken.clientError);
  server.on('checkExpectation', broken.checkExpectation);

  const sockets = openSockets(server);
  const drain = prepareShutdown(server, sockets, turns);
  const endWatch = closeStalled(sockets, {
    limitMs: IDLE_TIMEOUT_MS,
    intervalMs: TIMEOUT_CHECK_INTERVAL_MS,
  });
  // Node calls destroySoon after the last response on a connection.
  server.on('connection', (socket: Socket) => {
    socket.destroySoon = () => lingeringClose(socket, isClosing ? DRAIN_LINGER_MS : LINGER_MS);
  });
  return {
    /** Exposed for a test that compares it with the contract. */
    router,
    listen: (address: ListenAddress) => listen(server, address),
    /** Completes the requests in flight, then closes all connections. */
    close: () => {
      isClosing = true;
      return drain().finally(endWatch);
    },
  };
}

function createHttpServer(): Server {
  const server = createServer({
    IncomingMessage: Request,
    // Skips the body stream of requests without a body.
    optimizeEmptyRequests: true,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // `server.timeout` closes idle connections too; keepAliveTimeout would restart a timer for every response.
    keepAliveTimeout: 0,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
    // Checked in `requestProblem`, since Node's own 400 response is not an Error record.
    requireHostHeader: false,
    // NODE_OPTIONS may have --insecure-http-parser.
    insecureHTTPParser: false,
  });
  server.timeout = IDLE_TIMEOUT_MS;
  // A client may half-close the connection after its last request, and still expects the response.
  (server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  // Node silently drops headers beyond this count; MAX_HEADER_BYTES bounds them instead.
  server.maxHeadersCount = 0;
  return server;
}

/**
 * A request that never takes over its connection: with `upgrade` always false, CONNECT is an ordinary request, and is rejected in order. Node
 * would detach the socket of a CONNECT while earlier responses are pending, and remove its listeners for errors, timeouts and writing.
 */
class Request extends IncomingMessage {
  get upgrade(): boolean {
    return false;
  }

  set upgrade(_isUpgrade: boolean) {}
}
