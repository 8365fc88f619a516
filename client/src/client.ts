import { addedUp } from './activity.ts';
import { etagText, int64Text, newIdempotencyKey, timeText } from './arguments.ts';
import { type Batch, type FollowOptions, followChanges } from './changes.ts';
import { ConflictError } from './errors.ts';
import type {
  Activity,
  ChangePage,
  NewOrder,
  OrderHistory,
  OrderPage,
  OrderRecord,
  Summary,
} from './records.ts';
import { type Copy, keepReplica } from './replica.ts';
import { type Reply, send } from './request.ts';
import { repeated, repeatedChange } from './retries.ts';
import {
  type CallOptions,
  type Settings,
  type StoreOrdersOptions,
  settingsOf,
} from './settings.ts';
import { StoreOrdersV1 } from './v1.ts';

export type { Batch, FollowOptions } from './changes.ts';
export * from './errors.ts';
export type * from './records.ts';
export type { Copy } from './replica.ts';
export type { CallOptions, StoreOrdersOptions } from './settings.ts';
export type { ListedOrder } from './v1.ts';

/** A record with the ETag of its state. */
export type Tagged<T> = T & { readonly etag: string };

/** An order, and whether an earlier request with the same idempotency key had placed it. */
export type PlacedOrder = Tagged<OrderRecord> & { readonly isReplayed: boolean };

/** Which orders to read; all without a field. */
export interface OrderFilter {
  readonly status?: OrderRecord['status'] | readonly OrderRecord['status'][];
  readonly petId?: bigint;
  readonly shipDateFrom?: Date | string;
  readonly shipDateBefore?: Date | string;
}

/** How to read pages of orders. */
export interface OrderQuery extends OrderFilter {
  /** By id; ascending by default. */
  readonly order?: 'asc' | 'desc';
  /** The most orders of a page, 1 to 500. */
  readonly limit?: number;
}

interface IfNoneMatch {
  /** The ETag that was read before; the call resolves to undefined while it is current. */
  readonly ifNoneMatch: string;
}

interface IfMatch {
  /** The ETag that the order must still have; otherwise the call rejects with OrderChangedError. */
  readonly ifMatch?: string | undefined;
}

/**
 * A client of the store-orders API. Every method rejects with a StoreOrdersError, TypeError for wrong arguments, or the
 * reason of an aborted signal. Requests are repeated where that is safe; see retries.ts.
 */
export class StoreOrders {
  /** Version 1 of the API. */
  readonly v1: StoreOrdersV1;
  readonly #settings: Settings;

