import type { Logger } from 'pino';
import { addConsole } from '../../console/console.ts';
import { addReference } from '../../reference/reference.ts';
import type { Services } from '../api/operation.ts';
import { Reads } from '../api/reads.ts';
import { oneAtATime, type Submit, submitting } from '../api/submit.ts';
import { cancelOrder as cancelOrderV1 } from '../api/v1/cancel-order.ts';
import { deprecationHeaders, getPet } from '../api/v1/get-pet.ts';
import { listOrders as listAllOrders } from '../api/v1/list-orders.ts';
import { OPERATIONS } from '../api/v2/operations.ts';
import { type BatchCommand, changesOf } from '../domain/batch.ts';
import type { KeyClock } from '../domain/key-clock.ts';
import {
  keyForNew,
  keyOf,
  type WebhookKey,
  WebhookKeyUnusable,
} from '../feed/deliveries/webhook-key.ts';
import { ChangeStreams } from '../feed/streams/change-streams.ts';
import { Contract } from '../http/contract/contract.ts';
import { addContractDocument, documentPath, servedDocument } from '../http/contract/served.ts';
import { addEntrances } from '../http/pages/files.ts';
import type { Cors } from '../http/request/cors.ts';
import type { RouteHandler } from '../http/request/exchange.ts';
import { KeyRing } from '../http/request/key-ring.ts';
import { Router } from '../http/request/router.ts';
import { buildServer, type PublicServer } from '../http/server.ts';
import { GzipLists } from '../listing/gzip.ts';
import type { Listing } from '../listing/listing.ts';
import { ListSender } from '../listing/sender.ts';
import type { OutcomeOf } from '../store/commands.ts';
import { GroupCommit } from '../store/group-commit.ts';
import type { Store } from '../store/store.ts';
import { rounded } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Traces } from '../telemetry/traces.ts';
import type { Config } from './settings/config.ts';

interface ListenerParts {
  readonly config: Config;
  readonly store: Store;
  readonly listing: Listing;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Determines when keys expire. */
  readonly clock: KeyClock;
  readonly cors: Cors;
  /** Undefined unless requests are traced. */
  readonly traces?: Traces | undefined;
}

/** Builds the public listener, with every operation of the contract. */
export function buildPublicListener(parts: ListenerParts): PublicServer {
  const { config, metrics, logger, cors, traces } = parts;
  const groupCommit = groupCommitOf(parts);
  const submit = submitting(
    <C extends BatchCommand>(command: C) => groupCommit.submit(command) as Promise<OutcomeOf<C>>,
  );
  const v1 = Contract.load('v1');
  const v2 = Contract.load('v2');
  const pathOf = ({ version }: Contract) => `${config.rootPath}/${version}`;
  const router = new Router([v1, v2].map(pathOf));
  for (const contract of [v1, v2]) addContractDocument(router, contract, config);
  const documented = () =>
    [v1, v2].map((contract) => ({
      version: contract.version,
      document: servedDocument(contract, config),
    }));
  addReference(router, documented, config);
  if (config.hasConsole) addConsole(router, config);
  addEntrances(router, config);
  v1.addTo(router, pathOf(v1), v1Handlers(parts, submit));
  const keyRing = keyRingOf(parts);
  const streams = new ChangeStreams({
    feed: (after, limit) => parts.store.feed(after, limit),
    recheck: (keys) => keyRing.recheck(keys, 'changes:read'),
    onError: (error) =>
      logger.warn({ err: error }, 'changes cannot be read for streams; the read is retried'),
  });
  metrics.observeLoad({
    streams: () => streams.count,
    streamBacklogBytes: () => streams.backlogBytes,
    pendingCommands: () => groupCommit.pending,
  });
  const services = servicesOf(parts, { submit, streams, basePath: pathOf(v2) });
  const v2Handlers = OPERATIONS.map(({ id, route }) => [id, route(v2, services)]);
  v2.addTo(router, pathOf(v2), Object.fromEntries(v2Handlers));
  const server = buildServer({ router, keyRing, metrics, logger, cors, traces });
  return {
    ...server,
    close: () => {
      streams.close();
      return server.close();
    },
  };
}

/** Commands of all versions share one group commit. */
function groupCommitOf({ store, metrics, logger }: ListenerParts) {
  return new GroupCommit(
    (batch: readonly BatchCommand[]) => store.apply(batch),
    (size, ms) => {
      metrics.batchSize.observe(size);
      logger.debug({ commands: size, ms: rounded(ms) }, 'committed a batch');
    },
    changesOf,
  );
}

function keyRingOf({ config, store, clock }: ListenerParts): KeyRing {
  return new KeyRing({
    findKeys: (digests) => store.keys(digests),
    environment: config.environment,
    clock,
    recordUse: (ids, formers, at) => store.apply([{ type: 'recordKeyUse', ids, formers, at }]),
  });
}

/** Returns the handlers of contract/v1.yaml, by operationId. */
function v1Handlers(parts: ListenerParts, submit: Submit): Record<string, RouteHandler> {
  const { config, store, listing, metrics } = parts;
  const sender = new ListSender((count) =>
    metrics.responseBytes.inc({ operation: 'listOrders' }, count),
  );
  const { petLookup } = config;
  metrics.sunset.set({ operation: 'getPet' }, petLookup.sunsetAt / 1_000);
  const lookup = getPet({
    findPet: (id) => store.pet(id),
    sunsetAt: petLookup.sunsetAt,
    onCall: ({ id: key_id, name: key_name }) =>
      metrics.deprecatedCalls.inc({ operation: 'getPet', key_id, key_name }),
  });
  return {
    listOrders: {
      handle: listAllOrders(listing, new GzipLists(), sender),
      scope: 'orders:read',
    },
    cancelOrder: { handle: cancelOrderV1(store, submit), scope: 'orders:cancel' },
    getPet: { handle: lookup, headers: deprecationHeaders(petLookup, documentPath('v1')) },
  };
}

function servicesOf(
  { config, store, logger }: ListenerParts,
  parts: Pick<Services, 'submit' | 'streams' | 'basePath'>,
): Services {
  const { keyFile, allowed, maxOfKey } = config.webhooks;
  /** Returns undefined if the file has become unreadable. */
  const orNone = (read: () => WebhookKey | undefined) => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof WebhookKeyUnusable)) throw error;
      logger.error({ err: error }, 'the webhook key cannot be used');
      return undefined;
    }
  };
  return {
    ...parts,
    store,
    submitOneByOne: oneAtATime(parts.submit),
    reads: new Reads(),
    facts: { name: config.storeName, canLoseChanges: config.canLoseChanges },
    webhooks: {
      allowed,
      maxOfKey,
      keyOf: (webhook) => orNone(() => keyOf(keyFile, webhook)),
      keyForNew: (others) => orNone(() => keyForNew(keyFile, others)),
    },
  };
}
