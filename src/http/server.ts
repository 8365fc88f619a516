import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Logger } from 'pino';
import type { KeyRing } from '../keys/key-ring.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { authentication } from './authentication.ts';
import { Bodies } from './connection/bodies.ts';
import { clientErrorListeners } from './connection/client-errors.ts';
import { connectionLimit } from './connection/limit.ts';
import { lingeringClose } from './connection/lingering-close.ts';
import { Pipelining } from './connection/pipelining.ts';
import { Request } from './connection/request.ts';
import { prepareShutdown } from './connection/shutdown.ts';
import { closeStalled, openSockets } from './connection/stalled-sockets.ts';
import { Exchange } from './exchange.ts';
import { errorHandler } from './failures.ts';
import {
  DRAIN_LINGER_MS,
  HEADERS_TIMEOUT_MS,
  IDLE_TIMEOUT_MS,
  LINGER_MS,
  MAX_HEADER_BYTES,
  REQUEST_TIMEOUT_MS,
  TIMEOUT_CHECK_INTERVAL_MS,
} from './limits.ts';
import { type Address, listen } from './listening.ts';
import { pipeline } from './pipeline.ts';
import { recordRequest } from './request-log.ts';
import type { Router } from './router.ts';

export interface ServerParts {
  readonly router: Router;
  readonly keyRing: KeyRing;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** A listener whose every answer keeps the rules of the contract. */
export interface PublicServer {
  /** For a test to compare with the contract. */
  readonly router: Router;
  readonly listen: (address: Address) => Promise<AddressInfo>;
  /** Carries out what is under way, and then ends. */
  readonly close: () => Promise<void>;
}

/** Wires the way of every request, in order. */
export function buildServer({ router, keyRing, metrics, logger }: ServerParts): PublicServer {
  const fail = errorHandler(logger, metrics.countFault);
  const turns = new Pipelining();
  const bodies = new Bodies();
  const begin = pipeline(authentication(keyRing, fail), bodies, fail);
  const find = (method: string, path: string) => router.find(method, path);
  let isClosing = false;
  const server = createHttpServer();
  server.maxConnections = connectionLimit(logger);
  server.on('request', (request, response) => {
    const exchange = new Exchange(request, response, find);
    recordRequest(metrics, logger, exchange);
    // Node loses what follows an Upgrade that nobody wants on the same connection.
    if (isClosing || request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    turns.take(request.socket, response, () => begin(exchange));
  });
  const broken = clientErrorListeners(logger, metrics, turns, bodies);
  server.on('clientError', broken.clientError);
  server.on('checkExpectation', broken.checkExpectation);

  const sockets = openSockets(server);
  const drain = prepareShutdown(server, sockets, turns);
  const endWatch = closeStalled(sockets, {
    limitMs: IDLE_TIMEOUT_MS,
    intervalMs: TIMEOUT_CHECK_INTERVAL_MS,
  });
  // Node calls it after the last answer of a connection.
  server.on('connection', (socket: Socket) => {
    socket.destroySoon = () => lingeringClose(socket, isClosing ? DRAIN_LINGER_MS : LINGER_MS);
  });
  return {
    router,
    listen: (address) => listen(server, address),
    close: () => {
      isClosing = true;
      return drain().finally(endWatch);
    },
  };
}

function createHttpServer(): Server {
  const server = createServer({
    IncomingMessage: Request,
    // No stream is made ready for the body of a request that has none.
    optimizeEmptyRequests: true,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // The time-out below ends idle connections too; Node's own would set a timer anew for every answer.
    keepAliveTimeout: 0,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
    // `requestProblem` looks for it, since Node's own answer is no Error record.
    requireHostHeader: false,
  });
  server.timeout = IDLE_TIMEOUT_MS;
  // A client that has said all it has to say may close its side and still wants its answer.
  (server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  // Node drops headers beyond a count without a word; theirs is bounded by MAX_HEADER_BYTES.
  server.maxHeadersCount = 0;
  return server;
}
