import type { ApiKey, Environment } from '../domain/api-key.ts';
import type { OrderOutcome, PlaceAllOutcome } from '../domain/batch.ts';
import type { BulkCommand, BulkOutcome } from '../domain/bulk.ts';
import type { FreeIds } from '../domain/ids.ts';
import type { KeyAct, KeyRefusal } from '../domain/key-management.ts';
import type { OrderCommand } from '../domain/lifecycle.ts';
import type { OrderDraft, OrderId, Pet } from '../domain/order.ts';
import type {
  PlaceOrderCommand,
  PlaceOrderOutcome,
  RepeatableRequest,
  RequestName,
} from '../domain/placement.ts';
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
  /** Undoes `moveAway`. The ids leap, since the store may have assigned ids in the other database. */
  | { readonly type: 'reactivate' }
  /**
   * Computes the heads of all revisions from `from` on again, after rows were changed or deleted by hand. Cursors and ETags from there on stop
   * being valid.
   */
  | { readonly type: 'rechain'; readonly from: bigint }
  /** Sets the last id that the store assigns. Ids reserved above it by a leap stay reserved. */
  | { readonly type: 'limitIds'; readonly last: OrderId }
  /** Skips ids, for a store that starts another history without being able to detect it. */
  | { readonly type: 'skipIds' }
  /**
   * Records an action, and the revisions that the commands after it make, in one transaction with them. Returns the id of the record; undefined,
   * without a record, if the commands were refused.
   */
  | { readonly type: 'audit'; readonly action: Action }
  | { readonly type: 'createKey'; readonly key: ApiKey }
  /** Stores the key unless its environment already has one. */
  | { readonly type: 'createFirstKey'; readonly key: ApiKey }
  | { readonly type: 'revokeKey'; readonly id: string }
  /** Gives a key another secret; the one before it ends at `formerUntil`, in milliseconds since the epoch, or at once without it. */
  | {
      readonly type: 'rotateKey';
      readonly id: string;
      readonly digest: Uint8Array;
      readonly formerUntil: number | undefined;
    }
  /** Ends the former secret of a key. */
  | { readonly type: 'endOverlap'; readonly id: string }
  /** Carries out an act of a key manager, by the rules of `keyAfter`, and records it. */
  | {
      readonly type: 'manageKey';
      readonly act: KeyAct;
      readonly action: Action;
      /** The API key of the request, by the secret that has authenticated it. */
      readonly manager: Pick<ApiKey, 'id' | 'digest'>;
      /** The `keyTag` that the key must have; absent for any. */
      readonly ifTag?: string | undefined;
      /** So that a repetition has the key, and the salt of its secret, of the first request. */
      readonly name?: KeyRequest | undefined;
      /** Milliseconds since the epoch. */
      readonly at: number;
    }
  /** Gives a key its first secret, for a request that was authenticated by the ticket of its invitation, ends the ticket, and records it. */
  | {
      readonly type: 'redeemInvitation';
      readonly id: string;
      readonly ticket: Uint8Array;
      readonly action: Action;
      readonly digest: Uint8Array;
      readonly at: number;
    }
  /** Records that these keys were used by requests at `at`; `formers` by their former secrets. */
  | {
      readonly type: 'recordKeyUse';
      readonly ids: readonly string[];
      readonly formers: readonly string[];
      readonly at: number;
    }
  /** Records that v1's list is in use. `at`: milliseconds since the epoch. */
  | { readonly type: 'recordListUse'; readonly at: number }
  /** Inserts or replaces pets by id; if two in the list have the same id, the last one wins. */
  | { readonly type: 'putPets'; readonly pets: readonly Pet[] }
  /**
   * Starts an import, or resumes it after `from` rows. From then on only `run` may continue it. Ids up to `highestId` are reserved: orders
   * without an id are assigned ids above them. Content that was imported before is refused unless `isAgain`. `source` is a digest of the file's
   * content.
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
  /** Records that an import is finished: a repetition is refused from then on. Before, it was harmless. */
  | { readonly type: 'endImport'; readonly source: string; readonly run: string }
  /** Deletes the record of an import: its content may be imported again, from the beginning. */
  | { readonly type: 'forgetImport'; readonly source: string }
  /** `maxOfKey`: how many its API key may have. */
  | { readonly type: 'createWebhook'; readonly webhook: Webhook; readonly maxOfKey?: number }
  /** `ifTag`, here and below: the `webhookTag` that the webhook must have; absent for any. */
  | {
      readonly type: 'changeWebhook';
      readonly id: string;
      readonly changes: WebhookChanges;
      readonly ifTag?: string | undefined;
    }
  /**
   * Gives a webhook the next secret. `keyName` names the service's webhook key. A repetition with the same `name` has the outcome of the first
   * request.
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
  /** Lets a node send the deliveries of all webhooks for LEASE_MS, unless another node has the lease. */
  | { readonly type: 'leaseWebhooks'; readonly node: string }
  /** Ends the lease, so that another node can take it. */
  | { readonly type: 'releaseWebhooks'; readonly node: string }
  /**
   * Records how far deliveries are. Returns the ids of the webhooks that were recorded: none without the lease, and only those that are still as
   * the node knows them.
   */
  | {
      readonly type: 'recordDeliveries';
      readonly node: string;
      readonly deliveries: readonly RecordedDelivery[];
    };

