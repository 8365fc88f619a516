import type { Logger } from 'pino';
import { addContract, CONTRACT_PATH } from '../api/contract.ts';
import { cancelOrder } from '../api/v1/cancel-order.ts';
import { deprecationHeaders } from '../api/v1/deprecation.ts';
import { getPet } from '../api/v1/get-pet.ts';
import { listOrders } from '../api/v1/list-orders.ts';
import type { Config } from '../config/config.ts';
import { MAX_SUPERSEDED_BYTES } from '../http/limits.ts';
import { GzipLists } from '../http/list/gzip.ts';
import { ListSender } from '../http/list/sender.ts';
import { Router } from '../http/router.ts';
import { buildServer, type PublicServer } from '../http/server.ts';
import type { KeyClock } from '../keys/key-clock.ts';
import { KeyRing } from '../keys/key-ring.ts';
import { KeyUse } from '../keys/key-use.ts';
import type { Listing } from '../listing/listing.ts';
import type { OrderCommand, OrderOutcome } from '../orders/lifecycle.ts';
import { Batcher } from '../store/batcher.ts';
import type { Store } from '../store/store.ts';
import { rounded } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface ListenerParts {
  readonly config: Config;
  readonly store: Store;
  /** The live list of `store`. */
  readonly listing: Listing;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Determines when keys expire. */
  readonly clock: KeyClock;
}

/** Builds the public listener, with every operation of the contract. */
export function buildPublicListener(parts: ListenerParts): PublicServer {
  const { config, metrics, logger } = parts;
  const router = new Router(config.basePath);
  addContract(router, config);
  addV1(router, parts);
  return buildServer({ router, keyRing: keyRingOf(parts), metrics, logger });
}

function keyRingOf({ config, store, clock }: ListenerParts): KeyRing {
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

/** Adds the operations of contract/v1.yaml under their names in the contract. */
function addV1(router: Router, { config, store, listing, metrics, logger }: ListenerParts): void {
  const { petLookup } = config;
  const sender = new ListSender(MAX_SUPERSEDED_BYTES, (count) =>
    metrics.responseBytes.inc({ operation: 'listOrders' }, count),
  );
  const batcher = new Batcher<OrderCommand, OrderOutcome>(
    (batch) => store.apply(batch),
    (size, ms) => {
      metrics.batchSize.observe(size);
      logger.debug({ commands: size, ms: rounded(ms) }, 'committed a batch');
    },
  );
  router.add('/store/orders', {
    GET: { operation: 'listOrders', handle: listOrders(listing, new GzipLists(), sender) },
  });
  router.add('/store/orders/{orderId}', {
    DELETE: { operation: 'cancelOrder', handle: cancelOrder(batcher) },
  });
  const lookup = getPet({
    findPet: (id) => store.pet(id),
    sunsetAt: petLookup.sunsetAt,
    onCall: ({ id: key_id, name: key_name }) =>
      metrics.deprecatedCalls.inc({ operation: 'getPet', key_id, key_name }),
  });
  const headers = deprecationHeaders(petLookup, CONTRACT_PATH);
  router.add('/pets/{petId}', { GET: { operation: 'getPet', handle: lookup } }, headers);
}