  /** @throws TypeError for options that cannot be used */
  constructor(options: StoreOrdersOptions) {
    this.#settings = settingsOf(options);
    this.v1 = new StoreOrdersV1(this.#settings);
  }

  /** Reads one page of orders: the first one, or the one of a cursor. */
  listOrders(
    query: OrderQuery & { readonly cursor?: string | undefined },
    options: CallOptions & IfNoneMatch,
  ): Promise<Tagged<OrderPage> | undefined>;
  listOrders(
    query?: OrderQuery & { readonly cursor?: string | undefined },
    options?: CallOptions,
  ): Promise<Tagged<OrderPage>>;
  async listOrders(
    query: OrderQuery & { readonly cursor?: string | undefined } = {},
    options: CallOptions & Partial<IfNoneMatch> = {},
  ): Promise<Tagged<OrderPage> | undefined> {
    const { status, petId, limit } = query;
    return this.#read('/v2/store/orders', options, {
      status: typeof status === 'object' ? status.join() : status,
      petId: petId === undefined ? undefined : int64Text(petId, 'petId'),
      shipDateFrom: timeText(query.shipDateFrom),
      shipDateBefore: timeText(query.shipDateBefore),
      order: query.order,
      limit: limit === undefined ? undefined : String(limit),
      cursor: query.cursor,
    });
  }

  /** Reads all pages of orders, one at a time. */
  async *pages(
    query: OrderQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<Tagged<OrderPage>, void> {
    let cursor: string | undefined;
    do {
      const page: Tagged<OrderPage> = await this.listOrders({ ...query, cursor }, options);
      yield page;
      cursor = page.next;
    } while (cursor !== undefined);
  }

  /** Reads all orders, a page at a time. */
  async *orders(
    query: OrderQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<OrderRecord, void> {
    for await (const page of this.pages({ limit: 500, ...query }, options)) yield* page.orders;
  }

  /**
   * Places an order, exactly once: repetitions send the same idempotency key.
   * @param options.idempotencyKey names the placement; a new one by default. Store it before the call to be able to
   *   repeat it after a crash.
   */
  async placeOrder(
    order: Omit<NewOrder, 'shipDate'> & { readonly shipDate?: Date | string | undefined },
    options: CallOptions & { readonly idempotencyKey?: string } = {},
  ): Promise<PlacedOrder> {
    const { idempotencyKey = newIdempotencyKey(), signal } = options;
    const shipDate = timeText(order.shipDate);
    const fields = [
      `"petId":${int64Text(order.petId, 'petId')}`,
      `"quantity":${int64Text(order.quantity, 'quantity')}`,
      ...(shipDate === undefined ? [] : [`"shipDate":${JSON.stringify(shipDate)}`]),
    ];
    const request = {
      ...({ method: 'POST', path: '/v2/store/orders', expects: [201], signal } as const),
      ...{ body: `{${fields.join()}}`, headers: { 'idempotency-key': idempotencyKey } },
    };
    const made = await repeatedChange(
      this.#settings,
      signal,
      async () => {
        const reply = await send(this.#settings, request);
        const isReplayed = reply.headers.get('idempotent-replayed') === 'true';
        return { ...(await tagged<OrderRecord>(reply)), isReplayed };
      },
      () => false,
    );
    if ('tellsSo' in made) throw made.tellsSo;
    return made.result;
  }

  /** Reads an order. @throws NotFoundError */
  getOrder(
    id: bigint,
    options: CallOptions & IfNoneMatch,
  ): Promise<Tagged<OrderRecord> | undefined>;
  getOrder(id: bigint, options?: CallOptions): Promise<Tagged<OrderRecord>>;
  async getOrder(
    id: bigint,
    options: CallOptions & Partial<IfNoneMatch> = {},
  ): Promise<Tagged<OrderRecord> | undefined> {
    return this.#read(`/v2/store/orders/${int64Text(id, 'id')}`, options);
  }

  /** Reads what has happened to an order. @throws NotFoundError */
  getOrderHistory(
    id: bigint,
    options: CallOptions & IfNoneMatch,
  ): Promise<Tagged<OrderHistory> | undefined>;
  getOrderHistory(id: bigint, options?: CallOptions): Promise<Tagged<OrderHistory>>;
  async getOrderHistory(
    id: bigint,
    options: CallOptions & Partial<IfNoneMatch> = {},
  ): Promise<Tagged<OrderHistory> | undefined> {
    return this.#read(`/v2/store/orders/${int64Text(id, 'id')}/history`, options);
  }

  /**
   * Cancels a pending order. If the answer of an attempt was lost, and the repetition says that the order is cancelled
   * already, the call succeeds, or rejects with that ConflictError if the order cannot be read.
   * @throws NotFoundError, ConflictError, OrderChangedError, LimitError
   */
  async cancelOrder(id: bigint, options: CallOptions & IfMatch = {}): Promise<Tagged<OrderRecord>> {
    return this.#end(id, 'cancel', undefined, options);
  }

  /**
   * Ships a pending order. If the answer of an attempt was lost, and the repetition says that the order has shipped
   * already, the call succeeds.
   * @param options.shippedAt when it was shipped; the current time by default
   * @throws NotFoundError, ConflictError, OrderChangedError
   */
  async shipOrder(
    id: bigint,
    options: CallOptions & IfMatch & { readonly shippedAt?: Date | string } = {},
  ): Promise<Tagged<OrderRecord>> {
    const shippedAt = timeText(options.shippedAt);
    const body = shippedAt === undefined ? undefined : JSON.stringify({ shippedAt });
    return this.#end(id, 'ship', body, options);
  }

  /** Reads one page of changes: those behind a cursor, or from the `start`. @throws GoneError */
  listChanges(
    query: { readonly after?: string; readonly limit?: number } = {},
    options: CallOptions = {},
  ): Promise<Tagged<ChangePage>> {
    const { after, limit } = query;
    const text = { after, limit: limit === undefined ? undefined : String(limit) };
    return this.#read('/v2/store/changes', options, text);
  }

  /**
   * Follows the changes of the store without end and without gaps: reads those behind a cursor, then the stream, and
   * goes on after a lost connection.
   * @throws GoneError if the store does not have the change behind the cursor, and other errors that waiting does not
   *   mend
   */
  changes(options: FollowOptions = {}): AsyncGenerator<Batch, void> {
    return followChanges(this, this.#settings, options);
  }

  /**
   * Keeps an exact copy of all orders: yields it when it is whole, and again after each change.
   * @throws what `changes` throws, but for GoneError, after which the copy is made anew
   */
  replica(options: Omit<FollowOptions, 'after'> = {}): AsyncGenerator<Copy, void> {
    return keepReplica(this, options);
  }

  /** Counts the orders by status, in constant time. */
  getSummary(options: CallOptions & IfNoneMatch): Promise<Tagged<Summary> | undefined>;
  getSummary(options?: CallOptions): Promise<Tagged<Summary>>;
  getSummary(
    options: CallOptions & Partial<IfNoneMatch> = {},
  ): Promise<Tagged<Summary> | undefined> {
    return this.#read('/v2/store/summary', options);
  }

  /**
   * Counts what happened in some periods, and which keys have cancelled orders. A busy store answers in parts; the
   * result is their sum.
   * @param boundaries where the periods begin and end, ascending, 2 to 100: N + 1 for N periods
   * @throws GoneError if the store was replaced meanwhile
   */
  async getActivity(
    boundaries: readonly (Date | string)[],
    options: CallOptions = {},
  ): Promise<Activity> {
    const query = { boundaries: boundaries.map(timeText).join() };
    return addedUp((cursor) => this.#read('/v2/store/activity', options, { ...query, cursor }));
  }

  // biome-ignore lint/suspicious/noExplicitAny: the contract is the source of the types, and a test compares them.
  async #read(path: string, options: CallOptions & Partial<IfNoneMatch>, query = {}): Promise<any> {
    const { signal, ifNoneMatch } = options;
    const headers = { 'if-none-match': etagText(ifNoneMatch, 'ifNoneMatch') };
    const request = { method: 'GET', path, query, headers, expects: [200, 304], signal } as const;
    return repeated(this.#settings, signal, async () => {
      const reply = await send(this.#settings, request);
      return reply.status === 304 ? undefined : await tagged(reply);
    });
  }

  /** Cancels or ships. */
  async #end(
    id: bigint,
    action: 'cancel' | 'ship',
    body: string | undefined,
    { ifMatch, signal }: CallOptions & IfMatch,
  ): Promise<Tagged<OrderRecord>> {
    const path = `/v2/store/orders/${int64Text(id, 'id')}/${action}`;
    const headers = { 'if-match': etagText(ifMatch, 'ifMatch') };
    const request = { method: 'POST', path, body, headers, expects: [200], signal } as const;
    const code = action === 'cancel' ? 'order_already_cancelled' : 'order_already_shipped';
    const made = await repeatedChange(
      this.#settings,
      signal,
      async () => tagged<OrderRecord>(await send(this.#settings, request)),
      (error) => error instanceof ConflictError && error.code === code,
    );
    if ('result' in made) return made.result;
    try {
      return await this.getOrder(id, { signal });
    } catch {
      // The key may not read orders, or the store is not available now: what is known is the conflict.
      signal?.throwIfAborted();
      throw made.tellsSo;
    }
  }
}

async function tagged<T>(reply: Reply): Promise<Tagged<T>> {
  const record = (await reply.json()) as T;
  return { ...record, etag: reply.headers.get('etag') ?? '' };
}
