import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CommandQueue } from '../orders/command-queue.ts';
import type { OrderCommand, OrderOutcome } from '../orders/lifecycle.ts';
import type { Listing, Moment } from '../orders/listing.ts';
import { parseInt64 } from '../orders/order.ts';
import { type Pet, petJson } from '../pets/pet.ts';
import { bestCoding, CODINGS, type Coding } from './accept-encoding.ts';
import { answer, answerEmpty, answerHead, type FailedRequest, refuse } from './answers.ts';
import type { CompressedLists } from './compressed-lists.ts';
import { hasCurrent } from './conditional.ts';
import { inTime, timeLeft } from './deadline.ts';
import type { ListReaders } from './list-readers.ts';
import { refuseOtherMethods } from './methods.ts';
import type { Metrics } from './metrics.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation's name in the contract. */
    operation?: string;
    /** Belongs to the pet lookup, which is deprecated. */
    deprecated?: true;
  }
}

/** What the operations of v1 need. */
export interface V1 {
  /** The path all operations are below. */
  readonly basePath: string;
  readonly listing: Listing;
  readonly readers: ListReaders;
  readonly compressedLists: CompressedLists;
  readonly commands: CommandQueue<OrderCommand, OrderOutcome>;
  readonly findPet: (id: bigint) => Promise<Pet | undefined>;
  /** Milliseconds since the epoch. */
  readonly petLookupSunsetAt: number;
  readonly metrics: Metrics;
  readonly fail: FailedRequest;
}

/** The operations of contract/v1.yaml, under the names they have there. */
export function addV1(server: FastifyInstance, v1: V1): void {
  const orders = `${v1.basePath}/store/orders`;
  const order = `${v1.basePath}/store/orders/:orderId`;
  const pet = `${v1.basePath}/pets/:petId`;

  server.get(orders, { config: { operation: 'listOrders' } }, (request, reply) =>
    carryOut(listOrders, v1, request, reply),
  );
  server.delete(order, { config: { operation: 'cancelOrder' } }, (request, reply) =>
    carryOut(cancelOrder, v1, request, reply),
  );
  server.get(pet, { config: { operation: 'getPet', deprecated: true } }, (request, reply) =>
    carryOut(getPet, v1, request, reply),
  );
  refuseOtherMethods(server, orders, ['GET', 'HEAD']);
  refuseOtherMethods(server, order, ['DELETE']);
  refuseOtherMethods(server, pet, ['GET', 'HEAD'], { deprecated: true });
}

type Operation = (v1: V1, request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Fastify would say nothing of an error after the head of the answer. */
function carryOut(
  operation: Operation,
  v1: V1,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  operation(v1, request, reply).catch((error) => v1.fail(error, request, reply));
}

async function listOrders(v1: V1, request: FastifyRequest, reply: FastifyReply) {
  const snapshot = await inTime(request, () => v1.listing.current());
  const headers = { vary: 'Accept-Encoding', 'cache-control': 'private, no-cache' };
  const known = knownEtag(request.headers['if-none-match'], snapshot.moment);
  if (known !== undefined) {
    answerEmpty(reply, 304, { ...headers, etag: known });
    return;
  }
  const wanted = bestCoding(request.headers['accept-encoding']);
  const { coding, list } = await v1.compressedLists.best(snapshot, wanted, timeLeft(request));
  answerHead(reply, 200, {
    ...headers,
    etag: etagOf(snapshot.moment, coding),
    'content-type': 'application/json',
    'content-length': list.byteLength,
    ...(coding !== undefined && { 'content-encoding': coding }),
  });
  if (request.method === 'HEAD') reply.raw.end();
  else v1.readers.send(reply.raw, snapshot, list);
}

/** Each coding has its own, since it is other bytes: RFC 9110, section 8.8.3.3. */
function etagOf({ storeId, revision }: Moment, coding: Coding | undefined): string {
  return `"${storeId}-${revision}${coding === undefined ? '' : `-${coding}`}"`;
}

/** The ETag of the current list, in any coding, that the client has already. */
function knownEtag(ifNoneMatch: string | undefined, moment: Moment): string | undefined {
  if (ifNoneMatch === undefined) return undefined;
  return [undefined, ...CODINGS]
    .map((coding) => etagOf(moment, coding))
    .find((etag) => hasCurrent(ifNoneMatch, etag));
}

async function cancelOrder(v1: V1, request: FastifyRequest, reply: FastifyReply) {
  const { orderId } = request.params as { orderId: string };
  const id = parseInt64(orderId);
  if (id === undefined) {
    refuse(reply, 'invalid_order_id');
    return;
  }
  const by = request.apiKey!.id;
  const outcome = await inTime(request, () => v1.commands.submit({ type: 'cancel', id, by }));
  switch (outcome) {
    case 'cancelled':
      answerEmpty(reply, 204);
      break;
    case 'order_not_found':
    case 'order_already_cancelled':
    case 'order_already_shipped':
      refuse(reply, outcome);
      break;
    default:
      throw new Error(`a cancel cannot come out as "${outcome}"`);
  }
}

async function getPet(v1: V1, request: FastifyRequest, reply: FastifyReply) {
  const { id: key_id, name: key_name } = request.apiKey!;
  v1.metrics.deprecatedCalls.inc({ operation: 'getPet', key_id, key_name });
  const { petId } = request.params as { petId: string };
  const id = parseInt64(petId);
  if (Date.now() >= v1.petLookupSunsetAt) {
    refuse(reply, 'pet_lookup_gone');
    return;
  }
  if (id === undefined) {
    refuse(reply, 'invalid_pet_id');
    return;
  }
  const pet = await inTime(request, () => v1.findPet(id));
  if (pet === undefined) refuse(reply, 'pet_not_found');
  else answer(reply, 200, { 'content-type': 'application/json' }, Buffer.from(petJson(pet)));
}
