import { randomUUID } from 'node:crypto';
import { type IncomingMessage, METHODS } from 'node:http';
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { withoutSecrets } from '../keys/api-key.ts';
import { KeyRing } from '../keys/key-ring.ts';
import { CommandNotConfirmed, CommandQueue } from '../orders/command-queue.ts';
import type { OrderCommand, OrderOutcome } from '../orders/lifecycle.ts';
import { Listing } from '../orders/listing.ts';
import { type Store, StoreUnavailable } from '../store/store.ts';
import { requireApiKey } from './authentication.ts';
import { brokenRequestListeners } from './broken-requests.ts';
import { addContract, CONTRACT_PATH } from './contract.ts';
import { markDeprecated } from './deprecation.ts';
import { HttpError, sendError } from './errors.ts';
import {
  DRAIN_CHECK_INTERVAL_MS,
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
import { logRequest } from './logging.ts';
import type { Metrics } from './metrics.ts';
import { Turns } from './turns.ts';
import { addV1 } from './v1.ts';
import { malformation, originForm } from './well-formed.ts';

export interface ServerParts {
  readonly config: Config;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/**
 * The service's public listener: hooks and routes wired to the store. Ready (`ready`, `listen`,
 * `inject`) once the list is in memory.
 */
export function buildServer({ config, store, metrics, logger }: ServerParts): FastifyInstance {
  const turns = new Turns();
  const server = createFastify(logger, metrics, turns);
  const listing = new Listing(store, (changed) =>
    metrics.listRefreshes.inc({ changed: changed > 0 ? 'yes' : 'no' }),
  );
  const commands = new CommandQueue<OrderCommand, OrderOutcome>(
    (batch) => store.apply(batch),
    (size) => metrics.batchSize.observe(size),
  );
  const keyRing = new KeyRing(store, config.environment);

  server.addHook('onReady', async () => {
    await listing.current();
  });
  markDeprecated(server, config.petLookup, CONTRACT_PATH);
  server.addHook('onRequest', (request, reply, done) => {
    reply.raw.once('close', () => observe(metrics, request, reply));
    stamp(request, reply);
    turns.take(request.raw.socket, reply.raw, done);
  });
  server.addHook('onRequest', (request, _reply, done) => {
    const problem = malformation(request.raw, request.raw.originalUrl ?? request.raw.url ?? '');
    // What follows an unread body on the connection cannot be trusted to be a request.
    done(problem && new HttpError(problem, { connection: 'close' }));
  });
  closeConnectionsAsTheyFallIdle(server);
  requireApiKey(server, keyRing, config.basePath);

  addContract(server, config);
  addV1(server, {
    basePath: config.basePath,
    storeId: store.id,
    listing,
    readers: new ListReaders(MAX_SUPERSEDED_BYTES, (count) =>
      metrics.responseBytes.inc({ operation: 'listOrders' }, count),
    ),
    commands,
    findPet: (id) => store.pet(id),
    petLookupSunsetAt: config.petLookup.sunsetAt,
    metrics,
  });
  server.setNotFoundHandler(async () => {
    throw new HttpError('not_found');
  });
  server.setErrorHandler(answerError);
  return server;
}

/**
 * Node closes those connections that are idle when the server begins to close. Those that finish an
 * answer later would be kept alive, and the server with them.
 */
function closeConnectionsAsTheyFallIdle(server: FastifyInstance): void {
  let timer: NodeJS.Timeout | undefined;
  server.addHook('preClose', (done) => {
    timer = setInterval(() => server.server.closeIdleConnections(), DRAIN_CHECK_INTERVAL_MS);
    done();
  });
  server.addHook('onClose', async () => clearInterval(timer));
}

declare module 'node:http' {
  interface IncomingMessage {
    /** Set by Fastify before `rewriteUrl`: the request target as it was sent. */
    originalUrl?: string;
  }
}

function createFastify(logger: Logger, metrics: Metrics, turns: Turns): FastifyInstance {
  const listeners = brokenRequestListeners(logger, metrics, turns);
  const server = fastify({
    loggerInstance: logger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestId',
    }),
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
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
      // Checked in malformation, since Node's own answer is no Error record.
      requireHostHeader: false,
    },
    clientErrorHandler: listeners.clientError,
    frameworkErrors: (error, request, reply) => {
      stamp(request, reply);
      const code = error.code === 'FST_ERR_MAX_PARAM_LENGTH' ? 'uri_too_long' : 'bad_request';
      reply.raw.once('close', () => observe(metrics, request, reply));
      void sendError(reply, new HttpError(code));
    },
  });
  server.server.maxConnections = MAX_CONNECTIONS;
  // Node drops headers beyond a count without a word; theirs is bounded by MAX_HEADER_BYTES.
  server.server.maxHeadersCount = 0;
  // No operation has a body: Fastify is to look at none, of no media type.
  for (const method of METHODS) {
    server.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
  server.server.on('checkExpectation', listeners.checkExpectation);
  server.server.on('connect', listeners.connect);
  return server as unknown as FastifyInstance;
}

/** A client's own X-Request-Id, if it is one that can stand in a log; otherwise a new one. */
function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  const isSane =
    typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) && withoutSecrets(given) === given;
  return isSane ? given : randomUUID();
}

function stamp(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' });
}

/** When the answer is out, or its reader gone: then, with no answer begun, the status is "aborted". */
function observe(metrics: Metrics, request: FastifyRequest, reply: FastifyReply): void {
  const operation = request.routeOptions.config?.operation ?? 'none';
  const status = reply.raw.headersSent ? String(reply.raw.statusCode) : 'aborted';
  const labels = { operation, status };
  metrics.requests.inc(labels);
  metrics.requestDuration.observe(labels, reply.elapsedTime / 1000);
  logRequest(request, reply);
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error instanceof HttpError) return sendError(reply, error);
  if (error instanceof StoreUnavailable || error instanceof CommandNotConfirmed) {
    request.log.warn({ err: error }, 'the store is not available');
    return sendError(reply, new HttpError('store_unavailable'));
  }
  request.log.error({ err: error }, 'a request failed');
  return sendError(reply, new HttpError('internal_error'));
}
