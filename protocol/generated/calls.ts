// Made from the contracts by "node build/records.ts": how the client calls each operation.

import type { OperationName } from './error-codes.ts';

/** The parameters of listOrders. */
export interface ListOrdersQuery {
  /** Statuses. By default, orders in any status are returned. */
  readonly status?:
    | 'pending'
    | 'shipped'
    | 'cancelled'
    | readonly ('pending' | 'shipped' | 'cancelled')[]
    | undefined;
  /** Only orders of this pet. */
  readonly petId?: bigint | undefined;
  /** Only orders with this reference. Each API key has references of its own, so there can be several. As in forms, a plus sign is a blank;
   * send `%2B` for a plus sign. */
  readonly reference?: string | undefined;
  /** Only orders whose reference begins with these characters; upper and lower case are different. By default, they are sorted by reference then;
   * with another `sort`, such a page examines more rows. */
  readonly referencePrefix?: string | undefined;
  /** Only orders whose reference contains these characters, in any case of letters. Both texts are compared as Unicode's default mappings to lower
   * and then to upper case have them, after composition (NFC): `ß` is `SS`, and a letter with an accent is another one than without.
   * The orders are sorted by id, the newest first unless there is a `direction`; `sort` can only be `id`. A page examines 50,000 orders at most,
   * so it can be empty although `next` has further ones. */
  readonly referenceContains?: string | undefined;
  /** Only orders with a shipDate at this time or later. */
  readonly shipDateFrom?: Date | string | undefined;
  /** Only orders with a shipDate before this time. */
  readonly shipDateBefore?: Date | string | undefined;
  /** Only orders that were placed at this time or later. Without `sort=placedAt`, such a page examines more rows. */
  readonly placedFrom?: Date | string | undefined;
  /** Only orders that were placed before this time. */
  readonly placedBefore?: Date | string | undefined;
  /** Only orders whose latest change was at this time or later. Without `sort=updatedAt`, such a page examines more rows. To follow all changes,
   * read listChanges instead: clocks can be corrected, and an order can change again. */
  readonly updatedFrom?: Date | string | undefined;
  /** Only orders whose latest change was before this time. */
  readonly updatedBefore?: Date | string | undefined;
  /** What the orders are sorted by: `id` by default, or `reference` with `referencePrefix`, without which it is not allowed; with
   * `referenceContains`, only `id`. References are
   * sorted by the code points of their characters. Orders with the same time or reference are sorted by id, those with the same `updatedAt` by revision and id.
   * Orders without a shipDate come after those that have one, in either order. With `updatedAt` and `shipDate`, an order that changes or is
   * shipped between two pages can be returned twice or not at all. */
  readonly sort?: 'id' | 'placedAt' | 'updatedAt' | 'shipDate' | 'reference' | undefined;
  /** The sort order; ascending by default, and descending with `referenceContains`. */
  readonly direction?: 'asc' | 'desc' | undefined;
  /** The maximum number of orders to return; 100 by default. */
  readonly limit?: number | undefined;
  /** The `next` value of the previous page, for the same filters and order. It is valid for 30 days or longer. */
  readonly cursor?: string | undefined;
}

/** The parameters of listChanges. */
export interface ListChangesQuery {
  /** A cursor, `start` to begin with the first change in the store, or `now` for new changes only; `start` by default. */
  readonly after?: string | undefined;
  /** Begins with the first change that was recorded at this time or later, in place of `after`: for the first page. Changes are in the order of
   * their revisions; after a step of the service's clock, some that follow can be of an earlier time. */
  readonly since?: Date | string | undefined;
  /** How many changes to return; 100 by default. The changes of one revision are never split between two pages, so a page can
   * have up to 1,999 more: a revision has at most 2,000 changes (10,000 if a beta of version 2 made it). */
  readonly limit?: number | undefined;
  /** Only changes of orders of this pet. */
  readonly petId?: bigint | undefined;
  /** Types. By default, changes of any type are returned. */
  readonly type?:
    | 'placed'
    | 'cancelled'
    | 'shipped'
    | readonly ('placed' | 'cancelled' | 'shipped')[]
    | undefined;
  /** Only changes that were made with the API key of this id. */
  readonly by?: string | undefined;
}

/** How a parameter is written: the values of a list are separated by commas. */
export type ParameterKind =
  | 'int64'
  | 'time'
  | 'text'
  | 'count'
  | readonly string[]
  | { readonly listOf: readonly string[] | 'time' };

/** A call of an operation; `expects` has the statuses of a success. */
export interface CallOf {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly expects: readonly number[];
  readonly query: Readonly<Record<string, ParameterKind>>;
}

