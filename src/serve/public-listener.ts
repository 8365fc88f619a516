import type { Logger } from 'pino';
import { Contract, type OperationHandler } from '../api/contract.ts';
import { addContractDocument, documentPath } from '../api/contract-document.ts';
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
import type { OrderOutcome } from '../orders/batch.ts';
import type { OrderCommand } from '../orders/lifecycle.ts';
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
  const v1 = new Contract('v1');
  const v1Path = `${config.rootPath}/v1`;
  const router = new Router([v1Path]);
  addContractDocument(router, v1, config);
  v1.addTo(router, v1Path, v1Handlers(parts));
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

/** Returns the handlers of contract/v1.yaml, by operationId. */
function v1Handlers(parts: ListenerParts): Record<string, OperationHandler> {
  const { config, store, listing, metrics, logger } = parts;
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
  const { petLookup } = config;
  const lookup = getPet({
    findPet: (id) => store.pet(id),
    sunsetAt: petLookup.sunsetAt,
    onCall: ({ id: key_id, name: key_name }) =>
      metrics.deprecatedCalls.inc({ operation: 'getPet', key_id, key_name }),
  });
  return {
    listOrders: { handle: listOrders(listing, new GzipLists(), sender) },
    cancelOrder: { handle: cancelOrder(batcher) },
    getPet: { handle: lookup, headers: deprecationHeaders(petLookup, documentPath('v1')) },
  };
}
