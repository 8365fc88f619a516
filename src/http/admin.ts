import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { type Position, positionText } from '../../protocol/history.ts';
import { IDLE_TIMEOUT_MS, MAX_ADMIN_CONNECTIONS, REQUEST_TIMEOUT_MS } from './limits.ts';
import { type Address, listen } from './listen.ts';
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
  readonly logger: Logger;
}

export interface Admin {
  readonly listen: (address: Address) => Promise<AddressInfo>;
  readonly close: () => Promise<void>;
}

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Builds the admin listener: liveness, readiness and metrics, on an address of its own. Requests are not
 * authenticated, so the listener must be reachable only from the host or its private network.
 */
export function buildAdmin(parts: AdminParts): Admin {
  const router = adminRoutes(parts);
  const find = (method: string, path: string) => router.find(method, path);
  const fail = errorHandler(parts.logger, () => {});
  const options = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: 0,
    insecureHTTPParser: false,
  };
  const server = createServer(options, (request, response) => {
    dispatch(new Exchange(request, response, find), fail);
  });
  server.timeout = IDLE_TIMEOUT_MS;
  server.maxConnections = MAX_ADMIN_CONNECTIONS;
  return {
    listen: (address) => listen(server, address),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Probes and scrapes need no graceful shutdown.
        server.closeAllConnections();
      }),
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
  router.addPublic('/metrics', async (exchange) => {
    answerText(exchange, 200, await metrics(), METRICS_TYPE);
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
