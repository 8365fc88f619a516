import type { IncomingMessage } from 'node:http';
import Negotiator from 'negotiator';
import type { CommandQueue } from '../orders/command-queue.ts';
import type { OrderCommand, OrderOutcome } from '../orders/lifecycle.ts';
import type { Listing } from '../orders/listing.ts';
import { parseInt64 } from '../orders/order.ts';
import { type Pet, petJson } from '../pets/pet.ts';
import { answer, answerEmpty, answerHead, refuse } from './answers.ts';
import { inTime, timeLeft } from './deadline.ts';
import type { Headers } from './errors.ts';
import type { Exchange } from './exchange.ts';
import type { GzipLists } from './gzip-lists.ts';
import { etagsOf, knownEtag } from './list-etags.ts';
import type { ListReaders } from './list-readers.ts';
import type { Metrics } from './metrics.ts';
import type { Routes } from './routes.ts';

/** What the operations of v1 need. */
export interface V1 {
  /** The path all operations are below. */
  readonly basePath: string;
  readonly listing: Listing;
  readonly readers: ListReaders;
  readonly gzipLists: GzipLists;
  readonly commands: CommandQueue<OrderCommand, OrderOutcome>;
  readonly findPet: (id: bigint) => Promise<Pet | undefined>;
  /** Milliseconds since the epoch. */
  readonly petLookupSunsetAt: number;
  /** On every answer of the pet lookup. */
  readonly petLookupHeaders: Headers;
  readonly metrics: Metrics;
}

/** The operations of contract/v1.yaml, under the names they have there. */
export function addV1(routes: Routes, v1: V1): void {
  routes.add(
    `${v1.basePath}/store/orders`,
    {},
    { GET: { operation: 'listOrders', handle: (exchange) => listOrders(v1, exchange) } },
  );
  routes.add(
    `${v1.basePath}/store/orders/`,
    {},
    {
      DELETE: {
        operation: 'cancelOrder',
        handle: (exchange) => cancelOrder(v1, exchange),
      },
    },
  );
  routes.add(
    `${v1.basePath}/pets/`,
    { headers: v1.petLookupHeaders },
    { GET: { operation: 'getPet', handle: (exchange) => getPet(v1, exchange) } },
  );
}

const LIST_HEADERS = ['vary', 'Accept-Encoding', 'cache-control', 'private, no-cache'] as const;

async function listOrders(v1: V1, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const snapshot = await inTime(exchange, () => v1.listing.current());
  const etags = etagsOf(snapshot.moment);
  const known = knownEtag(etags, request.headers['if-none-match']);
  if (known !== undefined) {
    answerEmpty(exchange, 304, [...LIST_HEADERS, 'etag', known]);
    return;
  }
  const compressed = acceptsGzip(request)
    ? await v1.gzipLists.get(snapshot, timeLeft(exchange))
    : undefined;
  const list = compressed ?? snapshot;
  answerHead(exchange, 200, [
    ...LIST_HEADERS,
    ...['etag', compressed === undefined ? etags.identity : etags.gzip],
    ...['content-type', 'application/json'],
    ...['content-length', String(list.byteLength)],
    ...(compressed === undefined ? [] : ['content-encoding', 'gzip']),
  ]);
  if (request.method === 'HEAD') response.end();
  else v1.readers.send(response, snapshot, list);
}

/** RFC 9110, section 12.5.3; `x-gzip` is another name of gzip (section 8.4.1.3). */
function acceptsGzip(request: IncomingMessage): boolean {
  const coding = new Negotiator(request).encoding(['gzip', 'x-gzip', 'identity']);
  return coding === 'gzip' || coding === 'x-gzip';
}

async function cancelOrder({ commands }: V1, exchange: Exchange): Promise<void> {
  const id = parseInt64(exchange.parameter);
  if (id === undefined) {
    refuse(exchange, 'invalid_order_id');
    return;
  }
  const by = exchange.apiKey!.id;
  const outcome = await inTime(exchange, () => commands.submit({ type: 'cancel', id, by }));
  switch (outcome) {
    case 'cancelled':
      answerEmpty(exchange, 204);
      break;
    case 'order_not_found':
    case 'order_already_cancelled':
    case 'order_already_shipped':
      refuse(exchange, outcome);
      break;
    default:
      throw new Error(`a cancel cannot come out as "${outcome}"`);
  }
}

async function getPet(v1: V1, exchange: Exchange): Promise<void> {
  const { id: key_id, name: key_name } = exchange.apiKey!;
  v1.metrics.deprecatedCalls.inc({ operation: 'getPet', key_id, key_name });
  if (Date.now() >= v1.petLookupSunsetAt) {
    refuse(exchange, 'pet_lookup_gone');
    return;
  }
  const id = parseInt64(exchange.parameter);
  if (id === undefined) {
    refuse(exchange, 'invalid_pet_id');
    return;
  }
  const pet = await inTime(exchange, () => v1.findPet(id));
  if (pet === undefined) refuse(exchange, 'pet_not_found');
  else answer(exchange, 200, ['content-type', 'application/json'], Buffer.from(petJson(pet)));
}
