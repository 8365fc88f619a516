import type { ApiKey, Environment } from '../domain/api-key.ts';
import type { OrderOutcome, PlaceAllOutcome } from '../domain/batch.ts';
import type { BulkCommand, BulkOutcome } from '../domain/bulk.ts';
import type { FreeIds } from '../domain/ids.ts';
import type { OrderCommand } from '../domain/lifecycle.ts';
import type { OrderDraft, OrderId } from '../domain/order.ts';
import type { Pet } from '../domain/pet.ts';
import type { PlaceOrderCommand, PlaceOrderOutcome } from '../domain/placement.ts';
import type { DeliveryState, Webhook, WebhookChanges } from '../domain/webhook.ts';
import type { Action } from './audit.ts';

/** Every write command. */
export type StoreCommand =
  | OrderCommand
  | PlaceOrderCommand
  | BulkCommand
  /** Records the environment of the store unless one is recorded already; the outcome is the recorded environment. */
  | { readonly type: 'recordEnvironment'; readonly environment: Environment }
  /** Marks the store as moved if it is still at `revision`. Afterwards the store accepts only `reactivate`. */
  | { readonly type: 'moveAway'; readonly to: string; readonly revision: bigint }
  /** Undoes `moveAway`. Ids leap, since the other database may have given some. */
  | { readonly type: 'reactivate' }
  /**
   * Computes the heads of all revisions from `from` on again, after rows were changed or deleted by hand. Every moment from there on is in no
   * store's past any more.
   */
  | { readonly type: 'rechain'; readonly from: bigint }
  /** Sets the last id that is given to an order. Ids that are reserved above it stay reserved by a leap. */
  | { readonly type: 'limitIds'; readonly last: OrderId }
  /** Skips ids, for a store that begins another history in a way that it cannot detect. */
  | { readonly type: 'skipIds' }
  /**
   * Records an action, in one transaction with the commands after it. The revisions that these make are recorded as made by it.
   * Returns the id of the record; undefined if the commands were refused, which leave no record.
   */
  | { readonly type: 'audit'; readonly action: Action }
  | { readonly type: 'createKey'; readonly key: ApiKey }
  /** Stores the key unless its environment already has one. */
  | { readonly type: 'createFirstKey'; readonly key: ApiKey }
  | { readonly type: 'revokeKey'; readonly id: string }
  /** Records that these keys were used by requests at `at`. */
  | { readonly type: 'recordKeyUse'; readonly ids: readonly string[]; readonly at: number }
  /** Inserts or replaces pets by id; if two in the list have the same id, the last one wins. */
  | { readonly type: 'putPets'; readonly pets: readonly Pet[] }
  /**
   * Starts an import, or resumes one of which `from` rows have been placed. From then on only `run` may continue it.
   * Ids up to `highestId` are reserved: orders without an id are assigned ids above them. Content that was imported before is
   * refused unless `isAgain`. `source` is a digest of the file's content.
   */
  | {
      readonly type: 'beginImport';
      readonly source: string;
      readonly run: string;
      readonly from: number;
      readonly highestId: OrderId;
      readonly name: string;
      /** Rows of the file. */
      readonly total: number;
      readonly isAgain: boolean;
    }
  /**
   * Places the next rows of an import atomically: if one differs from the stored order with its id, none is placed.
   * Orders without an id are assigned the next ids above all others.
   */
  | {
      readonly type: 'importOrders';
      readonly source: string;
      readonly run: string;
      readonly orders: readonly OrderDraft[];
      /** Id of the record of the import. */
      readonly auditId: bigint;
    }
  /** Records that an import is finished. Until then repeating it is harmless, and from then on it is refused. */
  | { readonly type: 'endImport'; readonly source: string; readonly run: string }
  /** Deletes the record of an import: its content may be imported again, from the beginning. */
  | { readonly type: 'forgetImport'; readonly source: string }
  | { readonly type: 'createWebhook'; readonly webhook: Webhook }
  /** `ifTag`, here and below: the `webhookTag` that the webhook must still have; absent for any. */
  | {
      readonly type: 'changeWebhook';
      readonly id: string;
      readonly changes: WebhookChanges;
      readonly ifTag?: string | undefined;
    }
  /**
   * Gives a webhook the next secret. `keyName` is that of the service's webhook key. A repetition with the same `name` has the outcome of the
   * first.
   */
  | {
      readonly type: 'rotateWebhook';
      readonly id: string;
      readonly keyName: string;
      /** Milliseconds since the epoch. */
      readonly at: number;
      readonly name?: RequestName | undefined;
      readonly ifTag?: string | undefined;
    }
  | { readonly type: 'deleteWebhook'; readonly id: string; readonly ifTag?: string | undefined }
  /** Lets a node send the deliveries of all webhooks for LEASE_MS, unless another node may. */
  | { readonly type: 'leaseWebhooks'; readonly node: string }
  /** Lets other nodes send deliveries from now on. */
  | { readonly type: 'releaseWebhooks'; readonly node: string }
  /**
   * Records how far deliveries are. Returns the ids of the webhooks for which this was recorded: none unless the node has the lease, and
   * none of those that are not as the node knows them any more.
   */
  | {
      readonly type: 'recordDeliveries';
      readonly node: string;
      readonly deliveries: readonly RecordedDelivery[];
    };

