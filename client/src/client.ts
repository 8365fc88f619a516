import type { OperationName } from '../../protocol/generated/error-codes.ts';
import type { Operations } from '../../protocol/generated/operations.ts';
import type {
  Activity,
  ChangePage,
  ChangeResult,
  Key,
  KeyChanges,
  KeyRotation,
  KeySecret,
  ManagedKey,
  NewKey,
  NewOrder,
  OrderCounts,
  OrderHistory,
  OrderPage,
  OrderRecord,
  OwnKeySecret,
  Store,
  Webhook,
  WebhookChanges,
  WebhookSecret,
  WebhookTest,
} from '../../protocol/generated/records.ts';
import {
  idempotencyKeyOf,
  int64Text,
  oneOf,
  plainObject,
  strongEtag,
  text,
  timeText,
} from './arguments.ts';
import {
  type ChangeOrdersOptions,
  changeOrders,
  type OrderToCancel,
  type OrderToShip,
} from './bulk.ts';
import { type Call, calling } from './call.ts';
import { ConflictError } from './errors.ts';
import { stringify } from './exact-json.ts';
import {
  type Batch,
  type ChangesQuery,
  type FollowOptions,
  followChanges,
} from './feed/changes.ts';
import {
  type Copy,
  catchUp,
  keepCopy,
  keepReplica,
  type ReplicaOptions,
  type ReplicaPosition,
  type ReplicaStep,
  type ReplicaStore,
} from './feed/replica.ts';
import {
  addedUp,
  LARGEST_PAGE,
  type OrderFilter,
  type OrderQuery,
  type PageQuery,
} from './orders.ts';
import { type Given, type Reply, read, readPage, requestOf, send, type Tagged } from './request.ts';
import { type Change, changed, repeated } from './retries.ts';
import {
  type CallOptions,
  type Settings,
  type StoreOrdersOptions,
  settingsOf,
} from './settings.ts';
import type { RecordOf } from './shapes.ts';
import { stoppable } from './stoppable.ts';
import { StoreOrdersV1 } from './v1.ts';

export type {
  Activity,
  Change,
  ChangePage,
  ChangeResult,
  ChangeResults,
  ErrorCode,
  ErrorRecord,
  Key,
  KeyChanges,
  KeyRotation,
  KeySecret,
  ManagedKey,
  NewKey,
  NewOrder,
  NewWebhook,
  Order,
  OrderCounts,
  OrderHistory,
  OrderPage,
  OrderRecord,
  OwnKeySecret,
  Pet,
  ShipDetails,
  Store,
  Webhook,
  WebhookChanges,
  WebhookList,
  WebhookSecret,
  WebhookTest,
} from '../../protocol/generated/records.ts';
export type { ChangeOrdersOptions, OrderToCancel, OrderToShip } from './bulk.ts';
export type { ResponseDetails } from './errors.ts';
export {
  AuthenticationError,
  ConflictError,
  ConnectionError,
  ForbiddenError,
  ForeignResponseError,
  GoneError,
  HistoryMismatchError,
  InvalidRequestError,
  LimitError,
  NotFoundError,
  OrderChangedError,
  ResponseError,
  StoreOrdersError,
  TimeoutError,
  UnavailableError,
  UnknownOutcomeError,
} from './errors.ts';
export { parse, stringify } from './exact-json.ts';
export type {
  Batch,
  ChangesFilter,
  ChangesQuery,
  ChangeType,
  FollowOptions,
} from './feed/changes.ts';
export type {
  Copy,
  ReplicaOptions,
  ReplicaPosition,
  ReplicaStep,
  ReplicaStore,
} from './feed/replica.ts';
export { WebhookGapError, WebhookReplica } from './feed/webhook-replica.ts';
export type { OrderFilter, OrderQuery, OrderStatus, PageQuery } from './orders.ts';
export type { Tagged } from './request.ts';
export type {
  CallOptions,
  HeaderValues,
  PlannedRetry,
  ReceivedResponse,
  SentRequest,
  StoreOrdersOptions,
} from './settings.ts';
export type { ListedOrder } from './v1.ts';
export {
  verifyWebhook,
  type WebhookDelivery,
  type WebhookHeaders,
  WebhookVerificationError,
} from './webhook.ts';