/** A request for a secret that can be repeated. */
interface KeyRequest extends RepeatableRequest {
  /** Of the secret that it makes; see `secretMadeBy`. */
  readonly salt: string;
}

/** The key after an act of a manager, or why it was refused. */
export type KeyOutcome =
  | {
      readonly key: ApiKey;
      readonly effect: 'changed' | 'none' | 'replayed';
      /** Of the secret that the first request has made; undefined if it may not be returned any more. */
      readonly salt?: string | undefined;
    }
  | {
      readonly refusal:
        | KeyRefusal
        | 'api_key_revoked'
        | 'api_key_expired'
        | 'scope_missing'
        | 'key_not_found'
        | 'key_changed'
        | 'idempotency_key_reused'
        | 'too_many_keys';
    }
  /** When the manager may act again, in milliseconds since the epoch. */
  | { readonly refusal: 'key_change_limit_reached'; readonly retryAt: number };

/** How far the deliveries of a webhook are. */
export interface RecordedDelivery {
  readonly id: string;
  /** The version and position that the webhook must have in the store. */
  readonly known: Pick<Webhook, 'version' | 'position' | 'sendingTo'>;
  readonly state: DeliveryState;
  /**
   * Set before a delivery is sent: the generation of the secret that signs it. If the webhook has another generation or is paused, nothing is
   * recorded, and so nothing is sent.
   */
  readonly beginsWith?: Webhook['generation'] | undefined;
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
  manageKey: KeyOutcome;
  redeemInvitation: ApiKey | 'no_invitation';
  recordKeyUse: 'recorded';
  recordListUse: 'recorded';
  revokeKey: 'revoked' | 'unchanged' | 'key_not_found';
  /** "unchanged": the key is revoked. */
  rotateKey: 'rotated' | 'unchanged' | 'key_not_found';
  endOverlap: 'ended' | 'unchanged' | 'key_not_found';
  putPets: 'stored';
  beginImport: 'begun' | 'out_of_turn' | 'already_imported';
  importOrders: PlaceAllOutcome | { readonly refusal: 'out_of_turn' };
  endImport: 'ended' | 'out_of_turn';
  forgetImport: 'forgotten' | 'import_not_found';
  createWebhook: 'created' | 'webhook_url_taken' | 'webhook_limit_reached' | 'too_many_webhooks';
  changeWebhook: Webhook | 'webhook_not_found' | 'webhook_url_taken' | 'webhook_changed';
  /** The webhook as it is now, and the generation of the secret that the request has made. "webhooks_unavailable": with another webhook key. */
  rotateWebhook:
    | { readonly webhook: Webhook; readonly generation: number; readonly isReplay: boolean }
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