/** Names a request that can be repeated among those of an API key. */
export interface RequestName {
  /** Id of the API key. */
  readonly by: string;
  readonly idempotencyKey: string;
}

/** How far the deliveries of a webhook are. */
export interface RecordedDelivery {
  readonly id: string;
  /** Version and place that the webhook still has in the store. */
  readonly known: Pick<Webhook, 'version' | 'position' | 'sendingTo'>;
  readonly state: DeliveryState;
  /**
   * Set before a delivery is sent: the generation of the secret that signs it. Nothing is recorded if the webhook has another one or is paused, so
   * that nothing is sent either.
   */
  readonly beginsWith?: Webhook['generation'] | undefined;
}

/** A rotation: the webhook as it is now, and the generation of the secret that the request has made. */
export interface Rotation {
  readonly webhook: Webhook;
  readonly generation: number;
  readonly isReplay: boolean;
}

interface Outcomes {
  insertOrder: OrderOutcome;
  cancel: OrderOutcome;
  ship: OrderOutcome;
  placeOrder: PlaceOrderOutcome;
  bulk: BulkOutcome;
  recordEnvironment: Environment;
  moveAway: 'moved' | 'changed';
  rechain: 'rechained';
  reactivate: 'reactivated' | 'unchanged';
  limitIds: FreeIds;
  skipIds: FreeIds;
  audit: bigint | undefined;
  createKey: 'created';
  createFirstKey: 'created' | 'unchanged';
  recordKeyUse: 'recorded';
  revokeKey: 'revoked' | 'unchanged' | 'key_not_found';
  putPets: 'stored';
  beginImport: 'begun' | 'out_of_turn' | 'already_imported';
  importOrders: PlaceAllOutcome | { readonly refusal: 'out_of_turn' };
  endImport: 'ended' | 'out_of_turn';
  forgetImport: 'forgotten' | 'import_not_found';
  createWebhook: 'created' | 'webhook_url_taken' | 'too_many_webhooks';
  changeWebhook: Webhook | 'webhook_not_found' | 'webhook_url_taken' | 'webhook_changed';
  /** "webhooks_unavailable": the secret was made with another webhook key. */
  rotateWebhook:
    | Rotation
    | 'webhook_not_found'
    | 'webhook_changed'
    | 'idempotency_key_reused'
    | 'webhooks_unavailable';
  deleteWebhook: 'deleted' | 'webhook_not_found' | 'webhook_changed';
  leaseWebhooks: 'held' | 'held_by_another';
  releaseWebhooks: 'released';
  recordDeliveries: readonly string[];
}
export type OutcomeOf<C extends StoreCommand> = Outcomes[C['type']];
export type CommandOf<Type extends StoreCommand['type']> = Extract<StoreCommand, { type: Type }>;