/** Ids, or references, of a request of findOrders. */
const MOST_FOUND = 250;

/** An order, and whether an earlier request with the same idempotency key had placed it. */
export type PlacedOrder = Tagged<OrderRecord> & { readonly isReplayed: boolean };

interface IfNoneMatch {
  /** An ETag of an earlier read; the call resolves to undefined while it is current. */
  readonly ifNoneMatch: string;
}

interface Conditions {
  /** The ETag that the order must have; otherwise the call rejects with OrderChangedError. */
  readonly ifMatch?: string | undefined;
  /** The reference that the order must have; otherwise it is another order, and the call rejects with OrderChangedError. */
  readonly reference?: string | undefined;
}

interface Cancelling extends CallOptions, Conditions {
  /** Why the order is cancelled; see the contract for recommended values. */
  readonly reason?: string | undefined;
}

interface Shipping extends CallOptions, Conditions {
  /** When the order was shipped; the current time by default. */
  readonly shippedAt?: Date | string | undefined;
  /** The carrier's number of the shipment. */
  readonly trackingNumber?: string | undefined;
}

interface HistoryPage {
  /** Maximum number of events; 100 by default. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly cursor?: string | undefined;
}

/** Options of a read; see IfNoneMatch. */
type ReadOptions = CallOptions & { readonly ifNoneMatch?: string | undefined };

/**
 * A client of the store-orders API. Methods reject with a StoreOrdersError; with a TypeError if arguments are invalid; or
 * with the reason of the signal, if the signal was aborted and the call has changed nothing. Requests are retried where that
 * is safe; see retries.ts.
 */
export class StoreOrders {
  /** Version 1 of the API. */
  readonly v1: StoreOrdersV1;
  readonly #settings: Settings;