export const CALLS: Readonly<Record<OperationName, CallOf>> = {
  getStore: { method: 'GET', path: '/v2/store', expects: [200], query: {} },
  listOrders: {
    method: 'GET',
    path: '/v2/store/orders',
    expects: [200],
    query: {
      status: { listOf: ['pending', 'shipped', 'cancelled'] },
      petId: 'int64',
      reference: 'text',
      referencePrefix: 'text',
      referenceContains: 'text',
      shipDateFrom: 'time',
      shipDateBefore: 'time',
      placedFrom: 'time',
      placedBefore: 'time',
      updatedFrom: 'time',
      updatedBefore: 'time',
      sort: ['id', 'placedAt', 'updatedAt', 'shipDate', 'reference'],
      direction: ['asc', 'desc'],
      limit: 'count',
      cursor: 'text',
    },
  },
  placeOrder: { method: 'POST', path: '/v2/store/orders', expects: [200, 201], query: {} },
  getOrder: { method: 'GET', path: '/v2/store/orders/{orderId}', expects: [200], query: {} },
  getOrderHistory: {
    method: 'GET',
    path: '/v2/store/orders/{orderId}/history',
    expects: [200],
    query: { limit: 'count', cursor: 'text' },
  },
  cancelOrder: {
    method: 'POST',
    path: '/v2/store/orders/{orderId}/cancel',
    expects: [200],
    query: {},
  },
  shipOrder: { method: 'POST', path: '/v2/store/orders/{orderId}/ship', expects: [200], query: {} },
  findOrders: { method: 'POST', path: '/v2/store/orders/find', expects: [200], query: {} },
  cancelOrders: { method: 'POST', path: '/v2/store/orders/cancel', expects: [200], query: {} },
  shipOrders: { method: 'POST', path: '/v2/store/orders/ship', expects: [200], query: {} },
  listChanges: {
    method: 'GET',
    path: '/v2/store/changes',
    expects: [200],
    query: {
      after: 'text',
      since: 'time',
      limit: 'count',
      petId: 'int64',
      type: { listOf: ['placed', 'cancelled', 'shipped'] },
      by: 'text',
    },
  },
  streamChanges: {
    method: 'GET',
    path: '/v2/store/changes/stream',
    expects: [200],
    query: {
      after: 'text',
      petId: 'int64',
      type: { listOf: ['placed', 'cancelled', 'shipped'] },
      by: 'text',
    },
  },
  countOrders: {
    method: 'GET',
    path: '/v2/store/counts',
    expects: [200],
    query: {
      status: { listOf: ['pending', 'shipped', 'cancelled'] },
      petId: 'int64',
      reference: 'text',
      referencePrefix: 'text',
      referenceContains: 'text',
      shipDateFrom: 'time',
      shipDateBefore: 'time',
      placedFrom: 'time',
      placedBefore: 'time',
      updatedFrom: 'time',
      updatedBefore: 'time',
    },
  },
  getActivity: {
    method: 'GET',
    path: '/v2/store/activity',
    expects: [200],
    query: { boundaries: { listOf: 'time' }, by: 'text', cursor: 'text' },
  },
  listWebhooks: {
    method: 'GET',
    path: '/v2/webhooks',
    expects: [200],
    query: { limit: 'count', cursor: 'text' },
  },
  createWebhook: { method: 'POST', path: '/v2/webhooks', expects: [201], query: {} },
  getWebhook: { method: 'GET', path: '/v2/webhooks/{webhookId}', expects: [200], query: {} },
  updateWebhook: { method: 'PATCH', path: '/v2/webhooks/{webhookId}', expects: [200], query: {} },
  deleteWebhook: { method: 'DELETE', path: '/v2/webhooks/{webhookId}', expects: [204], query: {} },
  rotateWebhookSecret: {
    method: 'POST',
    path: '/v2/webhooks/{webhookId}/rotate-secret',
    expects: [200],
    query: {},
  },
  testWebhook: { method: 'POST', path: '/v2/webhooks/{webhookId}/test', expects: [200], query: {} },
  getKey: { method: 'GET', path: '/v2/key', expects: [200], query: {} },
  listKeys: {
    method: 'GET',
    path: '/v2/keys',
    expects: [200],
    query: { state: ['valid', 'expired', 'revoked'], limit: 'count', cursor: 'text' },
  },
  createKey: { method: 'POST', path: '/v2/keys', expects: [201], query: {} },
  getKeyById: { method: 'GET', path: '/v2/keys/{keyId}', expects: [200], query: {} },
  updateKey: { method: 'PATCH', path: '/v2/keys/{keyId}', expects: [200], query: {} },
  rotateKey: { method: 'POST', path: '/v2/keys/{keyId}/rotate', expects: [200], query: {} },
  revokeKey: { method: 'POST', path: '/v2/keys/{keyId}/revoke', expects: [200], query: {} },
  redeemInvitation: { method: 'POST', path: '/v2/key/redeem', expects: [200], query: {} },
  'v1.listOrders': { method: 'GET', path: '/v1/store/orders', expects: [200], query: {} },
  'v1.cancelOrder': {
    method: 'DELETE',
    path: '/v1/store/orders/{orderId}',
    expects: [204],
    query: {},
  },
  'v1.getPet': { method: 'GET', path: '/v1/pets/{petId}', expects: [200], query: {} },
};
