import { METHODS, type Server } from 'node:http';
import fastify, { type FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { findInOrder, KeyRing } from '../keys/key-ring.ts';
import { CommandNotConfirmed, CommandQueue } from '../orders/command-queue.ts';
import type { OrderCommand, OrderOutcome } from '../orders/lifecycle.ts';
import type { Listing } from '../orders/listing.ts';
import { type Store, StoreUnavailable } from '../store/store.ts';
import { account, accountForRequests } from './accounting.ts';
import { type FailedRequest, refuse } from './answers.ts';
import { requireApiKey } from './authentication.ts';
import { Bodies, discardBodies } from './bodies.ts';
import { type BrokenRequestListeners, brokenRequestListeners } from './broken-requests.ts';
import { CompressedLists } from './compressed-lists.ts';
import { addContract, CONTRACT_PATH } from './contract.ts';
import { markDeprecated } from './deprecation.ts';
import { drainWhenClosing } from './drain.ts';
import {
  HEADERS_TIMEOUT_MS,
  IDLE_TIMEOUT_MS,
  KEEP_ALIVE_TIMEOUT_MS,
  MAX_CONNECTIONS,
  MAX_HEADER_BYTES,
  MAX_SUPERSEDED_BYTES,
  MAX_URL_BYTES,
  REQUEST_TIMEOUT_MS,
  TIMEOUT_CHECK_INTERVAL_MS,
} from './limits.ts';
import { ListReaders } from './list-readers.ts';
import type { Metrics } from './metrics.ts';
import { requestId } from './request-id.ts';
import { Turns, takeInTurn } from './turns.ts';
import { addV1 } from './v1.ts';
import { originForm, refuseMalformed } from './well-formed.ts';

export interface ServerParts {
  readonly config: Config;
  readonly store: Store;
  /** Of `store`. */
  readonly listing: Listing;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/**
 * The service's public listener: hooks and routes wired to the store. Ready (`ready`, `listen`,
 * `inject`) once the list is in memory.
 */
export function buildServer(parts: ServerParts): FastifyInstance {
  const { config, store, listing, metrics, logger } = parts;
  const fail = failing(logger);
  const turns = new Turns();
  const bodies = new Bodies();
  const listeners = brokenRequestListeners(logger, metrics, turns, bodies);
  const server = createFastify(logger, listeners, metrics, turns);
  const commands = new CommandQueue<OrderCommand, OrderOutcome>(
    (batch) => store.apply(batch),
    (size) => metrics.batchSize.observe(size),
  );

  // Look-ups gather as commands do: at most one is under way, however many keys are new.
  const lookUps = new CommandQueue((digests: readonly Uint8Array[]) =>
    findInOrder(digests, (asked) => store.keys(asked)),
  );

  server.addHook('onReady', async () => {
    await listing.current();
  });
  drainWhenClosing(server, turns);
  // The way of every request, in this order.
  accountForRequests(server, metrics, logger);
  takeInTurn(server, turns);
  markDeprecated(server, config.petLookup, CONTRACT_PATH);
  refuseMalformed(server);
  const keyRing = new KeyRing((digest) => lookUps.submit(digest), config.environment);
  requireApiKey(server, keyRing, config.basePath, fail);
  discardBodies(server, bodies);

  addContract(server, config);
  addV1(server, {
    basePath: config.basePath,
    listing,
    readers: new ListReaders(MAX_SUPERSEDED_BYTES, (count) =>
      metrics.responseBytes.inc({ operation: 'listOrders' }, count),
    ),
    compressedLists: new CompressedLists(),
    commands,
    findPet: (id) => store.pet(id),
    petLookupSunsetAt: config.petLookup.sunsetAt,
    metrics,
    fail,
  });
  server.setNotFoundHandler((_request, reply) => refuse(reply, 'not_found'));
  server.setErrorHandler(fail);
  return server;
}

function createFastify(
  logger: Logger,
  listeners: BrokenRequestListeners,
  metrics: Metrics,
  turns: Turns,
): FastifyInstance {
  const server = fastify({
    // Fastify would make a logger for each request; accounting.ts writes the one line that there is.
    logger: false,
    genReqId: requestId,
    // A long first load of the list is no fault.
    pluginTimeout: 0,
    routerOptions: { maxParamLength: MAX_URL_BYTES },
    rewriteUrl: (request) => originForm(request.url ?? ''),
    // Requests that are on their way while we drain are carried out; Fastify's 503 is no Error record.
    return503OnClosing: false,
    connectionTimeout: IDLE_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: {
      // No stream is made ready for the body of a request that has none.
      optimizeEmptyRequests: true,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
      // Checked in malformation, since Node's own answer is no Error record.
      requireHostHeader: false,
    },
    clientErrorHandler: listeners.clientError,
    frameworkErrors: (error, request, reply) => {
      account(metrics, logger, request, reply);
      const code = error.code === 'FST_ERR_MAX_PARAM_LENGTH' ? 'uri_too_long' : 'bad_request';
      turns.take(request.raw.socket, reply.raw, () => refuse(reply, code));
    },
  });
  // No operation has a body: Fastify is to look at none, of no media type.
  for (const method of METHODS) {
    server.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  configureNode(server.server as Server, listeners);
  return server as unknown as FastifyInstance;
}

function configureNode(server: Server, listeners: BrokenRequestListeners): void {
  server.maxConnections = MAX_CONNECTIONS;
  // A client that has said all it has to say may close its side and still wants its answer.
  (server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  // Node drops headers beyond a count without a word; theirs is bounded by MAX_HEADER_BYTES.
  server.maxHeadersCount = 0;
  server.on('checkExpectation', listeners.checkExpectation);
  server.on('connect', listeners.connect);
}

/** For what nobody has foreseen, and for a store that is not there. */
function failing(logger: Logger): FailedRequest {
  return (error, request, reply) => {
    const line = { requestId: request.id, err: error };
    if (reply.raw.headersSent) {
      logger.error(line, 'an answer failed on its way');
      reply.raw.destroy();
    } else if (error instanceof StoreUnavailable || error instanceof CommandNotConfirmed) {
      logger.warn(line, 'the store is not available');
      refuse(reply, 'store_unavailable');
    } else {
      logger.error(line, 'a request failed');
      refuse(reply, 'internal_error');
    }
  };
}
