import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { sampleOrders } from '../../src/cli/orders/sample.ts';
import { type ApiKey, newApiKey, newSecret } from '../../src/domain/api-key.ts';
import { MAX_BATCH } from '../../src/domain/batch.ts';
import { KeyClock } from '../../src/domain/key-clock.ts';
import type { Order } from '../../src/domain/order.ts';
import { Cors } from '../../src/http/request/cors.ts';
import type { PublicServer } from '../../src/http/server.ts';
import { Listing } from '../../src/listing/listing.ts';
import { buildPublicListener } from '../../src/service/public-listener.ts';
import { readConfig } from '../../src/service/settings/config.ts';
import type { Settings } from '../../src/service/settings/reader.ts';
import type { Store } from '../../src/store/store.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';
import { ENGINES, type Engine, newPostgresSchema, open } from '../store/engines.ts';
import { type Answer, checkAnswer, parseAnswers } from './contract-check.ts';

const engines = new WeakMap<TestContext, Engine>();

/** Defines a test of the service on every engine. */
export function testService(name: string, run: (t: TestContext) => Promise<void>): void {
  for (const engine of ENGINES) {
    test(`${name} (${engine.name})`, async (t) => {
      engines.set(t, engine);
      await run(t);
    });
  }
}

export interface Service {
  readonly server: PublicServer;
  readonly port: number;
  readonly store: Store;
  /** The URL of its database. */
  readonly url: string;
  readonly metrics: Metrics;
  /** The secret of a valid key for the environment of the service. */
  readonly secret: string;
  readonly key: ApiKey;
  /** Creates another key, and returns its secret. */
  readonly newKey: (
    limits: Partial<Pick<ApiKey, 'scopes' | 'cancelsPerHour' | 'placesPerHour' | 'expiresAt'>>,
  ) => Promise<string>;
  /** Everything logged so far. */
  readonly log: () => string;
  /** Sends bytes as they are; resolves to everything that is received until the connection closes. */
  readonly raw: (bytes: string | Buffer) => Promise<string>;
  /** Sends bytes as they are; resolves to the responses that are received until the connection closes. */
  readonly answersTo: (bytes: string | Buffer) => Promise<Answer[]>;
  /** Sends a request, by default with a valid key, and checks the response against the contract. */
  readonly call: (
    method: string,
    path: string,
    headers?: Readonly<Record<string, string>>,
    body?: string,
  ) => Promise<Answer>;
}

/** Starts the service on a real store and a free port of 127.0.0.1, with its list in memory unless `isListRead` is false. */
export async function startService(
  t: TestContext,
  settings: Settings = {},
  wrapStore: (store: Store) => Store = (store) => store,
  isListRead = true,
): Promise<Service> {
  const engine = engines.get(t) ?? ENGINES[0]!;
  const newDatabase = engine.name === 'SQLite' ? engine.newDatabase : newPostgresSchema;
  const url = settings.DATABASE_URL ?? (await newDatabase(t));
  const config = readConfig({ LOG_LEVEL: 'trace', DATABASE_URL: url, ...settings });
  const store = await open(t, url, 'service');
  const metrics = createMetrics({
    environment: config.environment,
    database: url,
    store: () => store,
    isReady: async () => true,
  });
  const lines: string[] = [];
  const logger = createLogger(config.logLevel, { write: (line) => lines.push(line) });
  const wrapped = wrapStore(store);
  const listing = new Listing(wrapped);
  const server = buildPublicListener({
    config,
    store: wrapped,
    listing,
    metrics,
    logger,
    clock: new KeyClock(),
    cors: new Cors(config.corsOrigins),
  });
  if (isListRead) await listing.current();
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const agent = new Agent({ keepAlive: true });
  t.after(async () => {
    agent.destroy();
    await server.close();
  });
  const { environment } = config;
  const keyFor = async (secret: string, limits = {}) => {
    const details = { name: 'test', environment, now: Date.now(), ...limits };
    const key = newApiKey(secret, details);
    await store.apply([{ type: 'createKey', key }]);
    return key;
  };
  const secret = newSecret(environment);
  const key = await keyFor(secret);
  const newKey: Service['newKey'] = async (limits) => {
    const another = newSecret(environment);
    await keyFor(another, limits);
    return another;
  };

  const received = async (bytes: string | Buffer) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(bytes);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(socket, 'close');
    return Buffer.concat(chunks).toString();
  };
  const answersTo: Service['answersTo'] = async (bytes) => {
    const answers = parseAnswers(await received(bytes));
    for (const answer of answers) checkAnswer('RAW', '', '', answer);
    return answers;
  };

  const call: Service['call'] = async (method, path, headers = {}, body) => {
    const sent = request({
      ...{ host: '127.0.0.1', port, agent, method, path },
      headers: { authorization: `Bearer ${secret}`, ...headers },
    });
    // A server that refuses the rest of a body closes the connection after its response.
    sent.on('error', () => {});
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const answer = {
      status: response.statusCode!,
      headers: response.headers,
      body: decoded(await buffer(response), response.headers['content-encoding']),
    };
    checkAnswer(method, path, config.rootPath, answer);
    return answer;
  };
  return {
    server,
    port,
    store,
    url,
    metrics,
    secret,
    key,
    newKey,
    log: () => lines.join(''),
    raw: received,
    answersTo,
    call,
  };
}

/** Decompresses a body if it has a content coding. */
function decoded(body: Buffer, coding: unknown): string {
  if (body.length === 0 || coding === undefined) return body.toString();
  return gunzipSync(body).toString();
}

/** Places orders in one transaction. */
export async function place(store: Store, ...orders: readonly Order[]): Promise<void> {
  await store.apply(orders.map((order) => ({ type: 'insertOrder', order }) as const));
}

/** Places orders in transactions as large as those of the service; larger ones may exceed its time limits. */
export async function placeInBatches(store: Store, orders: readonly Order[]): Promise<void> {
  for (let from = 0; from < orders.length; from += MAX_BATCH) {
    await place(store, ...orders.slice(from, from + MAX_BATCH));
  }
}

/** Places sample orders with the ids from 1 to `count`. */
export async function placeSamples(store: Store, count: number): Promise<void> {
  await placeInBatches(store, [...sampleOrders(count, 1)]);
}

export function pending(id: bigint): Order {
  return { id, status: 'pending', petId: id, quantity: 1n, shipDate: 0, complete: false };
}
