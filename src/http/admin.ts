import { createServer } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { type Position, positionText } from '../../protocol/history.ts';
import {
  IDLE_TIMEOUT_MS,
  MAX_ADMIN_CONNECTIONS,
  REQUEST_TIMEOUT_MS,
  TIMEOUT_CHECK_INTERVAL_MS,
} from './limits.ts';
import { type ListenAddress, listen } from './listen.ts';
import { errorHandler } from './request/error-handler.ts';
import { Exchange } from './request/exchange.ts';
import { dispatch } from './request/pipeline.ts';
import { sendReply } from './request/reply.ts';
import { Router } from './request/router.ts';

interface AdminParts {
  /** Resolves to the metrics in the Prometheus text format. */
  readonly metrics: () => Promise<string>;
  /** Resolves to the reason why the process is not ready; undefined if it is ready. */
  readonly whyNotReady: () => Promise<string | undefined>;
  /** The database of the store, without a password, which /readyz names. */
  readonly database: string;
  /** Returns the state of v1's list, which /readyz has. */
  readonly listState: () => string;
  /** Resolves to the head of the store; undefined while it is unavailable. */
  readonly head: () => Promise<Position | undefined>;
  /** Names in the Host header for which the listener answers, besides those of every machine. */
  readonly names: readonly string[];
  readonly logger: Logger;
}

/** Timeout of the headers of a request, also of the first one on a connection. */
const HEADERS_MS = 3_000;

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Builds the admin listener: liveness, readiness and metrics, on an address of its own. Requests are not
 * authenticated, so the listener must be reachable only from the host or its private network.
 */
export function buildAdmin(parts: AdminParts) {
  const router = adminRoutes(parts);
  const fail = errorHandler(parts.logger, () => {});
  const options = {
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS / 4,
    keepAliveTimeout: 0,
    insecureHTTPParser: false,
  };
  /** Open connections that have sent no request yet, the oldest first. */
  const idle = new Set<Socket>();
  let open = 0;
  const isOwn = isOwnHost(parts.names);
  let hasWarned = false;
  const server = createServer(options, (request, response) => {
    idle.delete(request.socket);
    // By itself, the limit of requests below sends "Connection: close", and leaves it to the client to close.
    response.shouldKeepAlive = false;
    const exchange = new Exchange(request, response, router);
    if (isOwn(request.headers.host)) {
      dispatch(exchange, fail);
      return;
    }
    if (!hasWarned)
      parts.logger.warn({ host: request.headers.host?.slice(0, 100) }, NOT_OWN.trim());
    hasWarned = true;
    answerText(exchange, 421, NOT_OWN);
  });
  server.timeout = IDLE_TIMEOUT_MS;
  // Pipelined requests would each have the metrics made.
  server.maxRequestsPerSocket = 1;
  server.on('dropRequest', (_, socket) => socket.destroy());
  server.on('connection', (socket) => {
    open += 1;
    idle.add(socket);
    socket.once('close', () => {
      open -= 1;
      idle.delete(socket);
    });
    // Otherwise a few silent connections would make every probe fail.
    if (open > MAX_ADMIN_CONNECTIONS) idle.values().next().value?.destroy();
  });
  return {
    listen: (address: ListenAddress) => listen(server, address),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        // Probes and scrapes need no graceful shutdown.
        server.closeAllConnections();
      }),
  };
}

const NOT_OWN =
  'this listener answers for IP addresses, names without a dot, names that begin with that of the machine, private domains such as .internal, and OPERATIONS_NAMES\n';
/** Domains in which nobody can register a name. */
const PRIVATE =
  /\.(?:internal|local|localhost|svc|lan|home|corp|consul|home\.arpa|cluster\.local)\.?$/;

/**
 * Returns a test of a Host header: a page on another host, whose name was made to resolve to this machine (DNS rebinding), must not read metrics.
 * @param names further names of this listener, in lower case
 */
function isOwnHost(names: readonly string[]): (host: string | undefined) => boolean {
  const [machine] = hostname().toLowerCase().split('.');
  return (host) => {
    // HTTP/1.0, which browsers do not send.
    if (host === undefined) return true;
    const name = host.replace(/:\d+$/, '').toLowerCase();
    const isAddress = name.startsWith('[') || isIP(name) !== 0;
    if (isAddress || !name.includes('.') || PRIVATE.test(name)) return true;
    return name.startsWith(`${machine}.`) || names.includes(name.replace(/\.$/, ''));
  };
}

function adminRoutes({ metrics, whyNotReady, database, listState, head }: AdminParts): Router {
  const router = new Router([]);
  router.addPublic('/livez', (exchange) => answerText(exchange, 200, 'ok\n'));
  router.addPublic('/readyz', async (exchange) => {
    const reason = await whyNotReady();
    const isReady = reason === undefined;
    const state = isReady ? 'ready' : `not ready: ${reason}`;
    const lines = [state, `database: ${database}`, `list of v1: ${listState()}`];
    answerText(exchange, isReady ? 200 : 503, lines.map((line) => `${line}\n`).join(''));
  });
  router.addPublic('/head', async (exchange) => {
    const position = await head();
    if (position === undefined) answerText(exchange, 503, 'the store is unavailable\n');
    else answerText(exchange, 200, `${positionText(position)}\n`);
  });
  /** Made once for all scrapes at a time. */
  let making: Promise<string> | undefined;
  router.addPublic('/metrics', async (exchange) => {
    making ??= metrics().finally(() => {
      making = undefined;
    });
    answerText(exchange, 200, await making, METRICS_TYPE);
  });
  return router;
}

function answerText(
  exchange: Exchange,
  status: number,
  text: string,
  type = 'text/plain; charset=utf-8',
): void {
  sendReply(exchange, { status, headers: ['content-type', type], body: Buffer.from(text) });
}
