import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { KeyClock } from '../keys/key-clock.ts';
import { KeyRing } from '../keys/key-ring.ts';
import { KeyUse } from '../keys/key-use.ts';
import { CommandQueue } from '../orders/command-queue.ts';
import type { OrderCommand, OrderOutcome } from '../orders/lifecycle.ts';
import type { Listing } from '../orders/listing.ts';
import type { Store } from '../store/store.ts';
import { account } from './accounting.ts';
import { refuse } from './answers.ts';
import { authentication } from './authentication.ts';
import { Bodies } from './bodies.ts';
import { brokenRequestListeners } from './broken-requests.ts';
import { closeInStages } from './close-in-stages.ts';
import { connectionLimit } from './connection-limit.ts';
import { addContract, CONTRACT_PATH } from './contract.ts';
import { deprecationHeaders } from './deprecation.ts';
import { draining } from './drain.ts';
import type { Refusal } from './errors.ts';
import { Exchange } from './exchange.ts';
import { failing } from './failures.ts';
import { GzipLists } from './gzip-lists.ts';
import {
  DRAIN_LINGER_MS,
  HEADERS_TIMEOUT_MS,
  IDLE_TIMEOUT_MS,
  LINGER_MS,
  MAX_HEADER_BYTES,
  MAX_SUPERSEDED_BYTES,
  REQUEST_TIMEOUT_MS,
  TIMEOUT_CHECK_INTERVAL_MS,
} from './limits.ts';
import { ListReaders } from './list-readers.ts';
import { type Address, listen } from './listening.ts';
import { rounded } from './logging.ts';
import type { Metrics } from './metrics.ts';
import { endStalled, openSockets } from './open-sockets.ts';
import { pipeline } from './pipeline.ts';
import { Request } from './request.ts';
import { type Route, Routes } from './routes.ts';
import { Turns } from './turns.ts';
import { addV1 } from './v1.ts';

export interface ServerParts {
  readonly config: Config;
  readonly store: Store;
  /** Of `store`. */
  readonly listing: Listing;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** By which keys expire. */
  readonly clock: KeyClock;
}

/** The service's public listener. */
export interface PublicServer {
  /** For a test to compare with the contract. */
  readonly routes: Routes;
  /** Begins to serve, when the list is in memory. */
  readonly listen: (address: Address) => Promise<AddressInfo>;
  /** Carries out what is under way, and then ends. */
  readonly close: () => Promise<void>;
}

/** Wires the way of every request, in order, to the store. */
export function buildServer(parts: ServerParts): PublicServer {
  const { listing, metrics, logger } = parts;
  const fail = failing(logger, metrics.countFault);
  const turns = new Turns();
  const bodies = new Bodies();
  const routes = addRoutes(parts);
  const begin = pipeline(authentication(keyRingOf(parts), fail), bodies, fail);
  let isClosing = false;
  const server = createHttpServer();
  server.maxConnections = connectionLimit(logger);
  server.on('request', (request, response) => {
    const exchange = new Exchange(request, response, routes);
    account(metrics, logger, exchange);
    // Node loses what follows an Upgrade that nobody wants on the same connection.
    if (isClosing || request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    turns.take(request.socket, response, () => begin(exchange));
  });
  const broken = brokenRequestListeners(logger, metrics, turns, bodies);
  server.on('clientError', broken.clientError);
  server.on('checkExpectation', broken.checkExpectation);

  const sockets = openSockets(server);
  const drain = draining(server, sockets, turns);
  const endWatch = endStalled(sockets, {
    limitMs: IDLE_TIMEOUT_MS,
    intervalMs: TIMEOUT_CHECK_INTERVAL_MS,
  });
  // Node calls it after the last answer of a connection.
  server.on('connection', (socket: Socket) => {
    socket.destroySoon = () => closeInStages(socket, isClosing ? DRAIN_LINGER_MS : LINGER_MS);
  });
  return {
    routes,
    listen: async (address) => {
      await listing.current();
      return listen(server, address);
    },
    close: () => {
      isClosing = true;
      return drain().finally(endWatch);
    },
  };
}

function keyRingOf({ config, store, clock }: ServerParts): KeyRing {
  const use = new KeyUse(async (ids, at) => {
    await store.apply([{ type: 'recordKeyUse', ids, at }]);
  });
  return new KeyRing({
    findKeys: (digests) => store.keys(digests),
    environment: config.environment,
    clock,
    onUse: (ids, at) => use.offer(ids, at),
  });
}

function addRoutes({ config, store, listing, metrics, logger }: ServerParts): Routes {
  const { basePath } = config;
  const refusing = (code: Refusal, isPublic: boolean): Route => {
    return {
      operation: 'none',
      isPublic,
      headers: [],
      handle: (exchange) => refuse(exchange, code),
    };
  };
  const nothingBelow = refusing('not_found', false);
  const nothingOutside = refusing('not_found', true);
  const routes = new Routes({
    notFound: (path) =>
      path === basePath || path.startsWith(`${basePath}/`) ? nothingBelow : nothingOutside,
    badUrl: refusing('bad_url', true),
    otherMethods: (allowed) => {
      const allow = allowed.join(', ');
      return (exchange) => refuse(exchange, 'method_not_allowed', ['allow', allow]);
    },
  });
  addContract(routes, config);
  addV1(routes, {
    basePath,
    listing,
    readers: new ListReaders(MAX_SUPERSEDED_BYTES, (count) =>
      metrics.responseBytes.inc({ operation: 'listOrders' }, count),
    ),
    gzipLists: new GzipLists(),
    commands: new CommandQueue<OrderCommand, OrderOutcome>(
      (batch) => store.apply(batch),
      (size, ms) => {
        metrics.batchSize.observe(size);
        logger.debug({ commands: size, ms: rounded(ms) }, 'a batch was carried out');
      },
    ),
    findPet: (id) => store.pet(id),
    petLookupSunsetAt: config.petLookup.sunsetAt,
    petLookupHeaders: deprecationHeaders(config.petLookup, CONTRACT_PATH),
    metrics,
  });
  return routes;
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
    // `malformation` looks for it, since Node's own answer is no Error record.
    requireHostHeader: false,
  });
  server.timeout = IDLE_TIMEOUT_MS;
  // A client that has said all it has to say may close its side and still wants its answer.
  (server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  // Node drops headers beyond a count without a word; theirs is bounded by MAX_HEADER_BYTES.
  server.maxHeadersCount = 0;
  return server;
}
