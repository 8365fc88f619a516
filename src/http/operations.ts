import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { answer, refuse } from './answers.ts';
import { Exchange } from './exchange.ts';
import { failing } from './failures.ts';
import { IDLE_TIMEOUT_MS, MAX_OPERATIONS_CONNECTIONS, REQUEST_TIMEOUT_MS } from './limits.ts';
import { type Address, listen } from './listening.ts';
import { carryOut } from './pipeline.ts';
import { type Handle, Routes } from './routes.ts';

export interface OperationsParts {
  /** In Prometheus' text format. */
  readonly metrics: () => Promise<string>;
  /** Why requests should not be sent here now; undefined if they should. */
  readonly whyNotReady: () => Promise<string | undefined>;
  readonly logger: Logger;
}

export interface Operations {
  readonly listen: (address: Address) => Promise<AddressInfo>;
  readonly close: () => Promise<void>;
}

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * The listener for those who run the service, apart from the public one: is it alive, should it get
 * requests, what does it do. Without keys, so for the machine or its private network only.
 */
export function buildOperations(parts: OperationsParts): Operations {
  const routes = operationsRoutes(parts);
  const fail = failing(parts.logger, () => {});
  const options = { requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: 0 };
  const server = createServer(options, (request, response) => {
    carryOut(new Exchange(request, response, routes), fail);
  });
  server.timeout = IDLE_TIMEOUT_MS;
  server.maxConnections = MAX_OPERATIONS_CONNECTIONS;
  return {
    listen: (address) => listen(server, address),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Nothing here is worth waiting for at the end.
        server.closeAllConnections();
      }),
  };
}

function operationsRoutes({ metrics, whyNotReady }: OperationsParts): Routes {
  const refuseAny: Handle = (exchange) => refuse(exchange, 'not_found');
  const nowhere = { operation: 'none', isPublic: true, headers: [], handle: refuseAny };
  const routes = new Routes({
    notFound: () => nowhere,
    badUrl: nowhere,
    otherMethods: () => refuseAny,
  });
  routes.addPublic('/livez', (exchange) => answerText(exchange, 200, 'ok\n'));
  routes.addPublic('/readyz', async (exchange) => {
    const reason = await whyNotReady();
    if (reason === undefined) answerText(exchange, 200, 'ready\n');
    else answerText(exchange, 503, `not ready: ${reason}\n`);
  });
  routes.addPublic('/metrics', async (exchange) => {
    answerText(exchange, 200, await metrics(), METRICS_TYPE);
  });
  return routes;
}

function answerText(
  exchange: Exchange,
  status: number,
  text: string,
  type = 'text/plain; charset=utf-8',
): void {
  answer(exchange, status, ['content-type', type], Buffer.from(text));
}