  /** @throws TypeError for options that cannot be used; StoreOrdersError in a runtime that rounds ids */
  constructor(options: StoreOrdersOptions) {
    this.#settings = settingsOf(options);
    this.v1 = new StoreOrdersV1(this.#settings);
  }

  /** Reads one page of orders: the first page, or the page after a cursor. */
  listOrders(
    query: PageQuery,
    options: CallOptions & IfNoneMatch,
  ): Promise<Tagged<OrderPage> | undefined>;
  listOrders(query?: PageQuery, options?: CallOptions): Promise<Tagged<OrderPage>>;
  async listOrders(
    query: PageQuery = {},
    options: ReadOptions = {},
  ): Promise<Tagged<OrderPage> | undefined> {
    return this.#read('listOrders', options, { query }, readPage);
  }

  /** Reads all pages of orders, one at a time. `timeoutMs` and `retries` apply to each page. */
  pages(
    query: OrderQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<Tagged<OrderPage>, void> {
    return stoppable(options, (following) => this.#pages('listOrders', query, following));
  }

  /** Reads all orders, a page at a time. `timeoutMs` and `retries` apply to each page. */
  orders(query: OrderQuery = {}, options: CallOptions = {}): AsyncGenerator<OrderRecord, void> {
    return stoppable(options, (following) => this.#orders(query, following));
  }

  async *#orders(query: OrderQuery, options: CallOptions): AsyncGenerator<OrderRecord, void> {
    plainObject(query, 'a query');
    const pages = this.#pages('listOrders', { limit: LARGEST_PAGE, ...query }, options);
    for await (const page of pages) yield* page.orders;
  }

  /**
   * Finds the orders with these ids and references, in any sequence, each once; of each reference the latest 10 orders. Up to 250 ids and 250
   * references are in a request.
   */
  async findOrders(
    { ids = [], references = [] }: Readonly<Operations['findOrders']['body']>,
    options: CallOptions = {},
  ): Promise<OrderRecord[]> {
    for (const id of ids) int64Text(id, 'an id');
    const found = new Map<bigint, OrderRecord>();
    for (let from = 0; from < Math.max(ids.length, references.length); from += MOST_FOUND) {
      const [some, named] = [ids, references].map((all) => all.slice(from, from + MOST_FOUND));
      const body = stringify({ ids: some, references: named });
      const { orders } = await this.#ask('findOrders', options, { body });
      for (const order of orders) found.set(order.id, order);
    }
    return [...found.values()];
  }

  /**
   * Places an order exactly once: retries send the same idempotency key. With a `reference`, an API key places one order under
   * it, without a limit in time; repeated calls resolve to the order as it is then, with `isReplayed`.
   * @param options.idempotencyKey identifies the placement; a new key by default. Store it before the call, so that the
   *   call can be repeated after a crash.
   * @throws InvalidRequestError, UnknownOutcomeError
   */
  async placeOrder(
    order: Omit<NewOrder, 'shipDate' | 'reference'> & {
      readonly shipDate?: Date | string | undefined;
      readonly reference?: string | undefined;
    },
    options: CallOptions & { readonly idempotencyKey?: string | undefined } = {},
  ): Promise<PlacedOrder> {
    const idempotencyKey = idempotencyKeyOf(options.idempotencyKey);
    const { petId, quantity } = order;
    const reference = text(order.reference, 'reference');
    const shipDate = timeText(order.shipDate, 'shipDate');
    int64Text(petId, 'petId');
    int64Text(quantity, 'quantity');
    const request = requestOf('placeOrder', {
      body: stringify({ petId, quantity, shipDate, reference }),
      headers: { 'idempotency-key': idempotencyKey },
      isMeant: (record) =>
        record.petId === petId &&
        record.quantity === quantity &&
        record.reference === reference &&
        // An order that was found by its reference may have been shipped since, with another date.
        (isMoment(record.shipDate, shipDate) ||
          (reference !== undefined && record.status === 'shipped')),
    });
    const placedIn = async (reply: Reply<'placeOrder'>) => {
      const isReplayed = reply.headers.get('idempotent-replayed') === 'true';
      return { ...reply.tagged(await reply.record()), isReplayed };
    };
    return changed(this.#settings, options, request, placedIn, { idempotencyKey });
  }

  /** Reads an order. @throws NotFoundError */
  getOrder(
    id: bigint,
    options: CallOptions & IfNoneMatch,
  ): Promise<Tagged<OrderRecord> | undefined>;
  getOrder(id: bigint, options?: CallOptions): Promise<Tagged<OrderRecord>>;
  async getOrder(id: bigint, options: ReadOptions = {}): Promise<Tagged<OrderRecord> | undefined> {
    return this.#read('getOrder', options, { id, isMeant: (order) => order.id === id });
  }

  /** Reads events of an order, oldest first: the first ones, or those after a `cursor`. @throws NotFoundError */
  getOrderHistory(
    id: bigint,
    options: CallOptions & HistoryPage & IfNoneMatch,
  ): Promise<Tagged<OrderHistory> | undefined>;
  getOrderHistory(id: bigint, options?: CallOptions & HistoryPage): Promise<Tagged<OrderHistory>>;
  async getOrderHistory(
    id: bigint,
    options: ReadOptions & HistoryPage = {},
  ): Promise<Tagged<OrderHistory> | undefined> {
    const { limit, cursor, ...rest } = options;
    return this.#read('getOrderHistory', rest, { id, query: { limit, cursor } });
  }

  /**
   * Cancels a pending order. The call also succeeds if the response to an attempt was lost and a retry shows that this API
   * key has already cancelled the order.
   * @throws NotFoundError, ConflictError, OrderChangedError, LimitError, UnknownOutcomeError
   */
  async cancelOrder(id: bigint, options: Cancelling = {}): Promise<OrderRecord> {
    const reason = text(options.reason, 'reason');
    const isOwn = (order: OrderRecord) => reason === undefined || order.reason === reason;
    return this.#end(id, 'cancelOrder', options, { reason }, isOwn);
  }

  /**
   * Ships a pending order. The call also succeeds if the response to an attempt was lost and a retry shows that this API key
   * has already shipped the order.
   * @throws NotFoundError, ConflictError, OrderChangedError, UnknownOutcomeError
   */
  async shipOrder(id: bigint, options: Shipping = {}): Promise<OrderRecord> {
    const shippedAt = timeText(options.shippedAt, 'shippedAt');
    const trackingNumber = text(options.trackingNumber, 'trackingNumber');
    const isOwn = (order: OrderRecord) =>
      (shippedAt === undefined || isMoment(order.shipDate, shippedAt)) &&
      (trackingNumber === undefined || order.trackingNumber === trackingNumber);
    return this.#end(id, 'shipOrder', options, { shippedAt, trackingNumber }, isOwn);
  }

  /**
   * Cancels several orders, in requests of up to 1,000; each request is one transaction. Resolves to the result of each order: the `order`, or
   * the `error` that prevented the change. `timeoutMs` and `retries` apply to each request.
   * @throws ConflictError (`orders_not_changed`) if `atomic` and some orders cannot be cancelled; LimitError, UnknownOutcomeError: earlier
   * requests, whose results `onProgress` has got, have taken effect
   */
  async cancelOrders(
    orders: Iterable<bigint | OrderToCancel>,
    options: ChangeOrdersOptions = {},
  ): Promise<ChangeResult[]> {
    return changeOrders(this.#settings, 'cancelOrders', orders, options);
  }

  /** Ships several orders; see cancelOrders. @param options.shippedAt when they were shipped; the current time by default */
  async shipOrders(
    orders: Iterable<bigint | OrderToShip>,
    options: ChangeOrdersOptions & { readonly shippedAt?: Date | string | undefined } = {},
  ): Promise<ChangeResult[]> {
    return changeOrders(this.#settings, 'shipOrders', orders, options);
  }

  /** Reads one page of changes, after a cursor or from the `start`. @throws GoneError */
  listChanges(
    query: ChangesQuery,
    options: CallOptions & IfNoneMatch,
  ): Promise<Tagged<ChangePage> | undefined>;
  listChanges(query?: ChangesQuery, options?: CallOptions): Promise<Tagged<ChangePage>>;
  async listChanges(
    query: ChangesQuery = {},
    options: ReadOptions = {},
  ): Promise<Tagged<ChangePage> | undefined> {
    return this.#read('listChanges', options, { query }, readPage);
  }

  /**
   * Follows the changes of the store without gaps, until it is stopped: reads the changes after a cursor, then the stream. Continues after
   * outages of any length, and can start before the service is available.
   * @throws GoneError if the cursor is no longer valid, since the store was restored or lost changes; other errors of the service that a retry
   * cannot resolve; HistoryMismatchError if the changes do not lead to the head in their cursor
   */
  changes(options: FollowOptions = {}): AsyncGenerator<Batch, void> {
    return stoppable(options, (following) => followChanges(this.#settings, following));
  }

  /**
   * Keeps an exact copy of all orders: yields it once it is complete, and again after each change. Continues after outages of any length, and
   * rebuilds the copy after the store was restored.
   * @param options.store keeps the copy; memory by default
   * @throws the errors of `changes`, except GoneError `changes_gone`; and the errors of `store`
   */
  replica(
    options: ReplicaOptions & { readonly store: ReplicaStore },
  ): AsyncGenerator<ReplicaStep, void>;
  replica(options?: ReplicaOptions): AsyncGenerator<Copy, void>;
  replica(
    options: ReplicaOptions & { readonly store?: ReplicaStore } = {},
  ): AsyncGenerator<ReplicaStep, void> {
    return stoppable(options, ({ store, ...following }) =>
      store === undefined
        ? keepCopy(this.#settings, following)
        : keepReplica(this.#settings, store, following),
    );
  }

  /**
   * Brings a copy up to date once, and makes it anew if there is none or the store was restored. For receivers of webhooks after a
   * WebhookGapError.
   * @throws the errors of `replica`
   */
  async catchUp({
    store,
    ...options
  }: ReplicaOptions & { readonly store: ReplicaStore }): Promise<ReplicaPosition> {
    const signal = options.signal ?? new AbortController().signal;
    return catchUp(this.#settings, store, { ...options, signal });
  }

  /**
   * Counts the orders that match, by status. Unless `exact`, more orders may match: a request examines 50,000 orders
   * at most.
   */
  countOrders(
    filter: OrderFilter,
    options: CallOptions & IfNoneMatch,
  ): Promise<Tagged<OrderCounts> | undefined>;
  countOrders(filter?: OrderFilter, options?: CallOptions): Promise<Tagged<OrderCounts>>;
  async countOrders(
    filter: OrderFilter = {},
    options: ReadOptions = {},
  ): Promise<Tagged<OrderCounts> | undefined> {
    return this.#read('countOrders', options, { query: filter });
  }

  /** Reads the scopes and limits of this client's API key. */
  async getKey(options: CallOptions = {}): Promise<Key> {
    return this.#ask('getKey', options);
  }

  /** Reads what the store is, the time of the service, and how many orders have each status, in constant time. */
  async getStore(options: CallOptions = {}): Promise<Store> {
    return this.#ask('getStore', options);
  }

  /**
   * Counts the orders placed, cancelled and shipped in each period, and by each key in all of them, also of a store that responds in parts.
   * @param boundaries where the periods begin and end, ascending, 2 to 100: N + 1 for N periods
   * @param options.by id of an API key whose changes alone are counted
   * @throws GoneError if the store was replaced between two parts
   */
  async getActivity(
    boundaries: readonly (Date | string)[],
    { by, ...options }: CallOptions & { readonly by?: string | undefined } = {},
  ): Promise<Activity> {
    if (boundaries.includes(undefined as never)) throw new TypeError('a boundary is missing');
    const isMeant = (part: Activity) => part.periods.length === boundaries.length - 1;
    return calling(this.#settings, options, (call) =>
      addedUp(async (cursor) => {
        const request = { query: { boundaries, by, cursor }, isMeant };
        return (await repeated(call, () => readPage(call, 'getActivity', request)))!;
      }),
    );
  }

  /** Lists all API keys, the oldest first, or those in a state. */
  async listKeys(
    { state }: { readonly state?: 'valid' | 'expired' | 'revoked' | undefined } = {},
    options: CallOptions = {},
  ): Promise<readonly ManagedKey[]> {
    const found: ManagedKey[] = [];
    const pages = this.#pages('listKeys', { state, limit: LARGEST_PAGE }, options);
    for await (const { keys } of pages) found.push(...keys);
    return found;
  }

  /**
   * Creates an API key within this client's, and resolves to it and its secret, or its invitation. Repeated safely, like a placement.
   * @throws InvalidRequestError, ForbiddenError, ConflictError, LimitError, UnknownOutcomeError with the `idempotencyKey`
   */
  async createKey(key: NewKey, options: RotationOptions = {}): Promise<KeySecret> {
    return this.#makeSecret('createKey', options, { body: stringify(key) });
  }

  /** Reads an API key. @throws NotFoundError */
  async getKeyById(id: string, options: CallOptions = {}): Promise<Tagged<ManagedKey>> {
    return (await this.#read('getKeyById', options, { id, isMeant: (key) => key.id === id }))!;
  }

  /**
   * Changes the given fields of an API key. @param options.ifMatch the ETag that the key must have
   * @throws NotFoundError, InvalidRequestError, ForbiddenError, ConflictError, OrderChangedError, LimitError, UnknownOutcomeError
   */
  async updateKey(
    id: string,
    changes: KeyChanges,
    { ifMatch, ...options }: CallOptions & Pick<Conditions, 'ifMatch'> = {},
  ): Promise<ManagedKey> {
    const headers = { 'if-match': strongEtag(ifMatch) };
    const isMeant = (key: ManagedKey) => key.id === id;
    return this.#change('updateKey', options, { id, headers, body: stringify(changes), isMeant });
  }

  /**
   * Gives an API key another secret, or an invitation to make one. Repeated safely, like a placement.
   * @throws NotFoundError, ForbiddenError, ConflictError, LimitError, UnknownOutcomeError with the `idempotencyKey`
   */
  async rotateKey(
    id: string,
    rotation: KeyRotation = {},
    options: RotationOptions = {},
  ): Promise<KeySecret> {
    const isMeant = ({ key }: KeySecret) => key.id === id;
    return this.#makeSecret('rotateKey', options, { id, body: stringify(rotation), isMeant });
  }

  /** Revokes an API key. @throws NotFoundError, ForbiddenError, ConflictError, LimitError, UnknownOutcomeError */
  async revokeKey(id: string, options: CallOptions = {}): Promise<ManagedKey> {
    return this.#change('revokeKey', options, { id, isMeant: (key) => key.id === id });
  }

  /**
   * Makes the secret of an API key, once, with the ticket of its invitation as this client's `apiKey`.
   * @throws AuthenticationError, ConflictError; UnknownOutcomeError: the secret is lost, ask for another invitation
   */
  async redeemInvitation(options: CallOptions = {}): Promise<OwnKeySecret> {
    return this.#change('redeemInvitation', options, {});
  }

  /** Lists all webhooks, the oldest first. */
  async listWebhooks(options: CallOptions = {}): Promise<readonly Webhook[]> {
    const found: Webhook[] = [];
    const pages = this.#pages('listWebhooks', { limit: LARGEST_PAGE }, options);
    for await (const { webhooks } of pages) found.push(...webhooks);
    return found;
  }

  /** Reads a webhook. @throws NotFoundError */
  async getWebhook(id: string, options: CallOptions = {}): Promise<Webhook> {
    return this.#ask('getWebhook', options, { id, isMeant: (webhook) => webhook.id === id });
  }

  /**
   * Creates a webhook, and resolves to it and its secret. A URL can have one webhook.
   * @throws InvalidRequestError, ConflictError, GoneError; UnknownOutcomeError: list the webhooks, and rotate the secret of this one
   */
  async createWebhook(
    webhook: Omit<WebhookSettings, 'state'> & { readonly url: string },
    options: CallOptions = {},
  ): Promise<WebhookSecret> {
    return this.#change('createWebhook', options, { body: webhookJson(webhook) });
  }

  /**
   * Changes the given fields of a webhook; pauses and resumes it.
   * @throws NotFoundError, InvalidRequestError, ConflictError, GoneError, UnknownOutcomeError
   */
  async updateWebhook(
    id: string,
    changes: WebhookSettings,
    options: CallOptions = {},
  ): Promise<Webhook> {
    const isMeant = (webhook: Webhook) => webhook.id === id;
    return this.#change('updateWebhook', options, { id, body: webhookJson(changes), isMeant });
  }

  /** Deletes a webhook. @throws NotFoundError, UnknownOutcomeError */
  async deleteWebhook(id: string, options: CallOptions = {}): Promise<void> {
    const request = requestOf('deleteWebhook', { id });
    await changed(this.#settings, options, request, (reply) => reply.empty(), {
      resultIn: ({ code }) => code === 'webhook_not_found' || undefined,
    });
  }

  /**
   * Gives a webhook a new secret; the old one stays valid for 24 hours. Repeated safely, like a placement.
   * @throws NotFoundError, ForbiddenError, UnknownOutcomeError with the `idempotencyKey`
   */
  async rotateWebhookSecret(id: string, options: RotationOptions = {}): Promise<WebhookSecret> {
    return this.#makeSecret('rotateWebhookSecret', options, { id });
  }

  /** Sends a delivery without changes to the endpoint of a webhook, and waits for its answer. Not retried. @throws NotFoundError */
  async testWebhook(id: string, options: CallOptions = {}): Promise<WebhookTest> {
    return this.#ask('testWebhook', { ...options, retries: 0 }, { id });
  }

  /** Makes a call that can be repeated. */
  #call<T>(options: CallOptions, attempt: (call: Call) => Promise<T>): Promise<T> {
    return calling(this.#settings, options, (call) => repeated(call, () => attempt(call)));
  }

  /** Makes a call that can be repeated. @param once reads the record */
  #read<Name extends OperationName>(
    operation: Name,
    options: ReadOptions,
    given: Given<RecordOf<Name>>,
    once = read<Name>,
  ): Promise<Tagged<RecordOf<Name>> | undefined> {
    const { ifNoneMatch } = options;
    return this.#call(options, (call) => once(call, operation, { ...given, ifNoneMatch }));
  }

  /** Makes a call that can be repeated, and resolves to the record in its response. */
  #ask<Name extends OperationName>(
    operation: Name,
    options: CallOptions,
    given?: Given<RecordOf<Name>>,
  ): Promise<RecordOf<Name>> {
    const request = requestOf(operation, given);
    return this.#call(options, (call) => send(call, request, (reply) => reply.record()));
  }

  /** Reads all pages of a list, each by a call. */
  async *#pages<Name extends 'listOrders' | 'listKeys' | 'listWebhooks'>(
    operation: Name,
    query: object,
    options: CallOptions,
  ): AsyncGenerator<Tagged<RecordOf<Name>>, void> {
    plainObject(query, 'a query');
    let cursor: string | undefined;
    do {
      const given = { query: { ...query, cursor } };
      const page = (await this.#call(options, (call) => readPage(call, operation, given)))!;
      yield page;
      cursor = (page as { readonly next?: string }).next;
    } while (cursor !== undefined);
  }

  /** Makes a call whose repetitions return the same secret. */
  #makeSecret<Name extends 'createKey' | 'rotateKey' | 'rotateWebhookSecret'>(
    operation: Name,
    options: RotationOptions,
    given: Given<RecordOf<Name>>,
  ): Promise<RecordOf<Name>> {
    const idempotencyKey = idempotencyKeyOf(options.idempotencyKey);
    const headers = { 'idempotency-key': idempotencyKey };
    return this.#change(operation, options, { ...given, headers }, { idempotencyKey });
  }

  /** Makes a call that changes something, and resolves to the record in its response. */
  #change<Name extends OperationName>(
    operation: Name,
    options: CallOptions,
    given: Given<RecordOf<Name>>,
    change?: Change<RecordOf<Name>>,
  ): Promise<RecordOf<Name>> {
    const request = requestOf(operation, given);
    return changed(this.#settings, options, request, (reply) => reply.record(), change);
  }

  /**
   * Cancels or ships.
   * @param isOwn whether the order can be the result of this call, whose response was lost
   */
  async #end(
    id: bigint,
    operation: keyof typeof STATUS_AFTER,
    options: CallOptions & Conditions,
    fields: Readonly<Record<string, string | undefined>>,
    isOwn: (order: OrderRecord) => boolean,
  ): Promise<OrderRecord> {
    const status = STATUS_AFTER[operation];
    const body = JSON.stringify({ ...fields, reference: text(options.reference, 'reference') });
    const isEnded = (order: OrderRecord) => order.id === id && order.status === status;
    const given = {
      ...{ id, body: body === '{}' ? undefined : body, isSubject: isEnded, isMeant: isEnded },
      headers: { 'if-match': strongEtag(options.ifMatch) },
    };
    return this.#change(operation, options, given, {
      resultIn: (error) => {
        if (!(error instanceof ConflictError) || error.code !== `order_already_${status}`) return;
        return error.order !== undefined && isOwn(error.order) ? error.order : undefined;
      },
    });
  }
}

const STATUS_AFTER = { cancelOrder: 'cancelled', shipOrder: 'shipped' } as const;

/**
 * Whether a time in a response can be the requested time; both may be missing. The service stores milliseconds, and accepts forms of RFC 3339
 * that Date does not.
 */
function isMoment(found: string | undefined, asked: string | undefined): boolean {
  if (found === undefined || asked === undefined) return found === asked;
  const difference = Date.parse(found) - Date.parse(asked);
  return Number.isNaN(difference) || Math.abs(difference) <= 1;
}

/** Settings of a webhook; absent fields stay as they are. */
export type WebhookSettings = {
  readonly [Name in keyof WebhookChanges]: WebhookChanges[Name] | undefined;
};

/** A call that can be repeated. */
export interface RotationOptions extends CallOptions {
  /** Identifies the rotation; a new key by default. A repetition with the same key returns the same secret. */
  readonly idempotencyKey?: string | undefined;
}

const FIELDS = ['url', 'description', 'types', 'petIds', 'after', 'state'];

/** @throws TypeError */
function webhookJson(webhook: WebhookSettings): string {
  plainObject(webhook, 'a webhook');
  // A misspelt filter must not be ignored.
  const unknown = Object.keys(webhook).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`a webhook has no field ${unknown} that can be set`);
  for (const name of ['url', 'after'] as const) text(webhook[name], name);
  text(webhook.description ?? undefined, 'description');
  oneOf(webhook.state, ['active', 'paused'], 'state');
  for (const id of webhook.petIds ?? []) int64Text(id, 'a petId');
  return stringify(webhook);
}
